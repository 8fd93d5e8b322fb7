//! Why something was not done, and what to do about it from a shell.

use std::fmt;
use std::path::Path;

use perennial_runtime::control::{AskError, Refused};

use super::shell::quoted;

const AGAIN: &str = "send it again: under the same `--key` it is not stored twice";
const VALUE_AGAIN: &str = "give it the same value again: that does no harm if it has it";

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
    pub(super) fn new(store: &Path, error: AskError) -> Self {
        Self::changing(store, error, AGAIN)
    }

    /// Of a value that was to be given.
    pub(super) fn fulfilling(store: &Path, error: AskError) -> Self {
        Self::changing(store, error, VALUE_AGAIN)
    }

    /// Of something that was to be changed. `again`: how to do it again where that may be done.
    fn changing(store: &Path, error: AskError, again: &str) -> Self {
        let may_be_done = error.may_be_done();
        let text = match error {
            AskError::Refused(refused) => told(store, refused, again).to_string(),
            AskError::Lost { reason } => format!(
                "the answer of the program did not come, so it is not known whether this was done: {reason}\n\n\
                 help: {again}"
            ),
            error => error.to_string(),
        };
        Self { text, may_be_done }
    }

    /// Of a run that was to be paused, resumed or forked.
    pub(super) fn steering(store: &Path, error: AskError) -> Self {
        let folder = store.to_string_lossy();
        let again = format!(
            "`perennial show {} <RUN>` tells how the run stands",
            quoted(&folder)
        );
        Self::changing(store, error, &again)
    }

    /// Of a change that a run was asked for: what it knows of that is in its history.
    pub(super) fn asking(store: &Path, error: AskError) -> Self {
        match error {
            AskError::Refused(mut refused) if refused.code == Refused::KEY_TOO_OLD => {
                let store = store.to_string_lossy();
                let store = quoted(&store);
                refused.help = Some(format!(
                    "`perennial history {store} <RUN>` shows what the run has accepted; ask under a new key if it is not \
                     there"
                ));
                let (text, may_be_done) = (refused.to_string(), false);
                Self { text, may_be_done }
            }
            error => Self::new(store, error),
        }
    }

    /// Of something that was to be read.
    pub(super) fn reading(store: &Path, error: AskError) -> Self {
        let text = match error {
            AskError::Lost { reason } => {
                format!("the answer of the program did not come: {reason}\n\nhelp: ask again")
            }
            error => Self::new(store, error).text,
        };
        let may_be_done = false;
        Self { text, may_be_done }
    }

    /// Of something that was followed. `help`: how to go on.
    pub(super) fn following(store: &Path, error: AskError, help: &str) -> Self {
        let text = match error {
            AskError::Lost { reason } => {
                format!("nothing more came from the program: {reason}\n\nhelp: {help}")
            }
            AskError::Refused(mut refused) if refused.code == Refused::STOPPING => {
                refused.help = Some(help.to_owned());
                refused.to_string()
            }
            error => return Self::reading(store, error),
        };
        let may_be_done = false;
        Self { text, may_be_done }
    }
}

/// An error whose help is what can be done here, where that is another thing than a program would do.
fn told(store: &Path, mut refused: Refused, again: &str) -> Refused {
    let store = store.to_string_lossy();
    let store = quoted(&store);
    let help = match &*refused.code {
        Refused::RUN_NOT_FOUND => format!(
            "`perennial list {store}` shows the runs of the default namespace, and `--namespace` names another one"
        ),
        Refused::RUN_FINISHED => format!("`perennial show {store} <RUN>` tells how it ended"),
        Refused::NO_SUCH_EVENT
            if refused
                .help
                .as_deref()
                .is_some_and(|help| help.starts_with("name one")) =>
        {
            format!("name one of them; `perennial history {store} <RUN>` shows them")
        }
        Refused::RUN_PURGED => {
            format!("`perennial list {store}` still tells how and when it ended")
        }
        Refused::INBOX_FULL => format!(
            "`perennial messages {store} <RUN>` shows them; send again when the run has taken some"
        ),
        Refused::KEY_TOO_OLD => format!(
            "`perennial messages {store} <RUN>` shows what the run has; send it under a new key if it is not there"
        ),
        Refused::INVALID_CURSOR => {
            "give `--after` what stands below the page before, as it is".to_owned()
        }
        Refused::UNACKNOWLEDGED => again.to_owned(),
        Refused::NO_SUCH_OPERATION
        | Refused::NOT_A_STUB
        | Refused::OTHER_STUB
        | Refused::VALUE_CONFLICT
        | Refused::OFFER_CLOSED => {
            format!("`perennial waiting {store}` lists what runs wait for, with the references")
        }
        Refused::ITEMS_MISSED => match refused.help.as_deref().and_then(first_kept) {
            Some(after) => format!("go on with what there is: `--after {after}`"),
            None => return refused,
        },
        Refused::NO_SUCH_MESSAGE => match refused.help.as_deref() {
            Some(help) if help.starts_with("there is one called") => help.to_owned(),
            _ => format!("`perennial show {store} <RUN>` tells what the run waits for"),
        },
        _ => return refused,
    };
    refused.help = Some(help);
    refused
}

/// The number after which items are kept, in what a program would do.
fn first_kept(help: &str) -> Option<u64> {
    let (_, number) = help.split_once(".after(")?;
    number.split_once(')')?.0.parse().ok()
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
