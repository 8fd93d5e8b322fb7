//! What a head says of what its run is told from outside. Field numbers are for ever.

use perennial::Timestamp;
use perennial::history::Channel;
use perennial::wire::{FieldWriter, Fields, RecordError};

use crate::store::{Awaited, Inbox};

pub(super) fn write_inbox(f: &mut FieldWriter<'_>, inbox: &Inbox) {
    match &inbox.awaited {
        Awaited::Names(names) => {
            for (channel, name) in names {
                f.nested(1, |f| {
                    let channel = match channel {
                        Channel::Message => 0,
                        Channel::Signal => 1,
                    };
                    f.number(1, channel);
                    f.text(2, name);
                });
            }
        }
        Awaited::Anything => f.number(2, 1),
    }
    let numbers = [
        inbox.messages,
        inbox.signals,
        inbox.keys,
        inbox.keys_until.as_millis(),
        inbox.keys_after,
        inbox.offers,
    ];
    for (field, number) in (3..).zip(numbers) {
        if number > 0 {
            f.number(field, number);
        }
    }
}

pub(super) fn read_inbox(mut fields: Fields<'_>) -> Result<Inbox, RecordError> {
    let (mut names, mut anything) = (Vec::new(), false);
    let mut inbox = Inbox::default();
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => names.push(read_awaited(content.fields("awaited")?)?),
            2 => anything = content.number("awaited")? != 0,
            3 => inbox.messages = content.number("messages")?,
            4 => inbox.signals = content.number("signals")?,
            5 => inbox.keys = content.number("keys")?,
            6 => inbox.keys_until = Timestamp::from_millis(content.number("keys_until")?),
            7 => inbox.keys_after = content.number("keys_after")?,
            8 => inbox.offers = content.number("offers")?,
            _ => {}
        }
    }
    inbox.awaited = if anything {
        Awaited::Anything
    } else {
        Awaited::Names(names)
    };
    Ok(inbox)
}

fn read_awaited(mut fields: Fields<'_>) -> Result<(Channel, String), RecordError> {
    let (mut channel, mut name) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => {
                channel = match content.number("channel")? {
                    0 => Some(Channel::Message),
                    1 => Some(Channel::Signal),
                    _ => None,
                }
            }
            2 => name = Some(content.text("name")?.to_owned()),
            _ => {}
        }
    }
    let malformed = |field| RecordError::Malformed { field };
    Ok((
        channel.ok_or(malformed("channel"))?,
        name.ok_or(malformed("name"))?,
    ))
}
