//! What a run is told from outside, as the file holds it: what stands in its head, and the keys that it knows.

use std::borrow::Cow;

use perennial::Timestamp;
use perennial::history::Channel;
use perennial::value::Digest;
use serde::{Deserialize, Serialize};

use super::format::hex;
use crate::store::{Awaited, Inbox, KeyRecord};

/// A send that the run knows by its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct KeyText(#[serde(with = "KeyFields")] pub(in crate::store) KeyRecord);

/// Field by field, as of a head.
#[derive(Serialize, Deserialize)]
#[serde(remote = "KeyRecord")]
struct KeyFields {
    key: String,
    #[serde(with = "hex")]
    digest: Digest,
    name: String,
    arrival: u64,
    /// Of an update alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    at: Timestamp,
    sent: Timestamp,
}

/// An inbox of which nothing is to be said is not written, and neither are its numbers that are 0.
#[derive(Serialize, Deserialize)]
struct Fields<'a> {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    awaited: Vec<Name<'a>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    awaits_anything: bool,
    #[serde(default, skip_serializing_if = "is_none")]
    messages: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    signals: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    keys: u64,
    #[serde(default, skip_serializing_if = "is_never")]
    keys_until: Timestamp,
    #[serde(default, skip_serializing_if = "is_none")]
    keys_after: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    offers: u64,
}

#[derive(Serialize, Deserialize)]
struct Name<'a> {
    channel: Channel,
    name: Cow<'a, str>,
}

pub(super) fn is_none(count: &u64) -> bool {
    *count == 0
}

fn is_never(at: &Timestamp) -> bool {
    *at == Timestamp::default()
}

pub(super) fn is_empty(inbox: &Inbox) -> bool {
    *inbox == Inbox::default()
}

/// An inbox in a head.
pub(super) mod text {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{Awaited, Fields, Inbox, Name};

    pub(in super::super) fn serialize<S: Serializer>(
        inbox: &Inbox,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let names = match &inbox.awaited {
            Awaited::Names(names) => &names[..],
            Awaited::Anything => &[],
        };
        let names = names.iter().map(|(channel, name)| Name {
            channel: *channel,
            name: name.into(),
        });
        let fields = Fields {
            awaited: names.collect(),
            awaits_anything: inbox.awaited == Awaited::Anything,
            messages: inbox.messages,
            signals: inbox.signals,
            keys: inbox.keys,
            keys_until: inbox.keys_until,
            keys_after: inbox.keys_after,
            offers: inbox.offers,
        };
        fields.serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Inbox, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let names = fields.awaited.into_iter();
        let names = names.map(|Name { channel, name }| (channel, name.into_owned()));
        Ok(Inbox {
            awaited: if fields.awaits_anything {
                Awaited::Anything
            } else {
                Awaited::Names(names.collect())
            },
            messages: fields.messages,
            signals: fields.signals,
            keys: fields.keys,
            keys_until: fields.keys_until,
            keys_after: fields.keys_after,
            offers: fields.offers,
        })
    }
}
