//! Asking a run for a change.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use perennial::value::{EncodeError, Value};
use perennial::{Data, RunKey, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::update_error::UpdateError;
use crate::engine::{Message, Shared, UpdateRequest};
use crate::error::Unavailable;
use crate::store::{SendKey, update_digest};

/// What a run has answered to an update that it has accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answered {
    /// The answer.
    pub value: Value,
    /// The event of the history that says so.
    pub event: u64,
    /// When it was accepted.
    pub at: Timestamp,
    /// It was accepted before, under the same key, and this is the answer that was given then.
    pub duplicate: bool,
}

/// A change on its way to a run, to be awaited. See [`Client::update`](super::Client::update).
#[must_use = "an update is asked for only when this is awaited"]
pub struct UpdateRun<Out, Refused> {
    shared: Arc<Shared>,
    run: RunKey,
    name: String,
    input: Result<Value, EncodeError>,
    key: Option<(String, Timestamp)>,
    types: PhantomData<fn() -> (Out, Refused)>,
}

impl<Out: Data, Refused: Data> UpdateRun<Out, Refused> {
    pub(super) fn new<In: Data>(
        shared: Arc<Shared>,
        run: RunKey,
        update: perennial::Update<In, Out, Refused>,
        input: &In,
    ) -> Self {
        Self {
            shared,
            run,
            name: update.name().to_owned(),
            input: input.to_value(),
            key: None,
            types: PhantomData,
        }
    }

    /// What the sender calls this update in the run, of 1 to [`MAX_KEY_BYTES`] bytes: asked for again under the same key,
    /// an update that was accepted is not done again, and its first answer is given, also after the run has ended. One
    /// that was refused is asked for anew. Keys of updates are none of messages: one key may stand for one of each.
    ///
    /// A run knows the newest [`MAX_KEYS`] keys of its messages and updates, for 30 days ([`KEY_WINDOW`]). The key
    /// counts as first used now. Who keeps keys to ask again after a restart keeps the time too, and gives it to
    /// [`idempotency_key_from`](Self::idempotency_key_from).
    ///
    /// [`KEY_WINDOW`]: crate::store::KEY_WINDOW
    /// [`MAX_KEYS`]: crate::store::MAX_KEYS
    /// [`MAX_KEY_BYTES`]: crate::store::MAX_KEY_BYTES
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        let now = self.shared.clock.now();
        self.idempotency_key_from(key, now)
    }

    /// As [`idempotency_key`](Self::idempotency_key), of a key that was first used at `first`: so an update that is
    /// repeated too late to tell whether it was done is refused as [`UpdateError::KeyTooOld`] (S26), and not done twice.
    pub fn idempotency_key_from(mut self, key: impl Into<String>, first: Timestamp) -> Self {
        self.key = Some((key.into(), first));
        self
    }
}

impl<Out: Data, Refused: Data> IntoFuture for UpdateRun<Out, Refused> {
    type Output = Result<Out, UpdateError<Refused>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            shared,
            run,
            name,
            input,
            key,
            types: _,
        } = self;
        Box::pin(async move {
            match update(&shared, run.clone(), &name, input, key).await {
                Ok(answered) => Out::from_value(&answered.value)
                    .map_err(|error| UpdateError::Undecodable { run, name, error }),
                Err(error) => Err(error.typed(&run, &name)),
            }
        })
    }
}

impl<Out, Refused> fmt::Debug for UpdateRun<Out, Refused> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateRun")
            .field("run", &self.run.to_string())
            .field("name", &self.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Asks a run for a change, by name.
pub(crate) async fn update(
    shared: &Arc<Shared>,
    run: RunKey,
    name: &str,
    input: Result<Value, EncodeError>,
    key: Option<(String, Timestamp)>,
) -> Result<Answered, UpdateError<Value>> {
    let input = input.map_err(|error| UpdateError::unstorable(name, error))?;
    let key = match key {
        None => None,
        Some((key, at)) => {
            UpdateError::check_key(&key)?;
            let digest = update_digest(name, &input);
            Some(SendKey { key, at, digest })
        }
    };
    let (reply, answer) = oneshot::channel();
    let request = UpdateRequest {
        run: run.clone(),
        name: name.to_owned(),
        input,
        key,
        reply,
    };
    shared.tell(&run, Message::Update(request));
    answer
        .await
        .unwrap_or_else(|_| Err(UpdateError::lost(&run, Unavailable::Stopped)))
}
