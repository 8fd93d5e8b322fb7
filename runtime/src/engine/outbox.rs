//! Commits of a shard that have not been handed to the store yet. They go together when the shard has nothing
//! else to do, so that they share a flush; while it is busy they do not wait for long.

use crate::store::{Ack, Commit, Committed};

/// With so many commits, or so many bytes of values in them, they go.
const MOST_COMMITS: usize = 256;
const MOST_BYTES: usize = 4 << 20;
/// And after so many messages.
const MOST_MESSAGES: usize = 256;

#[derive(Default)]
pub(super) struct Outbox {
    commits: Vec<(Commit, Ack<Committed>)>,
    bytes: usize,
    messages: usize,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox")
            .field("commits", &self.commits.len())
            .finish_non_exhaustive()
    }
}

impl Outbox {
    /// `bytes`: how large its values are, about.
    pub(super) fn push(&mut self, commit: Commit, ack: Ack<Committed>, bytes: usize) {
        self.commits.push((commit, ack));
        self.bytes += bytes;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// A message was handled while they waited. Says whether they have waited enough.
    pub(super) fn is_due(&mut self) -> bool {
        self.messages += 1;
        !self.is_empty()
            && (self.commits.len() >= MOST_COMMITS
                || self.bytes >= MOST_BYTES
                || self.messages >= MOST_MESSAGES)
    }

    /// All of them.
    pub(super) fn take(&mut self) -> Vec<(Commit, Ack<Committed>)> {
        std::mem::take(self).commits
    }
}
