//! Slots: what a commit fills in, since only it knows the result (S3). What a run decides about other runs and what
//! comes of it stand in one write, so that a crash leaves both or neither.
//!
//! | a slot | touches | comes to |
//! |---|---|---|
//! | [`SlotEffect::Known`] | nothing | what the owner has found out |
//! | [`SlotEffect::Send`] | the queue of a run of the same namespace, and the keys that it knows | [`SlotResult::Sent`] or [`SlotResult::NotSent`] |
//! | [`SlotEffect::Fulfil`] | the queue of a run of the same namespace, and what it offers | [`SlotResult::Fulfilled`] or [`SlotResult::NotFulfilled`] |
//!
//! What it comes to is a row of the run's own queue, unless the run has ended with the same write. The write does not
//! fail because of it. Slots are filled in their order, each against what the earlier ones leave behind, and the first
//! against what the write makes of its own run: a run that drops an offer of its own, or ends, finds it closed.

mod fulfil;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};

use perennial::history::{Channel, Observation, SlotResult};
use perennial::value::Value;
use perennial::{OperationId, Receipt, RunEnd, RunId, RunKey, SendFailure, Timestamp};

use super::contract::{Changes, Deliver, Head, Queued, Status};
use super::inbox::{self, Delivered, Delivery, KeyKind, KeyRecord, MOST_EVICTED, SendKey, told};
use super::offers::{self, Offer};
use super::rules::{self, Resolved};
use super::{Refusal, StoreError, update_keys};

/// The longest text about a run that cannot be read, in bytes.
const MAX_PROBLEM: usize = 1 << 10;

/// A decision whose result its commit fills in.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The operation's number, which the result is for.
    pub operation: u64,
    /// When it was decided, by the owner's clock.
    pub at: Timestamp,
    /// What it does.
    pub effect: SlotEffect,
}

/// What a slot does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SlotEffect {
    /// Puts a message or a signal into the queue of a run. A message gets an idempotency key, see [`slot_key`].
    Send {
        /// To which run, in the namespace of the one that sends (M52). It may be that one itself (M50).
        run: RunId,
        /// What it is told. Its number and key are the store's to fill in.
        observation: Observation,
    },
    /// Puts a value for an offer into the queue of its run. The value gets the key of a [`slot_key`], so that the run's
    /// history says who has fulfilled it.
    Fulfil {
        /// What is offered, in the namespace of the run that fulfils it. It may be one of that run itself.
        reference: OperationId,
        /// The name of the stub that it is meant for.
        stub: String,
        /// The value.
        value: Value,
    },
    /// Nothing: the owner has found out what comes of it, and that is this.
    Known(SlotResult),
}

/// What a write has put into queues.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The rows that the run's own queue got: those of [`Changes::enqueue`](super::Changes::enqueue), what its slots
    /// came to, and what it has sent to itself.
    pub rows: Vec<Queued>,
    /// The rows that other runs got.
    pub told: Vec<Arrival>,
}

/// A row that a write has put into the queue of another run.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// That run.
    pub run: RunKey,
    /// The row.
    pub row: Queued,
    /// The run waits for it: it has to be woken.
    pub wakes: bool,
}

/// The idempotency key of what a run has sent, in the run to which it was sent. It is the same however often the
/// operation is committed, so that a sender that was put back to an older state, as from a backup, does not send it a
/// second time (M48); and another one in each generation, since a run that was purged may begin anew with the same
/// numbers.
///
/// `created`: when the sender's generation was made ([`Head::created`]).
#[must_use]
pub fn slot_key(sender: &RunId, created: Timestamp, operation: u64) -> String {
    format!("{sender}~{operation}@{}", created.as_millis())
}

/// What the slots of a write change, beside the run's own head and rows.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The keys that the run itself gets.
    pub(super) own: Keys,
    pub(super) others: BTreeMap<RunKey, Other>,
    arrivals: Vec<Arrival>,
}

/// What a write changes in another run.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) resolved: Resolved,
    pub(super) keys: Keys,
}

/// What a write changes in the keys that a run knows.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// New ones, by the key, with what is there under it, left by an earlier run of that id.
    pub(super) put: BTreeMap<(KeyKind, String), (KeyRecord, Option<KeyRecord>)>,
    /// Those whose places they take.
    pub(super) evicted: Vec<KeyRecord>,
    /// The oldest that are left, as many as the write may come to need; `None`: they were not read.
    oldest: Option<VecDeque<KeyRecord>>,
}

/// What is stored, as the writes before this one leave it.
pub(super) trait Stored {
    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError>;
    /// The record of a key of the run whose head is `head`.
    fn known(
        &self,
        run: &RunKey,
        head: &Head,
        kind: KeyKind,
        key: &str,
    ) -> Result<Option<KeyRecord>, StoreError>;
    /// So many records with the smallest arrival numbers.
    fn oldest(&self, run: &RunKey, head: &Head, limit: usize)
    -> Result<Vec<KeyRecord>, StoreError>;
    /// The record of what a run offers.
    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError>;
}

impl Filled {
    /// The answer to the write.
    pub(super) fn answer(&self, own: &Resolved) -> Committed {
        Committed {
            rows: own.rows.clone(),
            told: self.arrivals.clone(),
        }
    }
}

/// Fills the slots of a write in, of which `own` is what it has come to so far, after it has noted the keys of the
/// updates that it accepts.
pub(super) fn fill(
    run: &RunKey,
    own: &mut Resolved,
    changes: &Changes,
    stored: &impl Stored,
) -> Result<Filled, StoreError> {
    let slots = &changes.slots;
    let mut filled = Filled::default();
    filled.own.accept(run, &mut own.head, changes, stored)?;
    let mut sends: HashMap<&RunId, usize> = HashMap::new();
    for slot in slots {
        if let SlotEffect::Send { run: to, .. } = &slot.effect {
            *sends.entry(to).or_default() += 1;
        }
    }
    for slot in slots {
        let result = match &slot.effect {
            SlotEffect::Send {
                run: to,
                observation,
            } => {
                let outgoing = Outgoing {
                    to: RunKey::new(run.namespace.clone(), to.clone()),
                    observation,
                    key: slot_key(&run.id, own.head.created, slot.operation),
                    at: slot.at,
                    sends: sends.get(to).copied().unwrap_or(1),
                };
                filled.send(run, own, outgoing, stored)?
            }
            SlotEffect::Fulfil {
                reference,
                stub,
                value,
            } => {
                let given = fulfil::Given {
                    reference,
                    stub,
                    value,
                    key: slot_key(&run.id, own.head.created, slot.operation),
                    at: slot.at,
                };
                filled.fulfil(run, own, given, stored)?
            }
            SlotEffect::Known(result) => result.clone(),
        };
        // Nobody can be told what an ended run has sent (S11).
        if own.head.status.is_finished() {
            continue;
        }
        own.head.stamp = own.head.stamp.max(slot.at);
        let operation = slot.operation;
        let row = rules::enqueue(
            &mut own.head,
            &Observation::SlotFilled { operation, result },
        );
        own.rows.push(row);
    }
    filled
        .others
        .retain(|_, other| !other.resolved.rows.is_empty());
    Ok(filled)
}

/// A message or a signal on its way to another run.
struct Outgoing<'a> {
    to: RunKey,
    observation: &'a Observation,
    key: String,
    at: Timestamp,
    /// How many the write sends to that run.
    sends: usize,
}

impl Filled {
    fn send(
        &mut self,
        run: &RunKey,
        own: &mut Resolved,
        outgoing: Outgoing<'_>,
        stored: &impl Stored,
    ) -> Result<SlotResult, StoreError> {
        let to = outgoing.to.clone();
        let (target, keys) = match self.target(run, own, &to, stored) {
            Ok(Some(target)) => target,
            Ok(None) => {
                return Ok(SlotResult::NotSent(SendFailure::RunNotFound { run: to.id }));
            }
            Err(error) => return not_readable(to.id, error),
        };
        match keys.deliver(stored, &target.head, outgoing) {
            Ok(Delivery::Known(delivered)) => Ok(SlotResult::Sent(receipt(delivered))),
            Ok(Delivery::New {
                resolved,
                delivered,
                ..
            }) => {
                let rows = put(target, *resolved);
                self.tell(run, &to, rows, delivered);
                Ok(SlotResult::Sent(receipt(delivered)))
            }
            Err(StoreError::Refused(refusal)) => not_sent(&to, &target.head, refusal),
            Err(error) => not_readable(to.id, error),
        }
    }

    /// The run `to` as the slots before leave it: `own`, which is `run`, or another one. `None`: there is no such run.
    fn target<'a>(
        &'a mut self,
        run: &RunKey,
        own: &'a mut Resolved,
        to: &RunKey,
        stored: &impl Stored,
    ) -> Result<Option<(&'a mut Resolved, &'a mut Keys)>, StoreError> {
        if to == run {
            return Ok(Some((own, &mut self.own)));
        }
        let other = match self.others.entry(to.clone()) {
            Entry::Occupied(other) => other.into_mut(),
            Entry::Vacant(place) => match stored.head(to)? {
                Some(head) => place.insert(Other {
                    resolved: Resolved::of(head),
                    keys: Keys::default(),
                }),
                None => return Ok(None),
            },
        };
        Ok(Some((&mut other.resolved, &mut other.keys)))
    }

    /// Notes what another run has to be told of.
    fn tell(&mut self, run: &RunKey, to: &RunKey, rows: Vec<Queued>, delivered: Delivered) {
        if to != run {
            self.arrivals.extend(rows.into_iter().map(|row| Arrival {
                run: to.clone(),
                row,
                wakes: delivered.wakes,
            }));
        }
    }
}

/// What a delivery has made of a run is what later slots find. Gives its rows.
fn put(target: &mut Resolved, delivered: Resolved) -> Vec<Queued> {
    target.head = delivered.head;
    target.rows.extend(delivered.rows.iter().cloned());
    target.offers.extend(delivered.offers);
    delivered.rows
}

fn receipt(delivered: Delivered) -> Receipt {
    Receipt {
        number: delivered.arrival,
        at: delivered.at,
        duplicate: delivered.duplicate,
    }
}

impl Keys {
    /// Delivers it to the run whose head is `head`, and notes what that does to its keys.
    fn deliver(
        &mut self,
        stored: &impl Stored,
        head: &Head,
        outgoing: Outgoing<'_>,
    ) -> Result<Delivery, StoreError> {
        let Outgoing {
            to: run,
            observation,
            key,
            at,
            sends,
        } = outgoing;
        let mut observation = observation.clone();
        let (mut known, mut send_key) = (None, None);
        // A signal is for the moment: there is nothing to be known again.
        if let Observation::MessageArrived(message) = &mut observation {
            let digest = inbox::send_digest(Channel::Message, &message.name, &message.payload);
            message.key = Some(key.clone());
            known = match self.put.get(&(KeyKind::Send, key.clone())) {
                Some((put, _)) => Some(put.clone()),
                None => stored.known(&run, head, KeyKind::Send, &key)?,
            };
            if self.oldest.is_none() {
                let oldest = stored.oldest(&run, head, MOST_EVICTED.saturating_mul(sends))?;
                self.oldest = Some(oldest.into());
            }
            // That it was not sent is known by what stands here: it is never too old.
            let forgotten = head.inbox.keys_until.as_millis();
            let first = at.max(Timestamp::from_millis(forgotten.saturating_add(1)));
            send_key = Some(SendKey {
                key,
                at: first,
                digest,
            });
        }
        let deliver = Deliver {
            run,
            observation,
            at,
            tasks: Vec::new(),
            key: send_key,
            stub: None,
        };
        let oldest: &[KeyRecord] = match &mut self.oldest {
            Some(oldest) => oldest.make_contiguous(),
            None => &[],
        };
        let oldest = &oldest[..oldest.len().min(MOST_EVICTED)];
        let mut delivery = inbox::deliver(Some(head), known.as_ref(), oldest, &deliver)?;
        if let Delivery::New { key, evicted, .. } = &mut delivery {
            self.evict(evicted);
            if let Some(key) = key.take() {
                self.put(key, known);
            }
        }
        Ok(delivery)
    }

    /// Notes the keys of updates that the run accepts.
    fn accept(
        &mut self,
        run: &RunKey,
        head: &mut Head,
        changes: &Changes,
        stored: &impl Stored,
    ) -> Result<(), StoreError> {
        let updates = &changes.update_keys;
        if updates.is_empty() {
            return Ok(());
        }
        // What it sends to itself may need some too.
        let most = MOST_EVICTED.saturating_mul(updates.len() + changes.slots.len());
        self.oldest = Some(stored.oldest(run, head, most)?.into());
        for update in updates {
            let key = &update.key.key;
            let known = match self.put.get(&(KeyKind::Update, key.clone())) {
                Some((put, _)) => Some(put.clone()),
                None => stored.known(run, head, KeyKind::Update, key)?,
            };
            let oldest = self.oldest.iter().flatten().take(MOST_EVICTED);
            let oldest: Vec<_> = oldest.cloned().collect();
            let (record, mut evicted) =
                update_keys::accept(run, head, known.as_ref(), &oldest, update)?;
            self.evict(&mut evicted);
            self.put(record, known);
        }
        Ok(())
    }

    fn put(&mut self, record: KeyRecord, before: Option<KeyRecord>) {
        let place = (record.kind(), record.key.clone());
        self.put.insert(place, (record, before));
    }

    /// Those give their places away.
    fn evict(&mut self, evicted: &mut Vec<KeyRecord>) {
        if let Some(oldest) = &mut self.oldest {
            let gone = |old: &KeyRecord| evicted.iter().any(|gone| gone.arrival == old.arrival);
            // Those that go are among the first; one of the key itself is written over.
            let first: Vec<_> = oldest.drain(..oldest.len().min(MOST_EVICTED)).collect();
            first
                .into_iter()
                .rev()
                .filter(|old| !gone(old))
                .for_each(|old| oldest.push_front(old));
        }
        self.evicted.append(evicted);
    }
}

fn not_sent(run: &RunKey, head: &Head, refusal: Refusal) -> Result<SlotResult, StoreError> {
    let run = run.id.clone();
    let failure = match refusal {
        Refusal::Finished { .. } => SendFailure::RunFinished {
            run,
            end: end_of(head),
            finished: head.finished.unwrap_or_default(),
        },
        Refusal::InboxFull { limit, .. } => SendFailure::InboxFull { run, limit },
        Refusal::KeyConflict(_) => SendFailure::Conflict { run },
        other => return Err(StoreError::Refused(other)),
    };
    Ok(SlotResult::NotSent(failure))
}

/// How a run has ended.
fn end_of(head: &Head) -> RunEnd {
    match (&head.migrated_to, head.status) {
        (Some(to), _) => RunEnd::Migrated { to: to.clone() },
        (None, Status::Failed) => RunEnd::Failed,
        (None, _) => RunEnd::Completed,
    }
}

fn not_readable(run: RunId, error: StoreError) -> Result<SlotResult, StoreError> {
    let problem = unreadable(error)?;
    let failure = SendFailure::Unreadable { run, problem };
    Ok(SlotResult::NotSent(failure))
}

/// What is stored of one run must not stop another: says what is the matter with it.
fn unreadable(error: StoreError) -> Result<String, StoreError> {
    match error {
        StoreError::Damaged { place, problem } => {
            let mut problem = format!("{place}: {problem}");
            problem.truncate(problem.floor_char_boundary(MAX_PROBLEM));
            Ok(problem)
        }
        error => Err(error),
    }
}

/// The runs that slots may touch, of a run's own namespace, but for the run itself.
pub(super) fn targets(run: &RunKey, slots: &[Slot]) -> Vec<RunKey> {
    let mut targets: Vec<RunKey> = slots
        .iter()
        .filter_map(|slot| match &slot.effect {
            SlotEffect::Send { run: to, .. } => Some(to),
            SlotEffect::Fulfil { reference, .. } => Some(&reference.run),
            SlotEffect::Known(_) => None,
        })
        .map(|to| RunKey::new(run.namespace.clone(), to.clone()))
        .filter(|to| to != run)
        .collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Whether a row says what a slot came to.
pub(crate) fn is_filled(row: &Queued) -> bool {
    matches!(row.observation, Observation::SlotFilled { .. })
}

/// Whether a row is something that the run was told, or a value for what it offers.
pub(crate) fn is_told(row: &Queued) -> bool {
    told(&row.observation).is_some() || offers::fulfilled(&row.observation).is_some()
}
