//! Which runs stay in memory while nothing happens to them.
//!
//! All that a run in memory has can be had again from the store, at the price of a replay. So runs are kept
//! until they hold more than [`Settings::warm_memory`](super::Settings) together, in the whole process; then
//! a shard takes it from those of its own that nothing has happened to for the longest time:
//!
//! | the run | gives up |
//! |---|---|
//! | has something to commit, is being opened or replayed, or something is on its way to it | nothing |
//! | has open activities, or was tried in vain by this process (S16) | its machine, the inputs of its activities and messages that it does not wait for |
//! | waits for timers, or for nothing | everything: it is not known any more |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashlink::LinkedHashMap;
use perennial::{RunKey, Timestamp};

use super::run::{Open, Run};
use super::shard::Shard;

/// The runs of one shard that could give up something, the one that nothing has happened to for the longest
/// time first.
#[derive(Debug)]
pub(super) struct Warm {
    /// How many bytes each run held, about, when something had last happened to it.
    runs: LinkedHashMap<RunKey, usize>,
    /// The sum of that over all shards.
    held: Arc<AtomicUsize>,
}

impl Warm {
    pub(super) fn new(held: Arc<AtomicUsize>) -> Self {
        Self {
            runs: LinkedHashMap::new(),
            held,
        }
    }

    /// Something has happened to the run, and it holds so many bytes.
    fn put(&mut self, run: &RunKey, bytes: usize) {
        let before = match self.runs.to_back(run) {
            Some(held) => std::mem::replace(held, bytes),
            None => {
                self.runs.insert(run.clone(), bytes);
                0
            }
        };
        // Mostly nothing has changed, and then the other shards need not hear of it.
        if bytes > before {
            self.held.fetch_add(bytes - before, Ordering::Relaxed);
        } else if bytes < before {
            self.held.fetch_sub(before - bytes, Ordering::Relaxed);
        }
    }

    fn remove(&mut self, run: &RunKey) {
        if let Some(bytes) = self.runs.remove(run) {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn remove_first(&mut self) -> Option<RunKey> {
        let (run, bytes) = self.runs.pop_front()?;
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        Some(run)
    }

    fn clear(&mut self) {
        let bytes = self.runs.drain().map(|(_, bytes)| bytes).sum();
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Shard {
    /// Something has happened to the run: it stays in memory for longer than others.
    pub(super) fn keep_warm(&mut self, run: &RunKey) {
        match self.runs.get(run) {
            None => self.warm.remove(run),
            Some(open)
                if open.can_give_up()
                    && !self.sends.contains_key(run)
                    && !self.updates.contains_key(run) =>
            {
                self.warm.put(run, open.memory());
            }
            // It comes back when it rests.
            Some(_) => {}
        }
        while self.warm.held.load(Ordering::Relaxed) > self.shared.settings.warm_memory {
            let Some(run) = self.warm.remove_first() else {
                return;
            };
            self.give_up(&run);
        }
    }

    fn give_up(&mut self, run: &RunKey) {
        // What is under way to a run may be what it has begun to wait for since: it is here then.
        if self.sends.contains_key(run) {
            return;
        }
        let Some(open) = self.runs.get_mut(run).filter(|run| run.is_resting()) else {
            return;
        };
        if open.may_be_forgotten() {
            self.runs.remove(run);
        } else {
            open.machine = None;
            open.inputs.leave_rows();
            open.tasks.values_mut().for_each(|open| open.input = None);
        }
    }
}

impl Run {
    /// Whether there is something that could be had from the store again, and nothing is under way that
    /// speaks against it.
    fn can_give_up(&self) -> bool {
        self.is_resting()
            && (self.machine.is_some() || !self.inputs.is_empty() || self.may_be_forgotten())
    }

    /// Whether nothing need be known of it while it rests. What this process has tried in vain stays: it
    /// tries once (S16).
    fn may_be_forgotten(&self) -> bool {
        self.tasks.is_empty() && self.blocked.as_ref().is_none_or(|blocked| blocked.unfit)
    }

    /// About how many bytes it holds.
    fn memory(&self) -> usize {
        /// A name twice, in the tables of runs, with what allocations have of their own.
        const NAMES: usize = 256;
        /// Of so many activities it is looked at what their inputs have: there may be thousands.
        const SAMPLE: usize = 8;
        let machine = self.machine.as_ref().map_or(0, |machine| machine.memory());
        let inputs = self.tasks.values().take(SAMPLE);
        let inputs = inputs.filter_map(|open| open.input.as_ref());
        let inputs: usize = inputs.map(|input| input.as_json().len()).sum();
        let tasks = self.tasks.len() * size_of::<Open>()
            + inputs * self.tasks.len() / self.tasks.len().clamp(1, SAMPLE);
        let timers = self.timers.len() * 2 * size_of::<(Timestamp, u64)>();
        let blocked = self
            .blocked
            .as_ref()
            .map_or(0, |blocked| blocked.text.len());
        size_of::<Self>() + NAMES + machine + tasks + timers + blocked + self.inputs.memory()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key(id: &str) -> RunKey {
        RunKey::new("default".parse().unwrap(), id.parse().unwrap())
    }

    #[test]
    fn what_was_used_last_stays_longest_and_the_sum_is_over_all_shards() {
        let held = Arc::new(AtomicUsize::new(0));
        let (mut one, mut other) = (Warm::new(Arc::clone(&held)), Warm::new(Arc::clone(&held)));
        let sum = || held.load(Ordering::Relaxed);
        one.put(&key("a"), 10);
        one.put(&key("b"), 20);
        one.put(&key("c"), 30);
        other.put(&key("d"), 100);
        assert_eq!(sum(), 160);
        one.put(&key("a"), 5);
        assert_eq!(sum(), 155);
        one.remove(&key("c"));
        one.remove(&key("never"));
        assert_eq!(sum(), 125);
        assert_eq!(one.remove_first(), Some(key("b")));
        assert_eq!(one.remove_first(), Some(key("a")));
        assert_eq!(one.remove_first(), None);
        assert_eq!(sum(), 100);
        drop(other);
        assert_eq!(sum(), 0);
    }
}
