//! What a test has checked beside its own assertions.

use std::fmt;

/// What is different when the kit replays a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Changed {
    /// The keys of hash maps, which each thread has of its own.
    HashKeys,
    /// All that the sandbox changes: another clock, other random bytes, other hash keys.
    All,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HashKeys => "other hash keys alone",
            Self::All => "another clock, other random bytes, other hash keys",
        })
    }
}

/// What the kit has checked in a test so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many runs were started.
    pub runs: usize,
    /// How many units they have.
    pub units: usize,
    /// How often one of them was replayed from its beginning and compared.
    pub replays: u64,
    /// What was different in those replays.
    pub changed: Changed,
    /// Why there were none, where the test opted out.
    pub not_replayed: Option<String>,
    /// Whether the test is strict.
    pub strict: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let (runs, units) = (number(self.runs, "run"), number(self.units, "unit"));
        write!(f, "{runs}, {units}; ")?;
        match &self.not_replayed {
            Some(reason) => write!(f, "not replayed: {reason}"),
            None => {
                let replays = usize::try_from(self.replays).unwrap_or(usize::MAX);
                let replays = number(replays, "replay");
                write!(f, "{replays} on fresh threads, with {}", self.changed)?;
                if self.changed == Changed::HashKeys {
                    f.write_str(
                        " (link `perennial-sandbox` to change the clock and random bytes too)",
                    )?;
                }
                Ok(())
            }
        }
    }
}
