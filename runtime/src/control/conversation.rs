//! Talking to one who has connected.

use std::io::Read as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::line::{self, Lines, MAX_REQUEST, NoLine, Patience, Wait as _};
use super::request::{Answer, Refused, Request};
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
    loop {
        let line = lines.next().map_err(refused)?;
        let answer = answer(&line, serve);
        line::write(out, &answer).map_err(|_| None)?;
    }
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

/// What is answered to a line. One that is not understood ends nothing: the next one may be.
fn answer(line: &[u8], serve: &dyn Serve) -> Answer {
    match understood(line).and_then(|request| serve.serve(request)) {
        Ok(answer) => answer,
        Err(refused) => Answer::Refused(refused),
    }
}

fn understood(line: &[u8]) -> Result<Request, Refused> {
    let error = match serde_json::from_slice(line) {
        Ok(request) => return Ok(request),
        Err(error) => error,
    };
    let object = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(line);
    let name = object
        .ok()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.into_keys().next())
        .filter(|name| !Request::NAMES.contains(&&**name));
    Err(match name {
        Some(name) => Refused::new(
            Refused::UNKNOWN_REQUEST,
            format!(
                "there is no request \"{}\"; there are {}\n\n\
                 help: a newer program may know it",
                name.escape_debug(),
                Request::NAMES.join(", ")
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
