//! Tallies: how many records of each kind there are, and a sum over them that does not depend on their order
//! and follows each change. sled opens without a word when it has lost a part of its file; what is left is
//! whole as far as it goes, and only a count of what there was tells that something is missing.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use perennial::wire::{FieldWriter, Fields, RecordError};

use super::check;
use super::problem::damaged;
use crate::store::StoreError;

/// Records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    records: u64,
    sum: u64,
}

/// Records of all kinds, by the first byte of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tallies(BTreeMap<u8, Tally>);

/// What a record adds to the sum: not to be guessed from those of other records, so that what is missing does
/// not come to nothing in the sum.
fn share(key: &[u8], value: &[u8]) -> u64 {
    let both = u64::from(crc32fast::hash(key)) << 32 | u64::from(crc32fast::hash(value));
    let mut mixed = both.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Tallies {
    fn of(&mut self, key: &[u8]) -> &mut Tally {
        self.0
            .entry(key.first().copied().unwrap_or_default())
            .or_default()
    }

    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let tally = self.of(key);
        tally.records = tally.records.wrapping_add(1);
        tally.sum = tally.sum.wrapping_add(share(key, value));
    }

    fn remove(&mut self, key: &[u8], value: &[u8]) {
        let tally = self.of(key);
        tally.records = tally.records.wrapping_sub(1);
        tally.sum = tally.sum.wrapping_sub(share(key, value));
    }

    /// A record takes the place of another one.
    pub(super) fn change(&mut self, key: &[u8], before: Option<&[u8]>, after: Option<&[u8]>) {
        if let Some(before) = before {
            self.remove(key, before);
        }
        if let Some(after) = after {
            self.add(key, after);
        }
    }

    /// The first kind of those asked for of which `found` has others.
    pub(super) fn difference(
        &self,
        found: &Self,
        kinds: impl Fn(u8) -> bool,
    ) -> Option<Difference> {
        self.differences(found)
            .find(|(kind, _)| kinds(*kind))
            .map(|(_, difference)| difference)
    }

    /// The kinds of which `found` has others.
    pub(super) fn differences(&self, found: &Self) -> impl Iterator<Item = (u8, Difference)> {
        let of = |tallies: &Self, kind| tallies.0.get(&kind).copied().unwrap_or_default();
        let kinds: BTreeSet<u8> = self.0.keys().chain(found.0.keys()).copied().collect();
        kinds
            .into_iter()
            .filter(move |&kind| of(self, kind) != of(found, kind))
            .map(move |kind| {
                let difference = Difference {
                    what: check::kind_name(kind),
                    had: of(self, kind).records,
                    found: of(found, kind).records,
                };
                (kind, difference)
            })
    }

    pub(super) fn write(&self, number: u32, fields: &mut FieldWriter<'_>) {
        for (kind, tally) in &self.0 {
            fields.nested(number, |f| {
                f.number(1, (*kind).into());
                f.number(2, tally.records);
                f.number(3, tally.sum);
            });
        }
    }

    /// Reads one kind.
    pub(super) fn read(&mut self, mut fields: Fields<'_>) -> Result<(), RecordError> {
        let (mut kind, mut tally) = (None, Tally::default());
        while let Some((field, content)) = fields.next_field()? {
            match field {
                1 => kind = u8::try_from(content.number("kind")?).ok(),
                2 => tally.records = content.number("records")?,
                3 => tally.sum = content.number("sum")?,
                _ => {}
            }
        }
        let kind = kind.ok_or(RecordError::Malformed { field: "kind" })?;
        self.0.insert(kind, tally);
        Ok(())
    }
}

/// That sled holds other records of a kind than it had taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) what: &'static str,
    pub(super) had: u64,
    pub(super) found: u64,
}

impl From<Difference> for StoreError {
    fn from(difference: Difference) -> Self {
        let Difference { what, had, found } = difference;
        let problem = match found.cmp(&had) {
            Ordering::Less => "they are not all there",
            Ordering::Equal => "some are not what was last written",
            Ordering::Greater => "some were removed, and are there again",
        };
        damaged(
            format!("the {what} (there were {had}, and there are {found})"),
            RecordError::Damaged { problem },
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use perennial::wire::{RecordWriter, open};

    fn of(records: &[(&[u8], &[u8])]) -> Tallies {
        let mut tallies = Tallies::default();
        for (key, value) in records {
            tallies.add(key, value);
        }
        tallies
    }

    fn differs(one: &Tallies, other: &Tallies) -> bool {
        one.difference(other, |_| true).is_some()
    }

    #[test]
    fn the_order_does_not_matter_and_what_comes_and_goes_leaves_nothing() {
        let mut tallies = of(&[(b"r1", b"a"), (b"u1", b"b")]);
        assert!(!differs(&tallies, &of(&[(b"u1", b"b"), (b"r1", b"a")])));
        tallies.change(b"r1", Some(b"a"), Some(b"c"));
        assert!(differs(&tallies, &of(&[(b"u1", b"b"), (b"r1", b"a")])));
        tallies.change(b"r1", Some(b"c"), None);
        tallies.change(b"r2", None, None);
        assert!(!differs(&tallies, &of(&[(b"u1", b"b")])));
        assert!(!differs(&of(&[(b"u1", b"b")]), &tallies));
    }

    #[test]
    fn each_loss_and_each_older_version_shows() {
        let value = |n: u32| [&n.to_be_bytes()[..], &[7; 40]].concat();
        let key = |n: u32| [&b"r"[..], &n.to_be_bytes()].concat();
        let mut all = Tallies::default();
        for n in 0..2_000 {
            all.add(&key(n), &value(n));
        }
        for n in 0..2_000 {
            let mut lost = all.clone();
            lost.change(&key(n), Some(&value(n)), None);
            assert!(differs(&all, &lost));
            // One record is lost, and another one is there twice.
            lost.add(&key((n + 1) % 2_000), &value((n + 1) % 2_000));
            assert!(differs(&all, &lost));
            let mut old = all.clone();
            old.change(&key(n), Some(&value(n)), Some(&value(n + 1)));
            assert!(differs(&all, &old));
        }
        let told = all.difference(&of(&[]), |kind| kind == b'r').unwrap();
        assert_eq!((told.had, told.found), (2_000, 0));
        assert_eq!(all.difference(&of(&[]), |kind| kind == b'u'), None);
    }

    #[test]
    fn they_read_back() {
        let tallies = of(&[(b"r1", b"a"), (b"u1", b"b"), (b"u2", b"")]);
        let mut record = RecordWriter::new(1);
        tallies.write(7, &mut record.fields());
        let bytes = record.finish();
        let (_, mut fields) = open(&bytes, 1).unwrap();
        let mut read = Tallies::default();
        while let Some((7, one)) = fields.next_field().unwrap() {
            read.read(one.fields("tally").unwrap()).unwrap();
        }
        assert_eq!(read, tallies);
    }
}
