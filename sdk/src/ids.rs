//! Names of runs and of what happens in them. Everything here comes from outside and is checked where it
//! enters, so that an id can stand in a file name, a URL, a shell command and a log line as it is.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest id, in bytes.
pub const MAX_ID_LENGTH: usize = 128;

/// An id that cannot be used, with what is wrong with it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidId {
    /// What the id was meant to name: `run`, `namespace` or `operation`.
    pub what: &'static str,
    /// The id as it was given, cut after 160 characters.
    pub given: String,
    /// What is wrong with it.
    pub problem: IdProblem,
}

/// What is wrong with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdProblem {
    /// Nothing was given.
    Empty,
    /// More than [`MAX_ID_LENGTH`] bytes; the field says how many.
    TooLong(usize),
    /// A character outside `A-Z a-z 0-9 . _ : -`, and its byte position.
    Character(char, usize),
    /// Not of the form `<run>~<number>`.
    NotAnOperation,
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            given,
            problem,
        } = self;
        // Its beginning is enough to know it by.
        let short: String = given.chars().take(60).collect();
        let more = if short.len() < given.len() { "…" } else { "" };
        let given = format!("{}{more}", short.escape_debug());
        match problem {
            IdProblem::Empty => write!(f, "a {what} id cannot be empty")?,
            IdProblem::TooLong(length) => write!(
                f,
                "the {what} id \"{given}\" is {length} bytes long; at most {MAX_ID_LENGTH} are allowed"
            )?,
            IdProblem::Character(' ', at) => write!(
                f,
                "the {what} id \"{given}\" has a space at byte {at}, which an id cannot have"
            )?,
            IdProblem::Character(c, at) => write!(
                f,
                "the {what} id \"{given}\" has the character `{}` at byte {at}, which an id cannot have",
                c.escape_debug()
            )?,
            IdProblem::NotAnOperation => {
                return write!(
                    f,
                    "\"{given}\" is not an operation: write `<run>~<number>`, as in `order-42~7`"
                );
            }
        }
        f.write_str("\n\nhelp: use letters, digits and `.` `_` `:` `-`, at most 128 of them")
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidId {}

/// So that an id and a text can stand in the same place.
impl From<std::convert::Infallible> for InvalidId {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

fn check(what: &'static str, text: &str) -> Result<(), InvalidId> {
    let invalid = |problem| InvalidId {
        what,
        given: text.chars().take(160).collect(),
        problem,
    };
    if text.is_empty() {
        return Err(invalid(IdProblem::Empty));
    }
    if let Some((at, c)) = text
        .char_indices()
        .find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-')))
    {
        return Err(invalid(IdProblem::Character(c, at)));
    }
    if text.len() > MAX_ID_LENGTH {
        return Err(invalid(IdProblem::TooLong(text.len())));
    }
    Ok(())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and makes an id of it.
            ///
            /// # Errors
            ///
            /// [`InvalidId`] when it is empty, longer than [`MAX_ID_LENGTH`] bytes, or has a character
            /// outside `[A-Za-z0-9._:-]`.
            pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidId> {
                let text = text.as_ref();
                check($what, text)?;
                Ok(Self(text.into()))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = InvalidId;

            fn try_from(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<&String> for $name {
            type Error = InvalidId;

            fn try_from(text: &String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// The name of a run within its namespace: `[A-Za-z0-9._:-]{1,128}`, chosen by the caller.
    RunId, "run"
}

id! {
    /// A separate set of runs in one store: `[A-Za-z0-9._:-]{1,128}`. The first one is called `default`.
    Namespace, "namespace"
}

impl Default for Namespace {
    fn default() -> Self {
        Self("default".into())
    }
}

/// A run, wherever it is: its namespace and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The id within the namespace.
    pub id: RunId,
}

impl RunKey {
    /// The run `id` in `namespace`.
    #[must_use]
    pub fn new(namespace: Namespace, id: RunId) -> Self {
        Self { namespace, id }
    }
}

/// The default namespace goes without saying.
impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace == Namespace::default() {
            fmt::Display::fmt(&self.id, f)
        } else {
            write!(f, "{}/{}", self.namespace, self.id)
        }
    }
}

/// As it is written: `order-42`, or `namespace/order-42` outside the default namespace.
impl FromStr for RunKey {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Ok(match text.split_once('/') {
            Some((namespace, run)) => Self::new(Namespace::new(namespace)?, RunId::new(run)?),
            None => Self::new(Namespace::default(), RunId::new(text)?),
        })
    }
}

/// An operation of a run, written `<run>~<number>`: safe in URLs and shells. Numbers start at 1 and are
/// counted on over the generations of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId {
    /// The run.
    pub run: RunId,
    /// The operation's number.
    pub number: u64,
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.run, self.number)
    }
}

impl FromStr for OperationId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let not = || InvalidId {
            what: "operation",
            given: text.chars().take(160).collect(),
            problem: IdProblem::NotAnOperation,
        };
        let (run, number) = text.rsplit_once('~').ok_or_else(not)?;
        // One text a number, so that references can be compared as texts.
        if !number.starts_with(|c: char| matches!(c, '1'..='9')) {
            return Err(not());
        }
        let number = number.parse().map_err(|_| not())?;
        Ok(Self {
            run: RunId::new(run)?,
            number,
        })
    }
}

impl TryFrom<&str> for OperationId {
    type Error = InvalidId;

    fn try_from(text: &str) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl TryFrom<String> for OperationId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl TryFrom<&String> for OperationId {
    type Error = InvalidId;

    fn try_from(text: &String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<&OperationId> for OperationId {
    fn from(id: &OperationId) -> Self {
        id.clone()
    }
}

/// As its text.
impl Serialize for OperationId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OperationId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_that_can_stand_anywhere_are_taken() {
        for text in ["order-42", "a", "A.b_c:d-9", &"x".repeat(128)] {
            assert_eq!(RunId::new(text).unwrap().as_str(), text);
        }
        assert_eq!("order-42~7".parse::<OperationId>().unwrap().number, 7);
        for text in ["order-42", "shop/order-42"] {
            assert_eq!(text.parse::<RunKey>().unwrap().to_string(), text);
        }
        assert!("shop/a/b".parse::<RunKey>().is_err());
    }

    #[test]
    fn other_ids_are_refused_with_the_reason() {
        let texts = [
            "",
            "a b",
            "a/b",
            "../x",
            "a~1",
            "ü",
            "a\n",
            &"x".repeat(129),
        ]
        .map(|text| RunId::new(text).unwrap_err().to_string());
        insta::assert_snapshot!(texts.join("\n---\n"));
        insta::assert_snapshot!("operation", "order-42".parse::<OperationId>().unwrap_err());
    }
}
