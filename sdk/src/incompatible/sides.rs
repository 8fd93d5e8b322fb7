//! One side of an incompatibility.

use serde::{Deserialize, Serialize};

use crate::history::{CallSite, Channel, Close, Decision, RecordSource};
use crate::prose::shorten;
use crate::value::Value;
use crate::{OperationId, RunId};

/// One side of an incompatibility: a decision as the history has it, or as the code asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What, as `activity charge_card`.
    pub what: String,
    /// The name in it, where it has one: of the activity, of the recorded value, the id of the marker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of the event, where the history has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The operation's number, where it is one.
    #[serde(default)]
    pub operation: Option<u64>,
    /// The input or value, where it has one and that is not longer than 16 KiB.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub value: Option<Value>,
    /// Where in the source, where that is known.
    #[serde(default)]
    pub site: Option<CallSite>,
}

/// A marker that does not fit (S36).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerMismatch {
    /// What the code calls the change.
    pub id: String,
    /// The version that the history has; `None`: it has none, which is version 0, the code before the marker.
    pub recorded: Option<u32>,
    /// The lowest and the highest version that the code supports; `None`: the code does not ask for the marker.
    pub supported: Option<(u32, u32)>,
}

/// A value that is there, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// The longest value that an error keeps, in bytes: an error is stored, and read by people.
const MAX_VALUE: usize = 16 << 10;
/// The same for what comes after the place of the error.
const MAX_NEXT_VALUE: usize = 1 << 10;
/// The longest name that an error keeps, in bytes.
const MAX_NAME: usize = 400;

/// How the source calls a wait for a message: the name is in a constant, which the source alone does not tell.
pub(crate) const RECEIVE: &str = "receive";
/// The same for a signal.
pub(crate) const WAIT_FOR: &str = "wait for";

/// How the source calls the send of a message to another run.
pub(crate) const SEND: &str = "send";
/// The same of a signal.
pub(crate) const SIGNAL: &str = "signal";
/// How the source calls the fulfilment of what a run offers.
pub(crate) const FULFIL: &str = "fulfil";

/// The end of a workflow that returns `Ok`.
pub(super) const RESULT: &str = "return of a result";
/// The end of a workflow that returns `Err`.
pub(super) const ERROR: &str = "return of an error";

impl Side {
    pub(crate) fn activity(name: &str) -> Self {
        Self {
            what: format!("activity {name}"),
            name: Some(name.to_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn sleep() -> Self {
        Self::called("sleep")
    }

    /// A wait for a message or a signal.
    pub(crate) fn receive(channel: Channel, name: &str) -> Self {
        let what = match channel {
            Channel::Message => RECEIVE,
            Channel::Signal => WAIT_FOR,
        };
        Self {
            what: format!("{what} \"{}\"", name.escape_debug()),
            name: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// That a wait has taken what came.
    pub(crate) fn received(channel: Channel, operation: u64, number: u64) -> Self {
        let what = match channel {
            Channel::Message => "message",
            Channel::Signal => "signal",
        };
        Self {
            operation: Some(operation),
            ..Self::called(&format!("taking of {what} #{number}"))
        }
    }

    /// That an item was given out in a stream.
    pub(crate) fn emitted(stream: &str) -> Self {
        Self {
            name: Some(stream.to_owned()),
            ..Self::called(&format!("emit \"{}\"", stream.escape_debug()))
        }
    }

    /// The answer to an update that was accepted.
    pub(crate) fn answered() -> Self {
        Self::called("answer to an update")
    }

    /// The offer of a stub.
    pub(crate) fn stub(name: &str) -> Self {
        Self {
            what: format!("stub {name}"),
            name: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// That what a stub was fulfilled with is not of its type.
    pub(crate) fn stub_invalid(operation: u64) -> Self {
        Self {
            operation: Some(operation),
            ..Self::called("refusal of what a stub was fulfilled with")
        }
    }

    /// The end of a named set of work, with the members that nobody has taken.
    pub(crate) fn set_closed(name: &str, close: Close, open: usize) -> Self {
        let how = match close {
            Close::Drop => "dropped",
            Close::Detach => "detached",
        };
        Self {
            what: format!(
                "end of the set \"{}\" with {open} {how}",
                name.escape_debug()
            ),
            name: Some(name.to_owned()),
            ..Self::default()
        }
    }
    /// The send of a message or a signal: what is compared is to whom, and what it says.
    pub(crate) fn send(channel: Channel, name: &str, run: &RunId, payload: &Value) -> Self {
        let what = match channel {
            Channel::Message => SEND,
            Channel::Signal => SIGNAL,
        };
        // The id of a run has no character that JSON escapes.
        let value = format!("{{\"run\":\"{run}\",\"payload\":{}}}", payload.as_json());
        Self {
            what: format!("{what} \"{}\"", name.escape_debug()),
            name: Some(name.to_owned()),
            value: Some(Value::trusted(&value)),
            ..Self::default()
        }
    }

    /// The fulfilment of what a run offers: what is compared is which offer, and with what.
    pub(crate) fn fulfil(stub: &str, reference: &OperationId, value: &Value) -> Self {
        // A reference has no character that JSON escapes.
        let value = format!(
            "{{\"reference\":\"{reference}\",\"value\":{}}}",
            value.as_json()
        );
        Self {
            what: format!("{FULFIL} \"{}\"", stub.escape_debug()),
            name: Some(stub.to_owned()),
            value: Some(Value::trusted(&value)),
            ..Self::default()
        }
    }

    /// The drop of an operation that is open.
    pub(crate) fn dropped(operation: u64) -> Self {
        Self {
            operation: Some(operation),
            ..Self::called("drop")
        }
    }

    pub(crate) fn draw(source: &RecordSource) -> Self {
        let name = match source {
            RecordSource::Random | RecordSource::Uuid => None,
            RecordSource::Named(name) => Some(name.clone()),
        };
        Self {
            what: Self::record(source),
            name,
            ..Self::default()
        }
    }

    fn called(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn of(decision: &Decision) -> Self {
        let side = match decision {
            Decision::ActivityScheduled {
                operation,
                name,
                input,
                ..
            } => Self {
                operation: Some(*operation),
                value: Some(input.clone()),
                ..Self::activity(name)
            },
            Decision::TimerStarted { operation, .. } => Self {
                operation: Some(*operation),
                ..Self::sleep()
            },
            Decision::ReceiveStarted {
                operation,
                channel,
                name,
                ..
            } => Self {
                operation: Some(*operation),
                ..Self::receive(*channel, name)
            },
            Decision::Received {
                operation,
                channel,
                number,
                ..
            } => Self::received(*channel, *operation, *number),
            Decision::StubOffered {
                operation,
                name,
                input,
                ..
            } => Self {
                operation: Some(*operation),
                value: Some(input.clone()),
                ..Self::stub(name)
            },
            Decision::StubInvalid { operation, .. } => Self::stub_invalid(*operation),
            Decision::SendRequested {
                operation,
                run,
                channel,
                name,
                payload,
                ..
            } => Self {
                operation: Some(*operation),
                ..Self::send(*channel, name, run, payload)
            },
            Decision::FulfilRequested {
                operation,
                reference,
                stub,
                value,
                ..
            } => Self {
                operation: Some(*operation),
                ..Self::fulfil(stub, reference, value)
            },
            Decision::Recorded { source, .. } => Self::draw(source),
            Decision::Emitted { stream, value, .. } => Self {
                value: Some(value.clone()),
                ..Self::emitted(stream)
            },
            Decision::UpdateAnswered { value, .. } => Self {
                value: Some(value.clone()),
                ..Self::answered()
            },
            Decision::Marker { id, version, .. } => Self {
                name: Some(id.clone().into_owned()),
                ..Self::called(&Self::marker(id, *version))
            },
            Decision::SetClosed { name, close, open } => Self::set_closed(name, *close, open.len()),
            Decision::Dropped { operation } => Self::dropped(*operation),
            Decision::Completed { value, .. } => Self {
                value: Some(value.clone()),
                ..Self::called(RESULT)
            },
            Decision::Failed { error, .. } => Self {
                value: Some(error.clone()),
                ..Self::called(ERROR)
            },
        };
        Self {
            site: decision.site().cloned(),
            ..side
        }
    }

    pub(crate) fn marker(id: &str, version: u32) -> String {
        format!("{} {version}", Self::marker_name(id))
    }

    pub(crate) fn marker_name(id: &str) -> String {
        format!("marker \"{}\"", id.escape_debug())
    }

    pub(crate) fn record(source: &RecordSource) -> String {
        match source {
            RecordSource::Random => "random draw".to_owned(),
            RecordSource::Uuid => "uuid".to_owned(),
            RecordSource::Named(name) => format!("recorded value \"{}\"", name.escape_debug()),
        }
    }

    /// Whether it is the end of the workflow.
    pub(crate) fn is_end(&self) -> bool {
        self.what == RESULT || self.what == ERROR
    }

    /// As it stands at the place of the error.
    pub(crate) fn shortened(self) -> Self {
        self.within(MAX_VALUE)
    }

    /// As it stands among what comes after.
    pub(super) fn brief(self) -> Self {
        self.within(MAX_NEXT_VALUE)
    }

    fn within(mut self, bytes: usize) -> Self {
        // In a store that somebody else has written to a value may be no JSON, and then the error would be none.
        let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let fits = |value: &Value| value.as_json().len() <= bytes && is_json(value.as_json());
        self.value = self.value.filter(fits);
        self.what = shorten(self.what, MAX_NAME);
        self.name = self.name.map(|name| shorten(name, MAX_NAME));
        if let Some(site) = &mut self.site {
            for part in [&mut site.file, &mut site.function] {
                if part.len() > MAX_NAME {
                    *part = shorten(part.clone().into_owned(), MAX_NAME).into();
                }
            }
        }
        self
    }
}
