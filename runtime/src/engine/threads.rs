//! The engine's threads, and waiting for their ends.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::store::StoreError;

/// How long stopping waits for them. They end within moments, unless a workflow's code does not come back;
/// then nobody can make it.
const GRACE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Threads {
    handles: Vec<JoinHandle<()>>,
    running: Arc<Running>,
}

#[derive(Debug, Default)]
struct Running {
    count: Mutex<usize>,
    ended: Condvar,
}

impl Running {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that runs.
struct Counted(Arc<Running>);

impl Counted {
    fn new(running: &Arc<Running>) -> Self {
        *running.count() += 1;
        Self(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.count() -= 1;
        self.0.ended.notify_all();
    }
}

impl Threads {
    pub(super) fn spawn(
        &mut self,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), StoreError> {
        let counted = Counted::new(&self.running);
        let all = move || {
            let _counted = counted;
            run();
        };
        let handle = Builder::new()
            .name(name)
            .spawn(all)
            .map_err(|error| StoreError::Io {
                what: "a thread of the engine could not be started".into(),
                error: error.to_string(),
            })?;
        self.handles.push(handle);
        Ok(())
    }

    /// Waits until they have ended. One that does not is left behind.
    pub(super) fn join(&mut self) {
        let handles = std::mem::take(&mut self.handles);
        let waited = self
            .running
            .ended
            .wait_timeout_while(self.running.count(), GRACE, |count| *count > 0);
        let (left, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *left > 0 {
            tracing::error!(
                threads = *left,
                "the code of a workflow does not give its thread back, so the thread is left behind"
            );
            return;
        }
        for handle in handles {
            if handle.join().is_err() {
                tracing::error!("a thread of the engine panicked");
            }
        }
    }
}
