//! What a run gives out and shows, as records.

use perennial::wire::{Content, FieldWriter, Fields};

use super::{Read, content, missing, read_value, stamp};
use crate::store::{StreamRange, ViewRecord};

/// Of what the index has of a unit's items: generation and number of the unit.
pub(in crate::store::sled) fn item_content(generation: u64, unit: u64) -> Vec<u8> {
    content(|f| {
        f.number(1, generation);
        f.number(2, unit);
    })
}

pub(in crate::store::sled) fn read_item(bytes: &[u8]) -> Read<(u64, u64)> {
    let mut fields = Fields::new(bytes);
    let (mut generation, mut unit) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => generation = Some(content.number("generation")?),
            2 => unit = Some(content.number("unit")?),
            _ => {}
        }
    }
    Ok((missing("generation", generation)?, missing("unit", unit)?))
}

/// How far a stream is, in a head or in what was restored so far.
pub(in crate::store::sled) fn write_stream(
    f: &mut FieldWriter<'_>,
    field: u32,
    stream: &StreamRange,
) {
    f.nested(field, |f| {
        f.text(1, &stream.name);
        f.number(2, stream.first);
        f.number(3, stream.last);
    });
}

pub(in crate::store::sled) fn read_stream(content: Content<'_>) -> Read<StreamRange> {
    let mut fields = content.fields("stream")?;
    let (mut name, mut first, mut last) = (None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => name = Some(content.text("stream")?.to_owned()),
            2 => first = Some(content.number("first")?),
            3 => last = Some(content.number("last")?),
            _ => {}
        }
    }
    Ok(StreamRange {
        name: missing("stream", name)?,
        first: missing("first", first)?,
        last: missing("last", last)?,
    })
}

pub(in crate::store::sled) fn view_content(record: &ViewRecord) -> Vec<u8> {
    content(|f| {
        f.text(1, &record.name);
        f.text(2, record.value.as_json());
        f.text(3, &record.data);
        f.text(4, &record.artifact);
        f.number(5, record.at.as_millis());
        f.number(6, record.event);
    })
}

pub(in crate::store::sled) fn read_view(bytes: &[u8]) -> Read<ViewRecord> {
    let mut fields = Fields::new(bytes);
    let (mut name, mut value, mut data) = (None, None, None);
    let (mut artifact, mut at, mut event) = (None, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => name = Some(content.text("name")?.to_owned()),
            2 => value = Some(read_value(content, "value")?),
            3 => data = Some(content.text("type")?.to_owned()),
            4 => artifact = Some(content.text("artifact")?.to_owned()),
            5 => at = Some(stamp(content, "at")?),
            6 => event = Some(content.number("event")?),
            _ => {}
        }
    }
    Ok(ViewRecord {
        name: missing("name", name)?,
        value: missing("value", value)?,
        data: missing("type", data)?,
        artifact: missing("artifact", artifact)?,
        at: missing("at", at)?,
        event: missing("event", event)?,
    })
}
