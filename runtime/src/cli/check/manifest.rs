//! Whether a program has what its workflows need, and what it has that they do not.

use std::collections::BTreeSet;

use perennial::CalleeKind;

use super::{Check, CheckState};
use crate::builder::Builder;
use crate::words::{counted, verb};

const NAME: &str = "manifest";

pub(super) fn check(builder: &Builder) -> Check {
    let registry = &builder.registry;
    let workflows = counted(registry.workflows.len() as u64, "workflow");
    let activities = registry.activities.len();
    let noun = verb(activities as u64, "activity", "activities");
    let summary = format!("{workflows}, {activities} {noun}");
    let mut check = match builder.check() {
        Ok(()) => Check::new(NAME, CheckState::Well, summary),
        Err(incomplete) => {
            let summary = format!("{summary}, and something is missing");
            Check::new(NAME, CheckState::Wrong, summary).wrong(incomplete.to_string())
        }
    };
    check.remarks.extend(unused(builder));
    check.remarks.extend(dead_markers(builder));
    check
}

/// Activities that no workflow calls, as far as the source tells.
fn unused(builder: &Builder) -> Option<String> {
    let registry = &builder.registry;
    let callees = registry.workflows.values();
    let callees = callees.flat_map(|workflow| workflow.graph.callees);
    let called: BTreeSet<_> = callees
        .filter(|callee| callee.kind == CalleeKind::Activity)
        .map(|callee| callee.name)
        .collect();
    let unused: BTreeSet<_> = registry
        .activities
        .keys()
        .filter(|name| !called.contains(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    let list: Vec<_> = unused.into_iter().collect();
    (!list.is_empty()).then(|| {
        format!(
            "no workflow here is seen to call {}; a run that is open may still wait for one of them, and functions \
             of other packages may call them",
            list.join(", ")
        )
    })
}

/// Markers that leave no choice: one version is left of each.
fn dead_markers(builder: &Builder) -> BTreeSet<String> {
    let workflows = builder.registry.workflows.values();
    let markers = workflows.flat_map(|workflow| {
        let markers = workflow.graph.markers.iter();
        markers.map(move |marker| (workflow.name, marker))
    });
    let dead = markers.filter(|(_, marker)| marker.lowest == marker.highest);
    dead.map(|(workflow, marker)| {
        format!(
            "the marker `{}` of `{workflow}` is dead: version {} is the only one left, so that its call decides \
             nothing\n\nhelp: take the call out; `perennial lock --accept {workflow}` then keeps the marker as \
             retired, so that runs that have it go on",
            marker.id.escape_debug(),
            marker.highest
        )
    })
    .collect()
}
