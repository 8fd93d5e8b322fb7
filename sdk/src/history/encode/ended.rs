//! The end that a migration imposes, and the beginning that stands in it where a run had none.

use crate::history::{ForkedFrom, Migrated, OpenOperation, Started, StreamEnd};
use crate::wire::{Content, FieldWriter, Fields, RecordError};

use super::read::Parts;

pub(super) fn write_started(f: &mut FieldWriter<'_>, started: &Started) {
    f.text(1, &started.workflow);
    f.text(2, started.input.as_json());
    f.number(3, started.semantics.into());
    f.text(4, &started.artifact);
    f.text(5, started.namespace.as_str());
    f.text(6, started.run.as_str());
    f.number(7, started.generation);
    f.number(8, started.first_operation);
    if let Some(version) = started.version {
        f.number(9, version.into());
    }
    if let Some(run) = &started.migrated_from {
        f.text(10, run.as_str());
    }
    for stream in &started.streams {
        f.nested(11, |f| {
            f.text(1, &stream.name);
            f.number(2, stream.last);
        });
    }
    for from in &started.forked_from {
        f.nested(12, |f| {
            f.text(1, from.run.as_str());
            f.number(2, from.last);
        });
    }
}

pub(super) fn read_started(parts: &Parts<'_>) -> Result<Started, RecordError> {
    Ok(Started {
        workflow: parts.text(1, "workflow")?.to_owned(),
        input: parts.value(2, "input")?,
        semantics: parts.small(3, "semantics")?,
        artifact: parts.text(4, "artifact")?.to_owned(),
        namespace: id(parts.text(5, "namespace")?, "namespace")?,
        run: id(parts.text(6, "run")?, "run")?,
        generation: parts.number(7, "generation")?,
        first_operation: parts.number(8, "first_operation")?,
        version: match parts.contents[9] {
            Some(version) => Some(version.small("version")?),
            None => None,
        },
        migrated_from: match parts.contents[10] {
            Some(run) => Some(id(run.text("migrated_from")?, "migrated_from")?),
            None => None,
        },
        streams: read_streams(parts.fields.clone())?,
        forked_from: read_forks(parts.fields.clone())?,
    })
}

fn read_forks(mut fields: Fields<'_>) -> Result<Vec<ForkedFrom>, RecordError> {
    let mut forks = Vec::new();
    while let Some((field, content)) = fields.next_field()? {
        if field == 12 {
            let parts = Parts::read(content.fields("forked_from")?)?;
            forks.push(ForkedFrom {
                run: id(parts.text(1, "run")?, "run")?,
                last: parts.number(2, "last")?,
            });
        }
    }
    Ok(forks)
}

fn read_streams(mut fields: Fields<'_>) -> Result<Vec<StreamEnd>, RecordError> {
    let mut streams = Vec::new();
    while let Some((field, content)) = fields.next_field()? {
        if field == 11 {
            let parts = Parts::read(content.fields("streams")?)?;
            streams.push(StreamEnd {
                name: parts.text(1, "name")?.to_owned(),
                last: parts.number(2, "last")?,
            });
        }
    }
    Ok(streams)
}

pub(super) fn write_migrated(f: &mut FieldWriter<'_>, migrated: &Migrated) {
    f.text(1, migrated.to.as_str());
    write_open(f, &migrated.kept);
    f.text(3, &migrated.workflow);
    f.text(4, &migrated.migration);
    f.text(5, &migrated.artifact);
    for operation in &migrated.stopped {
        f.number(6, *operation);
    }
    if let Some(started) = &migrated.unstarted {
        f.nested(7, |f| write_started(f, started));
    }
}

pub(super) fn read_migrated(parts: &Parts<'_>) -> Result<Migrated, RecordError> {
    let (mut fields, mut stopped) = (parts.fields.clone(), Vec::new());
    while let Some((field, content)) = fields.next_field()? {
        if field == 6 {
            stopped.push(content.number("stopped")?);
        }
    }
    Ok(Migrated {
        to: id(parts.text(1, "to")?, "to")?,
        workflow: parts.text(3, "workflow")?.to_owned(),
        migration: parts.text(4, "migration")?.to_owned(),
        artifact: parts.text(5, "artifact")?.to_owned(),
        kept: read_open(parts.fields.clone())?,
        stopped,
        unstarted: match parts.contents[7] {
            Some(started) => {
                let parts = Parts::read(started.fields("unstarted")?)?;
                Some(Box::new(read_started(&parts)?))
            }
            None => None,
        },
    })
}

/// What an end leaves open, a field 2 for each.
pub(super) fn write_open(f: &mut FieldWriter<'_>, open: &[OpenOperation]) {
    for left in open {
        f.nested(2, |f| {
            f.number(1, left.operation);
            f.text(2, &left.name);
        });
    }
}

pub(super) fn read_open(mut fields: Fields<'_>) -> Result<Vec<OpenOperation>, RecordError> {
    let mut open = Vec::new();
    while let Some((field, content)) = fields.next_field()? {
        if field == 2 {
            open.push(read_one(content)?);
        }
    }
    Ok(open)
}

fn read_one(content: Content<'_>) -> Result<OpenOperation, RecordError> {
    let parts = Parts::read(content.fields("open")?)?;
    Ok(OpenOperation {
        operation: parts.number(1, "operation")?,
        name: parts.text(2, "name")?.to_owned(),
    })
}

fn id<T: std::str::FromStr>(text: &str, field: &'static str) -> Result<T, RecordError> {
    text.parse().map_err(|_| RecordError::Malformed { field })
}
