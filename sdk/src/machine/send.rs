//! What a run tells other runs: decisions whose results are known only at their commits (S3).

use super::core::Core;
use super::state::{Kind, Slotted, State};
use crate::RunId;
use crate::history::{Channel, Decision};
use crate::incompatible::{IncompatibleKind, Side};
use crate::value::Value;

/// What is to be sent.
pub(crate) struct Sends<'a> {
    pub(crate) run: &'a RunId,
    pub(crate) channel: Channel,
    pub(crate) name: &'static str,
    pub(crate) payload: Value,
}

impl Sends<'_> {
    fn side(&self, state: &State, operation: Option<u64>) -> Side {
        Side {
            operation,
            site: state.site(),
            ..Side::send(self.channel, self.name, self.run, &self.payload)
        }
    }
}

impl Core {
    pub(super) fn request_send(&self, sends: Sends<'_>) -> Option<u64> {
        let state = &mut *self.deciding()?;
        state.may_open();
        if state.go_on().is_none() {
            let asked = sends.side(state, None);
            state.note(asked);
            return None;
        }
        let operation = state.next_operation;
        match state.next_expected() {
            None => {
                let site = state.site();
                state.push(Decision::SendRequested {
                    operation,
                    run: sends.run.clone(),
                    channel: sends.channel,
                    name: sends.name.into(),
                    payload: sends.payload,
                    site,
                });
            }
            Some(Some(Decision::SendRequested {
                operation: o,
                run,
                channel,
                name,
                payload,
                ..
            })) if o == operation
                && channel == sends.channel
                && name == sends.name
                && (run == *sends.run || !state.graph.compare_inputs)
                && state.same_input(&payload, &sends.payload) => {}
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::SendRequested {
                        operation: o,
                        channel,
                        name,
                        ..
                    }) if *o == operation && *channel == sends.channel && name == sends.name => {
                        IncompatibleKind::ChangedInput
                    }
                    _ => IncompatibleKind::Changed,
                };
                let asked = sends.side(state, Some(operation));
                return state.refuse(kind, recorded.as_ref(), asked);
            }
        }
        Some(state.open(Kind::Slot(Slotted::Send, sends.name)))
    }

    /// A send of what is too large to be stored: nothing is decided, since each replay finds the same. `None`: code
    /// that goes on like this is stopped.
    pub(super) fn refuse_send(&self) -> Option<()> {
        self.deciding()?
            .step("sends of what is too large after one event")
    }
}
