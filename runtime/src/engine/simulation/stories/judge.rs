//! What must hold at the end of a story, whatever happened in it.

use std::collections::BTreeMap;

use perennial::RunKey;
use perennial::history::{Observation, SlotResult, Unit};
use perennial::value::Value;

use super::super::watch::text;
use super::model::{Model, Sent, Standing};
use super::story::RUNS;
use super::world::World;
use crate::store::{OfferState, Store};

pub(super) fn history(store: &dyn Store, run: &RunKey) -> Result<Vec<Unit>, String> {
    store.history(run, 1, 1, usize::MAX).map_err(text)
}

/// The error is what does not hold.
pub(super) fn judge(world: &World<'_>) -> Result<(), String> {
    let models: Vec<Model> = (0..RUNS)
        .map(|run| model(world, run))
        .collect::<Result<_, _>>()?;
    for (run, model) in models.iter().enumerate() {
        let to = World::key(run)?;
        let sent = models.iter().flat_map(|model| model.sent.values());
        let sent = sent.filter(|sent| sent.to == to.id);
        let in_run = |problem: String| format!("run {run}: {problem}");
        messages(world, run, model, sent).map_err(in_run)?;
        values(world, run, model).map_err(in_run)?;
        offers(world, &to, model).map_err(in_run)?;
        streams(world, &to, model).map_err(in_run)?;
    }
    Ok(())
}

fn model(world: &World<'_>, run: usize) -> Result<Model, String> {
    let key = World::key(run)?;
    let units = history(&*world.store, &key)?;
    for (_, before) in world.before.iter().filter(|(of, _)| *of == run) {
        if !units.starts_with(before) {
            return Err(format!(
                "what was durable of run {run} is not what it has now"
            ));
        }
    }
    let mut model = Model::default();
    for unit in &units {
        model
            .unit(unit)
            .map_err(|problem| format!("run {run}: {problem}"))?;
    }
    let loaded = world.store.load(&key).map_err(text)?;
    for row in loaded.into_iter().flat_map(|loaded| loaded.queue) {
        match &row.observation {
            Observation::MessageArrived(message) => model.arrive(message)?,
            Observation::StubFulfilled {
                operation, value, ..
            } => model.give(*operation, value)?,
            _ => {}
        }
    }
    Ok(model)
}

/// What was acknowledged is there once, under its number; what was refused is not; of what nobody knows there is at most
/// one.
fn messages<'a>(
    world: &World<'_>,
    run: usize,
    model: &Model,
    sent: impl Iterator<Item = &'a Sent>,
) -> Result<(), String> {
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for told in model.arrived.values() {
        let payload = told.payload.as_json().to_owned();
        numbers.entry(payload).or_default().push(told.number);
    }
    let mut find = |value: &str| numbers.remove(value).unwrap_or_default();
    for send in world.sends.iter().filter(|send| send.run == run) {
        let value = send.value.to_string();
        let there = find(&value);
        match (send.receipt, there.as_slice()) {
            (Some(number), [there]) if number == *there => {}
            (None, [_]) if !send.is_refused() => {}
            (None, []) => {}
            (Some(number), there) => {
                return Err(format!(
                    "the message {value} has the receipt {number}, and it is there as {there:?}"
                ));
            }
            (None, there) => {
                return Err(format!(
                    "the message {value} has no receipt, and it is there as {there:?}"
                ));
            }
        }
    }
    for sent in sent {
        let there = find(sent.payload.as_json());
        match (&sent.result, there.as_slice()) {
            (Some(SlotResult::Sent(receipt)), [there])
                if receipt.number == *there && !receipt.duplicate => {}
            (Some(SlotResult::NotSent(_)), []) => {}
            // The run that has sent it has ended with that.
            (None, [] | [_]) => {}
            (result, there) => {
                return Err(format!(
                    "a run was told of {} that it is {result:?}, and it is there as {there:?}",
                    sent.payload
                ));
            }
        }
    }
    match numbers.keys().next() {
        None => Ok(()),
        Some(value) => Err(format!("nobody has sent {value}")),
    }
}

/// The same of what was given for offers: each has one value at most.
fn values(world: &World<'_>, run: usize, model: &Model) -> Result<(), String> {
    let offers = world.store.offers(&World::key(run)?, 0, usize::MAX);
    let mut digests = BTreeMap::new();
    for offer in offers.map_err(text)? {
        if let OfferState::Fulfilled { digest, .. } = offer.state {
            digests.insert(offer.operation, digest);
        }
    }
    for (operation, value) in &model.values {
        if digests.get(operation) != Some(&value.digest()) {
            return Err(format!(
                "operation {operation} was told {value}, and that is not what it was given"
            ));
        }
    }
    let mut unknown = digests.clone();
    for fulfil in world.fulfils.iter().filter(|fulfil| fulfil.run == run) {
        let (operation, value) = (fulfil.operation, fulfil.value);
        let digest = Value::encode(&value).map_err(|error| error.to_string())?;
        let is_there = digests.get(&operation) == Some(&digest.digest());
        if is_there {
            unknown.remove(&operation);
        }
        if (fulfil.receipt.is_some() && !is_there) || (fulfil.is_refused() && is_there) {
            let (there, receipt) = (if is_there { "has" } else { "has not" }, fulfil.receipt);
            return Err(format!(
                "operation {operation} {there} the value {value}, whose receipt is {receipt:?}"
            ));
        }
    }
    match unknown.keys().next() {
        None => Ok(()),
        Some(operation) => Err(format!("nobody has given what operation {operation} has")),
    }
}

/// What the store says of offers is what the history says. What came before the end, and was not told, stands as
/// fulfilled (S11).
fn offers(world: &World<'_>, run: &RunKey, model: &Model) -> Result<(), String> {
    let mut stored = world.store.offers(run, 0, usize::MAX).map_err(text)?;
    for operation in model.offers() {
        let Some(place) = stored.iter().position(|offer| offer.operation == operation) else {
            return Err(format!("the offer {operation} is not stored"));
        };
        let (offer, standing) = (stored.remove(place), model.standing(operation));
        let fits = match standing {
            Some(Standing::Open) => offer.is_open() != model.ended,
            Some(Standing::Fulfilled) => matches!(offer.state, OfferState::Fulfilled { .. }),
            Some(Standing::Dropped) => !offer.is_open(),
            None => false,
        };
        if !fits {
            return Err(format!("the offer {operation} is {standing:?}: {offer:?}"));
        }
    }
    match stored.first() {
        None => Ok(()),
        Some(offer) => Err(format!("no unit makes the offer {}", offer.operation)),
    }
}

/// Whoever has read on all the time has read what the run gave out.
fn streams(world: &World<'_>, run: &RunKey, model: &Model) -> Result<(), String> {
    for (stream, items) in &model.items {
        let read = world.watch.items(run, stream);
        if read != items {
            return Err(format!(
                "stream {stream} has {items:?}, and {read:?} was read"
            ));
        }
    }
    Ok(())
}
