//! A plan as people read it.

use std::fmt;

use super::{Because, Plan, Server, Uncovered};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        writeln!(
            f,
            "  {open:>7} open {}; {ended} have ended and were not looked at",
            runs(*open)
        )?;
        if *open > 0 {
            write!(f, "  {covered:>7} fit this program")?;
            match freed {
                0 => writeln!(f)?,
                freed => writeln!(f, ", {freed} of them blocked until now")?,
            }
        }
        let (served, lost): (Vec<_>, Vec<_>) = uncovered
            .iter()
            .partition(|entry| !entry.served_by.is_empty());
        let sum = |entries: &[&Uncovered]| entries.iter().map(|entry| entry.count).sum::<u64>();
        for (count, what) in [
            (
                sum(&lost),
                "do not fit this program, nor any other that is recorded",
            ),
            (
                sum(&served),
                "do not fit this program; another one that is recorded can serve them",
            ),
            (
                *more,
                "do not fit this program, in further places that are not listed",
            ),
        ] {
            if count > 0 {
                writeln!(f, "  {count:>7} {what}")?;
            }
        }
        for entry in lost.iter().chain(&served) {
            writeln!(f, "\n{entry}")?;
        }
        if !programs.is_empty() && !self.covers_all() {
            writeln!(f, "\nother programs that are recorded there:")?;
            let width = programs.iter().map(|program| program.artifact.len()).max();
            for program in programs {
                writeln!(
                    f,
                    "  {:width$}  started {}, can serve {} of those runs",
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
                "\n{count} of {open} open runs {} not covered: deployed as it is, this program would leave {} blocked\n\n\
                 help: change the program so that it covers them, or keep one running that does until they have ended",
                if count == 1 { "is" } else { "are" },
                if count == 1 { "it" } else { "them" },
            ),
        }
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            workflow,
            code,
            kind,
            count,
            runs: named,
            served_by,
            error,
            ..
        } = self;
        let of = match &**workflow {
            "" => String::new(),
            workflow => format!(" of {workflow}"),
        };
        let kind = kind.as_ref().map(|kind| format!(" {kind}"));
        writeln!(
            f,
            "── {count} {}{of}: {code}{} ──",
            runs(*count),
            kind.unwrap_or_default()
        )?;
        let more = count.saturating_sub(named.len() as u64);
        let mut list = named.join(", ");
        if more > 0 && !list.is_empty() {
            list.push_str(&format!(" and {more} more"));
        }
        if !list.is_empty() {
            writeln!(f, "runs: {list}")?;
        }
        if !served_by.is_empty() {
            let servers: Vec<_> = served_by.iter().map(Server::to_string).collect();
            writeln!(f, "served by: {}", servers.join(", "))?;
        }
        let many = if *count > 1 {
            "the first of them: "
        } else {
            ""
        };
        write!(f, "\n{many}{error}")
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = match self.because {
            Because::Began => "it began them",
            Because::SameStructure => "it has the structure that they began with",
            Because::Untried => "as far as is known",
        };
        write!(f, "{} ({because})", self.artifact)
    }
}

fn runs(count: u64) -> &'static str {
    if count == 1 { "run" } else { "runs" }
}
