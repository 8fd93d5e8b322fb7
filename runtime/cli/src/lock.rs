//! `perennial lock`: what released workflows wait for and decide, in a `perennial.lock`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use perennial_codegen::lock::{Change, FILE, Level, Lock, Package, Update};

use crate::replace::replace;
use crate::workspace::{Folders, folders};
use crate::{AnyError, Outcome};

/// Writes down what the workflows of a package wait for and decide, as they are released
///
/// The build then compares them with it: a change that runs in flight could not follow does not compile. Adds
/// functions that are not in perennial.lock, and new markers and versions of those that are. Where something is not
/// compatible with what is released, nothing is written.
///
/// The sources are read and not compiled. In the folder of a workspace it goes over all members.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The folder of Cargo.toml
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Changes nothing; exit code 1 where runs in flight would not replay, or a released function is gone or left out
    #[arg(long, conflicts_with = "accept")]
    check: bool,
    /// Takes over one function as it is now, or takes it out if it is gone: a workflow's name, or the path of a
    /// #[durable] function or its end
    #[arg(long, value_name = "NAME")]
    accept: Option<String>,
}

impl Command {
    /// Does it, and gives what there is to say about it.
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let Folders {
            packages,
            is_workspace,
        } = folders(&self.path)?;
        let mut members = Vec::new();
        for folder in packages {
            let package = Package::read(&folder)?;
            let lock = Lock::read(&folder)?;
            // Of a workspace those are meant that have a lock or need one.
            if !is_workspace || lock.is_some() || !package.functions().is_empty() {
                members.push(Member {
                    folder,
                    package,
                    lock,
                });
            }
        }
        match &self.accept {
            Some(name) => accept(&members, name),
            None if self.check => Ok(check(&members)),
            None => update(&members),
        }
    }
}

/// A package with what is locked of it.
struct Member {
    folder: PathBuf,
    package: Package,
    /// `None` where there is no file.
    lock: Option<Lock>,
}

impl Member {
    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The lock; an empty one where there is none.
    fn lock(&self) -> Lock {
        self.lock.clone().unwrap_or_default()
    }
}

/// What is not as it was released, and what is not released yet.
fn check(members: &[Member]) -> (String, Outcome) {
    let mut text = String::new();
    let mut outcome = Outcome::Done;
    for member in members {
        let file = member.file();
        let findings = member.package.compare(&member.lock());
        let (mut errors, mut warnings, mut notes) = (0, 0, 0);
        for finding in findings {
            match finding.level {
                Level::Error => errors += 1,
                Level::Note => notes += 1,
                Level::Warning => warnings += 1,
            }
            let _ = writeln!(text, "{}", finding.under(&member.folder));
        }
        let state = match (errors, notes, &member.lock) {
            (0, _, Some(_)) if warnings > 0 => {
                "what is released waits for the same, by other conditions".to_owned()
            }
            (0, 0, _) => "everything is as it was released".to_owned(),
            (0, _, None) => "there is none, and nothing is released".to_owned(),
            (0, _, Some(_)) => "what is released is as it was".to_owned(),
            _ => {
                outcome = Outcome::Wrong;
                match errors {
                    1 => "one function is not as it was released".to_owned(),
                    _ => format!("{errors} findings: it is not as it was released"),
                }
            }
        };
        let _ = writeln!(text, "{}: {state}", file.display());
    }
    (text, outcome)
}

/// Adds what is new.
fn update(members: &[Member]) -> Result<(String, Outcome), AnyError> {
    let mut updates = Vec::new();
    let mut text = String::new();
    let mut is_refused = false;
    for member in members {
        let update = member.package.update(&member.lock());
        is_refused |= update.is_refused();
        for finding in &update.findings {
            // Once it is refused, what would have been released does not matter.
            if finding.level != Level::Note || !update.is_refused() {
                let _ = writeln!(text, "{}", finding.clone().under(&member.folder));
            }
        }
        updates.push((member, update));
    }
    if is_refused {
        let files = match members {
            [member] => format!("{} is as it was", member.file().display()),
            _ => "nothing was written, for none of the packages".to_owned(),
        };
        let _ = writeln!(text, "{files}");
        return Ok((text, Outcome::Wrong));
    }
    for (member, update) in updates {
        write(member, &update, &mut text)?;
    }
    Ok((text, Outcome::Done))
}

/// Takes over one function, which is in one of the packages.
fn accept(members: &[Member], name: &str) -> Result<(String, Outcome), AnyError> {
    let mut accepted = Vec::new();
    let mut failed = None;
    for member in members {
        match member.package.accept(&member.lock(), name) {
            Ok(update) => accepted.push((member, update)),
            Err(error) => failed = Some(error),
        }
    }
    match (accepted.as_slice(), failed) {
        ([(member, update)], _) => {
            let mut text = String::new();
            if update.is_refused() {
                for finding in &update.findings {
                    let _ = writeln!(text, "{}", finding.clone().under(&member.folder));
                }
                let _ = writeln!(text, "{} is as it was", member.file().display());
                return Ok((text, Outcome::Wrong));
            }
            write(member, update, &mut text)?;
            Ok((text, Outcome::Done))
        }
        ([], Some(error)) => Err(error.into()),
        ([], None) => Err("there is no package with workflows".into()),
        (several, _) => {
            let folders: Vec<String> = several
                .iter()
                .map(|(member, _)| format!("`{}`", member.folder.display()))
                .collect();
            Err(format!(
                "several packages have a function `{name}`\n\nhelp: name the folder of one: {}",
                folders.join(", ")
            )
            .into())
        }
    }
}

fn write(member: &Member, update: &Update, text: &mut String) -> Result<(), AnyError> {
    let file = member.file();
    let shown = file.display();
    if update.changes.is_empty() && (member.lock.is_some() || update.lock.functions.is_empty()) {
        let _ = writeln!(text, "{shown}: up to date");
        return Ok(());
    }
    replace(&file, &update.lock.to_string())
        .map_err(|error| format!("{shown}: it cannot be written: {error}"))?;
    for change in &update.changes {
        let _ = writeln!(text, "{shown}: {change}");
    }
    let gives_up = |change: &Change| matches!(change, Change::Accepted { .. } | Change::Removed(_));
    if update.changes.iter().any(gives_up) {
        let _ = write!(text, "\n{COST}\n");
    }
    if member.lock.is_none() {
        // What was compiled before knows nothing of a file that was not there.
        renew(&member.folder);
        let _ = write!(
            text,
            "\nCommit it. From now on the build compares these functions with it.\n"
        );
    }
    Ok(())
}

/// What it costs that a structure is taken over which runs in flight may not follow.
const COST: &str = "\
Runs in flight that the released version began and this one does not fit will be blocked, not lost, until a program \
that fits is deployed. Before the deploy, the `perennial plan` of your program lists them.";

/// Lets cargo compile a package again.
fn renew(folder: &Path) {
    let now = SystemTime::now();
    let binaries = fs::read_dir(folder.join("src/bin"))
        .into_iter()
        .flatten()
        .flatten();
    let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
    for root in roots.into_iter().chain(binaries.map(|entry| entry.path())) {
        // Where it cannot be, the next change of the source does the same.
        let renewed = fs::File::options().append(true).open(root);
        let _ = renewed.and_then(|file| file.set_modified(now));
    }
}
