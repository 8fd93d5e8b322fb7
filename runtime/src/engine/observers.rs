//! Who follows runs from outside, and is told when something of a run has become durable that they may look at (S4,
//! S28). Nobody asks again and again: a follower reads the store when it is told to, and so it does not matter
//! whether the run is in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perennial::RunKey;
use tokio::sync::watch;

use super::ByRun;
use crate::error::Unavailable;

/// All who follow runs.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    watched: Mutex<Watched>,
    /// How many follow, so that commits of runs that nobody follows cost nothing.
    followers: AtomicUsize,
}

#[derive(Debug, Default)]
struct Watched {
    runs: HashMap<RunKey, watch::Sender<()>, ByRun>,
    /// Why there is nothing to wait for any more.
    closed: Option<Unavailable>,
}

impl Observers {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        // Nothing panics half-way through a change.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a run. What becomes durable after this is told.
    pub(crate) fn follow(self: &Arc<Self>, run: &RunKey) -> Follower {
        // Before the store is read: a commit whose shard did not see it yet is one that the read sees.
        self.followers.fetch_add(1, Ordering::SeqCst);
        let mut watched = self.watched();
        let news = if watched.closed.is_some() {
            watch::Sender::default().subscribe()
        } else {
            watched.runs.entry(run.clone()).or_default().subscribe()
        };
        Follower {
            observers: Arc::clone(self),
            run: run.clone(),
            news,
        }
    }

    /// Something of the run has become durable.
    pub(super) fn tell(&self, run: &RunKey) {
        if self.followers.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(followers) = self.watched().runs.get(run) {
            followers.send_replace(());
        }
    }

    /// Nothing becomes durable any more.
    pub(super) fn close(&self, error: Unavailable) {
        let mut watched = self.watched();
        watched.closed.get_or_insert(error);
        watched.runs.clear();
    }
}

/// One who follows a run.
#[derive(Debug)]
pub(crate) struct Follower {
    observers: Arc<Observers>,
    run: RunKey,
    news: watch::Receiver<()>,
}

impl Follower {
    /// Whoever reads after this need not be told of what was durable before.
    pub(crate) fn look(&mut self) {
        self.news.mark_unchanged();
    }

    /// Waits until something has become durable since the last look.
    pub(crate) async fn changed(&mut self) -> Result<(), Unavailable> {
        self.news.changed().await.map_err(|_| {
            let closed = self.observers.watched().closed.clone();
            closed.unwrap_or(Unavailable::Stopped)
        })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut watched = self.observers.watched();
        let followers = watched.runs.get(&self.run);
        // This one is among them.
        if followers.is_some_and(|followers| followers.receiver_count() <= 1) {
            watched.runs.remove(&self.run);
        }
        drop(watched);
        self.observers.followers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key(id: &str) -> RunKey {
        RunKey::new("default".parse().unwrap(), id.parse().unwrap())
    }

    #[tokio::test]
    async fn all_followers_of_a_run_are_told_and_nothing_is_left_of_them() {
        let observers = Arc::new(Observers::default());
        let (mut one, mut two) = (observers.follow(&key("a")), observers.follow(&key("a")));
        let mut other = observers.follow(&key("b"));
        observers.tell(&key("a"));
        observers.tell(&key("nobody"));
        one.changed().await.unwrap();
        two.look();
        observers.tell(&key("a"));
        two.changed().await.unwrap();
        assert!(!other.news.has_changed().unwrap());
        drop((one, two));
        assert_eq!(observers.watched().runs.len(), 1);
        observers.close(Unavailable::Draining);
        assert_eq!(other.changed().await, Err(Unavailable::Draining));
        let mut late = observers.follow(&key("a"));
        assert_eq!(late.changed().await, Err(Unavailable::Draining));
        drop((other, late));
        assert_eq!(observers.followers.load(Ordering::SeqCst), 0);
        assert_eq!(observers.watched().runs.len(), 0);
    }
}
