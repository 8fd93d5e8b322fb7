//! Work beside the workflow's own line.

use super::Cx;
use crate::durable::{Durable, Task};

impl Cx {
    /// Begins `work` at once, beside what follows. The [`Task`] waits for its result; dropping the `Task`
    /// does not stop the work. What is still open when the workflow returns is dropped, and that is recorded
    /// (S12).
    ///
    /// A call of an activity or a timer can be spawned as it is, and so can an `async` block of several steps:
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(pure)]
    /// # async fn fetch(_acx: &ActivityCx, page: u64) -> Result<u64, Failure> { Ok(page) }
    /// #[workflow]
    /// async fn pages(cx: &Cx) -> Result<u64, Error> {
    ///     let first = cx.spawn(fetch(cx, 1));
    ///     let rest = cx.spawn(async move {
    ///         cx.sleep(seconds(1)).await?;
    ///         Ok::<_, Error>(fetch(cx, 2).await? + fetch(cx, 3).await?)
    ///     });
    ///     Ok(first.await? + rest.await?)
    /// }
    /// # fn main() {}
    /// ```
    pub fn spawn<F>(&self, work: F) -> Task<F::Output>
    where
        F: Durable,
        F::IntoFuture: 'static,
        F::Output: 'static,
    {
        Task::spawn(self, work.into_future())
    }
}
