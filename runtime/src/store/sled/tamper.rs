//! For tests: doing to a store what media, crashes and other software do, so that it can be shown that this
//! is noticed.

use std::sync::atomic::Ordering;

use perennial::wire::RecordWriter;
use perennial::{RunKey, Timestamp};

use super::SledStore;
use super::keys;
use super::records::{NUMBER_VERSION, number_content};
use super::value;
use super::writer::Write;
use crate::store::{KeyKind, StoreError};

/// What is done to a store.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Tamper<'a> {
    /// A unit is not there any more.
    LoseUnit(&'a RunKey, u64, u64),
    /// A byte of a unit's record is another one.
    FlipUnit(&'a RunKey, u64, u64),
    /// A byte of a head's record is another one.
    FlipHead(&'a RunKey),
    /// A byte of the record that a program has blocked the run with is another one.
    FlipBlocked(&'a RunKey, &'a str),
    /// A unit's record has a schema version that nobody understands yet.
    RaiseUnit(&'a RunKey, u64, u64),
    /// A run is not among those with something to do.
    LoseWork(&'a RunKey),
    /// A run is among those with something to do.
    AddWork(&'a RunKey),
    /// A timer is not in the order of deadlines.
    LoseDue(&'a RunKey, u64, Timestamp),
    /// A run does not know an idempotency key any more.
    LoseKey(&'a RunKey, &'a str),
    /// The index has no entry for the items of a stream in the unit whose first this is.
    LoseItem(&'a RunKey, &'a str, u64),
    /// A byte of the record of a view is another one.
    FlipView(&'a RunKey, &'a str),
    /// A byte of the record of an idempotency key is another one.
    FlipKey(&'a RunKey, &'a str),
    /// The record of an offer is gone.
    LoseOffer(&'a RunKey, u64),
    /// A byte of the record of an offer is another one.
    FlipOffer(&'a RunKey, u64),
    /// The next write into the journal fails.
    FailNextWrite,
}

impl SledStore {
    /// Does it.
    #[doc(hidden)]
    pub fn tamper(&self, tamper: Tamper<'_>) -> Result<(), StoreError> {
        let unit =
            |run, generation, number| keys::of_generation(keys::UNIT, run, generation, number);
        let (key, value) = match tamper {
            Tamper::LoseUnit(run, generation, number) => (unit(run, generation, number), None),
            Tamper::FlipUnit(run, generation, number) => {
                let key = unit(run, generation, number);
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::FlipHead(run) => {
                let key = keys::one(keys::RUN, run);
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::FlipBlocked(run, artifact) => {
                let key = keys::blocked(run, artifact);
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::RaiseUnit(run, generation, number) => (
                unit(run, generation, number),
                Some(RecordWriter::new(u8::MAX).finish()),
            ),
            Tamper::LoseWork(run) => (keys::one(keys::WORK, run), None),
            Tamper::AddWork(run) => {
                let value = value::inline(NUMBER_VERSION, 0, &number_content(0));
                (keys::one(keys::WORK, run), Some(value))
            }
            Tamper::LoseDue(run, operation, deadline) => {
                (keys::due(run, operation, deadline), None)
            }
            Tamper::LoseKey(run, key) => {
                (keys::send(run, &keys::digest_of(KeyKind::Send, key)), None)
            }
            Tamper::LoseItem(run, stream, number) => (keys::item(run, stream, number), None),
            Tamper::FlipView(run, name) => {
                let key = keys::view(run, name);
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::FlipKey(run, key) => {
                let key = keys::send(run, &keys::digest_of(KeyKind::Send, key));
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::LoseOffer(run, operation) => {
                (keys::numbered(keys::OFFER, run, operation), None)
            }
            Tamper::FlipOffer(run, operation) => {
                let key = keys::numbered(keys::OFFER, run, operation);
                (key.clone(), self.flipped(&key)?)
            }
            Tamper::FailNextWrite => {
                self.shared.fail.store(true, Ordering::Relaxed);
                return Ok(());
            }
        };
        self.wait_for(|ack| Write::Tamper(key, value, ack))
    }

    fn flipped(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.shared.overlay.read(|view| {
            let value = view.get(key)?;
            Ok(value.map(|value| {
                let mut value = value.to_vec();
                let middle = value.len() / 2;
                value[middle] ^= 1;
                value
            }))
        })
    }
}
