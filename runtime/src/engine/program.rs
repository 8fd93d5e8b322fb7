//! Noting in the store what this program can run.

use std::sync::mpsc::sync_channel;

use crate::artifact::Artifact;
use crate::clock::Clock;
use crate::manifest::Manifest;
use crate::registry::Registry;
use crate::store::{ProgramRecord, Store, StoreError};

/// Notes what this program can run, unless it stands there already: then a start costs no write. Gives back what the
/// store knows the program by.
///
/// Runs go on without it, so what is refused or cannot be read here is logged, and only a store that is broken
/// is an error.
pub(super) fn record(
    store: &dyn Store,
    artifact: &Artifact,
    registry: &Registry,
    clock: &dyn Clock,
) -> Result<String, StoreError> {
    let noted = or_logged(store.programs())?.unwrap_or_default();
    let known = artifact.among(&noted);
    let artifact = known.artifact();
    let manifest = Manifest {
        build: Some(known.build),
        ..Manifest::of(registry, &artifact)
    };
    let manifest = manifest.to_record();
    let stands =
        |program: &ProgramRecord| program.artifact == artifact && program.manifest == manifest;
    if noted.iter().any(stands) {
        return Ok(artifact);
    }
    let (answer, answered) = sync_channel(1);
    let program = ProgramRecord {
        artifact: artifact.clone(),
        manifest,
        at: clock.now(),
    };
    let ack = Box::new(move |result| {
        let _ = answer.send(result);
    });
    store.record_program(program, ack);
    let result = answered.recv().unwrap_or_else(|_| {
        let reason = "it did not answer".into();
        Err(StoreError::Unknown { reason })
    });
    or_logged(result).map(|_| artifact)
}

/// What was read or written; `None` when it was not, and the store can be worked with all the same.
fn or_logged<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.ends_all() => Err(error),
        Err(error) => {
            tracing::warn!("what this program can run is not noted in the store: {error}");
            Ok(None)
        }
    }
}
