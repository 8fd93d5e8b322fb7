//! What becomes of everything that is not on the device when the power goes.

use std::ops::Range;

use fastrand::Rng;

/// What becomes of everything that is not on the device when the power goes.
///
/// *Entries* are names that were made, changed and removed. Of one name, a later change is never there
/// without the earlier ones, and renames keep their order among each other; everything else may overtake.
/// A rename is done or not, never half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Choice {
    /// It is lost.
    Nothing,
    /// It is there, as after the end of the process alone.
    All,
    /// Writes are there as far as the files were as long already; no file became longer, and no entry
    /// changed.
    InPlace,
    /// Writes are there only where they made a file longer. Entries are there.
    Growth,
    /// As `InPlace`, but files are as long as they were, with zeros where they grew. Entries are there.
    Sizes,
    /// Each write and each entry is there or not. A file may have grown by a write that is lost.
    Coin {
        /// Decides.
        seed: u64,
    },
    /// Each sector of each write is there or not, and so is each entry.
    Torn {
        /// Decides.
        seed: u64,
        /// How many bytes are written as a whole: 512 or 4,096.
        sector: u64,
    },
    /// What came before some moment is there, and sectors from the beginning of the write at that moment.
    Prefix {
        /// Decides about the moment.
        seed: u64,
        /// As above.
        sector: u64,
    },
    /// What came after some moment is there; entries are all there.
    Suffix {
        /// Decides about the moment.
        seed: u64,
    },
}

impl Choice {
    /// One of all kinds.
    #[must_use]
    pub fn any(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let sector = if random.bool() { 512 } else { 4096 };
        let seed = random.u64(..);
        match random.u8(..12) {
            0 => Self::Nothing,
            1 => Self::All,
            2 => Self::InPlace,
            3 => Self::Growth,
            4 => Self::Sizes,
            5..=7 => Self::Coin { seed },
            8 | 9 => Self::Torn { seed, sector },
            10 => Self::Prefix { seed, sector },
            _ => Self::Suffix { seed },
        }
    }
}

/// A choice at work on one image. What it is asked about comes in the same order each time.
#[derive(Debug)]
pub(crate) struct Fate {
    choice: Choice,
    random: Rng,
    /// For `Prefix` and `Suffix`: the position in the record from which on it is different.
    moment: usize,
}

/// What is left of a write.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Ranges of the file.
    pub(crate) content: Vec<Range<u64>>,
    /// The file is so long as if it were there.
    pub(crate) size: bool,
}

impl Fate {
    /// `pending` are the positions at which that began which is not on the device.
    pub(crate) fn new(choice: Choice, pending: &[usize]) -> Self {
        let seed = match choice {
            Choice::Coin { seed }
            | Choice::Torn { seed, .. }
            | Choice::Prefix { seed, .. }
            | Choice::Suffix { seed } => seed,
            _ => 0,
        };
        let mut random = Rng::with_seed(seed);
        let moment = pending
            .get(random.usize(..=pending.len()))
            .copied()
            .unwrap_or(usize::MAX);
        Self {
            choice,
            random,
            moment,
        }
    }

    /// Whether a change of an entry is there.
    pub(crate) fn entry(&mut self, begun: usize) -> bool {
        match self.choice {
            Choice::Nothing | Choice::InPlace => false,
            Choice::All | Choice::Growth | Choice::Sizes | Choice::Suffix { .. } => true,
            Choice::Coin { .. } | Choice::Torn { .. } => self.random.bool(),
            Choice::Prefix { .. } => begun < self.moment,
        }
    }

    /// Whether a change of the size of a file is there.
    pub(crate) fn resize(&mut self, begun: usize) -> bool {
        match self.choice {
            Choice::Nothing | Choice::InPlace => false,
            Choice::All | Choice::Growth | Choice::Sizes => true,
            Choice::Coin { .. } | Choice::Torn { .. } => self.random.bool(),
            Choice::Prefix { .. } => begun < self.moment,
            Choice::Suffix { .. } => begun >= self.moment,
        }
    }

    /// What is there of a write in a range of a file that is `durable` bytes long on the device.
    pub(crate) fn write(&mut self, begun: usize, range: Range<u64>, durable: u64) -> Left {
        let border = durable.clamp(range.start, range.end);
        let all = |there: bool, size: bool| Left {
            content: if there {
                vec![range.clone()]
            } else {
                Vec::new()
            },
            size,
        };
        let part = |part: Range<u64>, size: bool| Left {
            content: vec![part],
            size,
        };
        match self.choice {
            Choice::Nothing => all(false, false),
            Choice::All => all(true, true),
            Choice::InPlace => part(range.start..border, false),
            Choice::Growth => part(border..range.end, true),
            Choice::Sizes => part(range.start..border, true),
            Choice::Coin { .. } => all(self.random.bool(), self.random.bool()),
            Choice::Torn { sector, .. } => Left {
                content: sectors(&range, sector)
                    .filter(|_| self.random.bool())
                    .collect(),
                size: self.random.bool(),
            },
            Choice::Prefix { .. } if begun != self.moment => {
                all(begun < self.moment, begun < self.moment)
            }
            Choice::Prefix { sector, .. } => {
                let count = sectors(&range, sector).count();
                let there = self.random.usize(..=count);
                Left {
                    content: sectors(&range, sector).take(there).collect(),
                    size: false,
                }
            }
            Choice::Suffix { .. } => all(begun >= self.moment, begun >= self.moment),
        }
    }
}

/// A range, cut where sectors end.
fn sectors(range: &Range<u64>, sector: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let sector = sector.max(1);
    let (mut next, end) = (range.start, range.end);
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let start = next;
            next = ((start / sector + 1) * sector).min(end);
            start..next
        })
    })
}
