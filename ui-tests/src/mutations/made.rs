//! Mutants that are made by machine: each statement deleted, doubled, and changed with its neighbour; each await
//! skipped; each activity replaced by its twin; each condition negated, each number one more, the parts of each
//! `join!` and `select!` and the arms of each `match` in another order.
//!
//! Not all of them compile. What of the others decides something else must be found by the lock or in a replay.

use std::ops::Range;

use super::places::{Places, Statement};
use super::twins::twin;

/// A mutant that was made by machine.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) kind: &'static str,
    pub(super) what: String,
    pub(super) source: String,
}

/// All that can be made of a source.
pub(super) fn all(source: &str) -> Result<Vec<Made>, syn::Error> {
    let places = Places::of(&syn::parse_file(source)?);
    let mut maker = Maker {
        source,
        made: Vec::new(),
    };
    for statement in places.blocks.iter().flatten().filter(|s| !s.is_tail) {
        let code = &source[statement.place.clone()];
        if !statement.is_let {
            maker.make("delete", &statement.place, String::new());
        }
        maker.make("double", &statement.place, format!("{code}\n{code}"));
    }
    for pair in places.blocks.iter().flat_map(|block| block.windows(2)) {
        if let [one, other] = pair
            && !other.is_tail
        {
            maker.swap("swap", one, other);
        }
    }
    for (whole, awaited) in &places.awaits {
        let awaited = &source[awaited.clone()];
        maker.make("skip", whole, format!("crate::skipped::skipped({awaited})"));
    }
    for (place, name) in &places.calls {
        maker.make("rename", place, twin(name));
    }
    for condition in &places.conditions {
        let code = &source[condition.clone()];
        maker.make("negate", condition, format!("!({code})"));
    }
    for (place, number) in &places.numbers {
        maker.make("count", place, (number + 1).to_string());
    }
    for pair in places.lists.iter().flat_map(|list| list.windows(2)) {
        if let [one, other] = pair {
            maker.exchange("arms", one, other);
        }
    }
    Ok(maker.made)
}

struct Maker<'a> {
    source: &'a str,
    made: Vec<Made>,
}

impl Maker<'_> {
    fn make(&mut self, kind: &'static str, place: &Range<usize>, code: String) {
        let source = self.source;
        let (before, after) = (&source[..place.start], &source[place.end..]);
        self.made.push(Made {
            kind,
            what: self.shown(place),
            source: format!("{before}{code}{after}"),
        });
    }

    fn swap(&mut self, kind: &'static str, one: &Statement, other: &Statement) {
        self.exchange(kind, &one.place, &other.place);
    }

    fn exchange(&mut self, kind: &'static str, one: &Range<usize>, other: &Range<usize>) {
        let source = self.source;
        let between = &source[one.end..other.start];
        let (first, second) = (&source[one.clone()], &source[other.clone()]);
        self.make(
            kind,
            &(one.start..other.end),
            format!("{second}{between}{first}"),
        );
    }

    /// The line of a place, and how its code begins.
    fn shown(&self, place: &Range<usize>) -> String {
        let line = 1 + self.source[..place.start].matches('\n').count();
        let code = self.source[place.clone()].split_whitespace();
        let code = code.collect::<Vec<_>>().join(" ");
        let mut short: String = code.chars().take(40).collect();
        if short.len() < code.len() {
            short.push_str("..");
        }
        format!("{line} `{short}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
#[workflow]
async fn a(cx: &Cx) -> Result<(), Error> {
    let b = one(cx, 1).await?;
    if b > 2 {
        two(cx).await?;
    }
    join!(three(cx), async { four(cx).await });
    Ok(())
}
";

    fn made(kind: &str) -> Vec<String> {
        let made = all(SOURCE).expect("it can be read");
        let made = made.into_iter().filter(|made| made.kind == kind);
        made.map(|made| made.source).collect()
    }

    #[test]
    fn each_place_is_changed_once() {
        assert_eq!(made("delete").len(), 3);
        assert_eq!(made("double").len(), 4);
        assert_eq!(made("swap").len(), 2);
        assert_eq!(made("skip").len(), 3);
        assert_eq!(made("rename").len(), 4);
        assert_eq!(made("negate").len(), 1);
        assert_eq!(made("count").len(), 2);
        assert_eq!(made("arms").len(), 1);
    }

    #[test]
    fn the_change_is_where_it_should_be() {
        assert!(made("negate")[0].contains("if !(b > 2) {"));
        assert!(made("arms")[0].contains("join!(async { four(cx).await }, three(cx));"));
        assert!(made("skip")[0].contains("let b = crate::skipped::skipped(one(cx, 1))?;"));
        assert!(made("rename")[3].contains("crate::twins::twin_of_four(cx).await"));
        assert!(
            made("swap")[0].find("two").unwrap_or(0) < made("swap")[0].find("let b").unwrap_or(0)
        );
    }
}
