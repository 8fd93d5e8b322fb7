//! Work beside the workflow's own line.

use super::Cx;
use crate::durable::{Durable, Task};

impl Cx {
    /// Begins `work` at once, beside what follows. The [`Task`] waits for its result; dropping the `Task`
    /// does not stop the work. What is still open when the workflow returns is dropped, and that is recorded
    /// (S12).
    pub fn spawn<F>(&self, work: F) -> Task<F::Output>
    where
        F: Durable,
        F::IntoFuture: 'static,
        F::Output: 'static,
    {
        Task::spawn(self, work.into_future())
    }
}
