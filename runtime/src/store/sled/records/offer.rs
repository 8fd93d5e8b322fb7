//! Offers, as records.

use perennial::Timestamp;
use perennial::value::Digest;
use perennial::wire::Fields;

use super::{Read, content, missing, read_digest, stamp};
use crate::store::{Offer, OfferState};

pub(in crate::store::sled) fn offer_content(offer: &Offer) -> Vec<u8> {
    content(|f| {
        f.number(1, offer.operation);
        f.number(2, offer.generation);
        f.number(3, offer.unit);
        f.text(4, &offer.name);
        f.number(5, offer.at.as_millis());
        f.optional_number(6, offer.deadline.map(Timestamp::as_millis));
        match &offer.state {
            OfferState::Open => {}
            OfferState::Fulfilled {
                digest,
                at,
                arrival,
            } => f.nested(16, |f| {
                f.bytes(1, &digest.0);
                f.number(2, at.as_millis());
                f.number(3, *arrival);
            }),
            OfferState::Closed { at, event } => f.nested(17, |f| {
                f.number(1, at.as_millis());
                f.number(2, *event);
            }),
        }
    })
}

pub(in crate::store::sled) fn read_offer(bytes: &[u8]) -> Read<Offer> {
    let mut fields = Fields::new(bytes);
    let (mut operation, mut generation, mut unit, mut name) = (None, None, None, None);
    let (mut at, mut deadline, mut state) = (None, None, OfferState::Open);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => operation = Some(content.number("operation")?),
            2 => generation = Some(content.number("generation")?),
            3 => unit = Some(content.number("unit")?),
            4 => name = Some(content.text("name")?.to_owned()),
            5 => at = Some(stamp(content, "at")?),
            6 => deadline = Some(stamp(content, "deadline")?),
            16 => state = read_fulfilled(content.fields("fulfilled")?)?,
            17 => state = read_closed(content.fields("closed")?)?,
            _ => {}
        }
    }
    Ok(Offer {
        operation: missing("operation", operation)?,
        generation: missing("generation", generation)?,
        unit: missing("unit", unit)?,
        name: missing("name", name)?,
        at: missing("at", at)?,
        deadline,
        state,
    })
}

fn read_fulfilled(mut fields: Fields<'_>) -> Read<OfferState> {
    let (mut digest, mut at, mut arrival) = (None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => digest = Some(read_digest(content, "digest")?),
            2 => at = Some(stamp(content, "fulfilled")?),
            3 => arrival = Some(content.number("arrival")?),
            _ => {}
        }
    }
    Ok(OfferState::Fulfilled {
        digest: Digest(missing("digest", digest)?),
        at: missing("fulfilled", at)?,
        arrival: missing("arrival", arrival)?,
    })
}

fn read_closed(mut fields: Fields<'_>) -> Read<OfferState> {
    let (mut at, mut event) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => at = Some(stamp(content, "closed")?),
            2 => event = Some(content.number("event")?),
            _ => {}
        }
    }
    Ok(OfferState::Closed {
        at: missing("closed", at)?,
        event: missing("event", event)?,
    })
}
