//! What a run is told from outside: how long its queue may get, and which sends are one and the same (S25, S26).

use std::collections::BTreeMap;

use perennial::history::{Channel, Observation, Told};
use perennial::value::{Digest, Value};
use perennial::{MAX_CHANNEL_NAME, RunKey, Timestamp};

use super::contract::{Deliver, Head, Queued};
use super::rules::{self, Resolved};
use super::{KeyConflict, Refusal, StoreError};

/// The most messages that a run may have which it has not taken, and the most signals in its queue (S15, M12).
pub const MAX_INBOX: u64 = 10_000;
/// For how long a run knows the idempotency keys of what it was sent, in milliseconds: 30 days (S26).
pub const KEY_WINDOW: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Of how many sends a run knows the idempotency keys: the newest ones (S26).
pub const MAX_KEYS: u64 = 100_000;
/// The longest idempotency key, in bytes.
pub const MAX_KEY_BYTES: usize = 256;
/// A run that waits for more names than these is woken by whatever it is told.
pub const MAX_AWAITED: usize = 64;
/// And one whose names take more than these, in bytes, of which each takes 8 beside its own: they stand in its head.
pub const MAX_AWAITED_BYTES: usize = 2_048;
/// A sender's clock that is ahead by more milliseconds counts as one that is ahead by these: its keys must not make
/// those of all others too old once they are forgotten.
const MOST_AHEAD: u64 = 60_000;
/// How many of the oldest keys a send with a key may take the place of.
pub(super) const MOST_EVICTED: usize = 2;

/// What a run waits to be told. Nothing else that is sent to it wakes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// These, each once, in their order; at most [`MAX_AWAITED`] with [`MAX_AWAITED_BYTES`].
    Names(Vec<(Channel, String)>),
    /// More than these would be.
    Anything,
}

impl Default for Awaited {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

impl Awaited {
    /// Those names, or anything if they are too many.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = (Channel, &'a str)>) -> Self {
        let names = names
            .into_iter()
            .map(|(channel, name)| (channel, name.to_owned()));
        let names: Vec<_> = names.take(MAX_AWAITED + 1).collect();
        if names.len() > MAX_AWAITED || bytes(&names) > MAX_AWAITED_BYTES {
            Self::Anything
        } else {
            Self::Names(names)
        }
    }

    /// Whether it stays within its bounds (S15).
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let Self::Names(names) = self else {
            return Ok(());
        };
        let what = "the list of names that a run waits for";
        rules::check(what, bytes(names), MAX_AWAITED_BYTES)
    }

    /// Whether it waits for that.
    #[must_use]
    pub fn has(&self, channel: Channel, name: &str) -> bool {
        match self {
            Self::Names(names) => names.iter().any(|(c, n)| *c == channel && n == name),
            Self::Anything => true,
        }
    }

    /// Whether the run is to be woken by that row: anything but messages and signals that it does not wait for.
    #[must_use]
    pub fn wakes(&self, observation: &Observation) -> bool {
        match told(observation) {
            Some((channel, told)) => self.has(channel, &told.name),
            None => true,
        }
    }
}

/// How much of a head names take.
fn bytes(names: &[(Channel, String)]) -> usize {
    names.iter().map(|(_, name)| name.len() + 8).sum()
}

/// What a head knows of what its run is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// What it waits to be told: see [`Awaited::wakes`]. Nothing once it has ended.
    pub awaited: Awaited,
    /// How many messages it has that it has not taken, those in its queue among them. Of a run that has ended those
    /// are left unread (M42).
    pub messages: u64,
    /// How many signals are in its queue.
    pub signals: u64,
    /// How many sends it knows by their idempotency keys, of those after `keys_after`.
    pub keys: u64,
    /// Keys that were first used up to then are not known any more.
    pub keys_until: Timestamp,
    /// Keys of arrivals up to this one are not the generation's own: the run has begun anew since. A store may keep
    /// some of them for a while; they are not known.
    pub keys_after: u64,
    /// How many offers it has that are open.
    pub offers: u64,
}

/// What the run is told by an observation, if it comes from a sender.
pub(crate) fn told(observation: &Observation) -> Option<(Channel, &Told)> {
    match observation {
        Observation::MessageArrived(told) => Some((Channel::Message, told)),
        Observation::SignalArrived(told) => Some((Channel::Signal, told)),
        _ => None,
    }
}

/// What idempotency keys stand for. Each kind has keys of its own: one key may stand for a message and for an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyKind {
    /// A message or a signal.
    Send,
    /// An update that was accepted.
    Update,
}

/// A send that is the same again if it is repeated (S26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendKey {
    /// What the sender calls it, in the run.
    pub key: String,
    /// When the sender first sent it, by its own clock.
    pub at: Timestamp,
    /// Of what is sent, with the name and kind of it.
    pub digest: Digest,
}

/// By which one send is known from another under the same key (S26): its kind, its name and what it says.
pub(crate) fn send_digest(channel: Channel, name: &str, payload: &Value) -> Digest {
    let all = Value::encode(&(channel, name, payload.digest().to_string()));
    // Two names and a digest are far from all bounds.
    all.map_or_else(|_| payload.digest(), |all| all.digest())
}

/// A send, or an update that was accepted, that a run knows by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key.
    pub key: String,
    /// Of what was sent, with the name and kind of it.
    pub digest: Digest,
    /// The name of the message, signal or update.
    pub name: String,
    /// Its arrival number. An update has one too, though it is no row of the queue: keys go in the order of these.
    pub arrival: u64,
    /// Of an update that was accepted: the event of the generation's history that says so.
    pub event: Option<u64>,
    /// Its stamp.
    pub at: Timestamp,
    /// When the sender first sent it, by its own clock, or a minute after `at` if that was later.
    pub sent: Timestamp,
}

impl KeyRecord {
    /// What the key stands for.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        match self.event {
            Some(_) => KeyKind::Update,
            None => KeyKind::Send,
        }
    }

    /// Whether it stays within its bounds (S15).
    pub(super) fn check(&self) -> Result<(), StoreError> {
        rules::check(KEY, self.key.len(), MAX_KEY_BYTES)?;
        rules::check(NAME, self.name.len(), MAX_CHANNEL_NAME)
    }
}

const KEY: &str = "an idempotency key";
const NAME: &str = "the name of a message, signal or update";

/// The answer to [`Store::deliver`](super::Store::deliver).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The arrival number of the row: of the first one, where it was there already.
    pub arrival: u64,
    /// The stamp of the row.
    pub at: Timestamp,
    /// The run knew it by its key: nothing was written (M13).
    pub duplicate: bool,
    /// The run waits for it: it has to be woken.
    pub wakes: bool,
}

/// What becomes of a delivery.
#[derive(Debug)]
pub(super) enum Delivery {
    /// It was done before.
    Known(Delivered),
    /// It is done.
    New {
        resolved: Box<Resolved>,
        delivered: Delivered,
        /// A record for its key.
        key: Option<KeyRecord>,
        /// Records whose places it takes.
        evicted: Vec<KeyRecord>,
    },
}

/// `known`: the record of the delivery's key; `oldest`: the [`MOST_EVICTED`] records of the run with the smallest
/// arrival numbers, where the delivery has a key. The stamp of a row is `max(at, the run's last stamp)` (S2).
pub(super) fn deliver(
    head: Option<&Head>,
    known: Option<&KeyRecord>,
    oldest: &[KeyRecord],
    deliver: &Deliver,
) -> Result<Delivery, StoreError> {
    rules::check_tasks(&deliver.tasks)?;
    let run = || deliver.run.clone();
    let refuse = |refusal| Err(StoreError::Refused(refusal));
    if let Some((_, told)) = told(&deliver.observation) {
        rules::check(NAME, told.name.len(), MAX_CHANNEL_NAME)?;
    }
    let Some(head) = head else {
        return refuse(Refusal::NoRun { run: run() });
    };
    if let Some(key) = &deliver.key {
        rules::check(KEY, key.key.len(), MAX_KEY_BYTES)?;
        if let Some(known) = judge_key(&deliver.run, head, known, key, deliver.at)? {
            return Ok(Delivery::Known(Delivered {
                arrival: known.arrival,
                at: known.at,
                duplicate: true,
                wakes: false,
            }));
        }
    }
    if head.status.is_finished() {
        return refuse(Refusal::Finished { run: run() });
    }
    let mut head = head.clone();
    let mut wakes = true;
    if let Some((channel, told)) = told(&deliver.observation) {
        let count = match channel {
            Channel::Message => &mut head.inbox.messages,
            Channel::Signal => &mut head.inbox.signals,
        };
        if *count >= MAX_INBOX {
            return refuse(Refusal::InboxFull {
                run: run(),
                limit: MAX_INBOX,
            });
        }
        *count += 1;
        wakes = head.inbox.awaited.has(channel, &told.name);
    }
    head.stamp = head.stamp.max(deliver.at);
    let row = rules::enqueue(&mut head, &deliver.observation);
    let delivered = Delivered {
        arrival: row.arrival,
        at: row.at,
        duplicate: false,
        wakes,
    };
    let key = deliver.key.as_ref().map(|key| record(key, &row));
    let evicted = match &key {
        Some(key) => {
            head.inbox.keys += 1;
            evict(&mut head.inbox, key, oldest, deliver.at)
        }
        None => Vec::new(),
    };
    Ok(Delivery::New {
        resolved: Box::new(Resolved {
            rows: vec![row],
            ..Resolved::of(head)
        }),
        delivered,
        key,
        evicted,
    })
}

/// What a run knows of a key: the record of the same, which was done before; nothing, where it is a new one. Refused
/// where the key was used for something else, or is older than what the run knows (S26).
pub(crate) fn judge_key<'a>(
    run: &RunKey,
    head: &Head,
    known: Option<&'a KeyRecord>,
    key: &SendKey,
    now: Timestamp,
) -> Result<Option<&'a KeyRecord>, StoreError> {
    if let Some(known) = known.filter(|known| is_known(head, known)) {
        if known.digest == key.digest {
            return Ok(Some(known));
        }
        return Err(conflict(run, known, key));
    }
    let forgotten = key.at.as_millis().saturating_add(KEY_WINDOW) < now.as_millis()
        || key.at <= head.inbox.keys_until;
    if forgotten {
        return Err(StoreError::Refused(Refusal::KeyTooOld {
            run: run.clone(),
            key: key.key.clone(),
            at: key.at,
        }));
    }
    Ok(None)
}

/// A key that the run knows as that of something else (M15).
pub(super) fn conflict(run: &RunKey, known: &KeyRecord, key: &SendKey) -> StoreError {
    StoreError::Refused(Refusal::KeyConflict(Box::new(KeyConflict {
        run: run.clone(),
        key: key.key.clone(),
        name: known.name.clone(),
        known: known.digest,
        given: key.digest,
    })))
}

/// Whether that send is one of the run as it is now: not of an earlier run of that id, nor of one that is being
/// purged.
pub(super) fn is_known(head: &Head, send: &KeyRecord) -> bool {
    head.purged.is_none() && send.arrival > head.inbox.keys_after
}

/// The keys that a new one takes the place of: what an earlier run of that id has left, those that are too old, and
/// the oldest where there are too many.
pub(super) fn evict(
    inbox: &mut Inbox,
    new: &KeyRecord,
    oldest: &[KeyRecord],
    now: Timestamp,
) -> Vec<KeyRecord> {
    let mut evicted = Vec::new();
    // The new record is written in place of an old one of its key.
    let is_other = |old: &&KeyRecord| old.kind() != new.kind() || old.key != new.key;
    for old in oldest.iter().filter(is_other) {
        if old.arrival > inbox.keys_after {
            let is_old = old.at.as_millis().saturating_add(KEY_WINDOW) < now.as_millis();
            if !is_old && inbox.keys <= MAX_KEYS {
                break;
            }
            inbox.keys -= 1;
            inbox.keys_until = inbox.keys_until.max(old.sent);
        }
        evicted.push(old.clone());
    }
    evicted
}

/// When a key was first used, as far as its sender is believed.
pub(super) fn sent_at_most(sent: Timestamp, at: Timestamp) -> Timestamp {
    let ahead = at.as_millis().saturating_add(MOST_AHEAD);
    sent.min(Timestamp::from_millis(ahead))
}

/// The records of the keys that come with a run, in the order of their rows. A run begins with fewer rows than the
/// keys that it may know, so none has to go.
pub(super) fn keys_of(keys: &[SendKey], rows: &[Queued]) -> Result<Vec<KeyRecord>, StoreError> {
    let mut named = BTreeMap::new();
    for key in keys {
        rules::check(KEY, key.key.len(), MAX_KEY_BYTES)?;
        named.entry(key.key.as_str()).or_insert(key);
    }
    let records = rows.iter().filter_map(|row| {
        let (_, told) = told(&row.observation)?;
        let key = named.remove(told.key.as_deref()?)?;
        Some(record(key, row))
    });
    Ok(records.collect())
}

fn record(key: &SendKey, row: &Queued) -> KeyRecord {
    let name = told(&row.observation).map(|(_, told)| told.name.clone());
    KeyRecord {
        key: key.key.clone(),
        digest: key.digest,
        name: name.unwrap_or_default(),
        arrival: row.arrival,
        event: None,
        at: row.at,
        sent: sent_at_most(key.at, row.at),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::rules::Creation;
    use crate::store::{Changes, Create, Owner};

    fn at(milliseconds: u64) -> Timestamp {
        Timestamp::from_millis(milliseconds)
    }

    fn head(inbox: Inbox) -> Head {
        let create = Create {
            run: "order-42".parse().unwrap(),
            workflow: "order".into(),
            input: Value::null().digest(),
            after: None,
            owner: Owner(1),
            changes: Changes::default(),
            keys: Vec::new(),
        };
        match rules::create(None, &create).unwrap() {
            Creation::New(resolved) => Head {
                inbox,
                arrivals: 500_000,
                ..resolved.head
            },
            Creation::Exists(_) => panic!("it is new"),
        }
    }

    fn send(key: &str, sent: u64, now: u64) -> Deliver {
        let digest = Value::null().digest();
        Deliver {
            run: "order-42".parse().unwrap(),
            observation: Observation::MessageArrived(Told {
                number: 0,
                name: "approval".into(),
                payload: Value::null(),
                key: Some(key.into()),
            }),
            at: at(now),
            tasks: Vec::new(),
            key: Some(SendKey {
                key: key.into(),
                at: at(sent),
                digest,
            }),
            stub: None,
        }
    }

    fn known(key: &str, arrival: u64, sent: u64) -> KeyRecord {
        KeyRecord {
            key: key.into(),
            digest: Value::null().digest(),
            name: "approval".into(),
            arrival,
            event: None,
            at: at(1_000),
            sent: at(sent),
        }
    }

    /// The head, the new key, and the names of those that go.
    fn new(
        inbox: Inbox,
        oldest: &[KeyRecord],
        deliver: &Deliver,
    ) -> (Inbox, KeyRecord, Vec<String>) {
        match super::deliver(Some(&head(inbox)), None, oldest, deliver).unwrap() {
            Delivery::New {
                resolved,
                key,
                evicted,
                ..
            } => {
                let evicted = evicted.into_iter().map(|old| old.key).collect();
                (resolved.head.inbox, key.unwrap(), evicted)
            }
            Delivery::Known(known) => panic!("{known:?}"),
        }
    }

    #[test]
    fn the_newest_keys_are_known_and_one_that_went_is_too_old() {
        let oldest = [known("a", 3, 990), known("b", 7, 970)];
        let one_less = Inbox {
            keys: MAX_KEYS - 1,
            ..Inbox::default()
        };
        let (inbox, _, evicted) = new(one_less, &oldest, &send("c", 1_001, 1_001));
        assert_eq!((inbox.keys, evicted), (MAX_KEYS, vec![]));
        let (inbox, _, evicted) = new(inbox, &oldest, &send("d", 1_001, 1_001));
        assert_eq!((inbox.keys, evicted), (MAX_KEYS, vec!["a".to_owned()]));
        assert_eq!(inbox.keys_until, at(990));
        let too_old = super::deliver(
            Some(&head(inbox.clone())),
            None,
            &oldest[1..],
            &send("a", 990, 1_002),
        );
        assert!(matches!(
            too_old,
            Err(StoreError::Refused(Refusal::KeyTooOld { .. }))
        ));
        let (_, _, evicted) = new(inbox, &oldest[1..], &send("e", 991, 1_002));
        assert_eq!(evicted, ["b"]);
    }

    #[test]
    fn what_an_earlier_run_has_left_goes_first_and_does_not_count() {
        let left = [known("a", 3, 9_990), known("b", 7, 9_970)];
        let inbox = Inbox {
            keys: 4,
            keys_after: 7,
            ..Inbox::default()
        };
        let (inbox, _, evicted) = new(inbox, &left, &send("b", 1_001, 1_001));
        // Its own record is written over.
        assert_eq!(evicted, ["a"]);
        assert_eq!((inbox.keys, inbox.keys_until), (5, at(0)));
    }

    #[test]
    fn a_sender_whose_clock_is_far_ahead_does_not_make_the_keys_of_others_too_old() {
        let century = 100 * 365 * 24 * 60 * 60 * 1_000;
        let (_, key, _) = new(Inbox::default(), &[], &send("a", century, 5_000));
        assert_eq!(key.sent, at(5_000 + MOST_AHEAD));
        let (_, key, _) = new(Inbox::default(), &[], &send("a", 5_900, 5_000));
        assert_eq!(key.sent, at(5_900));
    }

    #[test]
    fn a_run_that_waits_for_too_many_names_is_woken_by_anything() {
        let short: Vec<String> = (0..=MAX_AWAITED).map(|n| format!("{n}")).collect();
        let long: Vec<String> = (0..20).map(|n| format!("{n:0>128}")).collect();
        let of =
            |names: &[String]| Awaited::of(names.iter().map(|name| (Channel::Message, &name[..])));
        assert_eq!(of(&short), Awaited::Anything);
        assert_eq!(of(&long), Awaited::Anything);
        for names in [&short[1..], &long[..15]] {
            assert!(matches!(of(names), Awaited::Names(kept) if kept.len() == names.len()));
        }
        assert!(Awaited::Anything.has(Channel::Signal, "refresh"));
        assert!(of(&short[1..]).has(Channel::Message, "7"));
        assert!(!of(&short[1..]).has(Channel::Signal, "7"));
    }
}
