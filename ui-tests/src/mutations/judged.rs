//! What came of a mutant, and what is wrong with that.

use std::collections::BTreeSet;

use super::expected::Expected;
use super::mutant::Mutant;
use super::protocol::{Differs, Refused};

/// What came of a mutant.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The codes of the lock.
    pub(super) lock: BTreeSet<String>,
    /// The codes of the replays.
    pub(super) replay: BTreeSet<String>,
    /// How many prefixes it was given.
    pub(super) prefixes: usize,
    /// Of how many it decides something else.
    pub(super) differ: usize,
    /// How many were refused.
    pub(super) refused: usize,
    /// The first event that was refused, of all runs.
    pub(super) first: Option<u64>,
    /// What must not be.
    pub(super) wrong: Vec<String>,
}

impl Judged {
    /// Notes what came of each prefix of a run.
    pub(super) fn note(
        &mut self,
        run: &str,
        differs: Option<&Differs>,
        replays: &[Option<Refused>],
    ) {
        for (unit, refused) in replays.iter().enumerate() {
            self.prefixes += 1;
            let differs = differs.filter(|differs| differs.unit <= unit);
            self.differ += usize::from(differs.is_some());
            if let Some(Refused { code, event, .. }) = refused {
                self.refused += 1;
                self.replay.insert(code.clone());
                self.first = Some(self.first.map_or(*event, |first| first.min(*event)));
            }
            let wrong = match (differs, refused) {
                (None, Some(refused)) => {
                    format!("it decides the same, and is refused\n{}", refused.text)
                }
                (Some(differs), None) => format!(
                    "it is accepted in silence, and at event {} it decides something else: {}",
                    differs.event, differs.what
                ),
                (Some(differs), Some(refused)) if differs.event != refused.event => format!(
                    "it is refused at event {}, and what differs first is event {}: {}\n{}",
                    refused.event, differs.event, differs.what, refused.text
                ),
                _ => continue,
            };
            let units = unit + 1;
            self.wrong
                .push(format!("{units} units of the run \"{run}\": {wrong}"));
        }
    }

    /// Whether it decides something else and the lock has nothing to say.
    pub(super) fn is_for_replay_alone(&self) -> bool {
        self.differ > 0 && self.lock.is_empty()
    }

    /// Notes where a run that was replayed goes on otherwise than one that was there all the time.
    pub(super) fn note_astray(&mut self, run: &str, astray: &[String]) {
        for what in astray {
            self.wrong.push(format!(
                "it goes astray after a replay of the run \"{run}\": {what}"
            ));
        }
    }

    /// Compares it with what is expected.
    pub(super) fn compare(&mut self, mutant: &Mutant) {
        let Some(expected) = &mutant.expected else {
            return;
        };
        let came = Expected {
            lock: self.lock.clone(),
            replay: self.replay.clone(),
            at: expected.at,
        };
        if came != *expected {
            self.wrong
                .push(format!("expected is: {expected}; it is: {came}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(unit: usize, event: u64) -> Differs {
        Differs {
            unit,
            event,
            what: "ship -> mail".to_owned(),
        }
    }

    fn refused(event: u64) -> Option<Refused> {
        Some(Refused {
            code: "H201".to_owned(),
            event,
            text: "refused".to_owned(),
        })
    }

    fn wrong(differs: Option<Differs>, replays: &[Option<Refused>]) -> Vec<String> {
        let mut judged = Judged::default();
        judged.note("a", differs.as_ref(), replays);
        judged.wrong
    }

    #[test]
    fn what_is_refused_where_it_differs_is_right() {
        assert!(wrong(None, &[None, None]).is_empty());
        assert!(wrong(Some(differs(1, 4)), &[None, refused(4), refused(4)]).is_empty());
    }

    #[test]
    fn silence_and_false_alarms_and_other_places_are_wrong() {
        assert_eq!(
            wrong(Some(differs(1, 4)), &[None, None, refused(4)]).len(),
            1
        );
        assert_eq!(
            wrong(Some(differs(1, 4)), &[refused(4), refused(4)]).len(),
            1
        );
        assert_eq!(wrong(None, &[None, refused(4)]).len(), 1);
        assert_eq!(wrong(Some(differs(0, 2)), &[refused(3)]).len(), 1);
    }
}
