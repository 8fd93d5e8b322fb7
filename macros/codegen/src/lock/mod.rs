//! `perennial.lock`: what the released workflows of a package wait for and decide.
//!
//! The file stands beside `Cargo.toml` and is committed. A function is in it once it is released: a workflow by
//! its name in histories, a `#[durable]` function by its file and its path in it. `#[workflow]` and `#[durable]`
//! compare the function that they stand on with it, and so does [`check`], which reads the sources and compiles
//! nothing.
//!
//! What is compared is the code *as the lock knows it*: a marker that is not in the lock is the code before it, and
//! a new arm of a known marker is not there. So what stands behind a new marker is free, and the rest must be as it
//! was, line by line.
//!
//! ```text
//! workflow fulfil
//!   flow 6a01c43d
//!   charge_card?
//!   version "add-fraud-check" 0
//!   version "add-fraud-check" 1
//!     fraud_check?
//!   if
//!     ship?
//!
//! durable src/orders.rs::Shop::restock
//!   retired "two-steps" 1
//!   order_parts?
//! ```
//!
//! | code | what |
//! |---|---|
//! | L301 | the function waits for or decides something that the released version did not |
//! | L302 | it no longer does something |
//! | L303 | the order changed |
//! | L304 | something else stands there, other control flow included |
//! | L305 | a released arm of a marker was edited |
//! | L306 | a released arm or marker is gone |
//! | L307 | a marker that the lock does not know does not start at 0, or was retired |
//! | L308 | a released function is not there any more |
//! | L309 | `perennial.lock` cannot be read |
//! | L310 | a warning: a condition changed, which the lines cannot tell |
//!
//! Everything here is a pure function of texts, but for [`Package::read`], [`Lock::read`] and [`check`], which
//! read files.

mod compare;
mod diff;
mod enforce;
mod files;
mod finding;
mod format;
mod gone;
mod moved;
mod package;
mod search;
mod shared;
#[cfg(test)]
mod tests;
mod texts;
mod unreadable;
mod update;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

pub(crate) use self::enforce::{Annotated, Enforced, enforce, retired};
pub use self::finding::{Finding, Level};
pub use self::format::Unreadable;
pub use self::package::{Function, Package};
pub use self::unreadable::SourceError;
pub use self::update::{Change, NotAccepted, Update};

/// The name of the file, beside `Cargo.toml`.
pub const FILE: &str = "perennial.lock";

/// What a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `#[workflow]`
    Workflow,
    /// `#[durable]`
    Durable,
}

/// A function in the lock. `Display` is its header in the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What it is.
    pub kind: Kind,
    /// A workflow's name in histories; of a durable function the file, from the folder of `Cargo.toml` on and with
    /// `/`, and its path there: `src/orders.rs::Shop::restock`.
    pub name: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Workflow => "workflow",
            Kind::Durable => "durable",
        };
        let is_plain = !self.name.starts_with('"')
            && self.name.trim() == self.name
            && !self.name.chars().any(char::is_control);
        if is_plain {
            write!(f, "{kind} {}", self.name)
        } else {
            write!(f, "{kind} {:?}", self.name)
        }
    }
}

/// A marker, or one arm of it, that released code had and that was taken out for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    /// The marker.
    pub id: String,
    /// Of a marker that is gone, the version whose code has stayed; of an arm that is gone, its version.
    pub version: u32,
}

/// What the lock says of one function.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Conditions, loop bounds and early ends, in order, as hashes.
    pub flow: Vec<u32>,
    /// What was taken out.
    pub retired: Vec<Retired>,
    /// The lines of its shape.
    pub lines: Vec<String>,
    /// The line of its header in the file that was read, from 1; else 0.
    pub line: usize,
}

impl PartialEq for Section {
    /// Where it stood in a file does not matter.
    fn eq(&self, other: &Self) -> bool {
        (&self.flow, &self.retired, &self.lines) == (&other.flow, &other.retired, &other.lines)
    }
}

impl Eq for Section {}

/// A `perennial.lock`. `Display` is the text of the file, [`Lock::parse`] reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// The released functions.
    pub functions: BTreeMap<Key, Section>,
}

impl Lock {
    /// The lock of the package in `folder`; `None` where there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is none (L309).
    pub fn read(folder: &Path) -> Result<Option<Lock>, SourceError> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Lock::parse(&text)
                .map(Some)
                .map_err(|error| SourceError::Lock { path, error }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SourceError::Read { path, error }),
        }
    }
}

/// Compares the sources of the package in `folder` with its lock, without compiling them.
///
/// Nothing was found where the list is empty. A finding of the level [`Level::Error`] breaks runs in flight, or makes
/// the comparison impossible; what is not released yet is a note. Without a `perennial.lock` there is nothing to
/// compare, and all functions are notes.
///
/// # Errors
///
/// A source or the lock cannot be read.
pub fn check(folder: &Path) -> Result<Vec<Finding>, SourceError> {
    let package = Package::read(folder)?;
    let lock = Lock::read(folder)?.unwrap_or_default();
    Ok(package.compare(&lock))
}
