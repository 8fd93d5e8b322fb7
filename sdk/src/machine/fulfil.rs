//! What a run fulfils of what others offer, or of its own: decisions whose results are known only at their commits
//! (S3).

use super::core::Core;
use super::state::{Kind, Slotted, State};
use crate::OperationId;
use crate::history::Decision;
use crate::incompatible::{IncompatibleKind, Side};
use crate::value::Value;

/// What is to be fulfilled, and with what.
pub(crate) struct Fulfils<'a> {
    pub(crate) reference: &'a OperationId,
    pub(crate) stub: &'static str,
    pub(crate) value: Value,
}

impl Fulfils<'_> {
    fn side(&self, state: &State, operation: Option<u64>) -> Side {
        Side {
            operation,
            site: state.site(),
            ..Side::fulfil(self.stub, self.reference, &self.value)
        }
    }
}

impl Core {
    pub(super) fn request_fulfil(&self, fulfils: Fulfils<'_>) -> Option<u64> {
        let state = &mut *self.deciding()?;
        state.may_open();
        if state.go_on().is_none() {
            let asked = fulfils.side(state, None);
            state.note(asked);
            return None;
        }
        let operation = state.next_operation;
        match state.next_expected() {
            None => {
                let site = state.site();
                state.push(Decision::FulfilRequested {
                    operation,
                    reference: fulfils.reference.clone(),
                    stub: fulfils.stub.into(),
                    value: fulfils.value,
                    site,
                });
            }
            Some(Some(Decision::FulfilRequested {
                operation: o,
                reference,
                stub,
                value,
                ..
            })) if o == operation
                && stub == fulfils.stub
                && (reference == *fulfils.reference || !state.graph.compare_inputs)
                && state.same_input(&value, &fulfils.value) => {}
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::FulfilRequested {
                        operation: o, stub, ..
                    }) if *o == operation && stub == fulfils.stub => IncompatibleKind::ChangedInput,
                    _ => IncompatibleKind::Changed,
                };
                let asked = fulfils.side(state, Some(operation));
                return state.refuse(kind, recorded.as_ref(), asked);
            }
        }
        Some(state.open(Kind::Slot(Slotted::Fulfil, fulfils.stub)))
    }

    /// A value that is too large to be stored: nothing is decided, since each replay finds the same. `None`: code that
    /// goes on like this is stopped.
    pub(super) fn refuse_fulfil(&self) -> Option<()> {
        self.deciding()?
            .step("values for offers that are too large after one event")
    }
}
