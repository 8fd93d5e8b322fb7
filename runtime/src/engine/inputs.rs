//! What a run is to be told, in the order in which it arrived, and how much of that it waits for (S25).
//!
//! Messages and signals that the run does not wait for do not wake it. They stay here, or in the store alone, until
//! something comes that does; then all that came before it is told first.

use std::collections::VecDeque;

use perennial::Timestamp;
use perennial::history::{Channel, Observation};

use super::run::Input;
use crate::store::{Queued, is_filled, told};

/// So many signals that nobody waits for go together, in one commit.
pub(super) const IDLE_SIGNALS: u64 = 100;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    queue: VecDeque<Input>,
    /// What the run's own decisions came to, which is told before all else (S3).
    filled: VecDeque<Input>,
    /// So many of the first do not wake the run as it waits now.
    passed: usize,
    /// How many bytes the payloads of messages and signals have.
    bytes: usize,
    /// How many signals there are.
    signals: u64,
    /// Rows up to this arrival are here, or were told or dropped, or are left in the store.
    known: u64,
    /// Rows may be in the store that are not here.
    left: bool,
}

impl Inputs {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.filled.is_empty()
    }

    /// Whether nothing here wakes the run, as far as that was looked at.
    pub(super) fn is_quiet(&self) -> bool {
        self.passed == self.queue.len() && self.filled.is_empty()
    }

    /// Whether something here wakes a run that waits for what `awaits` says.
    pub(super) fn wakes(&mut self, awaits: impl Fn(Channel, &str) -> bool) -> bool {
        if !self.filled.is_empty() {
            return true;
        }
        while let Some(input) = self.queue.get(self.passed) {
            if told(&input.observation).is_none_or(|(channel, told)| awaits(channel, &told.name)) {
                return true;
            }
            self.passed += 1;
        }
        false
    }

    /// The run waits for something else from now on.
    pub(super) fn look_again(&mut self) {
        self.passed = 0;
    }

    /// The first row, where a row is first: its stamp.
    pub(super) fn front(&self) -> Option<Option<Timestamp>> {
        let front = self.queue.front()?;
        Some(front.row.map(|(_, at)| at))
    }

    /// What comes first.
    pub(super) fn first(&self) -> Option<&Observation> {
        let mut all = self.filled.iter().chain(&self.queue);
        all.next().map(|input| &input.observation)
    }

    /// What one of the run's own decisions came to.
    pub(super) fn fill(&mut self, row: Queued) {
        if row.arrival > self.known {
            self.filled.push_back(Input::of(row));
        }
    }

    pub(super) fn pop_filled(&mut self) -> Option<Input> {
        self.filled.pop_front()
    }

    /// Something that is only in memory.
    pub(super) fn push(&mut self, observation: Observation) {
        self.queue.push_back(Input::new(observation));
    }

    /// What was taken and is to be told again.
    pub(super) fn push_front(&mut self, input: Input) {
        if matches!(input.observation, Observation::SlotFilled { .. }) {
            return self.filled.push_front(input);
        }
        self.count(&input);
        self.queue.push_front(input);
        self.passed = 0;
    }

    /// A row that the store has acknowledged. It may have been read from the store before that was heard of.
    pub(super) fn arrive(&mut self, row: Queued) {
        if row.arrival <= self.known {
            return;
        }
        let later = |input: &Input| input.row.is_some_and(|(other, _)| other > row.arrival);
        // Acknowledgements come in order, mostly.
        let place = match self.queue.back() {
            Some(last) if later(last) => self.queue.iter().position(later),
            _ => None,
        };
        let place = place.unwrap_or(self.queue.len());
        let input = Input::of(row);
        self.count(&input);
        self.queue.insert(place, input);
        self.passed = self.passed.min(place);
    }

    /// The rows of the run's queue, as the store has them when its last arrival is `arrivals`. They were there
    /// before what is here in memory alone.
    pub(super) fn take_rows(&mut self, queue: Vec<Queued>, arrivals: u64) {
        let last = queue.last().map_or(0, |row| row.arrival);
        self.known = arrivals.max(last).max(self.known);
        self.left = false;
        let here = std::mem::take(&mut self.queue);
        (self.bytes, self.signals) = (0, 0);
        let known = self.known;
        let later = here
            .into_iter()
            .filter(|input| input.row.is_none_or(|(arrival, _)| arrival > known));
        let (filled, queue): (Vec<_>, Vec<_>) = queue.into_iter().partition(is_filled);
        let known = self.known;
        let newer = self.filled.drain(..);
        let newer = newer.filter(|input| input.row.is_none_or(|(arrival, _)| arrival > known));
        self.filled = filled
            .into_iter()
            .map(Input::of)
            .chain(newer.collect::<Vec<_>>())
            .collect();
        let all = queue.into_iter().map(Input::of).chain(later);
        self.queue = all.collect();
        self.passed = 0;
        let (mut bytes, mut signals) = (0, 0);
        for (channel, size) in self.queue.iter().filter_map(size) {
            bytes += size;
            signals += u64::from(channel == Channel::Signal);
        }
        (self.bytes, self.signals) = (bytes, signals);
    }

    pub(super) fn pop_front(&mut self) -> Option<Input> {
        let input = self.queue.pop_front()?;
        self.discount(&input);
        self.passed = self.passed.saturating_sub(1);
        Some(input)
    }

    /// All that is here, for good.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Input> + use<> {
        (self.passed, self.bytes, self.signals) = (0, 0, 0);
        let filled = std::mem::take(&mut self.filled);
        filled.into_iter().chain(std::mem::take(&mut self.queue))
    }

    /// Takes away the signals that nobody waits for, where there are many: those whose turn has come, before
    /// `until`. Gives back their arrivals.
    pub(super) fn take_idle_signals(&mut self, until: Option<Timestamp>) -> Vec<u64> {
        if self.signals < IDLE_SIGNALS {
            return Vec::new();
        }
        let mut taken = Vec::new();
        let idle = self.queue.drain(..self.passed);
        let mut kept = VecDeque::new();
        for input in idle {
            match (size(&input), input.row) {
                (Some((Channel::Signal, bytes)), Some((arrival, at)))
                    if until.is_none_or(|until| at < until) =>
                {
                    self.bytes -= bytes;
                    self.signals -= 1;
                    taken.push(arrival);
                }
                _ => kept.push_back(input),
            }
        }
        self.passed = kept.len();
        kept.append(&mut self.queue);
        self.queue = kept;
        taken
    }

    /// The store has the rows too, and gives them when they are wanted.
    pub(super) fn leave_rows(&mut self) {
        self.left = true;
        self.queue.retain(|input| input.row.is_none());
        self.filled.clear();
        (self.passed, self.bytes, self.signals) = (0, 0, 0);
    }

    /// Messages come with a new run, whose numbers the store gives.
    pub(super) fn comes_with(&mut self, messages: usize) {
        self.left |= messages > 0;
    }

    /// Whether the store may have rows that are not here.
    pub(super) fn has_left(&self) -> bool {
        self.left
    }

    /// About how many bytes they hold.
    pub(super) fn memory(&self) -> usize {
        self.bytes + (self.queue.capacity() + self.filled.capacity()) * size_of::<Input>()
    }

    fn count(&mut self, input: &Input) {
        if let Some((channel, size)) = size(input) {
            self.bytes += size;
            self.signals += u64::from(channel == Channel::Signal);
        }
    }

    fn discount(&mut self, input: &Input) {
        if let Some((channel, size)) = size(input) {
            self.bytes -= size;
            self.signals -= u64::from(channel == Channel::Signal);
        }
    }
}

/// What a message or a signal is, and how many bytes it has.
fn size(input: &Input) -> Option<(Channel, usize)> {
    told(&input.observation).map(|(channel, told)| (channel, told.payload.as_json().len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perennial::history::Told;
    use perennial::value::Value;

    fn row(arrival: u64, channel: Channel, name: &str) -> Queued {
        let told = Told {
            number: arrival,
            name: name.to_owned(),
            payload: Value::null(),
            key: None,
        };
        Queued {
            arrival,
            at: Timestamp::from_millis(arrival),
            observation: match channel {
                Channel::Message => Observation::MessageArrived(told),
                Channel::Signal => Observation::SignalArrived(told),
            },
        }
    }

    fn message(arrival: u64, name: &str) -> Queued {
        row(arrival, Channel::Message, name)
    }

    fn arrivals(inputs: &Inputs) -> Vec<Option<u64>> {
        let rows = inputs.queue.iter().map(|input| input.row);
        rows.map(|row| row.map(|(arrival, _)| arrival)).collect()
    }

    #[test]
    fn a_row_is_here_once_and_in_its_place_whichever_way_it_comes() {
        let mut inputs = Inputs::default();
        inputs.arrive(message(3, "a"));
        inputs.push(Observation::TimerFired { operation: 1 });
        inputs.arrive(message(5, "a"));
        inputs.arrive(message(4, "a"));
        assert_eq!(arrivals(&inputs), [Some(3), None, Some(4), Some(5)]);
        // The store has had one more than was told here, and one has come since.
        let stored = (2..5).map(|arrival| message(arrival, "a")).collect();
        inputs.take_rows(stored, 4);
        assert_eq!(
            arrivals(&inputs),
            [Some(2), Some(3), Some(4), None, Some(5)]
        );
        inputs.arrive(message(4, "a"));
        inputs.arrive(message(6, "a"));
        assert_eq!(arrivals(&inputs).len(), 6);
    }

    #[test]
    fn what_a_send_came_to_is_before_all_else_and_here_once() {
        use perennial::history::SlotResult;
        let filled = |arrival| Queued {
            arrival,
            at: Timestamp::from_millis(arrival),
            observation: Observation::SlotFilled {
                operation: arrival,
                result: SlotResult::NotSent(perennial::SendFailure::TooLarge { size: 9, limit: 8 }),
            },
        };
        let mut inputs = Inputs::default();
        inputs.arrive(message(2, "a"));
        inputs.fill(filled(3));
        inputs.fill(filled(4));
        // One that came before them and is heard of later does not stand before them.
        inputs.arrive(message(1, "a"));
        assert!(inputs.wakes(|_, _| false) && !inputs.is_quiet() && !inputs.is_empty());
        let rows = |inputs: &Inputs| {
            let filled = inputs.filled.iter();
            let filled = filled.filter_map(|input| input.row.map(|row| row.0));
            (filled.collect::<Vec<_>>(), arrivals(inputs))
        };
        assert_eq!(rows(&inputs), (vec![3, 4], vec![Some(1), Some(2)]));
        // The run is opened again, with one more.
        inputs.take_rows(
            vec![
                message(1, "a"),
                message(2, "a"),
                filled(3),
                filled(4),
                filled(5),
            ],
            5,
        );
        inputs.fill(filled(5));
        assert_eq!(rows(&inputs), (vec![3, 4, 5], vec![Some(1), Some(2)]));
        let first = inputs.pop_filled().unwrap();
        assert_eq!(first.row.map(|row| row.0), Some(3));
        inputs.push_front(first);
        assert_eq!(inputs.first(), Some(&filled(3).observation));
        let all = inputs.take().map(|input| input.row.map(|row| row.0));
        assert_eq!(all.collect::<Vec<_>>(), [3, 4, 5, 1, 2].map(Some));
        assert!(inputs.is_empty() && !inputs.wakes(|_, _| false));
    }

    #[test]
    fn what_nobody_waits_for_is_looked_at_once_until_something_else_is_waited_for() {
        let mut inputs = Inputs::default();
        inputs.arrive(message(1, "a"));
        inputs.arrive(message(2, "b"));
        let asked = std::cell::Cell::new(0);
        let awaits = |_: Channel, name: &str| {
            asked.set(asked.get() + 1);
            name == "c"
        };
        assert!(!inputs.is_quiet() && !inputs.wakes(awaits) && inputs.is_quiet());
        assert!(!inputs.wakes(awaits));
        assert_eq!(asked.get(), 2);
        inputs.arrive(message(3, "c"));
        assert!(!inputs.is_quiet() && inputs.wakes(awaits));
        assert_eq!(asked.get(), 3);
        inputs.look_again();
        assert!(inputs.wakes(|_, name| name == "a"));
    }

    #[test]
    fn signals_go_in_crowds_and_only_those_whose_turn_has_come() {
        let mut inputs = Inputs::default();
        inputs.arrive(message(1, "a"));
        for arrival in 2..=IDLE_SIGNALS {
            inputs.arrive(row(arrival, Channel::Signal, "bell"));
        }
        let nothing = |_: Channel, _: &str| false;
        assert!(!inputs.wakes(nothing));
        assert_eq!(inputs.take_idle_signals(None), [0; 0], "they are too few");
        inputs.arrive(row(IDLE_SIGNALS + 1, Channel::Signal, "bell"));
        assert!(!inputs.wakes(nothing));
        // A timer comes before the last of them.
        let until = Timestamp::from_millis(IDLE_SIGNALS + 1);
        let taken = inputs.take_idle_signals(Some(until));
        assert_eq!(taken, (2..=IDLE_SIGNALS).collect::<Vec<_>>());
        assert_eq!(arrivals(&inputs), [Some(1), Some(IDLE_SIGNALS + 1)]);
        assert!(inputs.is_quiet());
        assert_eq!(inputs.signals, 1);
    }
}
