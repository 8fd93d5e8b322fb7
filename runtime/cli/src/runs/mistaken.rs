//! Names that are something else than what they were taken for: a message that is a signal, or a stub.

use std::path::Path;

use perennial::history::Channel;
use perennial_runtime::Awaits;
use perennial_runtime::control::{RunDetails, Tell};

use super::inert::line;
use super::reference::reference;
use super::shell;

/// A value of so many characters, at most, stands in a command line that is shown.
const LONGEST: usize = 200;

/// What the name of something that was sent is instead, as far as that is known, with the command that does it. `None`:
/// nothing else is known by that name, or the run waits for it as it was sent.
pub(super) fn instead(
    store: &Path,
    details: &RunDetails,
    tell: &Tell,
    payload: &str,
) -> Option<String> {
    if awaits(details, tell.channel, &tell.name) {
        return None;
    }
    let (name, run) = (line(&tell.name), &details.info.run);
    // Nobody reads a command line of pages.
    let payload = match payload.chars().nth(LONGEST) {
        Some(_) => "JSON",
        None => payload,
    };
    // One that has its value is not waited for, though the run was not told of it yet.
    let is_answered = |operation: u64| {
        let mut queue = details.queue.iter();
        queue.any(|row| row.observation.operation() == Some(operation))
    };
    let mut open = details.offers.iter();
    let open = open.find(|offer| offer.stub == tell.name && !is_answered(offer.reference.number));
    if let Some(open) = open {
        let reference = reference(run, open.reference.number);
        let words = [&*reference, &*tell.name, payload];
        // A reference says itself of which namespace it is.
        let line = shell::within("fulfil", store, &perennial::Namespace::default(), &words);
        return Some(format!(
            "\"{name}\" is a stub, and {reference} is a call of it that is open: {}",
            shown(line)
        ));
    }
    if details.stubs.iter().any(|stub| stub.name == tell.name) {
        let line = shell::within("waiting", store, &run.namespace, &[]);
        return Some(format!(
            "\"{name}\" is a stub, of which run {run} has no open call now; {} lists those that are open",
            shown(line)
        ));
    }
    let (other, kind, command) = match tell.channel {
        Channel::Message => (Channel::Signal, "signal", "signal"),
        Channel::Signal => (Channel::Message, "message", "send"),
    };
    awaits(details, other, &tell.name).then(|| {
        let line = shell::with(command, store, run, &[&tell.name, payload]);
        format!("\"{name}\" is a {kind}: {}", shown(line))
    })
}

/// Whether the run waits for it now, or its workflow is known to wait for it somewhere.
fn awaits(details: &RunDetails, channel: Channel, name: &str) -> bool {
    let mut receives = details.receives.iter();
    waits_now(&details.info.awaits, channel, name)
        || receives.any(|known| known.channel == channel && known.name == name)
}

/// Whether a run waits now for something of that name.
pub(super) fn waits_now(awaits: &Awaits, channel: Channel, name: &str) -> bool {
    let awaited = match channel {
        Channel::Message => &awaits.messages,
        Channel::Signal => &awaits.signals,
    };
    awaited.iter().any(|awaited| awaited == name)
}

/// A command line, or why there is none.
fn shown(line: Result<String, String>) -> String {
    line.map_or_else(|why| why, |line| format!("`{line}`"))
}
