//! Why a program cannot be asked, or cannot let itself be asked.

use std::fmt;
use std::path::PathBuf;

use super::refused::Refused;
use crate::store::OpenError;
use crate::store::export::Unreadable;

/// Why a program has no control socket. It was not started.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlError {
    /// Its store is in no folder.
    NoFolder,
    /// This system has no Unix sockets.
    Unsupported,
    /// The path of the socket is longer than the system takes.
    TooLong {
        /// The path.
        path: PathBuf,
        /// How many bytes it may have.
        limit: usize,
    },
    /// The system said no.
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => f.write_str(
                "the program is to have a control socket, which stands in the folder of its store, but its store is \
                 in no folder\n\n\
                 help: keep runs in a folder, `Runtime::builder(\"./data\")`, or leave out `.control_socket()`",
            ),
            Self::Unsupported => f.write_str(
                "the program is to have a control socket, and this system has no Unix sockets\n\n\
                 help: leave out `.control_socket()` here: `#[cfg(unix)]`",
            ),
            Self::TooLong { path, limit } => too_long(
                f,
                path,
                *limit,
                "give the builder a shorter path to the same folder: one that is counted from where the program is \
                 started, `Runtime::builder(\"./data\")`, or a link to it, `ln -s <folder> /run/shop`",
            ),
            Self::Io { path, what, error } => write!(
                f,
                "there is no control socket {}, since {what} failed: {error}\n\n\
                 help: the folder must be one in which the program may make files, on a file system that has sockets; \
                 leave out `.control_socket()` where it is not",
                path.display()
            ),
        }
    }
}

fn too_long(
    f: &mut fmt::Formatter<'_>,
    path: &std::path::Path,
    limit: usize,
    help: &str,
) -> fmt::Result {
    write!(
        f,
        "the path of the control socket {} has {} bytes, and this system takes at most {limit}\n\nhelp: {help}",
        path.display(),
        path.as_os_str().len()
    )
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ControlError {}

/// Why something that was asked for was not done, or is not known to be.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// It was refused: nothing was changed, unless it [may be done](Refused::may_be_done) all the same.
    Refused(Refused),
    /// A program has the store open, and cannot be asked: it has no control socket.
    NoSocket {
        /// The store's folder.
        folder: PathBuf,
        /// The number of the process, where it can be read.
        process: Option<u32>,
    },
    /// The path of the socket is longer than the system takes.
    TooLong {
        /// The path.
        path: PathBuf,
        /// How many bytes it may have.
        limit: usize,
    },
    /// The program cannot be reached, though it has a socket.
    Unreachable {
        /// The path of the socket.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// What is at the socket is no program that this one understands.
    NotUnderstood {
        /// The path of the socket.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// The program was asked, and its answer did not come: whether it was done is not known.
    Lost {
        /// What happened.
        reason: String,
    },
    /// The store cannot be opened.
    Open(OpenError),
    /// The export cannot be read.
    Export(Unreadable),
    /// There is neither a store nor an export.
    Missing {
        /// Where.
        path: PathBuf,
    },
}

impl AskError {
    /// Whether it may have been done all the same.
    #[must_use]
    pub fn may_be_done(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.may_be_done(),
            Self::Lost { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::NoSocket { folder, process } => {
                let process =
                    process.map_or("another process".into(), |id| format!("process {id}"));
                write!(
                    f,
                    "the store {} is in use by {process}, which has no control socket to be asked through\n\n\
                     help: if it is just starting or ending, try again; else add `.control_socket()` to the builder of \
                     its runtime, and start it again; or stop it, and the store is opened without it; `runtime.export(..)` in that program \
                     writes an export, which can be looked at",
                    folder.display()
                )
            }
            Self::TooLong { path, limit } => too_long(
                f,
                path,
                *limit,
                "go to a folder near it and name the store from there, `cd <folder above> && perennial .. ./data`",
            ),
            Self::Unreachable { path, error } => write!(
                f,
                "the program at {} cannot be reached: {error}\n\n\
                 help: its socket is for the user alone who has started it, and for root",
                path.display()
            ),
            Self::NotUnderstood { path, problem } => write!(
                f,
                "what answers at {} is not understood: {problem}\n\n\
                 help: use the command `perennial` and the crate `perennial-runtime` of the same version",
                path.display()
            ),
            Self::Lost { reason } => write!(
                f,
                "the program was asked, and its answer did not come, so it is not known whether this was done: \
                 {reason}\n\n\
                 help: ask again; a message that was sent under a key is not stored twice under the same one"
            ),
            Self::Open(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::Missing { path } => write!(
                f,
                "there is nothing at {}\n\nhelp: name the folder of a store, or an export",
                path.display()
            ),
        }
    }
}

/// As its text: a test that unwraps it shows it like this.
impl fmt::Debug for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for AskError {}

impl From<Refused> for AskError {
    fn from(error: Refused) -> Self {
        Self::Refused(error)
    }
}

impl From<Unreadable> for AskError {
    fn from(error: Unreadable) -> Self {
        Self::Export(error)
    }
}

impl From<OpenError> for AskError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_says_what_happened_and_what_to_do() {
        let path = || PathBuf::from("data/control.socket");
        let limit = 107;
        let io = ControlError::Io {
            path: path(),
            what: "making it",
            error: "Operation not permitted (os error 1)".into(),
        };
        let control = [
            ControlError::NoFolder,
            ControlError::Unsupported,
            ControlError::TooLong {
                path: path(),
                limit,
            },
            io,
        ];
        let folder = || PathBuf::from("data");
        let ask = [
            AskError::Refused(Refused::new(Refused::BUSY, "it is busy\n\nhelp: wait")),
            AskError::NoSocket {
                folder: folder(),
                process: Some(4_711),
            },
            AskError::NoSocket {
                folder: folder(),
                process: None,
            },
            AskError::TooLong {
                path: path(),
                limit,
            },
            AskError::Unreachable {
                path: path(),
                error: "Permission denied (os error 13)".into(),
            },
            AskError::NotUnderstood {
                path: path(),
                problem: "it speaks version 2 of the protocol".into(),
            },
            AskError::Lost {
                reason: "the program has ended the connection".into(),
            },
            AskError::Open(OpenError::NoStore { folder: folder() }),
            AskError::Missing { path: folder() },
        ];
        let may_be_done: Vec<_> = ask.iter().map(AskError::may_be_done).collect();
        assert_eq!(may_be_done.iter().filter(|may| **may).count(), 1);
        let control = control.iter().map(ToString::to_string);
        let texts: Vec<_> = control.chain(ask.iter().map(ToString::to_string)).collect();
        insta::assert_snapshot!(texts.join("\n---\n"));
    }
}
