//! The histories in an export of a store (`perennial store export`, `client.export(..)`), as far as a test
//! needs them. `perennial-runtime` has the format, and a reader that checks all of it; here it is enough that
//! the file is whole.

use std::io::BufRead;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::history::{History, NotAHistory, Unit};
use crate::value::Digest;
use crate::{Namespace, RunId, RunKey};

/// The highest format that is understood.
const FORMAT: u64 = 1;

const BEGIN: &str = "it does not say that this is an export";

/// An export that cannot be used from some line on.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) problem: String,
}

/// What a line may say; what a test does not need is passed over.
#[derive(Deserialize)]
#[serde(expecting = "a line of an export")]
struct Line {
    export: Option<Export>,
    run: Option<String>,
    generation: Option<u64>,
    /// Of a line that begins a run.
    sum: Option<String>,
    unit: Option<Unit>,
    partial: Option<serde::de::IgnoredAny>,
    withdrawn: Option<String>,
    end: Option<serde::de::IgnoredAny>,
    sha256: Option<String>,
}

#[derive(Deserialize)]
struct Export {
    format: u64,
}

/// What an export has of a run.
pub(super) enum Found {
    /// A generation's history.
    History(History),
    /// The run is not whole.
    Partial(RunKey),
}

/// Tells `found` each history in `input`, run by run.
pub(super) fn read(
    mut input: impl BufRead,
    found: &mut dyn FnMut(Found),
) -> Result<(), Unreadable> {
    let mut digest = Sha256::new();
    let mut buffer = Vec::new();
    let mut number = 0;
    // The lines of a run may be withdrawn at their end.
    let mut run: Vec<Found> = Vec::new();
    loop {
        buffer.clear();
        number += 1;
        let wrong = |problem: String| Unreadable {
            line: number,
            problem,
        };
        input
            .read_until(b'\n', &mut buffer)
            .map_err(|error| wrong(error.to_string()))?;
        if buffer.last() != Some(&b'\n') {
            return Err(wrong("the export is cut short here".to_owned()));
        }
        let line: Line = serde_json::from_slice(&buffer).map_err(|error| {
            let error = NotAHistory::of(&error);
            wrong(match number {
                1 => BEGIN.to_owned(),
                _ => format!("byte {}: {}", error.column, error.problem),
            })
        })?;
        match (number, &line.export) {
            (1, Some(export)) if export.format > FORMAT => {
                return Err(wrong(format!(
                    "newer software has written this export (format {}; this one understands up to {FORMAT})",
                    export.format
                )));
            }
            (1, None) => return Err(wrong(BEGIN.to_owned())),
            _ => {}
        }
        if line.end.is_some() {
            let digits = Digest(digest.finalize().into()).to_string();
            if line.sha256.as_deref() != Some(&digits) {
                return Err(wrong(
                    "a line before this one is not what was written; the checksum does not fit"
                        .to_owned(),
                ));
            }
            run.drain(..).for_each(&mut *found);
            return Ok(());
        }
        digest.update(&buffer);
        if line.sum.is_some() {
            run.drain(..).for_each(&mut *found);
        }
        if line.withdrawn.is_some() {
            run.clear();
        }
        let Some(key) = line.run.as_deref() else {
            continue;
        };
        let key = key_of(key).ok_or_else(|| wrong(format!("`{key}` does not name a run")))?;
        if line.partial.is_some() {
            run.push(Found::Partial(key));
        } else if let Some(unit) = line.unit {
            let generation = line
                .generation
                .ok_or_else(|| wrong("it does not say of which generation it is".to_owned()))?;
            match run.last_mut() {
                // Its units have gaps, and it is told already.
                Some(Found::Partial(_)) => {}
                Some(Found::History(history)) if history.generation == generation => {
                    history.units.push(unit);
                }
                _ => run.push(Found::History(History {
                    run: key,
                    generation,
                    units: vec![unit],
                })),
            }
        }
    }
}

fn key_of(text: &str) -> Option<RunKey> {
    let (namespace, id) = match text.split_once('/') {
        Some((namespace, id)) => (Namespace::new(namespace).ok()?, id),
        None => (Namespace::default(), text),
    };
    Some(RunKey::new(namespace, RunId::new(id).ok()?))
}
