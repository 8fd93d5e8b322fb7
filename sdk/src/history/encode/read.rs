//! Events out of the fields of their records.

use crate::Timestamp;
use crate::history::{
    ActivityFailure, CallSite, Channel, Close, Decision, Observation, RecordSource, Told,
};
use crate::value::Value;
use crate::wire::{Content, Fields, RecordError};

use super::ended::{read_migrated, read_open, read_started};
use super::{kind, slot};

/// The fields of one event, by number; what an event does not need stays `None`.
pub(super) struct Parts<'a> {
    pub(super) contents: [Option<Content<'a>>; 11],
    /// All of them again, for those that may come several times.
    pub(super) fields: Fields<'a>,
}

impl<'a> Parts<'a> {
    pub(super) fn read(mut fields: Fields<'a>) -> Result<Self, RecordError> {
        let mut parts = Self {
            contents: [None; 11],
            fields: fields.clone(),
        };
        while let Some((field, content)) = fields.next_field()? {
            if let Some(slot) = parts.contents.get_mut(field as usize) {
                *slot = Some(content);
            }
        }
        Ok(parts)
    }

    pub(super) fn get(&self, field: usize, name: &'static str) -> Result<Content<'a>, RecordError> {
        self.contents[field].ok_or(RecordError::Malformed { field: name })
    }

    pub(super) fn number(&self, field: usize, name: &'static str) -> Result<u64, RecordError> {
        self.get(field, name)?.number(name)
    }

    pub(super) fn small(&self, field: usize, name: &'static str) -> Result<u32, RecordError> {
        self.get(field, name)?.small(name)
    }

    pub(super) fn text(&self, field: usize, name: &'static str) -> Result<&'a str, RecordError> {
        self.get(field, name)?.text(name)
    }

    pub(super) fn optional_text(
        &self,
        field: usize,
        name: &'static str,
    ) -> Result<Option<String>, RecordError> {
        let content = self.contents[field];
        content
            .map(|content| content.text(name).map(str::to_owned))
            .transpose()
    }

    pub(super) fn channel(&self, field: usize) -> Result<Channel, RecordError> {
        match self.number(field, "channel")? {
            1 => Ok(Channel::Message),
            2 => Ok(Channel::Signal),
            _ => Err(RecordError::Malformed { field: "channel" }),
        }
    }

    pub(super) fn close(&self, field: usize) -> Result<Close, RecordError> {
        match self.number(field, "close")? {
            1 => Ok(Close::Drop),
            2 => Ok(Close::Detach),
            _ => Err(RecordError::Malformed { field: "close" }),
        }
    }

    /// A field that may come several times.
    pub(super) fn numbers(&self, wanted: u32, name: &'static str) -> Result<Vec<u64>, RecordError> {
        let (mut fields, mut numbers) = (self.fields.clone(), Vec::new());
        while let Some((field, content)) = fields.next_field()? {
            if field == wanted {
                numbers.push(content.number(name)?);
            }
        }
        Ok(numbers)
    }

    pub(super) fn told(&self) -> Result<Told, RecordError> {
        Ok(Told {
            number: self.number(1, "number")?,
            name: self.text(2, "name")?.to_owned(),
            payload: self.value(3, "payload")?,
            key: self.optional_text(4, "key")?,
        })
    }

    pub(super) fn value(&self, field: usize, name: &'static str) -> Result<Value, RecordError> {
        // The checksum vouches for the text: it is what was encoded.
        Ok(Value::trusted(self.text(field, name)?))
    }

    pub(super) fn site(&self, field: usize) -> Result<Option<CallSite>, RecordError> {
        let Some(content) = self.contents[field] else {
            return Ok(None);
        };
        let parts = Self::read(content.fields("site")?)?;
        Ok(Some(CallSite {
            file: parts.text(1, "file")?.to_owned().into(),
            line: parts.small(2, "line")?,
            column: parts.small(3, "column")?,
            function: parts.text(4, "function")?.to_owned().into(),
        }))
    }
}

pub(super) fn read_observation(event: u32, fields: Fields<'_>) -> Result<Observation, RecordError> {
    let parts = Parts::read(fields)?;
    Ok(match event {
        kind::STARTED => Observation::Started(read_started(&parts)?),
        kind::ACTIVITY_COMPLETED => Observation::ActivityCompleted {
            operation: parts.number(1, "operation")?,
            result: parts.value(2, "result")?,
        },
        kind::ACTIVITY_FAILED => Observation::ActivityFailed {
            operation: parts.number(1, "operation")?,
            failure: read_failure(parts.get(2, "failure")?.fields("failure")?)?,
        },
        kind::TIMER_FIRED => Observation::TimerFired {
            operation: parts.number(1, "operation")?,
        },
        kind::MIGRATED => Observation::Migrated(read_migrated(&parts)?),
        kind::MESSAGE_ARRIVED => Observation::MessageArrived(parts.told()?),
        kind::SIGNAL_ARRIVED => Observation::SignalArrived(parts.told()?),
        kind::STUB_FULFILLED => Observation::StubFulfilled {
            operation: parts.number(1, "operation")?,
            value: parts.value(2, "value")?,
            key: parts.optional_text(3, "key")?,
        },
        kind::UPDATE_ACCEPTED => Observation::UpdateAccepted {
            name: parts.text(1, "name")?.to_owned(),
            input: parts.value(2, "input")?,
            key: parts.optional_text(3, "key")?,
        },
        kind::SLOT_FILLED => Observation::SlotFilled {
            operation: parts.number(1, "operation")?,
            result: slot::read_result(parts.get(2, "result")?.fields("result")?)?,
        },
        other => return Err(RecordError::UnknownKind { kind: other.into() }),
    })
}

fn read_failure(fields: Fields<'_>) -> Result<ActivityFailure, RecordError> {
    let parts = Parts::read(fields)?;
    Ok(match parts.number(1, "failure")? {
        1 => ActivityFailure::Rejected {
            value: parts.value(2, "value")?,
        },
        2 => ActivityFailure::RetriesExhausted {
            last: parts.text(3, "last")?.to_owned(),
            attempts: parts.small(4, "attempts")?,
        },
        3 => ActivityFailure::TimedOut,
        4 => ActivityFailure::Cancelled,
        5 => ActivityFailure::TooLarge {
            size: parts.number(5, "size")?,
            limit: parts.number(6, "limit")?,
        },
        _ => return Err(RecordError::Malformed { field: "failure" }),
    })
}

pub(super) fn read_decision(event: u32, content: Content<'_>) -> Result<Decision, RecordError> {
    let fields = match event {
        kind::ACTIVITY_SCHEDULED..=kind::RECEIVED
        | kind::STUB_OFFERED..=kind::SET_CLOSED
        | kind::SEND_REQUESTED
        | kind::FULFIL_REQUESTED
        | kind::EMITTED
        | kind::UPDATE_ANSWERED => content.fields("event")?,
        other => return Err(RecordError::UnknownKind { kind: other.into() }),
    };
    let parts = Parts::read(fields)?;
    Ok(match event {
        kind::ACTIVITY_SCHEDULED => Decision::ActivityScheduled {
            operation: parts.number(1, "operation")?,
            name: parts.text(2, "name")?.to_owned().into(),
            input: parts.value(3, "input")?,
            site: parts.site(4)?,
        },
        kind::TIMER_STARTED => Decision::TimerStarted {
            operation: parts.number(1, "operation")?,
            deadline: Timestamp::from_millis(parts.number(2, "deadline")?),
            site: parts.site(3)?,
        },
        kind::RECORDED => Decision::Recorded {
            source: match (parts.contents[1], parts.contents[2]) {
                (None, Some(name)) => RecordSource::Named(name.text("name")?.to_owned()),
                (Some(Content::Number(1)), None) => RecordSource::Random,
                (Some(Content::Number(2)), None) => RecordSource::Uuid,
                _ => return Err(RecordError::Malformed { field: "source" }),
            },
            value: parts.value(3, "value")?,
            site: parts.site(4)?,
        },
        kind::DROPPED => Decision::Dropped {
            operation: parts.number(1, "operation")?,
        },
        kind::MARKER => Decision::Marker {
            id: parts.text(1, "id")?.to_owned().into(),
            version: parts.small(2, "version")?,
            site: parts.site(3)?,
        },
        kind::RECEIVE_STARTED => Decision::ReceiveStarted {
            operation: parts.number(1, "operation")?,
            name: parts.text(2, "name")?.to_owned().into(),
            channel: parts.channel(3)?,
            site: parts.site(4)?,
        },
        kind::RECEIVED => Decision::Received {
            operation: parts.number(1, "operation")?,
            channel: parts.channel(4)?,
            number: parts.number(2, "number")?,
            invalid: parts.optional_text(3, "invalid")?,
        },
        kind::EMITTED => Decision::Emitted {
            stream: parts.text(1, "stream")?.to_owned().into(),
            number: parts.number(2, "number")?,
            value: parts.value(3, "value")?,
            site: parts.site(4)?,
        },
        kind::UPDATE_ANSWERED => Decision::UpdateAnswered {
            value: parts.value(1, "value")?,
            site: parts.site(2)?,
        },
        kind::STUB_OFFERED => Decision::StubOffered {
            operation: parts.number(1, "operation")?,
            name: parts.text(2, "name")?.to_owned().into(),
            input: parts.value(3, "input")?,
            site: parts.site(4)?,
        },
        kind::STUB_INVALID => Decision::StubInvalid {
            operation: parts.number(1, "operation")?,
            problem: parts.text(2, "problem")?.to_owned(),
        },
        kind::SET_CLOSED => Decision::SetClosed {
            name: parts.text(1, "name")?.to_owned().into(),
            close: parts.close(2)?,
            open: parts.numbers(3, "open")?,
        },
        kind::SEND_REQUESTED => Decision::SendRequested {
            operation: parts.number(1, "operation")?,
            run: slot::run_id(&parts, 2, "run")?,
            channel: parts.channel(3)?,
            name: parts.text(4, "name")?.to_owned().into(),
            payload: parts.value(5, "payload")?,
            site: parts.site(6)?,
        },
        kind::FULFIL_REQUESTED => Decision::FulfilRequested {
            operation: parts.number(1, "operation")?,
            reference: slot::reference(&parts, 2, 3)?,
            stub: parts.text(4, "stub")?.to_owned().into(),
            value: parts.value(5, "value")?,
            site: parts.site(6)?,
        },
        kind::COMPLETED => Decision::Completed {
            value: parts.value(1, "value")?,
            open: read_open(parts.fields.clone())?,
        },
        _ => Decision::Failed {
            error: parts.value(1, "error")?,
            open: read_open(parts.fields.clone())?,
        },
    })
}
