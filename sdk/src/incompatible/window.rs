//! The window of an error: the next few decisions of both sides beside each other (S17).

use super::classify::Ahead;
use super::{IncompatibleKind, Side};

/// How many decisions of a side are kept in an error.
const KEPT: usize = 4;

/// A row of the window: what stands on either side.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) recorded: Option<&'a Side>,
    pub(super) asked: Option<&'a Side>,
    /// Whether the two differ, or one is missing.
    pub(super) differs: bool,
}

/// The two sides beside each other: what is the same in one row, where that is what the kind claims.
pub(super) fn rows<'a>(
    kind: IncompatibleKind,
    recorded: &'a [Side],
    asked: &'a [Side],
) -> Vec<Row<'a>> {
    use IncompatibleKind as Kind;
    let mut rows = Vec::new();
    let mut skipped = |recorded: &'a [Side], asked: &'a [Side]| {
        for at in 0..recorded.len().max(asked.len()) {
            rows.push(Row {
                recorded: recorded.get(at),
                asked: asked.get(at),
                differs: true,
            });
        }
    };
    let pair = match kind {
        Kind::Inserted => asked
            .iter()
            .skip(1)
            .position(|a| recorded.first().is_some_and(|r| r.what == a.what))
            .map(|at| (0, at + 1)),
        Kind::Removed => recorded
            .iter()
            .skip(1)
            .position(|r| asked.first().is_some_and(|a| r.what == a.what))
            .map(|at| (at + 1, 0)),
        _ => None,
    };
    let (r, a) = match (pair, kind) {
        (Some((r, a)), _) => {
            skipped(&recorded[..r], &asked[..a]);
            (r, a)
        }
        // All that is asked for was inserted, or all that was recorded is gone.
        (None, Kind::Inserted) if recorded.is_empty() => {
            skipped(&[], asked);
            return rows;
        }
        _ => (0, 0),
    };
    for at in 0..(recorded.len() - r).max(asked.len() - a) {
        let (recorded, asked) = (recorded.get(r + at), asked.get(a + at));
        rows.push(Row {
            recorded,
            asked,
            // Further on it is known from the source alone, and may be passed over.
            differs: at == 0 && r + a == 0,
        });
    }
    rows
}

/// What stands for all that may be asked for and cannot be told from the source, as in a `#[durable]` function or
/// under a condition.
const NOT_TOLD: &str = "…";

/// What the source says is asked for, as a side of the window.
pub(super) fn kept(sides: &[Side], ahead: &[Ahead]) -> Vec<Side> {
    let mut kept = sides.to_vec();
    for ahead in ahead {
        let is_told = ahead.sure && !ahead.guessed && !ahead.what.is_empty();
        if is_told {
            kept.push(Side {
                what: ahead.what.to_owned(),
                name: (ahead.what.strip_prefix("activity "))
                    .or_else(|| ahead.what.strip_prefix("stub "))
                    .map(str::to_owned),
                site: Some(ahead.site.clone()),
                ..Side::default()
            });
        } else if kept.last().is_some_and(|last| last.what != NOT_TOLD) {
            kept.push(Side {
                what: NOT_TOLD.to_owned(),
                ..Side::default()
            });
        }
    }
    kept.into_iter().take(KEPT).map(Side::brief).collect()
}
