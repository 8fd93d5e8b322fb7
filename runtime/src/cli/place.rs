//! Where runs do not fit: what is the same for all to which the same has happened.

use perennial::history::CallSite;
use perennial::{Blocked, Incompatible, IncompatibleKind, Side};
use serde::Deserialize;

use crate::store::BlockedRecord;

/// Where a run does not fit. What differs from run to run, such as its id, its input and how often it went around a
/// loop, is not in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) workflow: String,
    pub(super) code: String,
    recorded: Option<String>,
    asked: Option<String>,
    detail: Option<String>,
}

impl Place {
    /// Of an error that has nothing but its code.
    pub(super) fn bare(workflow: &str, code: &str) -> Self {
        Self {
            workflow: workflow.to_owned(),
            code: code.to_owned(),
            recorded: None,
            asked: None,
            detail: None,
        }
    }

    pub(super) fn of(workflow: &str, error: &Blocked) -> Self {
        let mut place = Self::bare(workflow, error.code());
        match error {
            Blocked::Incompatible(error) => place.incompatible(error),
            Blocked::Panicked(error) => {
                place.asked = error.site.as_ref().map(ToString::to_string);
                place.detail = Some(error.message.clone());
            }
            Blocked::Runaway(error) => place.detail = Some(error.what.to_owned()),
            Blocked::NotDurable(error) => {
                place.asked = error.site.as_ref().map(ToString::to_string);
            }
            Blocked::Unstorable(error) => place.detail = Some(error.what.clone()),
            _ => {}
        }
        place
    }

    /// Of an error as a store has it: by its fields, as far as they are those of this software.
    pub(super) fn of_record(workflow: &str, record: &BlockedRecord) -> Self {
        let mut place = Self::bare(workflow, &record.code);
        match record.details.decode::<Details>() {
            Ok(Details::Incompatible(error)) => place.incompatible(&error),
            Ok(
                Details::Panicked(fault)
                | Details::Runaway(fault)
                | Details::NotDurable(fault)
                | Details::Unstorable(fault),
            ) => {
                place.asked = fault.site.as_ref().map(ToString::to_string);
                place.detail = fault.message.or(fault.what);
            }
            Err(_) => {}
        }
        place
    }

    fn incompatible(&mut self, error: &Incompatible) {
        // What stands under a checksum or a number is one run's alone.
        let own = matches!(
            error.kind,
            IncompatibleKind::Damaged | IncompatibleKind::Gap
        );
        self.recorded = error.recorded.as_ref().map(side);
        self.asked = error.asked.as_ref().map(side);
        if let Some(marker) = &error.marker {
            self.detail = Some(format!("{marker:?}"));
        } else if self.recorded.is_none() && self.asked.is_none() && !own {
            self.detail.clone_from(&error.detail);
        }
    }
}

/// The fields of [`Blocked`] that tell one error from another.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Details {
    Incompatible(Box<Incompatible>),
    Panicked(Fault),
    Runaway(Fault),
    NotDurable(Fault),
    Unstorable(Fault),
}

#[derive(Deserialize)]
struct Fault {
    site: Option<CallSite>,
    message: Option<String>,
    what: Option<String>,
}

fn side(side: &Side) -> String {
    match &side.site {
        Some(site) => format!("{} at {site}", side.what),
        None => side.what.clone(),
    }
}
