//! Asking a program.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::conversation::Hello;
use super::error::AskError;
use super::follow::{Ended, Follow, FollowLine};
use super::line::{self, Lines, MAX_ANSWER, NoLine, Patience};
use super::place::{limit_exceeded_by, socket_path};
use super::request::{Answer, Request};

/// How long an answer may take. A program that is stopped takes its time to answer what is under way.
const PATIENCE: Patience = Patience {
    idle: Duration::from_secs(60),
    line: Duration::from_secs(60),
};

/// A connection to a program.
#[derive(Debug)]
pub(super) struct Connection {
    lines: Lines<UnixStream>,
    out: UnixStream,
}

impl Connection {
    /// Connects to the program that has the store in `folder` open. `None`: nobody listens there.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>, AskError> {
        let path = socket_path(folder);
        if let Some(limit) = limit_exceeded_by(&path) {
            // It cannot be connected to; without it that is no matter.
            return match path.symlink_metadata() {
                Ok(_) => Err(AskError::TooLong { path, limit }),
                Err(_) => Ok(None),
            };
        }
        let stream = match UnixStream::connect(&path) {
            Ok(stream) => stream,
            Err(error) if is_nobody(&error) => return Ok(None),
            Err(error) => {
                let error = error.to_string();
                return Err(AskError::Unreachable { path, error });
            }
        };
        let unreachable = |error: io::Error| AskError::Unreachable {
            path: path.clone(),
            error: error.to_string(),
        };
        stream
            .set_write_timeout(Some(PATIENCE.line))
            .map_err(unreachable)?;
        let mut out = stream.try_clone().map_err(unreachable)?;
        // Where this fails the other side has said why, or ended.
        let _ = line::write(&mut out, &Hello::new());
        let mut lines = Lines::new(stream, MAX_ANSWER, PATIENCE);
        let first = match lines.next() {
            Ok(first) => first,
            // It was just ending.
            Err(NoLine::End | NoLine::Io(_)) => return Ok(None),
            Err(no_line) => {
                let error = told(&no_line);
                return Err(AskError::Unreachable { path, error });
            }
        };
        if let Ok(Answer::Refused(refused)) = serde_json::from_slice(&first) {
            return Err(refused.into());
        }
        match serde_json::from_slice(&first) {
            Ok(Hello { perennial, .. }) if perennial == Hello::new().perennial => {
                Ok(Some(Self { lines, out }))
            }
            Ok(Hello { perennial, .. }) => Err(AskError::NotUnderstood {
                path,
                problem: format!("it speaks version {perennial} of the protocol"),
            }),
            Err(error) => Err(AskError::NotUnderstood {
                path,
                problem: error.to_string(),
            }),
        }
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, AskError> {
        let written = line::write(&mut self.out, request);
        let line = self.lines.next();
        Self::answer(line, written)
    }

    /// Hands on what comes, however long it takes, until nothing more does or no more is taken.
    pub(super) fn follow(
        mut self,
        follow: &Follow,
        each: &mut dyn FnMut(Answer) -> bool,
    ) -> Result<Ended, AskError> {
        let mut written = line::write(&mut self.out, &FollowLine { follow });
        loop {
            let line = match self.lines.next() {
                // It is about what comes, whenever that is.
                Err(NoLine::Idle) if written.is_ok() => continue,
                line => line,
            };
            match Self::answer(line, std::mem::replace(&mut written, Ok(())))? {
                Answer::Ended(ended) => return Ok(ended),
                answer => {
                    if !each(answer) {
                        return Ok(Ended::default());
                    }
                }
            }
        }
    }

    fn answer(line: Result<Vec<u8>, NoLine>, written: io::Result<()>) -> Result<Answer, AskError> {
        let answer = match line {
            Ok(line) => line,
            Err(no_line) => {
                let reason = match written {
                    Err(error) => error.to_string(),
                    Ok(()) => told(&no_line),
                };
                return Err(AskError::Lost { reason });
            }
        };
        match serde_json::from_slice(&answer) {
            Ok(Answer::Refused(refused)) => Err(refused.into()),
            Ok(answer) => Ok(answer),
            Err(error) => Err(AskError::Lost {
                reason: format!("what came is not understood: {error}"),
            }),
        }
    }
}

/// Whether there is no socket, or one that was left behind.
fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
    )
}

fn told(no_line: &NoLine) -> String {
    match no_line {
        NoLine::End | NoLine::Cut => "the program has ended the connection".to_owned(),
        NoLine::Idle | NoLine::Slow => "it took longer than a minute".to_owned(),
        NoLine::Long => format!("it is longer than {MAX_ANSWER} bytes"),
        NoLine::Io(error) => error.to_string(),
    }
}
