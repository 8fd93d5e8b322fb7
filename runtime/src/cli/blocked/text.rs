//! Blocked runs as people read them.

use std::fmt;

use super::{BlockedError, BlockedRuns};
use crate::cli::colours::{inked, text_of};
use crate::cli::named;
use crate::store::BlockedRecord;
use crate::words::{counted, verb};

impl fmt::Display for BlockedRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl BlockedRuns {
    /// The text for a terminal: with colours, where it is about histories that do not fit.
    #[must_use]
    pub fn coloured(&self) -> String {
        text_of(|f| self.write(f, true))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, colours: bool) -> fmt::Result {
        let Self {
            source,
            count,
            errors,
            more,
            ..
        } = self;
        if *count == 0 {
            return write!(f, "no run is blocked in {source}");
        }
        writeln!(
            f,
            "{} {} blocked in {source}",
            counted(*count, "run"),
            verb(*count, "is", "are")
        )?;
        for error in errors {
            f.write_str("\n")?;
            error.write(f, colours)?;
            f.write_str("\n")?;
        }
        if *more > 0 {
            let records = counted(*more, "record");
            writeln!(f, "\n{records} of further errors are not listed")?;
        }
        f.write_str(
            "\nhelp: a program that is started tries them, but for those that it is unfit for; its command `plan` \
             tells beforehand which of them it goes on with, and its command `unblock` lets an unfit one try a run again",
        )
    }
}

impl fmt::Display for BlockedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl BlockedError {
    fn write(&self, f: &mut fmt::Formatter<'_>, colours: bool) -> fmt::Result {
        let Self {
            workflow,
            code,
            artifact,
            unfit,
            count,
            runs,
            at,
            error,
            details,
        } = self;
        writeln!(f, "── {} of {workflow}: {code} ──", counted(*count, "run"))?;
        writeln!(f, "{}", named(*count, runs))?;
        if code != BlockedRecord::UNREADABLE {
            let unfit = if *unfit { "unfit, " } else { "" };
            let last = if *count > 1 { "the last one " } else { "" };
            writeln!(f, "in program {artifact}: {unfit}{last}{at}")?;
        }
        let many = if *count > 1 {
            "the first of them: "
        } else {
            ""
        };
        let details = Some(details).filter(|_| colours);
        write!(f, "\n{many}{}", inked(error, details))
    }
}
