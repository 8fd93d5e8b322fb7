//! The programs that the store has had.

use perennial::Timestamp;

use super::effects::Effects;
use super::keys::{self, Key};
use super::overlay::View;
use super::records::{PROGRAM_VERSION, program_content, read_program};
use super::value;
use super::writer::{Drain, Resolution, Writer};
use crate::store::StoreError;
use crate::store::program::{self, MAX_PROGRAMS, ProgramRecord};

impl Writer {
    pub(super) fn resolve_program(
        &mut self,
        drain: &Drain,
        program: &ProgramRecord,
    ) -> Result<Resolution<()>, StoreError> {
        program.check()?;
        self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            let key = keys::program(&program.artifact);
            let mut others = effects.keys(&[keys::PROGRAM], MAX_PROGRAMS + 1)?;
            others.retain(|other| *other != key);
            remove(&mut effects, key.clone())?;
            if others.len() >= MAX_PROGRAMS {
                let others = others
                    .into_iter()
                    .map(|key| (recorded(view, &effects, &key), key));
                for old in program::evicted(others.collect()) {
                    remove(&mut effects, old)?;
                }
            }
            effects.put(key, PROGRAM_VERSION, &program_content(program));
            Ok(Resolution {
                step: effects.finish(),
                ..Resolution::nothing(())
            })
        })
    }
}

/// When a program was recorded. One whose record cannot be read is the oldest: it goes first.
fn recorded(view: &View<'_>, effects: &Effects<'_>, key: &Key) -> Timestamp {
    let Ok(Some(stored)) = effects.get(key) else {
        return Timestamp::default();
    };
    let read = value::read(view, &stored, PROGRAM_VERSION, String::new, read_program);
    read.map(|program| program.at).unwrap_or_default()
}

fn remove(effects: &mut Effects<'_>, key: Key) -> Result<(), StoreError> {
    match effects.remove_with_chunks(key.clone()) {
        // Another one takes its place, or none: nobody asks for what it was.
        Err(StoreError::Damaged { .. }) => effects.remove(key),
        removed => drop(removed?),
    }
    Ok(())
}

/// All of them, the newest first.
pub(super) fn read(view: &View<'_>) -> Result<Vec<ProgramRecord>, StoreError> {
    let mut programs = Vec::new();
    for entry in view.prefix(&[keys::PROGRAM]) {
        let place = || "the record of a program".to_owned();
        programs.push(value::read(
            view,
            &entry?.1,
            PROGRAM_VERSION,
            place,
            read_program,
        )?);
    }
    program::sort(&mut programs);
    Ok(programs)
}

/// Those that can be read.
pub(super) fn readable(view: &View<'_>) -> Result<Vec<ProgramRecord>, StoreError> {
    let mut programs = Vec::new();
    for entry in view.prefix(&[keys::PROGRAM]) {
        let stored = entry?.1;
        programs
            .extend(value::read(view, &stored, PROGRAM_VERSION, String::new, read_program).ok());
    }
    Ok(programs)
}
