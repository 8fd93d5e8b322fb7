//! What slots came to. Field numbers are for ever.

use super::read::Parts;
use crate::history::SlotResult;
use crate::wire::{FieldWriter, Fields, RecordError};
use crate::{FulfilFailure, OperationId, Receipt, RunEnd, RunId, SendFailure, Timestamp};

/// What it came to.
mod result {
    pub(super) const SENT: u64 = 1;
    pub(super) const NOT_SENT: u64 = 2;
    pub(super) const FULFILLED: u64 = 3;
    pub(super) const NOT_FULFILLED: u64 = 4;
}

/// Why it was not sent.
mod failure {
    pub(super) const RUN_NOT_FOUND: u64 = 1;
    pub(super) const RUN_FINISHED: u64 = 2;
    pub(super) const INBOX_FULL: u64 = 3;
    pub(super) const NO_SUCH_MESSAGE: u64 = 4;
    pub(super) const CONFLICT: u64 = 5;
    pub(super) const UNREADABLE: u64 = 6;
    pub(super) const TOO_LARGE: u64 = 7;
}

/// Why it was not fulfilled.
mod unfulfilled {
    pub(super) const RUN_NOT_FOUND: u64 = 1;
    pub(super) const PURGED: u64 = 2;
    pub(super) const NO_SUCH_OPERATION: u64 = 3;
    pub(super) const NOT_A_STUB: u64 = 4;
    pub(super) const OTHER_STUB: u64 = 5;
    pub(super) const CONFLICT: u64 = 6;
    pub(super) const CLOSED: u64 = 7;
    pub(super) const UNREADABLE: u64 = 8;
    pub(super) const TOO_LARGE: u64 = 9;
}

pub(super) fn write_result(f: &mut FieldWriter<'_>, result: &SlotResult) {
    match result {
        SlotResult::Sent(receipt) => write_receipt(f, result::SENT, receipt),
        SlotResult::NotSent(failure) => {
            f.number(1, result::NOT_SENT);
            f.nested(5, |f| write_failure(f, failure));
        }
        SlotResult::Fulfilled(receipt) => write_receipt(f, result::FULFILLED, receipt),
        SlotResult::NotFulfilled(failure) => {
            f.number(1, result::NOT_FULFILLED);
            f.nested(6, |f| write_unfulfilled(f, failure));
        }
    }
}

fn write_receipt(f: &mut FieldWriter<'_>, result: u64, receipt: &Receipt) {
    f.number(1, result);
    f.number(2, receipt.number);
    f.number(3, receipt.at.as_millis());
    f.number(4, receipt.duplicate.into());
}

fn read_receipt(parts: &Parts<'_>) -> Result<Receipt, RecordError> {
    Ok(Receipt {
        number: parts.number(2, "number")?,
        at: Timestamp::from_millis(parts.number(3, "at")?),
        duplicate: parts.number(4, "duplicate")? != 0,
    })
}

pub(super) fn read_result(fields: Fields<'_>) -> Result<SlotResult, RecordError> {
    let parts = Parts::read(fields)?;
    match parts.number(1, "result")? {
        result::SENT => read_receipt(&parts).map(SlotResult::Sent),
        result::FULFILLED => read_receipt(&parts).map(SlotResult::Fulfilled),
        result::NOT_FULFILLED => {
            let fields = parts.get(6, "failure")?.fields("failure")?;
            read_unfulfilled(fields).map(SlotResult::NotFulfilled)
        }
        result::NOT_SENT => {
            let fields = parts.get(5, "failure")?.fields("failure")?;
            read_failure(fields).map(SlotResult::NotSent)
        }
        _ => Err(RecordError::Malformed { field: "result" }),
    }
}

fn write_failure(f: &mut FieldWriter<'_>, failure: &SendFailure) {
    match failure {
        SendFailure::RunNotFound { run } => {
            f.number(1, failure::RUN_NOT_FOUND);
            f.text(2, run.as_str());
        }
        SendFailure::RunFinished { run, end, finished } => {
            f.number(1, failure::RUN_FINISHED);
            f.text(2, run.as_str());
            f.number(3, finished.as_millis());
            write_end(f, end);
        }
        SendFailure::InboxFull { run, limit } => {
            f.number(1, failure::INBOX_FULL);
            f.text(2, run.as_str());
            f.number(6, *limit);
        }
        SendFailure::NoSuchMessage {
            run,
            workflow,
            name,
        } => {
            f.number(1, failure::NO_SUCH_MESSAGE);
            f.text(2, run.as_str());
            f.text(7, workflow);
            f.text(8, name);
        }
        SendFailure::Conflict { run } => {
            f.number(1, failure::CONFLICT);
            f.text(2, run.as_str());
        }
        SendFailure::Unreadable { run, problem } => {
            f.number(1, failure::UNREADABLE);
            f.text(2, run.as_str());
            f.text(9, problem);
        }
        SendFailure::TooLarge { size, limit } => {
            f.number(1, failure::TOO_LARGE);
            f.number(6, *limit);
            f.number(10, *size);
        }
    }
}

fn read_failure(fields: Fields<'_>) -> Result<SendFailure, RecordError> {
    let parts = Parts::read(fields)?;
    let run = || run_id(&parts, 2, "run");
    let text = |field, name| parts.text(field, name).map(str::to_owned);
    Ok(match parts.number(1, "failure")? {
        failure::RUN_NOT_FOUND => SendFailure::RunNotFound { run: run()? },
        failure::RUN_FINISHED => SendFailure::RunFinished {
            run: run()?,
            end: match read_end(&parts)? {
                Some(end) => end,
                None => return Err(RecordError::Malformed { field: "end" }),
            },
            finished: Timestamp::from_millis(parts.number(3, "finished")?),
        },
        failure::INBOX_FULL => SendFailure::InboxFull {
            run: run()?,
            limit: parts.number(6, "limit")?,
        },
        failure::NO_SUCH_MESSAGE => SendFailure::NoSuchMessage {
            run: run()?,
            workflow: text(7, "workflow")?,
            name: text(8, "name")?,
        },
        failure::CONFLICT => SendFailure::Conflict { run: run()? },
        failure::UNREADABLE => SendFailure::Unreadable {
            run: run()?,
            problem: text(9, "problem")?,
        },
        failure::TOO_LARGE => SendFailure::TooLarge {
            size: parts.number(10, "size")?,
            limit: parts.number(6, "limit")?,
        },
        _ => return Err(RecordError::Malformed { field: "failure" }),
    })
}

/// How a run has ended, in the fields 4 and 5 of why something was not done.
fn write_end(f: &mut FieldWriter<'_>, end: &RunEnd) {
    match end {
        RunEnd::Completed => f.number(4, 1),
        RunEnd::Failed => f.number(4, 2),
        RunEnd::Migrated { to } => {
            f.number(4, 3);
            f.text(5, to.as_str());
        }
    }
}

fn read_end(parts: &Parts<'_>) -> Result<Option<RunEnd>, RecordError> {
    Ok(Some(match parts.number(4, "end")? {
        0 => return Ok(None),
        1 => RunEnd::Completed,
        2 => RunEnd::Failed,
        3 => RunEnd::Migrated {
            to: run_id(parts, 5, "to")?,
        },
        _ => return Err(RecordError::Malformed { field: "end" }),
    }))
}

fn write_unfulfilled(f: &mut FieldWriter<'_>, failure: &FulfilFailure) {
    let begin = |f: &mut FieldWriter<'_>, kind, reference: &OperationId| {
        f.number(1, kind);
        f.text(2, reference.run.as_str());
        f.number(3, reference.number);
    };
    match failure {
        FulfilFailure::RunNotFound { reference } => {
            begin(f, unfulfilled::RUN_NOT_FOUND, reference);
        }
        FulfilFailure::Purged { reference } => begin(f, unfulfilled::PURGED, reference),
        FulfilFailure::NoSuchOperation { reference } => {
            begin(f, unfulfilled::NO_SUCH_OPERATION, reference);
        }
        FulfilFailure::NotAStub { reference } => begin(f, unfulfilled::NOT_A_STUB, reference),
        FulfilFailure::OtherStub {
            reference,
            is,
            given,
        } => {
            begin(f, unfulfilled::OTHER_STUB, reference);
            f.text(6, is);
            f.text(7, given);
        }
        FulfilFailure::Conflict { reference, stub } => {
            begin(f, unfulfilled::CONFLICT, reference);
            f.text(6, stub);
        }
        FulfilFailure::Closed {
            reference,
            stub,
            at,
            end,
        } => {
            begin(f, unfulfilled::CLOSED, reference);
            f.text(6, stub);
            f.number(8, at.as_millis());
            match end {
                Some(end) => write_end(f, end),
                None => f.number(4, 0),
            }
        }
        FulfilFailure::Unreadable { reference, problem } => {
            begin(f, unfulfilled::UNREADABLE, reference);
            f.text(9, problem);
        }
        FulfilFailure::TooLarge { size, limit } => {
            f.number(1, unfulfilled::TOO_LARGE);
            f.number(8, *size);
            f.number(10, *limit);
        }
    }
}

fn read_unfulfilled(fields: Fields<'_>) -> Result<FulfilFailure, RecordError> {
    let parts = Parts::read(fields)?;
    let text = |field, name| parts.text(field, name).map(str::to_owned);
    let kind = parts.number(1, "failure")?;
    if kind == unfulfilled::TOO_LARGE {
        return Ok(FulfilFailure::TooLarge {
            size: parts.number(8, "size")?,
            limit: parts.number(10, "limit")?,
        });
    }
    let reference = reference(&parts, 2, 3)?;
    Ok(match kind {
        unfulfilled::RUN_NOT_FOUND => FulfilFailure::RunNotFound { reference },
        unfulfilled::PURGED => FulfilFailure::Purged { reference },
        unfulfilled::NO_SUCH_OPERATION => FulfilFailure::NoSuchOperation { reference },
        unfulfilled::NOT_A_STUB => FulfilFailure::NotAStub { reference },
        unfulfilled::OTHER_STUB => FulfilFailure::OtherStub {
            reference,
            is: text(6, "is")?,
            given: text(7, "given")?,
        },
        unfulfilled::CONFLICT => FulfilFailure::Conflict {
            reference,
            stub: text(6, "stub")?,
        },
        unfulfilled::CLOSED => FulfilFailure::Closed {
            reference,
            stub: text(6, "stub")?,
            at: Timestamp::from_millis(parts.number(8, "at")?),
            end: read_end(&parts)?,
        },
        unfulfilled::UNREADABLE => FulfilFailure::Unreadable {
            reference,
            problem: text(9, "problem")?,
        },
        _ => return Err(RecordError::Malformed { field: "failure" }),
    })
}

/// What a run offers: its id and the operation's number.
pub(super) fn reference(
    parts: &Parts<'_>,
    run: usize,
    number: usize,
) -> Result<OperationId, RecordError> {
    Ok(OperationId {
        run: run_id(parts, run, "run")?,
        number: parts.number(number, "number")?,
    })
}

/// The id of a run.
pub(super) fn run_id(
    parts: &Parts<'_>,
    field: usize,
    name: &'static str,
) -> Result<RunId, RecordError> {
    let text = parts.text(field, name)?;
    RunId::new(text).map_err(|_| RecordError::Malformed { field: name })
}
