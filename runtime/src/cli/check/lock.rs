//! Whether released functions are as `perennial.lock` has them, by their sources.

use std::path::Path;

use perennial_codegen::lock::{FILE, Level, Lock, Package, SourceError};

use super::{Check, CheckState};
use crate::cli::source::shown;
use crate::words::{counted, verb};

const NAME: &str = "lock";

pub(super) fn check(folder: &Path) -> Check {
    if !folder.join("Cargo.toml").is_file() {
        let folder = shown(folder);
        let wrong = Check::new(NAME, CheckState::Wrong, "there are no sources to compare");
        return wrong.wrong(format!(
            "{folder} has no Cargo.toml\n\nhelp: call it in the folder of the package, or name that: `--folder ..`"
        ));
    }
    let lock = match Lock::read(folder) {
        Ok(Some(lock)) => lock,
        Ok(None) => {
            let nothing = Check::new(NAME, CheckState::Nothing, format!("there is no {FILE}"));
            return nothing.remark(format!(
                "`perennial lock` writes what is released into {FILE}, so that the compiler says where a change would \
                 break runs that are open"
            ));
        }
        Err(error) => return unreadable(&error),
    };
    let package = match Package::read(folder) {
        Ok(package) => package,
        Err(error) => return unreadable(&error),
    };
    let released = counted(lock.functions.len() as u64, "function");
    let mut check = Check::new(NAME, CheckState::Well, "");
    let mut new = 0;
    for finding in package.compare(&lock) {
        let text = || finding.to_string().trim_end().to_owned();
        match finding.level {
            Level::Error => check.wrong.push(text()),
            Level::Warning => check.remarks.push(text()),
            Level::Note if finding.key.is_some() => new += 1,
            // Of a file, or of what a macro writes.
            Level::Note => check.remarks.push(text()),
        }
    }
    let new = match new {
        0 => String::new(),
        new => format!("; {new} not released yet"),
    };
    check.summary = match check.wrong.len() {
        0 => format!("{released} as {FILE} has them{new}"),
        wrong => format!(
            "{wrong} {} from {FILE} that would break open runs{new}",
            verb(wrong as u64, "difference", "differences")
        ),
    };
    if !check.wrong.is_empty() {
        check.state = CheckState::Wrong;
    }
    check
}

fn unreadable(error: &SourceError) -> Check {
    let wrong = Check::new(NAME, CheckState::Wrong, "the sources cannot be compared");
    wrong.wrong(error.to_string())
}
