//! Where a process can end.

use std::fmt;

use super::super::seeded::Seeded;

/// A call of the store that a process makes.
#[derive(Clone, Debug)]
pub(super) struct Call {
    what: String,
    /// How many calls are handed over and not done when it is this one's turn, itself among them.
    handed_over: usize,
}

impl Call {
    pub(super) fn new(what: String, handed_over: usize) -> Self {
        Self { what, handed_over }
    }
}

/// A place in which a process ends.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// At which of its calls, from 1.
    pub(super) call: usize,
    /// How many of those that are handed over take effect, from this one on. No answer is heard.
    pub(super) done: usize,
    /// The process does not end by itself: the store says that it does not know whether the call took effect, and
    /// then nothing goes on.
    pub(super) unknown: bool,
    /// What the call is, where that is known.
    what: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            call,
            done,
            unknown,
            what,
        } = self;
        match (done, unknown) {
            (0, true) => write!(f, "call {call} not done, and nobody was told")?,
            (_, true) => write!(f, "call {call} done, and nobody was told")?,
            (0, false) => write!(f, "stopped before call {call}")?,
            (1, false) => write!(f, "stopped after call {call}, before its answer was heard")?,
            (_, false) => write!(
                f,
                "stopped after calls {call} to {}, before an answer was heard",
                call + done - 1
            )?,
        }
        if what.is_empty() {
            return Ok(());
        }
        write!(f, " ({call}: {what})")
    }
}

/// All places in a process that makes these calls. With `unknown`, those too in which the store does not know what has
/// become of a call.
pub(super) fn each(calls: &[Call], unknown: bool) -> Vec<Place> {
    let mut places = Vec::new();
    for (before, call) in calls.iter().enumerate() {
        let place = |done, unknown| Place {
            call: before + 1,
            done,
            unknown,
            what: call.what.clone(),
        };
        places.extend((0..=call.handed_over).map(|done| place(done, false)));
        let lost = if unknown { 0..2 } else { 0..0 };
        places.extend(lost.map(|done| place(done, true)));
    }
    places
}

/// A process that goes on makes fewer calls than the first one: the second place is among so many.
const FIRST: u64 = 16;

/// Any of these places, and one in the process that goes on.
pub(super) fn twice(places: &[Place], chance: &mut Seeded) -> Vec<Place> {
    let second = Place {
        call: usize::try_from(chance.within(1..FIRST)).unwrap_or(1),
        done: usize::try_from(chance.within(0..3)).unwrap_or(0),
        unknown: chance.percent(25),
        what: String::new(),
    };
    vec![chance.one(places).clone(), second]
}

#[test]
fn a_place_says_which_call_it_is_at() {
    let calls = [
        Call::new("commit of a".to_owned(), 2),
        Call::new("commit of b".to_owned(), 1),
    ];
    let said: Vec<String> = each(&calls, true).iter().map(Place::to_string).collect();
    assert_eq!(
        said,
        [
            "stopped before call 1 (1: commit of a)",
            "stopped after call 1, before its answer was heard (1: commit of a)",
            "stopped after calls 1 to 2, before an answer was heard (1: commit of a)",
            "call 1 not done, and nobody was told (1: commit of a)",
            "call 1 done, and nobody was told (1: commit of a)",
            "stopped before call 2 (2: commit of b)",
            "stopped after call 2, before its answer was heard (2: commit of b)",
            "call 2 not done, and nobody was told (2: commit of b)",
            "call 2 done, and nobody was told (2: commit of b)",
        ]
    );
    assert_eq!(each(&calls, false).len(), 5);
}
