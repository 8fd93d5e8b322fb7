//! Updates that runs have accepted, as they know them by their idempotency keys (S26, S27).

use perennial::RunKey;
use perennial::value::{Digest, Value};

use super::StoreError;
use super::contract::Head;
use super::inbox::{self, KeyRecord, SendKey, is_known};

/// An update that was accepted, as the run is to know it by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateKey {
    /// The key.
    pub key: SendKey,
    /// The name of the update.
    pub name: String,
    /// The event that says that it was accepted: the answer is in that unit.
    pub event: u64,
}

/// By which one update is known from another under the same key: its name and what it asks.
pub(crate) fn update_digest(name: &str, input: &Value) -> Digest {
    let all = Value::encode(&("update", name, input.digest().to_string()));
    // Two names and a digest are far from all bounds.
    all.map_or_else(|_| input.digest(), |all| all.digest())
}

/// The record of an update that is accepted now, and those whose places it takes. Refused where the run knows the key:
/// its owner looks before it asks the run.
pub(super) fn accept(
    run: &RunKey,
    head: &mut Head,
    known: Option<&KeyRecord>,
    oldest: &[KeyRecord],
    update: &UpdateKey,
) -> Result<(KeyRecord, Vec<KeyRecord>), StoreError> {
    let UpdateKey { key, name, event } = update;
    if let Some(known) = known.filter(|known| is_known(head, known)) {
        return Err(inbox::conflict(run, known, key));
    }
    head.arrivals += 1;
    head.inbox.keys += 1;
    let record = KeyRecord {
        key: key.key.clone(),
        digest: key.digest,
        name: name.clone(),
        arrival: head.arrivals,
        event: Some(*event),
        at: head.stamp,
        sent: inbox::sent_at_most(key.at, head.stamp),
    };
    record.check()?;
    let now = head.stamp;
    let evicted = inbox::evict(&mut head.inbox, &record, oldest, now);
    Ok((record, evicted))
}
