//! Exports of a store that is in use.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::Client;
use crate::engine::Shared;
use crate::store::export::{self, ExportError, Exported};

impl Client {
    /// Exports the whole store, **all namespaces of it**, to a new file, while its runs go on. Each run is in
    /// it as it was at one moment. See [`store::export`](crate::store::export) for what it looks like.
    ///
    /// The file holds all inputs, results and errors in clear, and only its owner can read it. It has its
    /// name when it is complete, and is on the device then.
    ///
    /// # Errors
    ///
    /// [`ExportError`]: there is something at the path already, the store or the system said no. There is no
    /// such file then. A run that is damaged is an error too; nothing is passed over.
    pub async fn export(&self, path: impl Into<PathBuf>) -> Result<Exported, ExportError> {
        let path = path.into();
        self.on_a_thread(move |shared| export::export_to(&*shared.store, &path, shared.clock.now()))
            .await
    }

    /// Exports the whole store as [`export`](Self::export) does, to anything that can be written to. When it
    /// fails, what was written has no last line, and is refused wherever it is read.
    ///
    /// # Errors
    ///
    /// [`ExportError`].
    pub async fn export_into(
        &self,
        out: impl Write + Send + 'static,
    ) -> Result<Exported, ExportError> {
        self.on_a_thread(move |shared| export::export(&*shared.store, out, shared.clock.now()))
            .await
    }

    /// On a thread that may wait for the disk.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        export: impl FnOnce(&Shared) -> Result<T, ExportError> + Send + 'static,
    ) -> Result<T, ExportError> {
        let shared = Arc::clone(&self.shared);
        match self
            .shared
            .tokio
            .spawn_blocking(move || export(&shared))
            .await
        {
            Ok(result) => result,
            Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
            Err(_) => Err(ExportError::Stopped),
        }
    }
}
