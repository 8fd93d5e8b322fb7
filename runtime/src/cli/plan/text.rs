//! A plan as people read it.

use std::fmt;

use super::{Because, Part, Plan, Server, Uncovered};
use crate::cli::colours::{inked, text_of};
use crate::cli::named;
use crate::words::{counted, verb};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl Plan {
    /// The text for a terminal: with colours, where it is about histories that do not fit.
    #[must_use]
    pub fn coloured(&self) -> String {
        text_of(|f| self.write(f, true))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, colours: bool) -> fmt::Result {
        let Self {
            artifact,
            source,
            ended,
            open,
            covered,
            freed,
            uncovered,
            more,
            programs,
            ..
        } = self;
        writeln!(f, "plan for the program {artifact} over {source}\n")?;
        let (has, is) = verb(*ended, ("has", "is"), ("have", "are"));
        let runs = verb(*open, "run", "runs");
        writeln!(
            f,
            "  {open:>7} open {runs}; {ended} that {has} ended {is} not looked at"
        )?;
        if *open > 0 {
            let freed = match freed {
                0 => String::new(),
                freed => format!(", {freed} of them blocked until now"),
            };
            writeln!(
                f,
                "  {covered:>7} {} this program{freed}",
                verb(*covered, "fits", "fit")
            )?;
        }
        let lost: u64 = uncovered.iter().map(Uncovered::lost).sum();
        let all: u64 = uncovered.iter().map(|entry| entry.count).sum();
        for (count, what) in [
            (lost, "fit this program, nor any other that is recorded"),
            (
                all - lost,
                "fit this program, but can be served by another one that is recorded",
            ),
            (
                *more,
                "fit this program, in further places that are not listed",
            ),
        ] {
            if count > 0 {
                let not = verb(count, "does not", "do not");
                writeln!(f, "  {count:>7} {not} {what}")?;
            }
        }
        for entry in uncovered {
            f.write_str("\n")?;
            entry.write(f, colours)?;
            f.write_str("\n")?;
        }
        if !programs.is_empty() && !self.covers_all() {
            writeln!(f, "\nother programs that are recorded there:")?;
            let width = programs.iter().map(|program| program.artifact.len()).max();
            for program in programs {
                writeln!(
                    f,
                    "  {:width$}  recorded {}, can serve {} of those runs",
                    program.artifact,
                    program.at,
                    program.serves,
                    width = width.unwrap_or_default()
                )?;
            }
        }
        match self.count_uncovered() {
            0 if *open == 0 => f.write_str("\nno run is open: nothing stands against a deploy"),
            0 => f.write_str("\nall open runs are covered: nothing stands against a deploy"),
            count => write!(
                f,
                "\n{count} of {} {} not covered: deployed as it is, this program would leave {} blocked\n\n\
                 help: change the program so that it covers them, or keep one running that does until they have ended",
                counted(*open, "open run"),
                verb(count, "is", "are"),
                verb(count, "it", "them"),
            ),
        }
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl Uncovered {
    fn write(&self, f: &mut fmt::Formatter<'_>, colours: bool) -> fmt::Result {
        let Self {
            workflow,
            code,
            kind,
            count,
            parts,
            error,
            details,
        } = self;
        let of = match &**workflow {
            "" => String::new(),
            workflow => format!(" of {workflow}"),
        };
        let kind = kind.as_ref().map(|kind| format!(" {kind}"));
        writeln!(
            f,
            "── {}{of}: {code}{} ──",
            counted(*count, "run"),
            kind.unwrap_or_default()
        )?;
        for part in parts {
            writeln!(f, "{part}")?;
        }
        let many = if *count > 1 {
            "the first of them: "
        } else {
            ""
        };
        let details = details.as_ref().filter(|_| colours);
        write!(f, "\n{many}{}", inked(error, details))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            count,
            runs,
            served_by,
        } = self;
        f.write_str(&named(*count, runs))?;
        if served_by.is_empty() {
            return write!(
                f,
                ": no recorded program can serve {}",
                verb(*count, "it", "them")
            );
        }
        let servers = served_by.iter().map(|server| because(server, *count));
        let servers: Vec<_> = servers.collect();
        write!(f, ": can be served by {}", servers.join("; "))
    }
}

/// What speaks for a program that can serve so many runs.
fn because(server: &Server, count: u64) -> String {
    let Server { artifact, because } = server;
    let them = verb(count, "it", "them");
    match because {
        Because::Began => format!("{artifact}, which began {them}"),
        Because::SameStructure => {
            format!("{artifact}, of the same structure as the one that began {them}")
        }
        Because::Untried => format!("{artifact}, as far as is known"),
    }
}
