//! The next few decisions of both sides, and what can be told from them: whether something was inserted, removed,
//! renamed or moved (S17).
//!
//! A claim rests on what was seen. The history's side is certain as far as it was handed over. The code's side is
//! certain for what it asked for in the same poll; what it asks for after its next wait is known from the source
//! alone, in the order in which it stands there. Each claim is tried: if it were so, how much of what follows
//! would agree? The one with which most agrees is made, and where two agree as well, none is: then something else
//! is asked for, which is all that is known for sure.

use super::sides::{FULFIL, RECEIVE, SEND, SIGNAL, WAIT_FOR};
use super::{IncompatibleKind, MarkerMismatch, Side};
use crate::history::{CallSite, Unit};

/// How many decisions of a side are looked at.
pub(crate) const LOOKED_AT: usize = 16;
/// How many things in a row may have been inserted or removed.
const MOST_AT_ONCE: usize = 4;

/// Something that the code may ask for after its next wait, known from the source.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    /// As [`Side::what`]; empty: something that decides what cannot be seen here, as a `#[durable]` function.
    pub(crate) what: &'static str,
    /// Whether that is only likely: a function of another crate may be an activity.
    pub(crate) guessed: bool,
    pub(crate) site: CallSite,
    /// Whether it comes in any case, unless the function returns before. Otherwise it stands under a condition.
    pub(crate) sure: bool,
}

/// What a classification rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// What the history has, from the first difference on.
    pub(crate) recorded: Vec<Side>,
    /// How many of those belong to the unit in which the difference is.
    pub(crate) in_unit: usize,
    /// What the code has asked for in the same poll, from the first difference on.
    pub(crate) asked: Vec<Side>,
    /// Whether that is all of it, as far as the poll went.
    pub(crate) asked_all: bool,
    /// What the code may ask for afterwards.
    pub(crate) ahead: Vec<Ahead>,
    /// What the code would have asked for in other branches in place of the first difference.
    pub(crate) elsewhere: Vec<Ahead>,
    /// The marker that the history has first, where it has one.
    pub(crate) marker: Option<MarkerMismatch>,
    /// The code asks for that one too, though not here.
    pub(crate) marker_stands: bool,
    /// All that the functions ask for in which the code stands.
    pub(crate) mentioned: Vec<&'static str>,
    /// What else was seen, to be said with any kind.
    pub(crate) note: Option<String>,
}

/// What was told from it.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) kind: IncompatibleKind,
    /// The same activity under another name.
    pub(super) renamed: bool,
    pub(super) detail: Option<String>,
}

impl Verdict {
    fn of(kind: IncompatibleKind) -> Self {
        Self {
            kind,
            renamed: false,
            detail: None,
        }
    }
}

/// How much speaks for a claim, by what agrees.
const EXACT: u32 = 4;
const ALIKE: u32 = 3;
const IN_THE_SOURCE: u32 = 2;
const UNDER_A_CONDITION: u32 = 1;
/// All that was asked for in the poll agrees with all that the unit has.
const ALL: u32 = 1_000;

/// What is asked for and was recorded: the same thing, or the same with another value.
fn agrees(asked: &Side, recorded: &Side) -> Option<u32> {
    if asked.what != recorded.what {
        return None;
    }
    match (&asked.value, &recorded.value) {
        (Some(a), Some(b)) if !a.same(b) => Some(ALIKE - 1),
        // What is dropped has the number that it was begun with, which an inserted operation moves.
        _ if asked.what == "drop" && asked.operation != recorded.operation => Some(ALIKE - 1),
        (Some(_), Some(_)) => Some(EXACT),
        // One timer is like another, and so are two draws.
        _ if asked.name.is_none() => Some(UNDER_A_CONDITION),
        _ => Some(ALIKE),
    }
}

fn exactly(asked: &Side, recorded: &Side) -> bool {
    asked.what == recorded.what
        && match (&asked.value, &recorded.value) {
            (Some(a), Some(b)) => a.same(b),
            (None, None) => asked.what != "drop" || asked.operation == recorded.operation,
            _ => false,
        }
}

impl Evidence {
    /// The history's side goes on with these.
    pub(super) fn look_ahead(&mut self, units: &[Unit]) {
        for unit in units {
            for (at, decision) in (1..).zip(&unit.decisions) {
                if self.recorded.len() >= LOOKED_AT {
                    return;
                }
                let event = Some(unit.number.saturating_add(at));
                let side = Side {
                    event,
                    ..Side::of(decision)
                };
                self.recorded.push(side.shortened());
            }
        }
    }

    /// What there is to say, where replay has found a difference of the kind `found`.
    pub(super) fn classify(&self, found: IncompatibleKind) -> Verdict {
        use IncompatibleKind as Kind;
        match found {
            Kind::Changed | Kind::ChangedInput | Kind::Inserted | Kind::Removed => {}
            Kind::MarkerRemoved if self.marker_stands => {
                return Verdict::of(self.before_the_marker().unwrap_or(found));
            }
            _ => return Verdict::of(found),
        }
        let recorded = self.recorded.first().filter(|_| self.in_unit > 0);
        match (recorded, self.asked.first()) {
            (Some(recorded), Some(asked)) => self.two(recorded, asked, found),
            (None, Some(asked)) => self.beyond_the_unit(asked),
            (Some(recorded), None) => self.not_asked(recorded),
            (None, None) => Verdict::of(found),
        }
    }

    /// What was put before the marker, or moved there, where that is the difference and not the marker: the code comes
    /// to it later.
    fn before_the_marker(&self) -> Option<IncompatibleKind> {
        use IncompatibleKind as Kind;
        let after = Self {
            recorded: self.recorded.get(1..)?.to_vec(),
            in_unit: self.in_unit.saturating_sub(1),
            ..self.clone()
        };
        let (asked, recorded) = (after.asked.first()?, after.recorded.first()?);
        if asked.is_end() || asked.what == recorded.what {
            return None;
        }
        let mut claims = after.claims();
        claims
            .retain(|(kind, score)| matches!(kind, Kind::Inserted | Kind::Reordered) && *score > 0);
        let best = claims.iter().map(|(_, score)| *score).max()?;
        claims.retain(|(_, score)| *score == best);
        let (kind, _) = claims.first()?;
        claims
            .iter()
            .all(|(other, _)| other == kind)
            .then_some(*kind)
    }

    /// The unit is complete, and the code asks for more.
    fn beyond_the_unit(&self, asked: &Side) -> Verdict {
        let mut later = self.recorded.iter().filter(|side| exactly(asked, side));
        // What the code comes to further on as well has not moved.
        let comes_again = self
            .ahead
            .iter()
            .any(|ahead| ahead.sure && is(ahead.what, &asked.what));
        match (later.next(), later.next()) {
            // The code does not wait where it waited.
            (Some(side), None) if !asked.is_end() && !comes_again => Verdict {
                detail: side.event.map(|event| {
                    format!("the history has it at event {event}, after something that this code does not wait for here")
                }),
                ..Verdict::of(IncompatibleKind::Reordered)
            },
            _ => Verdict::of(IncompatibleKind::Inserted),
        }
    }

    /// The history has something, and the code waits.
    fn not_asked(&self, recorded: &Side) -> Verdict {
        let alike = |what: &str| is(what, &recorded.what);
        let recorded_once = self.recorded.iter().filter(|s| alike(&s.what)).count() == 1;
        let mut ahead = self.ahead.iter().filter(|ahead| alike(ahead.what));
        match (ahead.next(), ahead.next()) {
            (Some(ahead), None) if recorded_once && ahead.sure => Verdict {
                detail: Some(format!(
                    "this code comes to it at {}, after it has waited",
                    ahead.site
                )),
                ..Verdict::of(IncompatibleKind::Reordered)
            },
            _ => Verdict::of(IncompatibleKind::Removed),
        }
    }

    fn two(&self, recorded: &Side, asked: &Side, found: IncompatibleKind) -> Verdict {
        use IncompatibleKind as Kind;
        // The history is at its end, and the code is not.
        if recorded.is_end() && !asked.is_end() {
            return Verdict::of(Kind::Inserted);
        }
        if recorded.is_end() || asked.is_end() {
            return Verdict::of(found);
        }
        if let Some(other) = self.elsewhere.iter().find(|e| is(e.what, &recorded.what)) {
            return Verdict {
                detail: Some(format!(
                    "`{}` stands in another branch, at {}: this code takes one that the history did not take",
                    recorded.what, other.site
                )),
                ..Verdict::of(found)
            };
        }
        let claims = if asked.what == recorded.what {
            self.claims_of_the_same(asked)
        } else {
            self.claims()
        };
        let substituted = self.score(1, 1);
        let best = claims.iter().map(|(_, score)| *score).max().unwrap_or(0);
        // What is under a condition alone proves nothing.
        if best > substituted && best >= IN_THE_SOURCE {
            let mut kinds = claims.iter().filter(|(_, score)| *score == best);
            if let Some((kind, _)) = kinds.next()
                && kinds.all(|(other, _)| other == kind)
            {
                return Verdict::of(*kind);
            }
        }
        if found == Kind::Changed && self.is_renamed(recorded, asked) && substituted >= best {
            return Verdict {
                renamed: true,
                ..Verdict::of(found)
            };
        }
        Verdict::of(found)
    }

    /// The claims that can be made where something else is asked for, with what speaks for each.
    fn claims(&self) -> Vec<(IncompatibleKind, u32)> {
        use IncompatibleKind as Kind;
        let mut claims = Vec::new();
        for count in 1..=MOST_AT_ONCE {
            if count <= self.asked.len() {
                // Only what was seen to be asked for is inserted, and only what the history has is removed.
                claims.push((Kind::Inserted, self.score(0, count)));
            }
            if count < self.recorded.len() {
                let score = match self.score(count, 0) {
                    0 => 0,
                    _ if self.comes_again(count) => 0,
                    score => score + u32::from(self.is_gone(&self.recorded[0])),
                };
                claims.push((Kind::Removed, score));
            }
        }
        // More was inserted than was asked for before the next wait.
        for skipped in 1..MOST_AT_ONCE.min(self.ahead.len()) {
            let recorded: Vec<_> = self.recorded.iter().collect();
            let score = agreement(&recorded, &[], &self.ahead[skipped..]);
            let less = u32::try_from(skipped).unwrap_or(u32::MAX);
            claims.push((Kind::Inserted, score.saturating_sub(less)));
        }
        // What the code asks for more often than the history has it was not moved alone.
        let more = self.asked.first().is_some_and(|asked| {
            let at = self.recorded.iter().position(|s| s.what == asked.what);
            let rest = at.map(|at| without(&self.recorded, at).collect::<Vec<_>>());
            rest.is_some_and(|rest| self.comes_to_more(&asked.what, &rest))
        });
        if !more {
            let moved = [
                self.moved_earlier(),
                self.moved_later(),
                self.moved_behind_a_wait(),
            ];
            claims.extend(moved.map(|score| (Kind::Reordered, score)));
        }
        claims
    }

    /// Whether the source comes more often to one of the first `count` recorded things than the rest of the history
    /// does: then it was not taken out.
    fn comes_again(&self, count: usize) -> bool {
        let (first, rest) = self.recorded.split_at(count);
        let rest: Vec<_> = rest.iter().collect();
        first
            .iter()
            .any(|side| self.comes_to_more(&side.what, &rest))
    }

    /// Whether the source comes more often to it than the history has it among these.
    fn comes_to_more(&self, what: &str, recorded: &[&Side]) -> bool {
        let ahead = self.ahead.iter();
        let ahead = ahead.filter(|ahead| ahead.sure && is(ahead.what, what));
        let recorded = recorded.iter().filter(|other| other.what == what);
        ahead.count() > recorded.count()
    }

    /// Whether the functions in which the code stands no longer have this anywhere.
    fn is_gone(&self, recorded: &Side) -> bool {
        let is_it = |what: &&str| is(what.trim_end_matches('?'), &recorded.what);
        let mut mentioned = self.mentioned.iter().flat_map(|asks| asks.split('\n'));
        !self.mentioned.is_empty() && !mentioned.any(|what| is_it(&what))
    }

    /// The same thing is asked for with another input. That is what it is, unless all that was asked for in this
    /// poll is what the history has in this unit, some of it more or less, or in another order.
    fn claims_of_the_same(&self, asked: &Side) -> Vec<(IncompatibleKind, u32)> {
        use IncompatibleKind as Kind;
        // The same under another operation's number.
        let recorded = self.recorded.first();
        if asked.what != "drop" && recorded.is_some_and(|recorded| exactly(asked, recorded)) {
            return Vec::new();
        }
        let mut claims = Vec::new();
        // What comes next in the history is not what this code comes to next, unless this one was inserted.
        if self.recorded.get(1).is_some_and(|next| !is_unseen(next)) {
            let inserted = self.score(0, 1);
            if inserted >= self.score(1, 1) + IN_THE_SOURCE {
                claims.push((Kind::Inserted, inserted));
            }
        }
        let unit = &self.recorded[..self.in_unit];
        if !self.asked_all || unit.len() >= LOOKED_AT {
            return claims;
        }
        let same = |asked: &[Side], recorded: &[Side]| {
            asked.len() == recorded.len()
                && !asked.is_empty()
                && asked.iter().zip(recorded).all(|(a, r)| exactly(a, r))
        };
        for count in 1..=MOST_AT_ONCE {
            if self.asked.get(count..).is_some_and(|rest| same(rest, unit)) {
                claims.push((Kind::Inserted, ALL));
            }
            if unit
                .get(count..)
                .is_some_and(|rest| same(&self.asked, rest))
            {
                claims.push((Kind::Removed, ALL));
            }
        }
        let at = unit.iter().position(|side| exactly(asked, side));
        if let Some(at) = at.filter(|at| *at > 0 && unit.len() == self.asked.len()) {
            let mut left: Vec<_> = unit.iter().collect();
            left.remove(at);
            for side in &self.asked[1..] {
                if let Some(at) = left.iter().position(|other| exactly(side, other)) {
                    left.remove(at);
                }
            }
            if left.is_empty() {
                claims.push((Kind::Reordered, ALL));
            }
        }
        claims
    }

    /// How much of what follows agrees when so many of each side are passed over.
    fn score(&self, recorded: usize, asked: usize) -> u32 {
        let asked: Vec<_> = self.asked.iter().skip(asked).collect();
        let recorded: Vec<_> = self.recorded.iter().skip(recorded).collect();
        self.agreement(&recorded, &asked)
    }

    /// The first thing that is asked for stands further on in the history, and nothing else has changed.
    fn moved_earlier(&self) -> u32 {
        let Some(asked) = self.asked.first() else {
            return 0;
        };
        let at = self
            .recorded
            .iter()
            .position(|side| side.what == asked.what);
        let Some((at, agreed)) = at.and_then(|at| Some((at, agrees(asked, &self.recorded[at])?)))
        else {
            return 0;
        };
        let rest: Vec<_> = without(&self.recorded, at).collect();
        let asked: Vec<_> = self.asked[1..].iter().collect();
        match self.agreement(&rest[..rest.len().min(1)], &asked) {
            // Where the one that was first is gone, it was removed.
            0 => 0,
            // Perhaps it was removed, and perhaps it comes later.
            UNDER_A_CONDITION => self.score(at, 0),
            _ => agreed + self.agreement(&rest, &asked),
        }
    }

    /// What the history has first is asked for further on, and nothing else has changed.
    fn moved_later(&self) -> u32 {
        let Some(recorded) = self.recorded.first() else {
            return 0;
        };
        let at = self
            .asked
            .iter()
            .position(|side| side.what == recorded.what);
        let Some((at, agreed)) = at.and_then(|at| Some((at, agrees(&self.asked[at], recorded)?)))
        else {
            return 0;
        };
        let rest: Vec<_> = without(&self.asked, at).collect();
        let recorded: Vec<_> = self.recorded[1..].iter().collect();
        match self.agreement(&recorded, &rest) {
            0 => 0,
            following => agreed + following,
        }
    }

    /// What the history has first is asked for after the next wait, and nothing else has changed.
    fn moved_behind_a_wait(&self) -> u32 {
        let Some(recorded) = self.recorded.first() else {
            return 0;
        };
        let is_it = |ahead: &Ahead| ahead.sure && is(ahead.what, &recorded.what);
        let Some(at) = self.ahead.iter().position(is_it) else {
            return 0;
        };
        let mut ahead = self.ahead.clone();
        ahead.remove(at);
        let recorded: Vec<_> = self.recorded[1..].iter().collect();
        let asked: Vec<_> = self.asked.iter().collect();
        match agreement(&recorded, &asked, &ahead) {
            0 => 0,
            following => IN_THE_SOURCE + following,
        }
    }

    fn agreement(&self, recorded: &[&Side], asked: &[&Side]) -> u32 {
        agreement(recorded, asked, &self.ahead)
    }

    /// Another name and all else alike.
    fn is_renamed(&self, recorded: &Side, asked: &Side) -> bool {
        let both = |kind: &str| recorded.what.starts_with(kind) && asked.what.starts_with(kind);
        let same_input = match (&recorded.value, &asked.value) {
            (Some(a), Some(b)) => a.same(b),
            _ => false,
        };
        let one_more =
            |side: &Side, among: &[Side]| among.iter().skip(1).any(|s| s.what == side.what);
        // A name alone, where nothing follows, says little.
        let is_likely = match self.recorded.len() {
            1 => recorded
                .value
                .as_ref()
                .is_some_and(|input| input.as_json() != "null"),
            _ => self.score(1, 1) > 0,
        };
        (both("activity ") || both("stub ")) && same_input
            && is_likely
            && recorded.operation == asked.operation
            && self.is_gone(recorded)
            // Both names in use: then they are two activities.
            && !one_more(asked, &self.recorded)
            && !one_more(recorded, &self.asked)
    }
}

/// How far what was recorded agrees with what was asked for, and then with what the source has.
fn agreement(recorded: &[&Side], asked: &[&Side], mut ahead: &[Ahead]) -> u32 {
    let mut score = 0;
    for (asked, recorded) in asked.iter().zip(recorded) {
        match agrees(asked, recorded) {
            Some(agreed) => score += agreed,
            None => return score,
        }
    }
    for recorded in recorded.iter().skip(asked.len()) {
        match find(ahead, &recorded.what) {
            Some(at) => {
                score += if ahead[at].sure {
                    IN_THE_SOURCE
                } else {
                    UNDER_A_CONDITION
                };
                ahead = &ahead[at + 1..];
            }
            None if is_unseen(recorded) => {}
            None => return score,
        }
    }
    score
}

/// The next place of the source at which `what` is asked for, unless something that comes in any case is asked for
/// before.
fn find(ahead: &[Ahead], what: &str) -> Option<usize> {
    for (at, site) in ahead.iter().enumerate() {
        if is(site.what, what) {
            return Some(at);
        }
        if site.sure && !site.guessed && !site.what.is_empty() {
            return None;
        }
    }
    None
}

/// Whether what the source asks for is that. A wait for messages, or a send, has its name in a constant, and what is
/// fulfilled has it in a function: the source does not tell what that is.
fn is(source: &str, what: &str) -> bool {
    let named = || what.strip_prefix(source)?.strip_prefix(" \"");
    let names = [RECEIVE, WAIT_FOR, SEND, SIGNAL, FULFIL];
    source == what || (names.contains(&source) && named().is_some())
}

/// Whether it has no place of its own in the source that is known here.
fn is_unseen(side: &Side) -> bool {
    side.is_end()
        || [
            "drop",
            "taking of ",
            "marker ",
            "random draw",
            "uuid",
            "recorded value ",
            "emit ",
        ]
        .iter()
        .any(|kind| side.what.starts_with(kind))
}

fn without(sides: &[Side], at: usize) -> impl Iterator<Item = &Side> {
    sides
        .iter()
        .enumerate()
        .filter(move |(place, _)| *place != at)
        .map(|(_, side)| side)
}
