//! Units as records: one record a unit, a nested message an event. Field numbers are for ever; a new kind
//! of event gets a new number, and a reader that does not know it refuses the unit (S5).

mod ended;
mod read;
mod slot;

use crate::Timestamp;
use crate::value::Value;
use crate::wire::{FieldWriter, RecordError, RecordWriter, open};

use crate::history::{
    ActivityFailure, CallSite, Channel, Close, Decision, Observation, OpenOperation, RecordSource,
    Told, Unit,
};
use ended::{write_migrated, write_open, write_started};
use read::{read_decision, read_observation};

/// The schema version of a unit's record.
pub const UNIT_VERSION: u8 = 1;

/// Fields of a unit. Kinds of events have their own numbers from 16 on, so that an unknown one is seen.
mod unit {
    pub(super) const NUMBER: u32 = 1;
    pub(super) const AT: u32 = 2;
    pub(super) const FIRST_EVENT: u32 = 16;
}

mod kind {
    pub(super) const STARTED: u32 = 16;
    pub(super) const ACTIVITY_COMPLETED: u32 = 17;
    pub(super) const ACTIVITY_FAILED: u32 = 18;
    pub(super) const TIMER_FIRED: u32 = 19;
    pub(super) const MIGRATED: u32 = 20;
    pub(super) const MESSAGE_ARRIVED: u32 = 21;
    pub(super) const SIGNAL_ARRIVED: u32 = 22;
    pub(super) const STUB_FULFILLED: u32 = 23;
    pub(super) const SLOT_FILLED: u32 = 30;
    pub(super) const UPDATE_ACCEPTED: u32 = 50;
    pub(super) const ACTIVITY_SCHEDULED: u32 = 64;
    pub(super) const TIMER_STARTED: u32 = 65;
    pub(super) const RECORDED: u32 = 66;
    pub(super) const DROPPED: u32 = 67;
    pub(super) const COMPLETED: u32 = 68;
    pub(super) const FAILED: u32 = 69;
    pub(super) const MARKER: u32 = 70;
    pub(super) const RECEIVE_STARTED: u32 = 71;
    pub(super) const RECEIVED: u32 = 72;
    pub(super) const EMITTED: u32 = 104;
    pub(super) const STUB_OFFERED: u32 = 84;
    pub(super) const STUB_INVALID: u32 = 85;
    pub(super) const SET_CLOSED: u32 = 86;
    pub(super) const SEND_REQUESTED: u32 = 94;
    pub(super) const FULFIL_REQUESTED: u32 = 95;
    pub(super) const UPDATE_ANSWERED: u32 = 114;
}

/// The unit as a record.
#[must_use]
pub fn encode_unit(unit: &Unit) -> Vec<u8> {
    let mut record = RecordWriter::new(UNIT_VERSION);
    let mut fields = record.fields();
    fields.number(unit::NUMBER, unit.number);
    fields.number(unit::AT, unit.at.as_millis());
    observation(&mut fields, &unit.observation);
    for made in &unit.decisions {
        decision(&mut fields, made);
    }
    record.finish()
}

fn observation(fields: &mut FieldWriter<'_>, observation: &Observation) {
    match observation {
        Observation::Started(started) => {
            fields.nested(kind::STARTED, |f| write_started(f, started));
        }
        Observation::ActivityCompleted { operation, result } => {
            fields.nested(kind::ACTIVITY_COMPLETED, |f| {
                f.number(1, *operation);
                f.text(2, result.as_json());
            })
        }
        Observation::ActivityFailed { operation, failure } => {
            fields.nested(kind::ACTIVITY_FAILED, |f| {
                f.number(1, *operation);
                f.nested(2, |f| write_failure(f, failure));
            })
        }
        Observation::TimerFired { operation } => {
            fields.nested(kind::TIMER_FIRED, |f| f.number(1, *operation))
        }
        Observation::Migrated(migrated) => {
            fields.nested(kind::MIGRATED, |f| write_migrated(f, migrated));
        }
        Observation::MessageArrived(told) => {
            fields.nested(kind::MESSAGE_ARRIVED, |f| write_told(f, told));
        }
        Observation::SignalArrived(told) => {
            fields.nested(kind::SIGNAL_ARRIVED, |f| write_told(f, told));
        }
        Observation::StubFulfilled {
            operation,
            value,
            key,
        } => fields.nested(kind::STUB_FULFILLED, |f| {
            f.number(1, *operation);
            f.text(2, value.as_json());
            if let Some(key) = key {
                f.text(3, key);
            }
        }),
        Observation::UpdateAccepted { name, input, key } => {
            fields.nested(kind::UPDATE_ACCEPTED, |f| {
                f.text(1, name);
                f.text(2, input.as_json());
                if let Some(key) = key {
                    f.text(3, key);
                }
            });
        }
        Observation::SlotFilled { operation, result } => {
            fields.nested(kind::SLOT_FILLED, |f| {
                f.number(1, *operation);
                f.nested(2, |f| slot::write_result(f, result));
            });
        }
    }
}

fn channel_number(channel: Channel) -> u64 {
    match channel {
        Channel::Message => 1,
        Channel::Signal => 2,
    }
}

fn close_number(close: Close) -> u64 {
    match close {
        Close::Drop => 1,
        Close::Detach => 2,
    }
}

fn write_told(f: &mut FieldWriter<'_>, told: &Told) {
    let Told {
        number,
        name,
        payload,
        key,
    } = told;
    f.number(1, *number);
    f.text(2, name);
    f.text(3, payload.as_json());
    if let Some(key) = key {
        f.text(4, key);
    }
}

fn write_failure(f: &mut FieldWriter<'_>, failure: &ActivityFailure) {
    match failure {
        ActivityFailure::Rejected { value } => {
            f.number(1, 1);
            f.text(2, value.as_json());
        }
        ActivityFailure::RetriesExhausted { last, attempts } => {
            f.number(1, 2);
            f.text(3, last);
            f.number(4, (*attempts).into());
        }
        ActivityFailure::TimedOut => f.number(1, 3),
        ActivityFailure::Cancelled => f.number(1, 4),
        ActivityFailure::TooLarge { size, limit } => {
            f.number(1, 5);
            f.number(5, *size);
            f.number(6, *limit);
        }
    }
}

fn decision(fields: &mut FieldWriter<'_>, decision: &Decision) {
    match decision {
        Decision::ActivityScheduled {
            operation,
            name,
            input,
            site,
        } => {
            fields.nested(kind::ACTIVITY_SCHEDULED, |f| {
                f.number(1, *operation);
                f.text(2, name);
                f.text(3, input.as_json());
                write_site(f, 4, site.as_ref());
            });
        }
        Decision::TimerStarted {
            operation,
            deadline,
            site,
        } => fields.nested(kind::TIMER_STARTED, |f| {
            f.number(1, *operation);
            f.number(2, deadline.as_millis());
            write_site(f, 3, site.as_ref());
        }),
        Decision::Recorded {
            source,
            value,
            site,
        } => fields.nested(kind::RECORDED, |f| {
            match source {
                RecordSource::Random => f.number(1, 1),
                RecordSource::Uuid => f.number(1, 2),
                RecordSource::Named(name) => f.text(2, name),
            }
            f.text(3, value.as_json());
            write_site(f, 4, site.as_ref());
        }),
        Decision::Marker { id, version, site } => fields.nested(kind::MARKER, |f| {
            f.text(1, id);
            f.number(2, (*version).into());
            write_site(f, 3, site.as_ref());
        }),
        Decision::ReceiveStarted {
            operation,
            channel,
            name,
            site,
        } => fields.nested(kind::RECEIVE_STARTED, |f| {
            f.number(1, *operation);
            f.text(2, name);
            f.number(3, channel_number(*channel));
            write_site(f, 4, site.as_ref());
        }),
        Decision::Received {
            operation,
            channel,
            number,
            invalid,
        } => fields.nested(kind::RECEIVED, |f| {
            f.number(1, *operation);
            f.number(2, *number);
            f.number(4, channel_number(*channel));
            if let Some(problem) = invalid {
                f.text(3, problem);
            }
        }),
        Decision::Emitted {
            stream,
            number,
            value,
            site,
        } => fields.nested(kind::EMITTED, |f| {
            f.text(1, stream);
            f.number(2, *number);
            f.text(3, value.as_json());
            write_site(f, 4, site.as_ref());
        }),
        Decision::UpdateAnswered { value, site } => fields.nested(kind::UPDATE_ANSWERED, |f| {
            f.text(1, value.as_json());
            write_site(f, 2, site.as_ref());
        }),
        Decision::StubOffered {
            operation,
            name,
            input,
            site,
        } => fields.nested(kind::STUB_OFFERED, |f| {
            f.number(1, *operation);
            f.text(2, name);
            f.text(3, input.as_json());
            write_site(f, 4, site.as_ref());
        }),
        Decision::StubInvalid { operation, problem } => fields.nested(kind::STUB_INVALID, |f| {
            f.number(1, *operation);
            f.text(2, problem);
        }),
        Decision::SetClosed { name, close, open } => fields.nested(kind::SET_CLOSED, |f| {
            f.text(1, name);
            f.number(2, close_number(*close));
            for member in open {
                f.number(3, *member);
            }
        }),
        Decision::SendRequested {
            operation,
            run,
            channel,
            name,
            payload,
            site,
        } => fields.nested(kind::SEND_REQUESTED, |f| {
            f.number(1, *operation);
            f.text(2, run.as_str());
            f.number(3, channel_number(*channel));
            f.text(4, name);
            f.text(5, payload.as_json());
            write_site(f, 6, site.as_ref());
        }),
        Decision::FulfilRequested {
            operation,
            reference,
            stub,
            value,
            site,
        } => fields.nested(kind::FULFIL_REQUESTED, |f| {
            f.number(1, *operation);
            f.text(2, reference.run.as_str());
            f.number(3, reference.number);
            f.text(4, stub);
            f.text(5, value.as_json());
            write_site(f, 6, site.as_ref());
        }),
        Decision::Dropped { operation } => {
            fields.nested(kind::DROPPED, |f| f.number(1, *operation))
        }
        Decision::Completed { value, open } => {
            fields.nested(kind::COMPLETED, |f| end(f, value, open))
        }
        Decision::Failed { error, open } => fields.nested(kind::FAILED, |f| end(f, error, open)),
    }
}

fn end(f: &mut FieldWriter<'_>, value: &Value, open: &[OpenOperation]) {
    f.text(1, value.as_json());
    write_open(f, open);
}

fn write_site(f: &mut FieldWriter<'_>, field: u32, site: Option<&CallSite>) {
    if let Some(site) = site {
        f.nested(field, |f| {
            f.text(1, &site.file);
            f.number(2, site.line.into());
            f.number(3, site.column.into());
            f.text(4, &site.function);
        });
    }
}

/// The unit that a record holds.
///
/// # Errors
///
/// [`RecordError`]: damaged, written by newer software, an event of an unknown kind, or a field that is not
/// what it should be (S5).
pub fn decode_unit(record: &[u8]) -> Result<Unit, RecordError> {
    let (_, mut fields) = open(record, UNIT_VERSION)?;
    let (mut number, mut at, mut observation, mut decisions) = (None, None, None, Vec::new());
    while let Some((field, content)) = fields.next_field()? {
        match field {
            unit::NUMBER => number = Some(content.number("number")?),
            unit::AT => at = Some(Timestamp::from_millis(content.number("at")?)),
            kind::STARTED
            | kind::ACTIVITY_COMPLETED
            | kind::ACTIVITY_FAILED
            | kind::TIMER_FIRED
            | kind::MIGRATED
            | kind::MESSAGE_ARRIVED
            | kind::SIGNAL_ARRIVED
            | kind::STUB_FULFILLED
            | kind::SLOT_FILLED
            | kind::UPDATE_ACCEPTED => {
                let read = read_observation(field, content.fields("event")?)?;
                if observation.replace(read).is_some() {
                    return Err(RecordError::Malformed {
                        field: "observation",
                    });
                }
            }
            unit::FIRST_EVENT.. => decisions.push(read_decision(field, content)?),
            _ => {}
        }
    }
    // Events are numbered from 1, and the last one has a number too.
    let number = number
        .filter(|number: &u64| *number > 0 && number.checked_add(decisions.len() as u64).is_some());
    Ok(Unit {
        number: number.ok_or(RecordError::Malformed { field: "number" })?,
        at: at.ok_or(RecordError::Malformed { field: "at" })?,
        observation: observation.ok_or(RecordError::Malformed {
            field: "observation",
        })?,
        decisions,
    })
}

#[cfg(test)]
mod tests;
