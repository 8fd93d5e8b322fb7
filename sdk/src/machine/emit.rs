//! Items that a run gives out in its streams (S28).

use std::panic::Location;

use super::core::Core;
use super::state::State;
use crate::MAX_STREAMS;
use crate::history::{Decision, Started};
use crate::incompatible::{IncompatibleKind, Side};
use crate::value::Value;

impl Core {
    /// An item, which gets the number after that of the last one.
    pub(crate) fn emit(
        &self,
        stream: &'static str,
        value: Value,
        place: &'static Location<'static>,
    ) {
        let Some(mut state) = self.deciding() else {
            return;
        };
        let state = &mut *state;
        state.may_decide();
        let Some(number) = state.next_item(stream) else {
            return state.note(state.item(stream, value, place));
        };
        match state.next_expected() {
            None => {
                let site = Some(state.location(place));
                state.push(Decision::Emitted {
                    stream: stream.into(),
                    number,
                    value,
                    site,
                });
            }
            Some(Some(Decision::Emitted {
                stream: s,
                number: n,
                value: v,
                ..
            })) if s == stream && state.same_input(&v, &value) => {
                if n != number {
                    let detail =
                        format!("item {n} of stream \"{stream}\" stands where item {number} comes");
                    let error = state.damaged(detail);
                    state.error.get_or_insert(error);
                    return;
                }
            }
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::Emitted { stream: s, .. }) if s == stream => {
                        IncompatibleKind::ChangedInput
                    }
                    _ => IncompatibleKind::Changed,
                };
                let asked = state.item(stream, value, place);
                state.refuse::<()>(kind, recorded.as_ref(), asked);
                return;
            }
        }
        state.commands += 1;
        state.drawn.clear();
        match state.streams.get_mut(stream) {
            Some(last) => *last = number,
            None => drop(state.streams.insert(stream.to_owned(), number)),
        }
    }
}

impl State {
    /// Numbers go on from those of earlier generations.
    pub(super) fn begin_streams(&mut self, started: &Started) {
        let ends = started.streams.iter();
        self.streams = ends.map(|end| (end.name.clone(), end.last)).collect();
    }

    /// The number of the stream's next item; `None`: the machine has stopped.
    fn next_item(&mut self, stream: &str) -> Option<u64> {
        self.go_on()?;
        match self.streams.get(stream) {
            Some(last) => Some(last.saturating_add(1)),
            None if self.streams.len() >= MAX_STREAMS => {
                self.run_away("streams of a run", MAX_STREAMS as u64)
            }
            None => Some(1),
        }
    }

    fn item(&self, stream: &str, value: Value, place: &'static Location<'static>) -> Side {
        Side {
            value: Some(value),
            site: Some(self.location(place)),
            ..Side::emitted(stream)
        }
    }
}
