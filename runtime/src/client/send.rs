//! Telling a run something: messages, which are kept until it takes them, and signals, which are not.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use perennial::history::Channel;
use perennial::value::{EncodeError, Value};
use perennial::{Data, Receipt, RunKey, Timestamp};
use tokio::sync::oneshot;

use super::send_error::SendError;
use crate::engine::{Message, SendRequest, Shared};
use crate::error::Unavailable;
use crate::store::{Delivered, SendKey, send_digest};

impl From<Delivered> for Receipt {
    fn from(delivered: Delivered) -> Self {
        Self {
            number: delivered.arrival,
            at: delivered.at,
            duplicate: delivered.duplicate,
        }
    }
}

/// A message on its way to a run, to be awaited. See [`Client::send`](super::Client::send).
#[must_use = "a message is sent only when this is awaited"]
pub struct SendMessage {
    shared: Arc<Shared>,
    run: RunKey,
    name: &'static str,
    payload: Result<Value, EncodeError>,
    key: Option<(String, Timestamp)>,
}

impl SendMessage {
    pub(super) fn new<T: Data>(
        shared: Arc<Shared>,
        run: RunKey,
        message: perennial::Message<T>,
        value: &T,
    ) -> Self {
        Self {
            shared,
            run,
            name: message.name(),
            payload: value.to_value(),
            key: None,
        }
    }

    /// What the sender calls this message in the run, of 1 to [`MAX_KEY_BYTES`] bytes: sent again under the same key,
    /// the same message is not stored again, and its first receipt is given (M13). Without one each send is a new
    /// message (M19).
    ///
    /// A run knows the keys of its newest [`MAX_KEYS`] messages, for 30 days ([`KEY_WINDOW`]). The key counts as first
    /// used now. Who keeps keys to send again after a restart keeps the time too, and gives it to
    /// [`idempotency_key_from`](Self::idempotency_key_from).
    ///
    /// [`KEY_WINDOW`]: crate::store::KEY_WINDOW
    /// [`MAX_KEYS`]: crate::store::MAX_KEYS
    /// [`MAX_KEY_BYTES`]: crate::store::MAX_KEY_BYTES
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        let now = self.shared.clock.now();
        self.idempotency_key_from(key, now)
    }

    /// As [`idempotency_key`](Self::idempotency_key), of a key that was first used at `first`: so a send that is
    /// repeated too late to tell whether it was done is refused as [`SendError::KeyTooOld`] (S26), and not done twice.
    pub fn idempotency_key_from(mut self, key: impl Into<String>, first: Timestamp) -> Self {
        self.key = Some((key.into(), first));
        self
    }
}

impl IntoFuture for SendMessage {
    type Output = Result<Receipt, SendError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            shared,
            run,
            name,
            payload,
            key,
        } = self;
        Box::pin(async move {
            let delivered = send(&shared, run, Channel::Message, name, payload, key).await?;
            Ok(delivered.into())
        })
    }
}

impl fmt::Debug for SendMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendMessage")
            .field("run", &self.run.to_string())
            .field("name", &self.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Tells a run something, by name.
pub(crate) async fn send(
    shared: &Arc<Shared>,
    run: RunKey,
    channel: Channel,
    name: &str,
    payload: Result<Value, EncodeError>,
    key: Option<(String, Timestamp)>,
) -> Result<Delivered, SendError> {
    let payload = payload.map_err(|error| SendError::unstorable(name, error))?;
    let key = match key {
        None => None,
        Some((key, at)) => {
            SendError::check_key(&key)?;
            let digest = send_digest(channel, name, &payload);
            Some(SendKey { key, at, digest })
        }
    };
    let (reply, answer) = oneshot::channel();
    let request = SendRequest {
        run: run.clone(),
        channel,
        name: name.to_owned(),
        payload,
        key,
        reply,
    };
    shared.tell(&run, Message::Send(request));
    answer
        .await
        .unwrap_or_else(|_| Err(SendError::unavailable(&run, Unavailable::Stopped)))
}

/// See [`Client::signal`](super::Client::signal).
pub(super) fn signal<T: Data>(
    shared: Arc<Shared>,
    run: RunKey,
    signal: perennial::Signal<T>,
    value: &T,
) -> impl Future<Output = Result<(), SendError>> + Send + use<T> {
    let (name, payload) = (signal.name(), value.to_value());
    async move {
        send(&shared, run, Channel::Signal, name, payload, None)
            .await
            .map(drop)
    }
}
