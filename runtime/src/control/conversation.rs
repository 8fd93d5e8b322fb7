//! Talking to one who has connected.

use std::io::Read as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use tokio::sync::oneshot;

use super::follow::{Follow, GivenUp, Listener};
use super::line::{self, Lines, MAX_REQUEST, NoLine, Patience, Wait as _};
use super::refused::Refused;
use super::request::{Answer, Request};
use super::serve::Serve;

/// The version of the protocol.
pub(super) const PROTOCOL: u64 = 1;

/// The first line of both sides: `{"perennial":1}`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// The version of the protocol.
    pub(super) perennial: u64,
    /// Who says it, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) software: String,
}

impl Hello {
    pub(super) fn new() -> Self {
        Self {
            perennial: PROTOCOL,
            software: concat!("perennial ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// So much of what somebody goes on to send is still taken after it was refused, so that it comes to read why.
const LINGER: u64 = 64 << 20;

/// Answers what is asked on a connection, until it ends.
pub(super) fn converse(stream: UnixStream, serve: &dyn Serve, patience: Patience) {
    let Ok(mut out) = stream.try_clone() else {
        return;
    };
    let mut lines = Lines::new(stream, MAX_REQUEST, patience);
    if let Err(Some(refused)) = talk(&mut lines, &mut out, serve)
        && line::write(&mut out, &Answer::Refused(refused)).is_ok()
    {
        // Closed at once, what was sent and not read would take the answer with it.
        let _ = out.shutdown(Shutdown::Write);
        let stream = lines.stream();
        let _ = stream.wait_at_most(patience.line);
        let _ = std::io::copy(&mut stream.take(LINGER), &mut std::io::sink());
    }
}

/// Until the other side has nothing more to say, or says what ends the connection.
fn talk(
    lines: &mut Lines<UnixStream>,
    out: &mut UnixStream,
    serve: &dyn Serve,
) -> Result<(), Option<Refused>> {
    let first = lines.next().map_err(refused)?;
    hello(&first)?;
    line::write(out, &Hello::new()).map_err(|_| None)?;
    let mut line = lines.next().map_err(refused)?;
    loop {
        let answer = match understood(&line) {
            Ok(Asked::Follow(wish)) => {
                line = follow(wish, lines, out, serve)?;
                continue;
            }
            Ok(Asked::Once(request)) => serve.serve(request),
            // The next line may be understood.
            Err(refused) => Err(refused),
        };
        let answer = answer.unwrap_or_else(Answer::Refused);
        line::write(out, &answer).map_err(|_| None)?;
        line = lines.next().map_err(refused)?;
    }
}

/// Hands on what comes, until nothing more does, or the other side says something else or goes. Gives what it says next.
fn follow(
    wish: Follow,
    lines: &mut Lines<UnixStream>,
    out: &mut UnixStream,
    serve: &dyn Serve,
) -> Result<Vec<u8>, Option<Refused>> {
    let (going, gone) = oneshot::channel();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let listen = || {
            let next = loop {
                match lines.next() {
                    // To follow is to have nothing to say.
                    Err(NoLine::Idle) if !over.load(Ordering::Acquire) => {}
                    next => break next,
                }
            };
            // It may have come to its end by itself.
            let _ = going.send(());
            next
        };
        let thread = thread::Builder::new().name("perennial-control-listening".into());
        let listening = thread.spawn_scoped(scope, listen).map_err(|error| {
            let text = format!("the program cannot begin one more thread: {error}");
            Some(Refused::new(Refused::BUSY, text))
        })?;
        let mut tell = |answer| line::write(out, &answer).is_ok();
        let tell = &mut tell;
        let ended = serve.follow_known(wish, Listener { tell, gone });
        over.store(true, Ordering::Release);
        let last = match ended {
            Ok(ended) => Some(Answer::Ended(ended)),
            Err(GivenUp::Refused(refused)) => Some(Answer::Refused(refused)),
            Err(GivenUp::NotTaken) => None,
        };
        if last.is_none_or(|last| line::write(out, &last).is_err()) {
            // So that the thread ends, which may wait for what nobody says.
            let _ = out.shutdown(Shutdown::Both);
        }
        match listening.join() {
            Ok(next) => next.map_err(refused),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What is said to who has sent no line; `None`: nobody is there to hear it.
fn refused(no_line: NoLine) -> Option<Refused> {
    match no_line {
        NoLine::End | NoLine::Idle | NoLine::Cut | NoLine::Io(_) => None,
        NoLine::Slow => Some(Refused::new(
            Refused::TOO_SLOW,
            "the rest of the line did not come in time, so nothing was done\n\n\
             help: send a request as a whole, on one line",
        )),
        NoLine::Long => Some(Refused::new(
            Refused::TOO_LONG,
            format!(
                "the line is longer than {MAX_REQUEST} bytes, so nothing was done\n\n\
                 help: store the data elsewhere and send its address or digest"
            ),
        )),
    }
}

fn hello(line: &[u8]) -> Result<(), Refused> {
    match serde_json::from_slice::<Hello>(line) {
        Ok(Hello {
            perennial: PROTOCOL,
            ..
        }) => Ok(()),
        Ok(Hello { perennial, .. }) => Err(Refused::new(
            Refused::UNKNOWN_PROTOCOL,
            format!(
                "version {perennial} of the protocol was asked for, and this program speaks version {PROTOCOL}\n\n\
                 help: use the command `perennial` and the crate `perennial-runtime` of the same version"
            ),
        )),
        Err(error) => Err(Refused::new(
            Refused::MALFORMED,
            format!(
                "the first line does not say which version of the protocol is spoken: {error}\n\n\
                 help: begin with the line {{\"perennial\":{PROTOCOL}}}"
            ),
        )),
    }
}

/// What a line asks for.
enum Asked {
    /// One answer.
    Once(Request),
    /// Answers for as long as there are any.
    Follow(Follow),
}

fn understood(line: &[u8]) -> Result<Asked, Refused> {
    let mut error = match serde_json::from_slice(line) {
        Ok(request) => return Ok(Asked::Once(request)),
        Err(error) => error,
    };
    let object = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(line);
    let object = object.ok().filter(|object| object.len() == 1);
    let member = object.and_then(|object| object.into_iter().next());
    if let Some((_, wish)) = member.as_ref().filter(|(name, _)| name == Follow::NAME) {
        match serde_json::from_str(wish.get()) {
            Ok(wish) => return Ok(Asked::Follow(wish)),
            Err(not) => error = not,
        }
    }
    let known = |name: &str| name == Follow::NAME || Request::NAMES.contains(&name);
    let name = member.map(|(name, _)| name).filter(|name| !known(name));
    Err(match name {
        Some(name) => Refused::new(
            Refused::UNKNOWN_REQUEST,
            format!(
                "there is no request \"{}\"; there are {} and {}\n\n\
                 help: a newer program may know it",
                name.escape_debug(),
                Request::NAMES.join(", "),
                Follow::NAME
            ),
        ),
        None => {
            let error = error.to_string();
            // What an error within it would help with is not this.
            let error = error.split("\n\n").next().unwrap_or_default();
            Refused::new(
                Refused::MALFORMED,
                format!(
                    "the line is no request: {error}\n\n\
                     help: a request is one JSON object on one line, as {{\"list\":{{}}}}"
                ),
            )
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write as _;
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::serve::Stopped;
    use super::*;
    use crate::store::MemoryStore;

    const HELLO: &str = "{\"perennial\":1}\n";
    const MINUTE: Duration = Duration::from_secs(60);
    const MOMENT: Duration = Duration::from_millis(1);

    /// What is answered to what is said, to its end. Whoever says it goes then, or stays silent.
    fn answers(said: &[u8], goes: bool, patience: Patience) -> String {
        let (theirs, mut ours) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let serve = Stopped(Arc::new(MemoryStore::new()));
            scope.spawn(move || converse(theirs, &serve, patience));
            let mut saying = ours.try_clone().unwrap();
            scope.spawn(move || {
                // It may have been let go before it had said all.
                let _ = saying.write_all(said);
                if goes {
                    let _ = saying.shutdown(Shutdown::Write);
                }
            });
            let mut answers = String::new();
            ours.read_to_string(&mut answers).unwrap();
            // Whoever lets it talk on would wait for that.
            let _ = ours.shutdown(Shutdown::Both);
            answers
        })
    }

    fn patient(said: &str) -> String {
        let patience = Patience {
            idle: MINUTE,
            line: MINUTE,
        };
        answers(said.as_bytes(), true, patience)
    }

    #[test]
    fn the_first_line_says_the_version_and_any_other_is_refused() {
        let said = [
            "GET / HTTP/1.1\r\n\r\n",
            "\0\u{1}\n",
            "{\"perennial\":2}\n",
            "\n",
            "",
        ];
        let answers = said.map(|said| format!("> {said:?}\n< {}", patient(said)));
        insta::assert_snapshot!(answers.join("\n"));
    }

    #[test]
    fn what_is_no_request_is_refused_and_the_next_one_is_answered() {
        let said = [
            "no request",
            "{\"fly\":{}}",
            "{\"show\":{\"run\":\"order-42\"}}",
            "{\"show\":{\"run\":{\"namespace\":\"default\",\"id\":\"order 42\"}}}",
            "{\"show\":{\"run\":{\"namespace\":\"default\",\"id\":\"order-42\"}}}",
            "{\"follow\":{\"stream\":{\"run\":\"order-42\",\"stream\":\"output\"}}}",
            "{\"follow\":{\"view\":{\"run\":{\"namespace\":\"default\",\"id\":\"order-42\"},\"name\":\"status\"}}}",
            "{\"list\":{\"is\":\"new\"}}",
        ];
        insta::assert_snapshot!(patient(&format!("{HELLO}{}\n", said.join("\n"))));
    }

    #[test]
    fn half_a_line_is_not_done() {
        let half = format!("{HELLO}{{\"list\":{{}}}}");
        let hello = patient(HELLO);
        assert_eq!(patient(&half), hello);
        assert_ne!(patient(&(half + "\n")), hello);
    }

    #[test]
    fn who_does_not_end_a_line_is_let_go_with_a_word_and_who_is_silent_without_one() {
        let slow = Patience {
            idle: MINUTE,
            line: MOMENT,
        };
        let idle = Patience {
            idle: MOMENT,
            line: MINUTE,
        };
        let half = format!("{HELLO}{{\"li");
        insta::assert_snapshot!(answers(half.as_bytes(), false, slow));
        assert_eq!(answers(b"", false, idle), "");
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_whether_it_ends_or_not() {
        let long = "x".repeat(MAX_REQUEST + (1 << 20));
        let ends = patient(&format!("{HELLO}{long}\n"));
        assert_eq!(patient(&format!("{HELLO}{long}")), ends);
        insta::assert_snapshot!(ends);
    }
}
