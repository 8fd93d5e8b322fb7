//! Where in the source the code stands when a history does not fit, and what follows there.
//!
//! An await that is not ready returns from the innermost outwards. After a first difference those are noted, as far
//! as they belong to the same task: the first of each function is where that function stands.

use std::cell::{Cell, RefCell};

use super::state::State;
use crate::incompatible::{Ahead, Evidence};
use crate::workflow::Site;

thread_local! {
    /// The await that was found not to be ready last.
    static PENDING: Cell<Option<&'static Site>> = const { Cell::new(None) };
    /// How many tasks are polled, one inside the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// In the task of that depth awaits are noted.
    static NOTED: Cell<Option<usize>> = const { Cell::new(None) };
    static TRAIL: RefCell<Vec<&'static Site>> = const { RefCell::new(Vec::new()) };
}

/// The longest trail. Awaits that stand deeper inside each other are not noted.
const LONGEST: usize = 64;
/// How many sites are looked at.
const MOST_AHEAD: usize = 64;

/// Before a unit.
pub(super) fn reset() {
    PENDING.set(None);
    DEPTH.set(0);
    NOTED.set(None);
    TRAIL.with_borrow_mut(Vec::clear);
}

/// An await is not ready.
pub(crate) fn pending(site: &'static Site) {
    PENDING.set(Some(site));
    if NOTED.get() == Some(DEPTH.get()) {
        TRAIL.with_borrow_mut(|trail| {
            if trail.len() < LONGEST {
                trail.push(site);
            }
        });
    }
}

/// A difference was found: awaits are noted from here on.
pub(super) fn begin() {
    NOTED.set(Some(DEPTH.get()));
}

/// Polls a task, the workflow's function among them.
pub(super) fn task<T>(poll: impl FnOnce() -> T) -> T {
    DEPTH.set(DEPTH.get() + 1);
    let result = poll();
    if NOTED.get() == Some(DEPTH.get()) {
        // Nothing has this depth.
        NOTED.set(Some(0));
    }
    DEPTH.set(DEPTH.get() - 1);
    result
}

impl State {
    /// Adds what follows in the source to what replay has seen.
    pub(super) fn look_at_the_source(&self, evidence: &mut Evidence) {
        let trail = TRAIL.with_borrow(Clone::clone);
        let trail = match (trail.is_empty(), evidence.asked.is_empty()) {
            // The code waits, or has ended.
            (true, true) => PENDING.get().into_iter().collect(),
            _ => trail,
        };
        let drawn = self.drawn(evidence, &trail);
        let mut stands: Vec<&'static Site> = drawn.into_iter().collect();
        let noted = trail.clone();
        for site in trail {
            // The first of a function is the innermost.
            if !stands.iter().any(|known| std::ptr::eq(known.all, site.all)) {
                stands.push(site);
            }
        }
        // What is on the trail was asked for, and noted, or is waited for since before.
        let noted = if evidence.asked_all {
            noted
        } else {
            Vec::new()
        };
        for site in &stands {
            self.follow(site, &noted, evidence);
        }
    }

    /// The site of the draw at which the difference is: nothing waits there.
    fn drawn(&self, evidence: &Evidence, trail: &[&'static Site]) -> Option<&'static Site> {
        let place = evidence.asked.first()?.site.as_ref()?;
        let near = super::waits::passed();
        let all = trail.iter().copied().chain(near).flat_map(|site| site.all);
        let mut found = all.filter(|site| {
            site.line == place.line
                && site.column == place.column
                && self.call_site(site).file == place.file
        });
        found.next()
    }

    fn follow(&self, site: &'static Site, noted: &[&'static Site], evidence: &mut Evidence) {
        // A durable function asks for several things, one of them at a time.
        let of = |site: &'static Site, sure: bool| {
            site.asks.split('\n').map(move |asks| Ahead {
                what: asks.trim_end_matches('?'),
                guessed: asks.ends_with('?'),
                site: self.call_site(site),
                sure,
            })
        };
        evidence
            .mentioned
            .extend(site.all.iter().map(|site| site.asks));
        let here: Vec<&'static str> = scopes(site.scope).collect();
        let elsewhere = site
            .all
            .iter()
            .filter(|other| follows(&here, other.scope) == Follows::Never);
        evidence
            .elsewhere
            .extend(elsewhere.take(MOST_AHEAD).flat_map(|site| of(site, false)));
        let mut ahead: Vec<Ahead> = Vec::new();
        let after = &site.all[site.at + 1..];
        // From the innermost loop outwards: what is left of its body, then the body again.
        let mut done = 0;
        let mut inner = here.len();
        loop {
            let around = here[..inner].iter().rposition(|scope| is_loop(scope));
            let within = around.map_or(0, |at| at + 1);
            let belongs = |other: &Site| {
                scopes(other.scope)
                    .take(within)
                    .eq(here[..within].iter().copied())
            };
            for other in after.iter().skip(done).take_while(|other| belongs(other)) {
                done += 1;
                if noted.iter().any(|noted| std::ptr::eq(*noted, other)) {
                    continue;
                }
                match follows(&here, other.scope) {
                    Follows::Never => {}
                    told => ahead.extend(of(other, told == Follows::Surely)),
                }
            }
            let Some(around) = around else { break };
            let again = site.all[..=site.at].iter().filter(|other| belongs(other));
            ahead.extend(again.flat_map(|other| of(other, false)));
            inner = around;
        }
        let room = MOST_AHEAD.saturating_sub(evidence.ahead.len());
        evidence.ahead.extend(ahead.into_iter().take(room));
    }
}

fn scopes(scope: &'static str) -> impl Iterator<Item = &'static str> {
    scope.split(' ').filter(|scope| !scope.is_empty())
}

fn is_loop(scope: &str) -> bool {
    scope.ends_with(['*', '@'])
}

#[derive(Debug, PartialEq)]
enum Follows {
    /// In any case, unless the function returns before.
    Surely,
    Perhaps,
    /// It is in another branch.
    Never,
}

/// Whether what stands further on comes after what stands here.
fn follows(here: &[&str], there: &'static str) -> Follows {
    let there: Vec<_> = scopes(there).collect();
    let common = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let (here, there) = (&here[common..], &there[common..]);
    let branch = |scope: &str| scope.split_once('.').map(|(group, _)| group.to_owned());
    match (here.first(), there.first()) {
        (Some(here), Some(there)) if branch(here).is_some() && branch(here) == branch(there) => {
            Follows::Never
        }
        // Blocks beside each other go on at the same time.
        (Some(here), Some(there)) if here.ends_with('&') && there.ends_with('&') => {
            Follows::Perhaps
        }
        _ if there.iter().all(|scope| scope.ends_with(['&', '@'])) => Follows::Surely,
        _ => Follows::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::{Follows, follows, scopes};

    #[test]
    fn what_follows_is_told_by_what_encloses_it() {
        let told = |here: &'static str, there: &'static str| {
            follows(&scopes(here).collect::<Vec<_>>(), there)
        };
        for (here, there) in [
            ("", ""),
            ("1.0", ""),
            ("1.0", "1.0"),
            ("1*", ""),
            ("", "1&"),
            ("", "1@"),
        ] {
            assert_eq!(told(here, there), Follows::Surely, "{here} then {there}");
        }
        for (here, there) in [
            ("", "1.0"),
            ("", "1*"),
            ("1.0", "1.0 2.1"),
            ("1&", "2&"),
            ("", "1?"),
            ("1.0", "2.1"),
        ] {
            assert_eq!(told(here, there), Follows::Perhaps, "{here} then {there}");
        }
        for (here, there) in [("1.0", "1.1"), ("1.0 3.2", "1.1"), ("1.0", "1.2 2*")] {
            assert_eq!(told(here, there), Follows::Never, "{here} then {there}");
        }
    }
}
