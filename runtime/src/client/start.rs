//! Starting a run.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use perennial::history::Channel;
use perennial::value::{Digest, EncodeError, Value};
use perennial::{Data, InvalidId, RunId, RunKey, Workflow};
use tokio::sync::oneshot;

use super::messages::{MessageInfo, first};

use super::{Client, RunHandle, SendError, read};
use crate::engine::{Message, Reuse, Shared, StartReply, StartRequest, observation};
use crate::error::{ReadError, StartError, Unavailable};
use crate::store::{MAX_INBOX, MAX_UNIT_BYTES, SendKey, send_digest};

/// An id that no other run has, for runs that nobody needs to find by name: a random UUID.
///
/// # Panics
///
/// When the system has no random numbers to give.
#[must_use]
pub fn generate_run_id() -> RunId {
    let random = || getrandom::u64().map(u128::from);
    let bits = random().and_then(|high| Ok(high << 64 | random()?));
    match bits.map(|bits| {
        RunId::new(
            uuid::Builder::from_random_bytes(bits.to_le_bytes())
                .into_uuid()
                .to_string(),
        )
    }) {
        Ok(Ok(id)) => id,
        Ok(Err(invalid)) => unreachable!("a UUID is a valid id: {invalid}"),
        Err(error) => panic!("the system has no random numbers to give: {error}"),
    }
}

/// A start, to be awaited. See [`Client::start`].
#[must_use = "a run is started only when this is awaited"]
pub struct Start<W> {
    client: Client,
    id: Result<RunId, InvalidId>,
    input: Result<Value, EncodeError>,
    reuse: Reuse,
    messages: Vec<Sent>,
    workflow: PhantomData<fn() -> W>,
}

/// A message that comes with a run: its name, what it says, and its idempotency key.
type Sent = (&'static str, Result<Value, EncodeError>, Option<String>);

/// One that can be sent.
struct Checked {
    name: String,
    value: Value,
    key: Option<SendKey>,
}

impl<W: Workflow> Start<W> {
    pub(super) fn new(client: Client, id: Result<RunId, InvalidId>, input: &W::Input) -> Self {
        Self {
            client,
            id,
            input: input.to_value(),
            reuse: Reuse::default(),
            messages: Vec::new(),
            workflow: PhantomData,
        }
    }

    /// What to do where there is a finished run of that id.
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.reuse = reuse;
        self
    }

    /// A message that comes with the run: either both are there, or neither is. May be called several times, for
    /// messages in that order, of [`MAX_UNIT_BYTES`](crate::store::MAX_UNIT_BYTES) together.
    ///
    /// Where there is a run of that id already, they are not sent to it. That is no error where it began with the
    /// same messages, so that such a start too can be repeated until it is answered; and
    /// [`StartError::MessagesNotSent`] where it did not.
    pub fn send<T: Data>(mut self, message: perennial::Message<T>, value: &T) -> Self {
        self.messages.push((message.name(), value.to_value(), None));
        self
    }

    /// As [`send`](Self::send), under an [idempotency key](super::SendMessage::idempotency_key): sent to the run again
    /// under it, the message is known, and not stored again (M13). Where several have one key here they are one
    /// message.
    pub fn send_with_key<T: Data>(
        mut self,
        message: perennial::Message<T>,
        value: &T,
        key: impl Into<String>,
    ) -> Self {
        let sent = (message.name(), value.to_value(), Some(key.into()));
        self.messages.push(sent);
        self
    }
}

impl<W> fmt::Debug for Start<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("id", &self.id)
            .field("reuse", &self.reuse)
            .finish_non_exhaustive()
    }
}

impl<W: Workflow> IntoFuture for Start<W> {
    type Output = Result<RunHandle<W>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            client,
            id,
            input,
            reuse,
            messages,
            ..
        } = self;
        Box::pin(async move {
            let run = RunKey::new(client.namespace, id?);
            let input = input.map_err(StartError::Input)?;
            send(&client.shared, run.clone(), W::NAME, input, reuse, messages).await?;
            Ok(RunHandle::new(client.shared, run))
        })
    }
}

pub(super) async fn send(
    shared: &Arc<Shared>,
    run: RunKey,
    name: &'static str,
    input: Value,
    reuse: Reuse,
    messages: Vec<Sent>,
) -> Result<(), StartError> {
    let Some(workflow) = shared.registry.workflows.get(name).copied() else {
        let closest = shared.registry.closest_workflow(name);
        return Err(StartError::UnknownWorkflow {
            name: name.to_owned(),
            closest,
        });
    };
    let messages =
        check(shared, &run, name, messages).map_err(|error| StartError::Message(error.into()))?;
    let digest = input.digest();
    let observed = messages.iter().map(|sent| {
        let key = sent.key.as_ref().map(|key| key.key.clone());
        observation(Channel::Message, sent.name.clone(), sent.value.clone(), key)
    });
    let (reply, answer) = oneshot::channel();
    let request = StartRequest {
        run: run.clone(),
        workflow,
        input,
        digest,
        messages: observed.collect(),
        keys: messages
            .iter()
            .filter_map(|sent| sent.key.clone())
            .collect(),
        reuse,
        reply,
    };
    shared.tell(&run, Message::Start(request));
    let answer = answer
        .await
        .unwrap_or(Err(Unavailable::Stopped))
        .map_err(StartError::Unavailable)?;
    match answer {
        StartReply::New => Ok(()),
        StartReply::Exists(head) if head.workflow == name && (head.input == digest) => {
            begun_with(shared, run, messages).await
        }
        StartReply::Exists(head) => Err(StartError::Conflict {
            run,
            workflow: head.workflow,
            asked: name.to_owned(),
            input: head.input.to_string(),
            given: digest.to_string(),
            status: head.status,
        }),
    }
}

/// The messages that are to come with a run, if they can.
fn check(
    shared: &Shared,
    run: &RunKey,
    workflow: &str,
    messages: Vec<Sent>,
) -> Result<Vec<Checked>, SendError> {
    let (mut left, limit) = (MAX_UNIT_BYTES, MAX_UNIT_BYTES as u64);
    let checked = messages.into_iter().map(|(name, value, key)| {
        if let Some(key) = &key {
            SendError::check_key(key)?;
        }
        let value = value.map_err(|error| SendError::unstorable(name, error))?;
        let registry = &shared.registry;
        registry.check_awaited(workflow, Channel::Message, name)?;
        let size = value.as_json().len() + name.len();
        left = left.checked_sub(size).ok_or(SendError::PayloadTooLarge {
            name: name.to_owned(),
            size: limit - left as u64 + size as u64,
            limit,
        })?;
        // Who gives no key does not ask for the time here.
        let key = key.map(|key| SendKey {
            key,
            at: shared.clock.now(),
            digest: send_digest(Channel::Message, name, &value),
        });
        let name = name.to_owned();
        Ok(Checked { name, value, key })
    });
    let checked = once_each(run, checked.collect::<Result<Vec<_>, _>>()?)?;
    if checked.len() as u64 > MAX_INBOX {
        return Err(SendError::TooManyMessages {
            count: checked.len() as u64,
            limit: MAX_INBOX,
        });
    }
    Ok(checked)
}

/// Of those with one key the first.
fn once_each(run: &RunKey, all: Vec<Checked>) -> Result<Vec<Checked>, SendError> {
    let mut known: HashMap<String, (String, Digest)> = HashMap::new();
    let mut each = Vec::new();
    for sent in all {
        let Some(SendKey { key, digest, .. }) = &sent.key else {
            each.push(sent);
            continue;
        };
        match known.get(key) {
            None => {
                known.insert(key.clone(), (sent.name.clone(), *digest));
                each.push(sent);
            }
            Some((_, first)) if first == digest => {}
            Some((name, first)) => {
                return Err(SendError::IdempotencyConflict {
                    run: run.clone(),
                    key: key.clone(),
                    name: name.clone(),
                    known: (*first).into(),
                    given: (*digest).into(),
                });
            }
        }
    }
    Ok(each)
}

/// Whether the messages that were to come with a run that is there are those that it began with.
async fn begun_with(
    shared: &Arc<Shared>,
    run: RunKey,
    wanted: Vec<Checked>,
) -> Result<(), StartError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let (of, count) = (run.clone(), wanted.len());
    let there = match read(shared, move |shared| first(&*shared.store, &of, count)).await {
        Ok(there) => there,
        Err(ReadError::Unavailable(error)) => return Err(StartError::Unavailable(error)),
        // It was purged, so nobody can tell.
        Err(_) => return Err(StartError::MessagesNotSent { run }),
    };
    let is_it = |(there, wanted): (&MessageInfo, &Checked)| {
        there.name == wanted.name && there.payload.same(&wanted.value)
    };
    if there.len() == wanted.len() && there.iter().zip(&wanted).all(is_it) {
        Ok(())
    } else {
        Err(StartError::MessagesNotSent { run })
    }
}
