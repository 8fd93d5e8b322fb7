//! Values that cross the history: inputs, results, errors, recorded values. They are JSON texts, written
//! once and never rewritten; two of them are compared by their bytes first and by their canonical form only
//! where the bytes differ (S10).

mod canonical;
mod foreign;
mod key;
mod place;
mod strict;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

pub use canonical::Difference;

/// The largest value, in bytes of its JSON text (S15).
pub const MAX_VALUE_BYTES: usize = 1 << 20;
/// How many brackets may be open at a time in a value's JSON text.
pub const MAX_VALUE_DEPTH: usize = 127;

/// A value as the history holds it: one JSON text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Value(Arc<str>);

impl Value {
    /// Encodes `data`.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] when a number is not finite or has more than 64 bits, a map has keys that are not
    /// strings, the type's own `Serialize` fails, or the text is longer than [`MAX_VALUE_BYTES`] or nested
    /// deeper than [`MAX_VALUE_DEPTH`] (S10, S15).
    pub fn encode<T: Serialize + ?Sized>(data: &T) -> Result<Self, EncodeError> {
        strict::encode(data).map(Self)
    }

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] with the place inside the text.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        serde_json::from_str(&self.0).map_err(|error| DecodeError {
            expected: std::any::type_name::<T>(),
            problem: place::problem(&self.0, &error),
        })
    }

    /// Takes a JSON text that somebody else wrote.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] when it is not one JSON value that [`encode`](Self::encode) could have written: of
    /// numbers that are exact in 64 bits, of at most [`MAX_VALUE_BYTES`], nested at most
    /// [`MAX_VALUE_DEPTH`] deep.
    pub fn from_json(text: impl Into<String>) -> Result<Self, DecodeError> {
        let text = text.into();
        // So that what stands in a larger JSON text is the same to the byte.
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        match foreign::check(text) {
            Ok(()) => Ok(Self(one_line(text).into())),
            Err(problem) => Err(DecodeError {
                expected: JSON,
                problem,
            }),
        }
    }

    /// A text that was a value when it was stored, and whose checksum fits.
    pub(crate) fn trusted(text: &str) -> Self {
        Self(text.into())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Whether both mean the same: the same bytes, or the same canonical form (object members sorted, null
    /// members dropped, integers exact).
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.0 == other.0 || self.canonical() == other.canonical()
    }

    /// The first place in which the two differ in meaning.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        canonical::difference(&self.0, &other.0)
    }

    /// The canonical text.
    #[must_use]
    pub fn canonical(&self) -> String {
        canonical::canonical(&self.0)
    }

    /// The digest of the canonical text (S10).
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest(Sha256::digest(self.canonical().as_bytes()).into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As the JSON that it holds, to the byte where the format is JSON.
impl Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        text.serialize(serializer)
    }
}

/// From JSON, to the byte. It must be a value that [`Value::from_json`] takes.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        foreign::check(text.get()).map_err(serde::de::Error::custom)?;
        Ok(Self(one_line(text.get()).into()))
    }
}

/// A JSON text without line ends, so that it can stand in a file that has one JSON text a line. They are only
/// between its parts, where spaces are as good.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        text.replace(['\n', '\r'], " ").into()
    } else {
        text.into()
    }
}

/// SHA-256 of something in its canonical form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A value that cannot be written to a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A float that is infinite or not a number (S10), and where it stands inside the value.
    NotFinite {
        /// The path inside the value, as `.lines[2].price`; empty for the value itself.
        path: String,
    },
    /// A map key that is not a string (S10).
    KeyNotString {
        /// The path of the map.
        path: String,
        /// What the key was: `an integer`, `a sequence` and so on.
        key: &'static str,
    },
    /// An integer of more than 64 bits.
    IntegerTooLarge {
        /// The path inside the value.
        path: String,
    },
    /// Longer than [`MAX_VALUE_BYTES`].
    TooLarge {
        /// Its length in bytes.
        size: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// Nested deeper than [`MAX_VALUE_DEPTH`], so that it could not be read back.
    TooDeep {
        /// The path of the first part that is too deep.
        path: String,
        /// How many brackets may be open at a time.
        limit: usize,
    },
    /// The type's own `Serialize` said no.
    Refused {
        /// What it said.
        reason: String,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |path: &str| {
            if path.is_empty() {
                String::new()
            } else {
                format!(" at `{path}`")
            }
        };
        match self {
            Self::NotFinite { path } => write!(
                f,
                "the number{} is not finite (NaN or infinite), so it cannot be stored\n\n\
                 help: store an `Option`, or a text",
                place(path)
            ),
            Self::KeyNotString { path, key } => write!(
                f,
                "the map{} has {key} as a key; only strings can be stored as keys\n\n\
                 help: use a `String` as the key, or a `Vec` of pairs",
                place(path)
            ),
            Self::IntegerTooLarge { path } => write!(
                f,
                "the integer{} does not fit into 64 bits, so it cannot be stored exactly\n\n\
                 help: store it as a `String`",
                place(path)
            ),
            Self::TooLarge { size, limit } => write!(
                f,
                "the value is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and pass its address or digest"
            ),
            Self::TooDeep { path, limit } => write!(
                f,
                "the value is nested more than {limit} deep, so it could not be read back; its path begins \
                 with `{}`\n\nhelp: store nested data as a list whose entries refer to each other",
                path.chars().take(60).collect::<String>()
            ),
            Self::Refused { reason } => write!(f, "the value cannot be stored: {reason}"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// What [`Value::from_json`] expects.
const JSON: &str = "JSON";

/// A stored value that is not what the code expects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// The Rust type that was asked for; `JSON` where a text was to become a value.
    pub expected: &'static str,
    /// What does not fit, and where in the text.
    pub problem: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, problem } = self;
        match *expected {
            JSON => write!(
                f,
                "the text is not a JSON value that can be stored: {problem}"
            ),
            expected => write!(f, "the value does not decode as `{expected}`: {problem}"),
        }
    }
}

impl std::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// An export has one JSON text a line.
    #[test]
    fn a_value_that_came_on_several_lines_stands_on_one_and_means_the_same() {
        let text = "\n{\r\n  \"text\": \"a\\nb\",\n\t\"n\": 1.50\n}\n";
        let one_line = "{    \"text\": \"a\\nb\", \t\"n\": 1.50 }";
        let value = Value::from_json(text).unwrap();
        assert_eq!(value.as_json(), one_line);
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read, value);
        let there: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value.decode::<serde_json::Value>().unwrap(), there);
    }
}
