//! Why something was not done, and what to do about it from a shell.

use std::fmt;
use std::path::Path;

use perennial::{Namespace, RunKey};
use perennial_runtime::control::{AskError, Refused};

use super::shell;

const AGAIN: &str = "send it again: under the same `--key` it is not stored twice";
const ASK_AGAIN: &str = "ask again: under the same `--key` it is not done twice";
const VALUE_AGAIN: &str = "give it the same value again: that does no harm if it has it";

/// What a command was about: an error names the commands that help there.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    store: &'a Path,
    run: Option<&'a RunKey>,
}

impl<'a> About<'a> {
    /// Of no single run.
    pub(super) fn store(store: &'a Path) -> Self {
        Self { store, run: None }
    }

    pub(super) fn run(store: &'a Path, run: &'a RunKey) -> Self {
        let run = Some(run);
        Self { store, run }
    }

    /// The command that does this with the run.
    pub(super) fn command(self, kind: &str) -> String {
        let line = self.run.map(|run| shell::about(kind, self.store, run));
        match line {
            Some(Ok(line)) => format!("`{line}`"),
            _ => format!("`perennial {kind}`"),
        }
    }

    /// The command that does this with the namespace of the run.
    fn command_within(self, kind: &str) -> String {
        let namespace = self.namespace();
        match shell::within(kind, self.store, &namespace, &[]) {
            Ok(line) => format!("`{line}`"),
            Err(_) => format!("`perennial {kind}`"),
        }
    }

    fn namespace(self) -> Namespace {
        let namespace = self.run.map(|run| run.namespace.clone());
        namespace.unwrap_or_default()
    }
}

/// Why something was not done, or is not known to be.
#[derive(Debug)]
pub(crate) struct NotDone {
    text: String,
    /// It may have been done all the same.
    may_be_done: bool,
}

impl NotDone {
    pub(crate) fn may_be_done(&self) -> bool {
        self.may_be_done
    }

    /// Of something that was to be sent.
    pub(super) fn new(about: About<'_>, error: AskError) -> Self {
        Self::changing(about, error, AGAIN)
    }

    /// Of a value that was to be given.
    pub(super) fn fulfilling(about: About<'_>, error: AskError) -> Self {
        match error {
            AskError::Refused(mut refused) if refused.code == Refused::RUN_MIGRATED => {
                let show = about.command("show");
                refused.help = Some(format!("{show} names the run that goes on in its place"));
                let (text, may_be_done) = (refused.to_string(), false);
                Self { text, may_be_done }
            }
            error => Self::changing(about, error, VALUE_AGAIN),
        }
    }

    /// Of something that was to be changed. `again`: how to do it again where that may be done.
    fn changing(about: About<'_>, error: AskError, again: &str) -> Self {
        let may_be_done = error.may_be_done();
        let text = match error {
            AskError::Refused(refused) => told(about, refused, again).to_string(),
            AskError::Lost { reason } => format!(
                "the answer of the program did not come, so it is not known whether this was done: {reason}\n\n\
                 help: {again}"
            ),
            error => error.to_string(),
        };
        Self { text, may_be_done }
    }

    /// Of a run that was to be paused, resumed or forked.
    pub(super) fn steering(about: About<'_>, error: AskError) -> Self {
        let again = format!("{} tells how the run stands", about.command("show"));
        Self::changing(about, error, &again)
    }

    /// Of a change that a run was asked for: what it knows of that is in its history.
    pub(super) fn asking(about: About<'_>, error: AskError) -> Self {
        match error {
            AskError::Refused(mut refused) if refused.code == Refused::KEY_TOO_OLD => {
                refused.help = Some(format!(
                    "{} shows what the run has accepted; ask under a new key if it is not there",
                    about.command("history")
                ));
                let (text, may_be_done) = (refused.to_string(), false);
                Self { text, may_be_done }
            }
            error => Self::changing(about, error, ASK_AGAIN),
        }
    }

    /// Of something that was to be read.
    pub(super) fn reading(about: About<'_>, error: AskError) -> Self {
        let text = match error {
            AskError::Lost { reason } => {
                format!("the answer of the program did not come: {reason}\n\nhelp: ask again")
            }
            error => Self::new(about, error).text,
        };
        let may_be_done = false;
        Self { text, may_be_done }
    }

    /// Of something that was followed. `help`: how to go on.
    pub(super) fn following(about: About<'_>, error: AskError, help: &str) -> Self {
        let text = match error {
            AskError::Lost { reason } => {
                format!("nothing more came from the program: {reason}\n\nhelp: {help}")
            }
            AskError::Refused(mut refused) if refused.code == Refused::STOPPING => {
                refused.help = Some(help.to_owned());
                refused.to_string()
            }
            error => return Self::reading(about, error),
        };
        let may_be_done = false;
        Self { text, may_be_done }
    }
}

/// An error whose help is what can be done here, where that is another thing than a program would do.
fn told(about: About<'_>, mut refused: Refused, again: &str) -> Refused {
    // A name that is like the one that was given is the same help everywhere.
    if refused.closest.is_some() {
        return refused;
    }
    let help = match &*refused.code {
        Refused::RUN_NOT_FOUND => {
            let list = about.command_within("list");
            let namespace = about.namespace();
            match namespace == Namespace::default() {
                true => format!(
                    "{list} shows the runs of the default namespace, and `--namespace` names another one"
                ),
                false => format!("{list} shows the runs of the namespace {namespace}"),
            }
        }
        Refused::RUN_FINISHED => format!("{} tells how it ended", about.command("show")),
        Refused::RUN_BLOCKED => format!(
            "{} has the whole error, and what to do about it; ask again when the run goes on",
            about.command("show")
        ),
        Refused::RUN_PAUSED => {
            format!("{} lets it go on; then ask again", about.command("resume"))
        }
        Refused::NO_SUCH_EVENT => {
            format!("name one of them; {} shows them", about.command("history"))
        }
        Refused::NO_EVENTS => "begin a run with the same input".to_owned(),
        Refused::RUN_PURGED => {
            format!("{} still tells how and when it ended", about.command_within("list"))
        }
        Refused::INBOX_FULL => format!(
            "{} shows them; send again when the run has taken some",
            about.command("messages")
        ),
        Refused::KEY_TOO_OLD => format!(
            "{} shows what the run has; send it under a new key if it is not there",
            about.command("messages")
        ),
        Refused::INVALID_CURSOR => {
            "give `--after` what stands below the page before, as it is".to_owned()
        }
        Refused::BOTH_DIRECTIONS => {
            "read on with `--after` the last number of the page before, or back with `--before` its first".to_owned()
        }
        Refused::UNACKNOWLEDGED => again.to_owned(),
        Refused::NO_SUCH_OPERATION
        | Refused::NOT_A_STUB
        | Refused::OTHER_STUB
        | Refused::VALUE_CONFLICT
        | Refused::OFFER_CLOSED => format!(
            "{} lists what runs wait for, with the references",
            about.command_within("waiting")
        ),
        Refused::ITEMS_MISSED => match refused.kept_after {
            Some(after) => format!("go on with what there is: `--after {after}`"),
            None => return refused,
        },
        Refused::NO_SUCH_MESSAGE => {
            format!("{} tells what the run waits for", about.command("show"))
        }
        Refused::NO_HANDLER => format!(
            "a run handles an update once its workflow has come to where it does so; ask again then: {} tells where \
             it is",
            about.command("show")
        ),
        Refused::NO_SUCH_UPDATE => {
            "only what the code of the workflow handles can be asked for".to_owned()
        }
        Refused::VALIDATOR_PANICKED => {
            "the run is as it was and goes on; the code that says whether it may be is to be repaired"
                .to_owned()
        }
        Refused::NO_SUCH_STREAM | Refused::NO_SUCH_VIEW => {
            format!("{} tells what the run shows and gives out", about.command("show"))
        }
        _ => return refused,
    };
    refused.help = Some(help);
    refused
}

/// Arguments that do not go together, or cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable(pub(super) String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

impl fmt::Display for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for NotDone {}

#[cfg(test)]
mod tests;
