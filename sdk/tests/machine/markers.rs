//! Version markers (S36): a test for each row of the table in `machine/markers.rs`, and what they have in common.
//!
//! The code before a change is `flow` of one module, the code after it `flow` of another.

use std::ops::RangeInclusive;

use perennial::history::{Decision, Observation};
use perennial::prelude::*;
use perennial::{Blocked, Incompatible, MarkerMismatch};

use crate::story::{Story, replay, started};

#[activity(idempotent)]
pub(crate) async fn new(_acx: &ActivityCx) -> Result<u32, Failure> {
    Ok(1)
}

/// Asks for a marker where the attribute does not look: most tests are about what it gives, and not about arms.
#[track_caller]
pub(crate) fn version(cx: &Cx, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
    cx.version(id, supported)
}

#[track_caller]
pub(crate) fn version_each(cx: &Cx, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
    cx.version_each(id, supported)
}

/// A workflow `flow` of its own module.
macro_rules! code {
    ($name:ident: $cx:ident => $body:block) => {
        #[allow(dead_code)]
        mod $name {
            #[allow(unused_imports)]
            use super::{new, version, version_each};
            #[allow(unused_imports)]
            use perennial::prelude::*;

            #[workflow]
            pub(super) async fn flow($cx: &Cx) -> Result<Vec<u32>, Error> $body
        }
    };
}

/// The markers of a decision list, as `id version`.
fn markers(decisions: &[Decision]) -> Vec<String> {
    let marker = |decision: &Decision| match decision {
        Decision::Marker { id, version, .. } => Some(format!("{id} {version}")),
        _ => None,
    };
    decisions.iter().filter_map(marker).collect()
}

fn all_markers(story: &Story) -> Vec<String> {
    let units = story.units.iter();
    units.flat_map(|unit| markers(&unit.decisions)).collect()
}

fn misfit(blocked: &Blocked) -> &Incompatible {
    match blocked {
        Blocked::Incompatible(error) => error,
        other => panic!("{other}"),
    }
}

/// The error's text without the lines and columns.
fn text(blocked: &Blocked) -> String {
    let mut parts = Vec::new();
    for (at, part) in blocked.to_string().split(".rs:").enumerate() {
        let digit = |c: char| c.is_ascii_digit() || c == ':';
        let part = if at == 0 {
            part.to_owned()
        } else {
            // What stands behind is moved to a column by their lengths.
            let part = part.trim_start_matches(digit);
            match part.trim_start_matches(' ') {
                rest if part.starts_with("  ") => format!("  {rest}"),
                _ => part.to_owned(),
            }
        };
        parts.push(part);
    }
    parts.join(".rs")
}

fn mismatch(id: &str, recorded: Option<u32>, supported: Option<(u32, u32)>) -> MarkerMismatch {
    MarkerMismatch {
        id: id.into(),
        recorded,
        supported,
    }
}

fn result(story: &Story) -> Vec<u32> {
    story.result::<Vec<u32>, Error>().unwrap()
}

// The code before the change, and what runs of it have recorded.
code!(before: cx => {
    cx.sleep(seconds(1)).await?;
    cx.sleep(seconds(2)).await?;
    Ok(vec![])
});

// The code after it.
code!(sticky: cx => {
    cx.sleep(seconds(1)).await?;
    let first = version(cx, "m", 0..=2);
    cx.sleep(seconds(2)).await?;
    Ok(vec![first, version(cx, "m", 0..=2)])
});

mod bounds;
mod each_call;
mod first_value;
mod gone;
