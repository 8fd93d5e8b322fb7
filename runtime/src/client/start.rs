//! Starting a run.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use perennial::history::Channel;
use perennial::value::{EncodeError, Value};
use perennial::{Data, InvalidId, RunId, RunKey, Workflow};
use tokio::sync::oneshot;

use super::messages::messages as messages_of;
use super::{Client, RunHandle, SendError, read};
use crate::engine::{Message, Reuse, Shared, StartReply, StartRequest, observation};
use crate::error::{ReadError, StartError, Unavailable};
use crate::store::{MAX_INBOX, MAX_UNIT_BYTES};

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

/// A message that comes with a run: its name, and what it says.
type Sent = (&'static str, Result<Value, EncodeError>);

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
        self.messages.push((message.name(), value.to_value()));
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
        check(shared, name, messages).map_err(|error| StartError::Message(error.into()))?;
    let digest = input.digest();
    let observed = messages
        .iter()
        .map(|(name, value)| observation(Channel::Message, name.clone(), value.clone(), None));
    let (reply, answer) = oneshot::channel();
    let request = StartRequest {
        run: run.clone(),
        workflow,
        input,
        digest,
        messages: observed.collect(),
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
    workflow: &str,
    messages: Vec<Sent>,
) -> Result<Vec<(String, Value)>, SendError> {
    let (mut left, limit) = (MAX_UNIT_BYTES, MAX_UNIT_BYTES as u64);
    let checked = messages.into_iter().map(|(name, value)| {
        let value = value.map_err(|error| SendError::unstorable(name, error))?;
        let registry = &shared.registry;
        registry.check_awaited(workflow, Channel::Message, name)?;
        let size = value.as_json().len() + name.len();
        left = left.checked_sub(size).ok_or(SendError::PayloadTooLarge {
            name: name.to_owned(),
            size: limit - left as u64 + size as u64,
            limit,
        })?;
        Ok((name.to_owned(), value))
    });
    let checked = checked.collect::<Result<Vec<_>, _>>()?;
    if checked.len() as u64 > MAX_INBOX {
        return Err(SendError::TooManyMessages {
            count: checked.len() as u64,
            limit: MAX_INBOX,
        });
    }
    Ok(checked)
}

/// Whether the messages that were to come with a run that is there are those that it began with.
async fn begun_with(
    shared: &Arc<Shared>,
    run: RunKey,
    wanted: Vec<(String, Value)>,
) -> Result<(), StartError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let of = run.clone();
    let there = match read(shared, move |shared| messages_of(&*shared.store, &of)).await {
        Ok(there) => there,
        Err(ReadError::Unavailable(error)) => return Err(StartError::Unavailable(error)),
        // It was purged, so nobody can tell.
        Err(_) => return Err(StartError::MessagesNotSent { run }),
    };
    let mut there = there.into_values();
    let same = wanted.into_iter().all(|(name, value)| {
        there
            .next()
            .is_some_and(|message| message.name == name && message.payload.same(&value))
    });
    if same {
        Ok(())
    } else {
        Err(StartError::MessagesNotSent { run })
    }
}
