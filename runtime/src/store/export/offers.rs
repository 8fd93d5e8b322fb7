//! The offers of a run, as the file holds them.

use perennial::Timestamp;
use perennial::value::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::format::hex;
use crate::store::{Offer, OfferState};

/// An offer of the run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfferText(pub(in crate::store) Offer);

/// What an offer is, in words of the file. One that is open is neither fulfilled nor closed.
#[derive(Serialize, Deserialize)]
struct Fields {
    operation: u64,
    generation: u64,
    unit: u64,
    name: String,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fulfilled: Option<Fulfilled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed: Option<Closed>,
}

#[derive(Serialize, Deserialize)]
struct Fulfilled {
    #[serde(with = "hex")]
    digest: Digest,
    at: Timestamp,
    arrival: u64,
}

#[derive(Serialize, Deserialize)]
struct Closed {
    at: Timestamp,
    event: u64,
}

impl Serialize for OfferText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Offer {
            operation,
            generation,
            unit,
            name,
            at,
            deadline,
            state,
        } = self.0.clone();
        let (fulfilled, closed) = match state {
            OfferState::Open => (None, None),
            OfferState::Fulfilled {
                digest,
                at,
                arrival,
            } => {
                let fulfilled = Fulfilled {
                    digest,
                    at,
                    arrival,
                };
                (Some(fulfilled), None)
            }
            OfferState::Closed { at, event } => (None, Some(Closed { at, event })),
        };
        let fields = Fields {
            operation,
            generation,
            unit,
            name,
            at,
            deadline,
            fulfilled,
            closed,
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OfferText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Fields {
            operation,
            generation,
            unit,
            name,
            at,
            deadline,
            fulfilled,
            closed,
        } = Fields::deserialize(deserializer)?;
        let state = match (fulfilled, closed) {
            (None, None) => OfferState::Open,
            (Some(fulfilled), None) => OfferState::Fulfilled {
                digest: fulfilled.digest,
                at: fulfilled.at,
                arrival: fulfilled.arrival,
            },
            (None, Some(Closed { at, event })) => OfferState::Closed { at, event },
            (Some(_), Some(_)) => {
                return Err(serde::de::Error::custom(
                    "an offer is not fulfilled and closed at once",
                ));
            }
        };
        Ok(Self(Offer {
            operation,
            generation,
            unit,
            name,
            at,
            deadline,
            state,
        }))
    }
}
