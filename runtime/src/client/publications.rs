//! What a client reads of a run while that is at work: what it gives out, and what it shows.

use std::sync::Arc;

use perennial::value::Value;
use perennial::{Data, RunId, RunKey, Stream, View};

use super::{Client, Items, ViewError, Viewed, Watch, stream, view};
use crate::error::ReadError;
use crate::store::{StreamRange, ViewRecord};

impl Client {
    /// What a run gives out in a stream, from the first item that is kept or [after](Items::after) a number: those
    /// that there are, and then each new one, until the run has ended (S28).
    pub fn stream<T: Data>(&self, run: &RunId, stream: Stream<T>) -> Items<T> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        Items::new(Arc::clone(&self.shared), run, stream)
    }

    /// As [`stream`](Self::stream), by name and with items as JSON, for who has no types: a command line, another
    /// language.
    pub fn stream_json(&self, run: &RunId, stream: &str) -> Items<Value> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        Items::json(Arc::clone(&self.shared), run, stream)
    }

    /// The streams in which a run has given out items, in the order in which it began them, each with its first and
    /// last number.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn streams(&self, run: &RunId) -> Result<Vec<StreamRange>, ReadError> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        stream::streams(&self.shared, run).await
    }

    /// What a view of a run shows; `None` where the run has not set it. It does not touch the run, which may be in
    /// memory, not in memory, blocked or over, and nothing can be done to the run by it (S28, O20).
    ///
    /// ```no_run
    /// # use perennial::prelude::*;
    /// # use perennial_runtime::{Client, ViewError};
    /// const STATUS: View<String> = View::new("status");
    ///
    /// # async fn show(client: &Client, run: &RunId) -> Result<(), ViewError> {
    /// if let Some(status) = client.view(run, STATUS).await? {
    ///     println!("{} (as of {})", status.value, status.at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ViewError`].
    #[doc(alias = "query")]
    pub fn view<T: Data>(
        &self,
        run: &RunId,
        view: View<T>,
    ) -> impl Future<Output = Result<Option<Viewed<T>>, ViewError>> + Send + use<T> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        view::view(
            Arc::clone(&self.shared),
            run,
            view.name().to_owned(),
            T::from_value,
        )
    }

    /// As [`view`](Self::view), by name and with the value as JSON, for who has no types: a command line, another
    /// language.
    ///
    /// # Errors
    ///
    /// [`ViewError::Read`].
    pub async fn view_json(
        &self,
        run: &RunId,
        view: &str,
    ) -> Result<Option<Viewed<Value>>, ViewError> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        view::json(Arc::clone(&self.shared), run, view.to_owned()).await
    }

    /// All views of a run, in the order in which they were first set.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn views(&self, run: &RunId) -> Result<Vec<ViewRecord>, ReadError> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        view::views(&self.shared, run).await
    }

    /// Follows a view of a run: what it shows, and then what it shows whenever that has changed and is durable, until
    /// the run has ended.
    pub fn watch<T: Data>(&self, run: &RunId, view: View<T>) -> Watch<T> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        Watch::new(Arc::clone(&self.shared), run, view)
    }

    /// As [`watch`](Self::watch), by name and with values as JSON, for who has no types: a command line, another
    /// language.
    pub fn watch_json(&self, run: &RunId, view: &str) -> Watch<Value> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        Watch::json(Arc::clone(&self.shared), run, view)
    }
}
