//! What slots came to. Field numbers are for ever.

use super::Parts;
use crate::history::SlotResult;
use crate::wire::{FieldWriter, Fields, RecordError};
use crate::{Receipt, RunEnd, RunId, SendFailure, Timestamp};

/// What it came to.
mod result {
    pub(super) const SENT: u64 = 1;
    pub(super) const NOT_SENT: u64 = 2;
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

pub(super) fn write_result(f: &mut FieldWriter<'_>, result: &SlotResult) {
    match result {
        SlotResult::Sent(receipt) => {
            f.number(1, result::SENT);
            f.number(2, receipt.number);
            f.number(3, receipt.at.as_millis());
            f.number(4, receipt.duplicate.into());
        }
        SlotResult::NotSent(failure) => {
            f.number(1, result::NOT_SENT);
            f.nested(5, |f| write_failure(f, failure));
        }
    }
}

pub(super) fn read_result(fields: Fields<'_>) -> Result<SlotResult, RecordError> {
    let parts = Parts::read(fields)?;
    match parts.number(1, "result")? {
        result::SENT => Ok(SlotResult::Sent(Receipt {
            number: parts.number(2, "number")?,
            at: Timestamp::from_millis(parts.number(3, "at")?),
            duplicate: parts.number(4, "duplicate")? != 0,
        })),
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
            match end {
                RunEnd::Completed => f.number(4, 1),
                RunEnd::Failed => f.number(4, 2),
                RunEnd::Migrated { to } => {
                    f.number(4, 3);
                    f.text(5, to.as_str());
                }
            }
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
            end: match parts.number(4, "end")? {
                1 => RunEnd::Completed,
                2 => RunEnd::Failed,
                3 => RunEnd::Migrated {
                    to: run_id(&parts, 5, "to")?,
                },
                _ => return Err(RecordError::Malformed { field: "end" }),
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

/// The id of a run.
pub(super) fn run_id(
    parts: &Parts<'_>,
    field: usize,
    name: &'static str,
) -> Result<RunId, RecordError> {
    let text = parts.text(field, name)?;
    RunId::new(text).map_err(|_| RecordError::Malformed { field: name })
}
