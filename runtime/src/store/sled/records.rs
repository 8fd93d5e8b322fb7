//! The contents of the records beside the history, each with the schema version of its kind. Field numbers
//! are for ever.

mod offer;
mod published;

use std::time::Duration;

use perennial::history::{Unit, decode_unit};
use perennial::value::{Digest, Value};
use perennial::wire::{Content, FieldWriter, Fields, RecordError};
use perennial::{ActivityOptions, Class, Retry, Timestamp};

use super::value::content;
use crate::store::restore::{RestoredOffers, Restoring};
use crate::store::{
    AttemptOutcome, AttemptRecord, BlockedRecord, KeyRecord, Owner, ProgramRecord, Queued, Task,
};

pub(super) use offer::{offer_content, read_offer};
pub(super) use published::{
    item_content, read_item, read_stream, read_view, view_content, write_stream,
};

pub(super) const TASK_VERSION: u8 = 1;
pub(super) const ROW_VERSION: u8 = 1;
pub(super) const TIMER_VERSION: u8 = 1;
pub(super) const ATTEMPT_VERSION: u8 = 1;
pub(super) const BLOCKED_VERSION: u8 = 1;
pub(super) const PROGRAM_VERSION: u8 = 1;
pub(super) const UNIT_VALUE_VERSION: u8 = 1;
pub(super) const RESTORING_VERSION: u8 = 1;
pub(super) const SEND_VERSION: u8 = 1;
pub(super) const ITEM_VERSION: u8 = 1;
pub(super) const VIEW_VERSION: u8 = 1;
pub(super) const OFFER_VERSION: u8 = 1;
/// Of records whose content is one number: the end of a generation, the last owner, what the index of runs
/// with something to do says, a timer in the order of deadlines, a run in the order of ends, an open offer.
pub(super) const NUMBER_VERSION: u8 = 1;

type Read<T> = Result<T, RecordError>;

fn missing<T>(field: &'static str, value: Option<T>) -> Read<T> {
    value.ok_or(RecordError::Malformed { field })
}

fn stamp(content: Content<'_>, field: &'static str) -> Read<Timestamp> {
    content.number(field).map(Timestamp::from_millis)
}

fn write_duration(f: &mut FieldWriter<'_>, field: u32, duration: Duration) {
    f.nested(field, |f| {
        f.number(1, duration.as_secs());
        f.number(2, duration.subsec_nanos().into());
    });
}

fn read_duration(content: Content<'_>, name: &'static str) -> Read<Duration> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut fields = content.fields(name)?;
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => seconds = content.number(name)?,
            2 => nanoseconds = content.small(name)?,
            _ => {}
        }
    }
    if nanoseconds >= 1_000_000_000 {
        return Err(RecordError::Malformed { field: name });
    }
    Ok(Duration::new(seconds, nanoseconds))
}

pub(super) fn number_content(number: u64) -> Vec<u8> {
    content(|f| f.number(1, number))
}

pub(super) fn read_number(bytes: &[u8]) -> Read<u64> {
    let mut fields = Fields::new(bytes);
    while let Some((field, content)) = fields.next_field()? {
        if field == 1 {
            return content.number("number");
        }
    }
    Err(RecordError::Malformed { field: "number" })
}

pub(super) fn task_content(task: &Task) -> Vec<u8> {
    content(|f| {
        f.number(1, task.operation);
        f.number(2, task.unit);
        f.text(3, &task.name);
        f.nested(4, |f| write_options(f, &task.options));
        f.number(5, task.attempt.into());
        f.optional_number(6, task.started.map(|owner| owner.0));
        f.number(7, task.not_before.as_millis());
        f.number(8, task.scheduled.as_millis());
        if let Some(failure) = &task.last_failure {
            f.text(9, failure);
        }
        f.number(11, task.generation);
        if task.lost > 0 {
            f.number(10, task.lost.into());
        }
    })
}

pub(super) fn read_task(bytes: &[u8]) -> Read<Task> {
    let mut fields = Fields::new(bytes);
    let (mut operation, mut unit, mut name, mut options, mut attempt) =
        (None, None, None, None, None);
    let (mut started, mut not_before, mut scheduled, mut last_failure) = (None, None, None, None);
    let (mut lost, mut generation) = (0, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => operation = Some(content.number("operation")?),
            2 => unit = Some(content.number("unit")?),
            3 => name = Some(content.text("name")?.to_owned()),
            4 => options = Some(read_options(content.fields("options")?)?),
            5 => attempt = Some(content.small("attempt")?),
            6 => started = Some(Owner(content.number("started")?)),
            7 => not_before = Some(stamp(content, "not_before")?),
            8 => scheduled = Some(stamp(content, "scheduled")?),
            9 => last_failure = Some(content.text("last_failure")?.to_owned()),
            10 => lost = content.small("lost")?,
            11 => generation = Some(content.number("generation")?),
            _ => {}
        }
    }
    Ok(Task {
        operation: missing("operation", operation)?,
        generation: missing("generation", generation)?,
        unit: missing("unit", unit)?,
        name: missing("name", name)?,
        options: missing("options", options)?,
        attempt: missing("attempt", attempt)?,
        lost,
        started,
        not_before: missing("not_before", not_before)?,
        scheduled: missing("scheduled", scheduled)?,
        last_failure,
    })
}

fn write_options(f: &mut FieldWriter<'_>, options: &ActivityOptions) {
    // By name, as histories in JSON have it: classes are added by another crate.
    f.text(
        1,
        &serde_json::to_string(&options.class).unwrap_or_default(),
    );
    if let Some(attempt) = options.attempt {
        write_duration(f, 2, attempt);
    }
    if let Some(timeout) = options.timeout {
        write_duration(f, 3, timeout);
    }
    f.optional_number(4, options.retry.attempts.map(u64::from));
    write_duration(f, 5, options.retry.initial);
    write_duration(f, 6, options.retry.cap);
    f.number(7, options.retry.factor.into());
}

fn read_options(mut fields: Fields<'_>) -> Read<ActivityOptions> {
    let mut class = None;
    let mut options = ActivityOptions::new(Class::Pure).retry(Retry::new());
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => class = serde_json::from_str(content.text("class")?).ok(),
            2 => options.attempt = Some(read_duration(content, "attempt")?),
            3 => options.timeout = Some(read_duration(content, "timeout")?),
            4 => options.retry.attempts = Some(content.small("attempts")?),
            5 => options.retry.initial = read_duration(content, "initial")?,
            6 => options.retry.cap = read_duration(content, "cap")?,
            7 => options.retry.factor = content.small("factor")?,
            _ => {}
        }
    }
    options.class = missing("class", class)?;
    Ok(options)
}

/// A row is kept in the form of a unit without decisions.
pub(super) fn read_row(record: &[u8]) -> Read<Queued> {
    let Unit {
        number,
        at,
        observation,
        decisions,
    } = decode_unit(record)?;
    if !decisions.is_empty() {
        return Err(RecordError::Malformed { field: "decisions" });
    }
    Ok(Queued {
        arrival: number,
        at,
        observation,
    })
}

pub(super) fn attempt_content(record: &AttemptRecord) -> Vec<u8> {
    content(|f| {
        f.number(1, record.operation);
        f.number(2, record.attempt.into());
        f.number(3, record.at.as_millis());
        match &record.outcome {
            AttemptOutcome::Failed { error } => f.text(16, error),
            AttemptOutcome::Panicked { message } => f.text(17, message),
            AttemptOutcome::DeadlineExceeded => f.number(18, 1),
            AttemptOutcome::Lost => f.number(19, 1),
            AttemptOutcome::Late { result } => f.text(20, result.as_json()),
        }
    })
}

pub(super) fn read_attempt(bytes: &[u8]) -> Read<AttemptRecord> {
    let mut fields = Fields::new(bytes);
    let (mut operation, mut attempt, mut at, mut outcome) = (None, None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => operation = Some(content.number("operation")?),
            2 => attempt = Some(content.small("attempt")?),
            3 => at = Some(stamp(content, "at")?),
            16 => {
                outcome = Some(AttemptOutcome::Failed {
                    error: content.text("error")?.to_owned(),
                })
            }
            17 => {
                outcome = Some(AttemptOutcome::Panicked {
                    message: content.text("message")?.to_owned(),
                })
            }
            18 => outcome = Some(AttemptOutcome::DeadlineExceeded),
            19 => outcome = Some(AttemptOutcome::Lost),
            20 => {
                outcome = Some(AttemptOutcome::Late {
                    result: read_value(content, "result")?,
                })
            }
            _ => {}
        }
    }
    Ok(AttemptRecord {
        operation: missing("operation", operation)?,
        attempt: missing("attempt", attempt)?,
        outcome: missing("outcome", outcome)?,
        at: missing("at", at)?,
    })
}

fn read_value(content: Content<'_>, field: &'static str) -> Read<Value> {
    Value::from_json(content.text(field)?).map_err(|_| RecordError::Malformed { field })
}

pub(super) fn blocked_content(record: &BlockedRecord) -> Vec<u8> {
    content(|f| {
        f.text(1, &record.artifact);
        f.number(2, record.unfit.into());
        f.text(3, &record.code);
        f.text(4, &record.text);
        f.text(5, record.details.as_json());
        f.number(6, record.at.as_millis());
    })
}

pub(super) fn read_blocked(bytes: &[u8]) -> Read<BlockedRecord> {
    let mut fields = Fields::new(bytes);
    let (mut artifact, mut unfit, mut code, mut text) = (None, None, None, None);
    let (mut details, mut at) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => artifact = Some(content.text("artifact")?.to_owned()),
            2 => unfit = Some(content.number("unfit")? != 0),
            3 => code = Some(content.text("code")?.to_owned()),
            4 => text = Some(content.text("text")?.to_owned()),
            5 => details = Some(read_value(content, "details")?),
            6 => at = Some(stamp(content, "at")?),
            _ => {}
        }
    }
    Ok(BlockedRecord {
        artifact: missing("artifact", artifact)?,
        unfit: missing("unfit", unfit)?,
        code: missing("code", code)?,
        text: missing("text", text)?,
        details: missing("details", details)?,
        at: missing("at", at)?,
    })
}

pub(super) fn send_content(send: &KeyRecord) -> Vec<u8> {
    content(|f| {
        f.text(1, &send.key);
        f.bytes(2, &send.digest.0);
        f.text(3, &send.name);
        f.number(4, send.arrival);
        f.number(5, send.at.as_millis());
        f.number(6, send.sent.as_millis());
        if let Some(event) = send.event {
            f.number(7, event);
        }
    })
}

pub(super) fn read_send(bytes: &[u8]) -> Read<KeyRecord> {
    let mut fields = Fields::new(bytes);
    let (mut key, mut digest, mut name) = (None, None, None);
    let (mut arrival, mut at, mut sent, mut event) = (None, None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => key = Some(content.text("key")?.to_owned()),
            2 => digest = Some(read_digest(content, "digest")?),
            3 => name = Some(content.text("name")?.to_owned()),
            4 => arrival = Some(content.number("arrival")?),
            5 => at = Some(stamp(content, "at")?),
            6 => sent = Some(stamp(content, "sent")?),
            7 => event = Some(content.number("event")?),
            _ => {}
        }
    }
    Ok(KeyRecord {
        key: missing("key", key)?,
        digest: Digest(missing("digest", digest)?),
        name: missing("name", name)?,
        arrival: missing("arrival", arrival)?,
        at: missing("at", at)?,
        sent: missing("sent", sent)?,
        event,
    })
}

/// Of an entry in the order of arrival: the digest of the send's idempotency key.
pub(super) fn send_order_content(digest: &[u8; 32]) -> Vec<u8> {
    content(|f| f.bytes(1, digest))
}

pub(super) fn read_send_order(bytes: &[u8]) -> Read<[u8; 32]> {
    let mut fields = Fields::new(bytes);
    while let Some((field, content)) = fields.next_field()? {
        if field == 1 {
            return read_digest(content, "key");
        }
    }
    Err(RecordError::Malformed { field: "key" })
}

fn read_digest(content: Content<'_>, field: &'static str) -> Read<[u8; 32]> {
    let bytes = content.bytes(field)?.try_into();
    bytes.map_err(|_| RecordError::Malformed { field })
}

pub(super) fn program_content(program: &ProgramRecord) -> Vec<u8> {
    content(|f| {
        f.text(1, &program.artifact);
        f.text(2, program.manifest.as_json());
        f.number(3, program.at.as_millis());
    })
}

pub(super) fn read_program(bytes: &[u8]) -> Read<ProgramRecord> {
    let mut fields = Fields::new(bytes);
    let (mut artifact, mut manifest, mut at) = (None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => artifact = Some(content.text("artifact")?.to_owned()),
            2 => manifest = Some(read_value(content, "manifest")?),
            3 => at = Some(stamp(content, "at")?),
            _ => {}
        }
    }
    Ok(ProgramRecord {
        artifact: missing("artifact", artifact)?,
        manifest: missing("manifest", manifest)?,
        at: missing("at", at)?,
    })
}

pub(super) fn restoring_content(restoring: &Restoring) -> Vec<u8> {
    content(|f| {
        f.number(1, restoring.first);
        f.number(2, restoring.generation);
        f.number(3, restoring.sequence);
        f.number(4, restoring.ended.into());
        f.number(5, restoring.given_up.into());
        if restoring.keys > 0 {
            f.number(6, restoring.keys);
            f.number(7, restoring.first_key);
            f.number(8, restoring.last_key);
            f.number(15, restoring.last_update);
        }
        for stream in &restoring.streams {
            write_stream(f, 9, stream);
        }
        let offers = &restoring.offers;
        if offers.last > 0 {
            f.number(10, offers.open);
            f.number(11, offers.last);
            f.number(12, offers.first_generation);
            f.number(13, offers.last_generation);
            f.number(14, offers.arrival);
        }
    })
}

pub(super) fn read_restoring(bytes: &[u8]) -> Read<Restoring> {
    let mut fields = Fields::new(bytes);
    let (mut first, mut generation, mut sequence) = (None, None, None);
    let (mut ended, mut given_up) = (None, None);
    let (mut keys, mut first_key, mut last_key, mut last_update) = (0, 0, 0, 0);
    let mut streams = Vec::new();
    let mut offers = RestoredOffers::default();
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => first = Some(content.number("first")?),
            2 => generation = Some(content.number("generation")?),
            3 => sequence = Some(content.number("sequence")?),
            4 => ended = Some(content.number("ended")? != 0),
            5 => given_up = Some(content.number("given_up")? != 0),
            6 => keys = content.number("keys")?,
            7 => first_key = content.number("first_key")?,
            8 => last_key = content.number("last_key")?,
            15 => last_update = content.number("last_update")?,
            9 => streams.push(read_stream(content)?),
            10 => offers.open = content.number("offers")?,
            11 => offers.last = content.number("last_offer")?,
            12 => offers.first_generation = content.number("offers")?,
            13 => offers.last_generation = content.number("offers")?,
            14 => offers.arrival = content.number("offers")?,
            _ => {}
        }
    }
    Ok(Restoring {
        first: missing("first", first)?,
        generation: missing("generation", generation)?,
        sequence: missing("sequence", sequence)?,
        ended: missing("ended", ended)?,
        given_up: missing("given_up", given_up)?,
        keys,
        first_key,
        last_key,
        last_update,
        streams,
        offers,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::{StreamRange, ViewRecord};
    use perennial::history::Observation;

    #[test]
    fn records_read_back() {
        let options = ActivityOptions::new(Class::Idempotent)
            .attempt(Duration::from_millis(1))
            .timeout(Duration::MAX)
            .retry(Retry::new().attempts(3).factor(5));
        let task = Task {
            operation: 7,
            generation: 2,
            unit: 3,
            name: "charge".into(),
            options,
            attempt: 2,
            lost: 1,
            started: Some(Owner(9)),
            not_before: Timestamp::from_millis(5),
            scheduled: Timestamp::from_millis(4),
            last_failure: Some("no".into()),
        };
        assert_eq!(read_task(&task_content(&task)).unwrap(), task);
        let bare = Task {
            options: ActivityOptions::new(Class::Pure),
            lost: 0,
            started: None,
            last_failure: None,
            ..task
        };
        assert_eq!(read_task(&task_content(&bare)).unwrap(), bare);

        for outcome in [
            AttemptOutcome::Failed { error: "a".into() },
            AttemptOutcome::Panicked {
                message: String::new(),
            },
            AttemptOutcome::DeadlineExceeded,
            AttemptOutcome::Lost,
            AttemptOutcome::Late {
                result: Value::null(),
            },
        ] {
            let record = AttemptRecord {
                operation: 1,
                attempt: 2,
                outcome,
                at: Timestamp::from_millis(3),
            };
            assert_eq!(read_attempt(&attempt_content(&record)).unwrap(), record);
        }

        let blocked = BlockedRecord {
            artifact: "a".into(),
            unfit: true,
            code: "PR001".into(),
            text: "changed".into(),
            details: Value::encode(&[1, 2]).unwrap(),
            at: Timestamp::from_millis(8),
        };
        assert_eq!(read_blocked(&blocked_content(&blocked)).unwrap(), blocked);

        let program = ProgramRecord {
            artifact: "a".into(),
            manifest: Value::encode(&[1, 2]).unwrap(),
            at: Timestamp::from_millis(8),
        };
        assert_eq!(read_program(&program_content(&program)).unwrap(), program);

        let restoring = Restoring {
            first: 1,
            generation: 2,
            sequence: 3,
            ended: true,
            ..Restoring::default()
        };
        assert_eq!(
            read_restoring(&restoring_content(&restoring)).unwrap(),
            restoring
        );
        let restoring = Restoring {
            keys: 3,
            first_key: 4,
            last_key: 9,
            last_update: 5,
            given_up: true,
            streams: vec![StreamRange {
                name: "output".into(),
                first: 3,
                last: 7,
            }],
            ..restoring
        };
        assert_eq!(
            read_restoring(&restoring_content(&restoring)).unwrap(),
            restoring
        );

        let send = KeyRecord {
            key: "approve".into(),
            digest: Digest([7; 32]),
            name: "approval".into(),
            arrival: 3,
            event: None,
            at: Timestamp::from_millis(9),
            sent: Timestamp::from_millis(8),
        };
        assert_eq!(read_send(&send_content(&send)).unwrap(), send);
        let update = KeyRecord {
            event: Some(12),
            ..send
        };
        assert_eq!(read_send(&send_content(&update)).unwrap(), update);
        let order = send_order_content(&[5; 32]);
        assert_eq!(read_send_order(&order).unwrap(), [5; 32]);

        assert_eq!(read_item(&item_content(2, 300)).unwrap(), (2, 300));

        let view = ViewRecord {
            name: "status".into(),
            value: Value::encode("waits").unwrap(),
            data: "String".into(),
            artifact: "shop".into(),
            at: Timestamp::from_millis(9),
            event: 4,
        };
        assert_eq!(read_view(&view_content(&view)).unwrap(), view);

        let row = Queued {
            arrival: 4,
            at: blocked.at,
            observation: Observation::TimerFired { operation: 2 },
        };
        assert_eq!(
            read_row(&crate::store::rules::row_record(&row).unwrap()).unwrap(),
            row
        );
    }

    #[test]
    fn a_class_that_is_not_known_here_is_refused() {
        let bytes = content(|f| f.text(1, "\"sometimes\""));
        assert_eq!(
            read_options(Fields::new(&bytes)),
            Err(RecordError::Malformed { field: "class" })
        );
    }
}
