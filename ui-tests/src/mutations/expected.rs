//! What is expected of a mutation, and what came of it, in the same words.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Who finds it, and under which codes. Both empty: it is harmless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The lock, when it is compiled.
    pub lock: BTreeSet<String>,
    /// A replay of one of the recorded prefixes.
    pub replay: BTreeSet<String>,
    /// The event that differs first in each run, where the mutant by itself cannot tell.
    pub at: Option<u64>,
}

impl Expected {
    /// Whether nobody has anything to say.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        self.lock.is_empty() && self.replay.is_empty()
    }
}

impl FromStr for Expected {
    type Err = String;

    /// `lock L301; replay H203 H206`
    fn from_str(text: &str) -> Result<Self, String> {
        let mut expected = Self::default();
        if text.trim() == "harmless" {
            return Ok(expected);
        }
        for part in text.split(';') {
            let mut words = part.split_whitespace();
            let (codes, letters) = match words.next() {
                Some("lock") => (&mut expected.lock, "L"),
                Some("replay") => (&mut expected.replay, "HW"),
                _ => {
                    return Err(format!(
                        "`{text}` is neither harmless, nor of the lock or replay"
                    ));
                }
            };
            while let Some(code) = words.next() {
                if code == "at" {
                    let event = words.next().and_then(|event| event.parse().ok());
                    expected.at = Some(event.ok_or("after `at` comes the number of an event")?);
                    break;
                }
                if !code.starts_with(|letter| letters.contains(letter)) {
                    return Err(format!("`{code}` is no code of theirs"));
                }
                codes.insert(code.to_owned());
            }
        }
        if expected.is_harmless() {
            return Err(format!("`{text}` has no codes"));
        }
        Ok(expected)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_harmless() {
            return f.write_str("harmless");
        }
        let mut between = "";
        for (who, codes) in [("lock", &self.lock), ("replay", &self.replay)] {
            if codes.is_empty() {
                continue;
            }
            write!(f, "{between}{who}")?;
            for code in codes {
                write!(f, " {code}")?;
            }
            between = "; ";
        }
        match self.at {
            Some(event) => write!(f, " at {event}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_told_as_it_was_written() {
        for text in [
            "harmless",
            "lock L301",
            "replay H203 W101",
            "lock L301; replay H203 at 3",
        ] {
            let expected: Result<Expected, _> = text.parse();
            assert_eq!(
                expected.map(|expected| expected.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["", "lock", "L301", "lock H203", "nobody"] {
            assert!(text.parse::<Expected>().is_err(), "{text}");
        }
    }
}
