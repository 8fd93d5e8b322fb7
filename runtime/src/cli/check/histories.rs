//! Whether stored histories fit a program.

use super::{Check, CheckOptions, CheckState};
use crate::cli::judge::{Finding, Judge, Judged, Program, Scope, Told};
use crate::cli::source::{SourceError, histories, read_file, shown};
use crate::words::{counted, verb};

/// Of so many histories the errors are shown.
const SHOWN: usize = 20;

const NAME: &str = "histories";

/// Where they are, if nothing else is said.
const FOLDER: &str = "tests/histories";

#[derive(Debug, Default)]
struct Found {
    file: String,
    fit: usize,
    unfinished: usize,
    misfit: usize,
    wrong: Vec<String>,
}

impl Found {
    fn misfit(&mut self, run: Option<String>, what: impl std::fmt::Display) {
        self.misfit += 1;
        if self.wrong.len() < SHOWN {
            let run = run.map(|run| format!(", run {run}")).unwrap_or_default();
            self.wrong.push(format!("{}{run}:\n\n{what}", self.file));
        }
    }
}

impl Told for Found {
    fn judged(&mut self, judged: Judged) {
        let run = Some(judged.run.to_string());
        match judged.finding {
            // Of a run that was purged there is no history.
            Finding::Ended => {}
            Finding::Fits { ended } => {
                self.fit += 1;
                self.unfinished += usize::from(!ended);
            }
            // That a program was found unfit is no matter of the history.
            Finding::Withheld => {
                self.fit += 1;
                self.unfinished += 1;
            }
            Finding::Blocked(error) => self.misfit(run, error),
            Finding::Partial(problems) => self.misfit(
                run,
                format!("not all of it is there: {}", problems.join("; ")),
            ),
        }
    }
}

/// Replays all stored histories, those of runs that have ended too.
pub(super) fn check(program: &Program<'_>, options: &CheckOptions) -> Check {
    let within = options.histories.as_deref();
    let folder = options.folder.join(within.unwrap_or(FOLDER.as_ref()));
    let name = shown(within.unwrap_or(FOLDER.as_ref()));
    if within.is_none() && !folder.exists() {
        let nothing = Check::new(NAME, CheckState::Nothing, format!("there is no {name}"));
        return nothing.remark(format!(
            "`perennial::testing::save_history(&run, \"{name}/..\")` stores the history of a test's run, so that \
             later code is held against it"
        ));
    }
    let files = match histories(&folder) {
        Ok(files) => files,
        Err(error) => {
            let wrong = Check::new(NAME, CheckState::Wrong, format!("{name} cannot be read"));
            return wrong.wrong(error.to_string());
        }
    };
    let scope = Scope {
        ended_too: true,
        ahead: false,
    };
    let found = crate::cli::apart(|| {
        let mut judge = Judge::new(program, scope, Found::default());
        for path in &files {
            judge.told.file = shown(path.strip_prefix(&folder).unwrap_or(path));
            if let Err(error) = read_file(path, &mut judge) {
                judge.withdraw();
                judge.told.misfit(None, of_file(&error));
            }
        }
        Ok(judge.told)
    });
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            let wrong = Check::new(NAME, CheckState::Wrong, "they cannot be replayed");
            return wrong.wrong(error.to_string());
        }
    };
    conclusion(&name, files.len(), found)
}

fn conclusion(name: &str, files: usize, found: Found) -> Check {
    let Found {
        fit,
        unfinished,
        misfit,
        mut wrong,
        ..
    } = found;
    if fit + misfit == 0 {
        let nothing = Check::new(
            NAME,
            CheckState::Wrong,
            format!("{name} shows nothing about this program"),
        );
        return nothing.wrong(format!(
            "{name} has no histories: no file in it that ends in `.json` or `.jsonl` has one\n\n\
             help: `perennial::testing::save_history(&run, \"{name}/..\")` makes the first file"
        ));
    }
    if misfit == 0 {
        let all = verb(fit as u64, "history fits", "histories fit");
        let files = counted(files as u64, "file");
        let summary = format!("{fit} {all}, {unfinished} unfinished, in {files} of {name}");
        return Check::new(NAME, CheckState::Well, summary);
    }
    if misfit > wrong.len() {
        wrong.push(format!("and {} more", misfit - wrong.len()));
    }
    let does = verb(misfit as u64, "does", "do");
    let histories = verb((fit + misfit) as u64, "history", "histories");
    let summary = format!(
        "{misfit} of {} {histories} in {name} {does} not fit",
        fit + misfit
    );
    Check {
        wrong,
        ..Check::new(NAME, CheckState::Wrong, summary)
    }
}

/// The file is named above it.
fn of_file(error: &SourceError) -> String {
    match error {
        SourceError::History { error, .. } => format!(
            "{error}\n\nhelp: `save_history` and `history.to_json()` write such files; one that newer software has \
             written may have events that are not known here"
        ),
        error => error.to_string(),
    }
}
