//! Waiting in tests: for what must come, and for what the test lets go on.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

/// What would never come otherwise. The limit is for a test that has failed, on a machine that has much else to do.
pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what)
        .await
        .expect("an answer")
}

/// Until a condition holds.
pub async fn until(mut condition: impl AsyncFnMut() -> bool) {
    let all = async {
        while !condition().await {
            tokio::task::yield_now().await;
        }
    };
    soon(all).await;
}

/// Where an activity waits for the test, and the test for the activity.
pub struct Gate {
    open: Semaphore,
    began: Semaphore,
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            open: Semaphore::new(0),
            began: Semaphore::new(0),
        })
    }

    /// So many executions may end.
    pub fn open(&self, executions: usize) {
        self.open.add_permits(executions);
    }

    /// Until an execution has begun.
    pub async fn begun(&self) {
        soon(self.began.acquire()).await.unwrap().forget();
    }

    /// An execution begins.
    pub fn begin(&self) {
        self.began.add_permits(1);
    }

    /// An execution begins, and ends when it may.
    pub async fn pass(&self) {
        self.begin();
        self.open.acquire().await.unwrap().forget();
    }
}
