//! The first difference between a history and the code, and what the code asks for after it (S17).
//!
//! What was begun stays pending, so the code goes on as far as it does without a result: what it asks for until
//! then is certain. A value that would have to be made up ends that, since the code may turn on it.

use std::panic::Location;

use super::state::State;
use super::trail;
use crate::Blocked;
use crate::history::{Decision, RecordSource};
use crate::incompatible::{Evidence, Incompatible, IncompatibleKind, LOOKED_AT, Side};
use crate::value::Difference;

/// How many draws in a row are told.
const MOST_IN_A_ROW: usize = 4;

/// What the code goes on to ask for after the first difference.
pub(super) struct Probe {
    asked: Vec<Side>,
    /// Whether what it asks for is still what it would ask for.
    open: bool,
}

impl State {
    /// The code asks for something, and the history has something else or nothing more.
    pub(super) fn refuse<T>(
        &mut self,
        kind: IncompatibleKind,
        recorded: Option<&Decision>,
        asked: Side,
    ) -> Option<T> {
        let kind = if recorded.is_none() {
            IncompatibleKind::Inserted
        } else {
            kind
        };
        if self.error.is_none() {
            let marker = recorded.and_then(|left| self.marker_left(left, Some(asked.clone())));
            let mut error = marker.unwrap_or_else(|| {
                self.mismatch(kind, recorded.map(Side::of), Some(asked.clone()))
            });
            if let Some(recorded) = &mut error.recorded {
                recorded.event = Some(error.event);
            }
            self.error = Some(Blocked::Incompatible(Box::new(error)));
            self.probe = Some(Probe {
                asked: Vec::new(),
                open: true,
            });
            self.note(asked);
            trail::begin();
        }
        None
    }

    /// Stops the machine; what was wrong first counts.
    pub(super) fn stop<T>(&mut self, error: Incompatible) -> Option<T> {
        self.error
            .get_or_insert(Blocked::Incompatible(Box::new(error)));
        None
    }

    /// Notes what the code asks for after the first difference.
    pub(super) fn note(&mut self, asked: Side) {
        if let Some(probe) = &mut self.probe
            && probe.open
        {
            if probe.asked.len() < LOOKED_AT {
                probe.asked.push(asked.shortened());
            } else {
                probe.open = false;
            }
        }
    }

    /// The code gets a value that was made up: what it asks for from here on says nothing.
    pub(super) fn made_up(&mut self) {
        if let Some(probe) = &mut self.probe {
            probe.open = false;
        }
    }

    /// The error with all that was seen, once the poll is over.
    pub(super) fn take_error(&mut self) -> Option<Blocked> {
        let error = self.error.take()?;
        match (error, self.probe.take()) {
            (Blocked::Incompatible(error), Some(probe)) => {
                let ended = probe.asked.iter().any(Side::is_end);
                Some(Blocked::Incompatible(Box::new(
                    self.told(*error, probe, ended),
                )))
            }
            (error, _) => Some(error),
        }
    }

    /// The code waits, or has ended, and the unit has `left` and more.
    pub(super) fn left(&mut self, left: &Decision, finished: bool) -> Blocked {
        self.left_because(left, finished, None)
    }

    /// The same, where there is more to say.
    pub(super) fn left_because(
        &mut self,
        left: &Decision,
        finished: bool,
        why: Option<String>,
    ) -> Blocked {
        let kind = if finished {
            IncompatibleKind::LeftOver
        } else {
            IncompatibleKind::Removed
        };
        let marker = self.marker_left(left, None);
        let mut error = marker.unwrap_or_else(|| self.mismatch(kind, Some(Side::of(left)), None));
        if let Some(why) = why {
            error.explain(why);
        }
        if let Some(recorded) = &mut error.recorded {
            recorded.event = Some(error.event);
        }
        let probe = Probe {
            asked: Vec::new(),
            open: true,
        };
        Blocked::Incompatible(Box::new(self.told(error, probe, finished)))
    }

    /// A draw is what was recorded.
    pub(super) fn drew(&mut self, source: RecordSource, place: &'static Location<'static>) {
        if self.drawn.last().is_some_and(|(last, _)| *last != source) {
            self.drawn.clear();
        }
        if self.drawn.len() < MOST_IN_A_ROW {
            self.drawn.push((source, place));
        }
    }

    /// Of draws in a row each is like the other: the one that was added or taken out may stand before the one at
    /// which that shows.
    fn in_a_row(&self, side: Option<&Side>) -> Option<String> {
        let (source, _) = self.drawn.first()?;
        let what = Side::record(source);
        side.filter(|side| side.what == what)?;
        let places = self
            .drawn
            .iter()
            .map(|(_, place)| self.location(place).to_string());
        let places: Vec<_> = places.collect();
        Some(format!(
            "what is new or gone may also be one of the same before it: {what} at {}",
            places.join(", ")
        ))
    }

    fn told(&self, error: Incompatible, probe: Probe, ended: bool) -> Incompatible {
        let mut evidence = Evidence {
            asked: probe.asked,
            asked_all: probe.open,
            ..Evidence::default()
        };
        evidence.recorded.extend(error.recorded.clone());
        let left = error.marker.as_ref().map(|marker| &*marker.id);
        let mut asked = self.graph.markers.iter();
        evidence.marker.clone_from(&error.marker);
        evidence.marker_stands = asked.any(|marker| Some(marker.id) == left);
        let sides = [&error.asked, &error.recorded];
        let in_a_row = || sides.iter().find_map(|side| self.in_a_row(side.as_ref()));
        let old_way = || self.went_the_old_way();
        evidence.note = error.detail.clone().or_else(in_a_row).or_else(old_way);
        let event = error.event.saturating_add(1);
        let rest = self.expected.iter().flatten().take(LOOKED_AT - 1);
        let rest = (event..).zip(rest).map(|(event, decision)| Side {
            event: Some(event),
            ..Side::of(decision).shortened()
        });
        evidence.recorded.extend(rest);
        evidence.in_unit = evidence.recorded.len();
        if !ended {
            self.look_at_the_source(&mut evidence);
        }
        error.told_from(evidence)
    }

    pub(super) fn mismatch(
        &self,
        kind: IncompatibleKind,
        recorded: Option<Side>,
        asked: Option<Side>,
    ) -> Incompatible {
        let difference = match (kind, &recorded, &asked) {
            (
                IncompatibleKind::ChangedInput,
                Some(Side { value: Some(a), .. }),
                Some(Side { value: Some(b), .. }),
            ) => a.difference(b),
            _ => None,
        };
        let (run, event) = (self.run_text(), self.event());
        let mut error = Incompatible::found(kind, run, self.workflow, event, String::new());
        error.detail = None;
        error.recorded = recorded.map(Side::shortened);
        error.asked = asked.map(Side::shortened);
        error.difference = difference.map(Difference::shortened);
        error.started_version = self.started_version;
        error.version = self.graph.version;
        error.between(&self.started_by, &self.artifact)
    }
}
