//! A running runtime.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::builder::{Builder, IntoStore};
use crate::client::Client;
use crate::engine::Engine;
use crate::error::Drained;
use crate::manifest::Manifest;
use crate::profile::Profile;
use crate::store::export::{ExportError, Exported};

/// Runs workflows in this process, over a store.
///
/// ```no_run
/// use perennial::prelude::*;
/// use perennial_runtime::Runtime;
///
/// #[activity(pure)]
/// async fn greet(acx: &ActivityCx, name: String) -> Result<String, Failure> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// #[workflow]
/// async fn welcome(cx: &Cx, name: String) -> Result<String, Error> {
///     Ok(greet(cx, name).await?)
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let runtime = Runtime::builder("./data").workflow(welcome).activity(greet).start().await?;
///     let run = runtime.client().start(welcome, "welcome-ada", "Ada".to_owned()).await?;
///     println!("{}", run.result().await?);
///     Ok(())
/// }
/// ```
///
/// Dropping it stops it at once, which loses nothing: attempts that are under way run again in the next
/// process. [`drain`](Self::drain) lets them end first.
#[derive(Debug)]
pub struct Runtime {
    engine: Engine,
}

impl Runtime {
    /// Puts a runtime together whose runs are kept in `store`: a folder for the embedded store, or a
    /// [`Store`](crate::store::Store).
    pub fn builder(store: impl IntoStore) -> Builder {
        Builder::new(store.into_source())
    }

    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Starts runs and asks about them. Clients are cheap to clone, and outlive the runtime harmlessly.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Arc::clone(&self.engine.shared))
    }

    /// The name of this program in histories and errors.
    #[must_use]
    pub fn artifact(&self) -> &str {
        &self.engine.shared.artifact
    }

    /// What this program can run.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest::of(&self.engine.shared.registry, self.artifact())
    }

    /// What the store that the runs are kept in claims to do.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.engine.shared.store.profile()
    }

    /// Exports the whole store to a new file, while its runs go on: see [`Client::export`].
    ///
    /// # Errors
    ///
    /// [`ExportError`].
    pub async fn export(&self, path: impl Into<PathBuf>) -> Result<Exported, ExportError> {
        self.client().export(path).await
    }

    /// Stops in order: begins no more runs and attempts, waits at most `at_most` for the attempts that are
    /// under way, makes what they brought durable, and closes the store.
    ///
    /// Attempts that have not ended then are stopped at their next `await`. What holds its thread
    /// (`#[activity(blocking)]`) cannot be stopped: it should ask
    /// [`ActivityCx::is_stopping`](perennial::ActivityCx::is_stopping), and a program that must not wait for it
    /// ends its tokio runtime with `shutdown_background`.
    #[doc(alias = "shutdown", alias = "stop", alias = "close")]
    pub async fn drain(mut self, at_most: Duration) -> Drained {
        let began = Instant::now();
        let unfinished = self.engine.drain(at_most).await;
        // Joining threads and closing files holds the thread that does it.
        let stopping = tokio::task::spawn_blocking(move || self.engine.stop());
        if let Err(failed) = stopping.await {
            tracing::error!("the engine did not stop in order: {failed}");
        }
        Drained {
            unfinished,
            took: began.elapsed(),
        }
    }
}
