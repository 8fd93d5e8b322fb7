//! Starting a run.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use perennial::value::{EncodeError, Value};
use perennial::{InvalidId, RunId, RunKey, Workflow};
use tokio::sync::oneshot;

use super::{Client, RunHandle};
use crate::engine::{Message, Reuse, Shared, StartReply, StartRequest};
use crate::error::{StartError, Unavailable};

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
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow> Start<W> {
    pub(super) fn new(client: Client, id: Result<RunId, InvalidId>, input: &W::Input) -> Self {
        Self {
            client,
            id,
            input: perennial::Data::to_value(input),
            reuse: Reuse::default(),
            workflow: PhantomData,
        }
    }

    /// What to do where there is a finished run of that id.
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.reuse = reuse;
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
            ..
        } = self;
        Box::pin(async move {
            let run = RunKey::new(client.namespace, id?);
            let input = input.map_err(StartError::Input)?;
            send(&client.shared, run.clone(), W::NAME, input, reuse).await?;
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
) -> Result<(), StartError> {
    let Some(workflow) = shared.registry.workflows.get(name).copied() else {
        let closest = shared.registry.closest_workflow(name);
        return Err(StartError::UnknownWorkflow {
            name: name.to_owned(),
            closest,
        });
    };
    let digest = input.digest();
    let (reply, answer) = oneshot::channel();
    let request = StartRequest {
        run: run.clone(),
        workflow,
        input,
        digest,
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
        StartReply::Exists(head) if head.workflow == name && (head.input == digest) => Ok(()),
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
