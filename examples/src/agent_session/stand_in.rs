//! A server that stands in for a model: for tests, and for trying it out without an account.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::wire;

/// How many bytes a request may have.
const MOST_BYTES: usize = 1024 * 1024;
/// How long it waits after a connection that could not be taken, as where there are too many.
const AGAIN: Duration = Duration::from_millis(50);

/// Answers as a model does, on this machine alone. It ends when it is dropped.
#[derive(Debug)]
pub struct StandIn {
    address: SocketAddr,
    shared: Arc<Shared>,
    listens: JoinHandle<()>,
}

/// What is done with the next call, in place of what the words in it say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is answered with that text.
    Say(String),
    /// It is answered with that status and that problem.
    Status(u16, String),
    /// It is answered with bytes that are no answer.
    Raw(String),
    /// It is not answered.
    Nothing,
    /// The connection ends.
    Cut,
    /// The answer is made, and counted, and does not get through.
    Lost(String),
}

/// A call that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Its key: calls with the same one are the same call.
    pub key: Option<String>,
    /// Whether an answer was made for it. It was not, where that was done for an earlier one with the same key.
    pub made: bool,
    /// What was said.
    pub messages: Vec<wire::Message>,
    /// What came in place of a password. The stand-in wants none.
    #[serde(skip)]
    pub authorization: Option<String>,
}

#[derive(Debug)]
struct Shared {
    pace: Duration,
    state: Mutex<State>,
    /// How many calls have come.
    count: watch::Sender<usize>,
    /// Whether answers wait.
    held: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Reply>,
    calls: Vec<Call>,
    /// The answers that were made, by their keys.
    made: HashMap<String, String>,
}

/// The connection ends.
#[derive(Debug)]
struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not answered")
    }
}

impl std::error::Error for Gone {}

impl StandIn {
    /// Listens at `127.0.0.1`, at that port or at any that is free (0), and takes `pace` for each answer.
    ///
    /// # Errors
    ///
    /// What the system says, as where the port is taken.
    pub async fn start(port: u16, pace: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            pace,
            state: Mutex::default(),
            count: watch::Sender::new(0),
            held: watch::Sender::new(false),
        });
        let listens = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            listens,
        })
    }

    /// What `OPENAI_BASE_URL` is to be.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The next calls get these replies, one each. The script is over then.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.state().script.extend(replies);
    }

    /// Whether answers wait, from now on, until they need not.
    pub fn hold(&self, held: bool) {
        self.shared.held.send_replace(held);
    }

    /// All calls that have come.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.shared.state().calls.clone()
    }

    /// How many calls have come, now and whenever that changes.
    #[must_use]
    pub fn count(&self) -> watch::Receiver<usize> {
        self.shared.count.subscribe()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.listens.abort();
    }
}

/// Takes connections. Those that there are end with it.
async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(&shared)));
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| handle(Arc::clone(&shared), request));
    // Whoever hangs up has heard enough.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn handle(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Gone> {
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/v1/chat/completions") => {}
        (&Method::GET, "/calls") => {
            let calls = shared.state().calls.clone();
            return Ok(json(StatusCode::OK, &calls));
        }
        _ => return Ok(problem(StatusCode::NOT_FOUND, "there is no such page")),
    }
    let header = |name| {
        let value = request.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let (key, authorization) = (header("idempotency-key"), header(AUTHORIZATION.as_str()));
    let body = Limited::new(request.into_body(), MOST_BYTES)
        .collect()
        .await;
    let Ok(body) = body else {
        return Ok(problem(StatusCode::PAYLOAD_TOO_LARGE, "that is too much"));
    };
    let request: wire::Request = match serde_json::from_slice(&body.to_bytes()) {
        Ok(request) => request,
        Err(error) => return Ok(problem(StatusCode::BAD_REQUEST, &error.to_string())),
    };
    let reply = shared.take(key, authorization, request.messages);
    tokio::time::sleep(shared.pace).await;
    // An error: the stand-in is gone, and so is this connection.
    let _ = shared.held.subscribe().wait_for(|held| !held).await;
    match reply {
        Reply::Say(text) => Ok(json(StatusCode::OK, &wire::Response::of(&text))),
        Reply::Status(status, text) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Ok(problem(status, &text))
        }
        Reply::Raw(bytes) => Ok(Response::new(Full::new(bytes.into()))),
        Reply::Nothing | Reply::Lost(_) => std::future::pending().await,
        Reply::Cut => Err(Gone),
    }
}

impl Shared {
    /// It holds whatever happens: no code of others runs under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the call, and says what is done with it.
    fn take(
        &self,
        key: Option<String>,
        authorization: Option<String>,
        messages: Vec<wire::Message>,
    ) -> Reply {
        let (reply, count) = {
            let state = &mut *self.state();
            let known = key.as_ref().and_then(|key| state.made.get(key)).cloned();
            let is_known = known.is_some();
            let reply = known.map(Reply::Say).or_else(|| state.script.pop_front());
            let reply = reply.unwrap_or_else(|| Reply::Say(said(&messages)));
            let made = match &reply {
                Reply::Say(text) | Reply::Lost(text) if !is_known => {
                    if let Some(key) = &key {
                        state.made.insert(key.clone(), text.clone());
                    }
                    true
                }
                _ => false,
            };
            state.calls.push(Call {
                key,
                made,
                messages,
                authorization,
            });
            (reply, state.calls.len())
        };
        self.count.send_replace(count);
        reply
    }
}

/// How it begins to say which step it is at.
const STEP: &str = "This is step ";

/// What it says where there is no script: it works for as many steps as it was told, and otherwise repeats what it was
/// told. It has no memory but what it is shown.
fn said(messages: &[wire::Message]) -> String {
    let is_word =
        |message: &&wire::Message| message.role == "user" && message.content != wire::GO_ON;
    let words = messages.iter().filter(is_word);
    let last = words.clone().next_back().map_or("", |last| &last.content);
    let is_new = messages.last().is_some_and(|last| is_word(&last));
    // The last work that it was given, and what it has said since.
    let work = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, message)| {
            let steps = is_word(&message).then(|| steps(&message.content))??;
            let said = messages[place..]
                .iter()
                .filter(|said| said.role == "assistant");
            // Answers to which nobody has said anything stand in one message.
            let done = said.map(|said| said.content.matches(STEP).count() as u64);
            let begins = place + 1 == messages.len();
            Some((steps, done.sum::<u64>() + 1, begins))
        });
    match work {
        Some((steps, step, begins)) if step <= steps => {
            let heard = if is_new && !begins {
                format!("You say: {last}. ")
            } else {
                String::new()
            };
            let more = if step < steps { "\nCONTINUE" } else { "" };
            format!("{heard}{STEP}{step} of {steps}.{more}")
        }
        _ => format!("You say: {last}"),
    }
}

/// How many steps somebody asks for: the number before the word.
fn steps(text: &str) -> Option<u64> {
    let words: Vec<_> = text.split_whitespace().collect();
    words.windows(2).rev().find_map(|pair| {
        let steps = pair[0].parse().ok()?;
        let word = pair[1].trim_matches(|c: char| !c.is_alphabetic());
        (matches!(word, "step" | "steps") && (1..=100).contains(&steps)).then_some(steps)
    })
}

fn json(status: StatusCode, body: &impl Serialize) -> Response<Full<Bytes>> {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn problem(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let error = wire::ProblemText {
        message: text.to_owned(),
        code: None,
    };
    json(status, &wire::Problem { error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(messages: &[(&str, &str)]) -> String {
        let messages = messages.iter().map(|(role, content)| wire::Message {
            role: (*role).to_owned(),
            content: (*content).to_owned(),
        });
        said(&messages.collect::<Vec<_>>())
    }

    #[test]
    fn it_works_for_as_many_steps_as_it_was_told() {
        let mut messages = vec![
            ("system", "work in 9 steps"),
            ("user", "work in 3 steps, please"),
        ];
        assert_eq!(after(&messages), "This is step 1 of 3.\nCONTINUE");
        messages.extend([("assistant", "This is step 1 of 3."), ("user", wire::GO_ON)]);
        assert_eq!(after(&messages), "This is step 2 of 3.\nCONTINUE");
        messages.extend([("assistant", "This is step 2 of 3."), ("user", "hurry")]);
        assert_eq!(after(&messages), "You say: hurry. This is step 3 of 3.");
        messages.extend([("assistant", "This is step 3 of 3."), ("user", "thanks")]);
        assert_eq!(after(&messages), "You say: thanks");
        messages.extend([("assistant", "You say: thanks"), ("user", "1 step")]);
        assert_eq!(after(&messages), "This is step 1 of 1.");
    }

    #[test]
    fn it_counts_answers_that_stand_in_one_message() {
        let both = "This is step 1 of 5.\nThis is step 2 of 5.";
        let messages = [
            ("user", "work in 5 steps"),
            ("assistant", both),
            ("user", "use blue"),
        ];
        assert_eq!(
            after(&messages),
            "You say: use blue. This is step 3 of 5.\nCONTINUE"
        );
    }

    #[test]
    fn what_it_was_told_it_repeats() {
        assert_eq!(after(&[("user", "hello")]), "You say: hello");
        assert_eq!(after(&[]), "You say: ");
        assert_eq!(
            after(&[("user", "many steps, 0 steps, 101 steps")]).len(),
            39
        );
    }
}
