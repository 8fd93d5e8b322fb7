//! Other processes: one that writes a store and may be killed, and one that looks at a damaged one, which
//! may abort, come to no end or ask for all memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use perennial_runtime::store::{OpenError, Store as _, StoreError};

use crate::account::{self, Account};
use crate::story::{Story, options};
use crate::support::process::{Role, tell, variable};

const FOLDER: &str = "PERENNIAL_TEST_FLIPS_FOLDER";
const EXPECTED: &str = "PERENNIAL_TEST_FLIPS_EXPECTED";
const ENDING: &str = "PERENNIAL_TEST_FLIPS_ENDING";
const WRITES: &str = "PERENNIAL_TEST_FLIPS_WRITES";
const SEED: &str = "PERENNIAL_TEST_FLIPS_SEED";

/// How the process that wrote a store ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Closed,
    /// It was killed while it wrote.
    Killed,
    /// It was killed right after it had opened the store once more.
    KilledAgain,
}

impl Ending {
    pub(crate) const ALL: [Self; 3] = [Self::Closed, Self::Killed, Self::KilledAgain];
}

/// Writes a store, and the account of what was acknowledged.
pub(crate) fn write(folder: &Path, expected: &Path, ending: Ending, writes: u64, seed: u64) {
    let mut process = Role::new("child::writes")
        .with(FOLDER, folder)
        .with(EXPECTED, expected)
        .with(ENDING, format!("{ending:?}"))
        .with(WRITES, writes.to_string())
        .with(SEED, seed.to_string())
        .start();
    let ready = process.line().is_some();
    if ready && ending != Ending::Closed {
        process.kill();
    }
    let ended = process.ended();
    assert!(ready, "it has ended early: {}", ended.last_words());
}

#[test]
#[ignore = "only makes sense as another process"]
fn writes() {
    let (folder, ending) = (PathBuf::from(variable(FOLDER)), variable(ENDING));
    let writes: u64 = variable(WRITES).parse().unwrap();
    let mut story = Story::begin(&folder, variable(SEED).parse().unwrap());
    // sled begins anew where it left off, so there is more than one life.
    story.go_on(writes / 2);
    story = story.reopen();
    story.go_on(writes / 4);
    story = story.reopen();
    story.go_on(writes / 4);
    if ending == "KilledAgain" {
        story = story.reopen();
    }
    let account = account::account(&story.model, &[]);
    std::fs::write(variable(EXPECTED), account::write(&account)).unwrap();
    if ending == "Closed" {
        story.close();
        return tell("ready");
    }
    // The last answer is as young as can be.
    tell("ready");
    std::thread::park();
}

/// What became of a damaged store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Everything that was acknowledged is there.
    Whole,
    /// Opening it was refused.
    Refused(String),
    /// It was opened, and a read said what is wrong.
    ToldByReads,
    /// All reads had an answer, and not all answers were right; a verification said so.
    ToldByVerify,
    /// Opened, verified, and something is not what was acknowledged.
    Silent,
    /// The process ended otherwise.
    Died,
    /// It came to no end.
    Hung,
}

impl Outcome {
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Silent | Self::Died | Self::Hung)
    }

    /// The column of a table.
    pub(crate) fn column(&self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Refused(_) => 1,
            Self::ToldByReads => 2,
            Self::ToldByVerify => 3,
            Self::Silent => 4,
            Self::Died => 5,
            Self::Hung => 6,
        }
    }

    pub(crate) const COLUMNS: [&'static str; 7] = [
        "whole", "refused", "reads", "verify", "SILENT", "DIED", "HUNG",
    ];
}

/// Looks at a store in a process of its own. Gives what came out, and what it said.
pub(crate) fn look(folder: &Path, expected: &Path, patience: Duration) -> (Outcome, String) {
    let process = Role::new("child::looks")
        .with(FOLDER, folder)
        .with(EXPECTED, expected)
        .start();
    let ended = match process.ended_within(patience) {
        Ok(ended) => ended,
        Err(ended) => return (Outcome::Hung, ended.last_words()),
    };
    let said = ended.lines.first();
    let (class, detail) = said
        .and_then(|said| said.split_once(": "))
        .unwrap_or_default();
    let outcome = match class {
        _ if !ended.status.success() => Outcome::Died,
        "whole" => Outcome::Whole,
        "refused" => Outcome::Refused(detail.split('|').next().unwrap_or_default().to_owned()),
        "reads" => Outcome::ToldByReads,
        "verify" => Outcome::ToldByVerify,
        "silent" => Outcome::Silent,
        _ => Outcome::Died,
    };
    let detail = match outcome {
        Outcome::Died => format!("{}: {}", ended.status, ended.last_words()),
        _ => detail.to_owned(),
    };
    (outcome, detail)
}

#[test]
#[ignore = "only makes sense as another process"]
fn looks() {
    let folder = PathBuf::from(variable(FOLDER));
    let expected = account::read(&std::fs::read_to_string(variable(EXPECTED)).unwrap());
    let opened = options().patience(Duration::from_secs(5)).open(folder);
    let store = match opened {
        Ok(store) => store,
        Err(error) => {
            tell(format!(
                "refused: {}|{}",
                class(&error),
                error.to_string().lines().next().unwrap_or_default()
            ));
            // What does not come to an end is left behind.
            std::process::exit(0);
        }
    };
    let found = account::account(&store, &account::runs(&expected));
    let report = store.verify();
    tell(judge(&expected, &found, &report));
    // A store is let go of in order, too.
    store.close().unwrap_or_else(|error| eprintln!("{error}"));
}

/// The name of what was refused.
fn class(error: &OpenError) -> String {
    let text = match error {
        OpenError::Damaged { damage, .. } => format!("{damage:?}"),
        OpenError::Io { what, .. } => format!("Io, {what}"),
        OpenError::Newer { .. } => "Newer".into(),
        OpenError::Older { .. } => "Older".into(),
        other => format!("{other}"),
    };
    let end = text
        .find([' ', '{', '('])
        .filter(|_| !text.starts_with("Io"));
    text[..end.unwrap_or(text.len())].to_owned()
}

fn judge(
    expected: &Account,
    found: &Account,
    report: &Result<perennial_runtime::store::sled::Report, StoreError>,
) -> String {
    let error = found.values().find_map(|answer| answer.as_ref().err());
    // What is not asked for because the head does not tell of it is missing too.
    let differs = expected
        .iter()
        .find(|(what, answer)| found.get(*what) != Some(answer))
        .map(|(what, _)| what)
        .or_else(|| found.keys().find(|what| !expected.contains_key(*what)));
    let told = match report {
        Ok(report) => report.problems.first().map(ToString::to_string),
        Err(error) => Some(error.to_string()),
    };
    let line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    match (error, differs, told) {
        (Some(error), _, _) => format!("reads: {}", line(error)),
        (None, None, None) => "whole: all is there".into(),
        (None, None, Some(told)) => format!("verify: all is there, and {}", line(&told)),
        (None, Some(what), Some(told)) => format!("verify: `{what}` differs, and {}", line(&told)),
        (None, Some(what), None) => format!("silent: `{what}` differs"),
    }
}
