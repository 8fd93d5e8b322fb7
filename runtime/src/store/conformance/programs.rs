//! The programs that a store has had.

use super::Factory;
use super::scene::{Scene, at, ok, value};
use crate::store::export::{PartialRuns, Reader, export, import};
use crate::store::{
    MAX_NAME_BYTES, MAX_PROGRAMS, MAX_TEXT_BYTES, MemoryStore, ProgramRecord, Store, StoreError,
};

fn program(artifact: &str, bytes: usize, milliseconds: u64) -> ProgramRecord {
    ProgramRecord {
        artifact: artifact.into(),
        manifest: value(bytes),
        at: at(milliseconds),
    }
}

fn artifacts(store: &dyn Store) -> Vec<String> {
    let programs = ok(store.programs());
    programs.into_iter().map(|one| one.artifact).collect()
}

/// The newest first.
pub fn a_program_is_noted_and_told(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    assert_eq!(ok(scene.store.programs()), []);
    let (one, two, also_two) = (
        program("one", 10, 1),
        program("two", 20, 2),
        program("also-two", 5, 2),
    );
    for program in [&two, &one, &also_two] {
        ok(scene.record_program(program.clone()));
    }
    assert_eq!(ok(scene.store.programs()), [also_two, two, one]);
}

/// Of the same artifact, whatever their times say.
pub fn a_newer_record_takes_the_place_of_the_old(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    ok(scene.record_program(program("one", 10, 5)));
    let newer = program("one", 30, 4);
    ok(scene.record_program(newer.clone()));
    assert_eq!(ok(scene.store.programs()), [newer]);
}

/// What was just noted is among them, even by a clock that was set back.
pub fn the_newest_programs_are_kept(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let most = MAX_PROGRAMS as u64;
    for number in 1..=most {
        ok(scene.record_program(program(&format!("program-{number}"), 10, 10 + number)));
    }
    assert_eq!(ok(scene.store.programs()).len(), MAX_PROGRAMS);
    // Nothing goes for one that is there.
    ok(scene.record_program(program("program-7", 10, 1_000)));
    assert_eq!(ok(scene.store.programs()).len(), MAX_PROGRAMS);
    ok(scene.record_program(program("late", 10, 1)));
    ok(scene.record_program(program("last", 10, 2_000)));
    let left = artifacts(&*scene.store);
    assert_eq!(left.len(), MAX_PROGRAMS);
    // The one with the old time goes next, and so it has gone when another one came.
    assert_eq!(left[..2], ["last", "program-7"]);
    assert!(!left.iter().any(|one| one == "program-1" || one == "late"));
    assert!(left.iter().any(|one| one == "program-2"));
}

/// And what was noted before stays.
pub fn a_program_beyond_its_bounds_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let before = program("one", 10, 1);
    ok(scene.record_program(before.clone()));
    let refused = scene.record_program(program(&"x".repeat(MAX_NAME_BYTES + 1), 10, 2));
    assert!(
        matches!(refused, Err(StoreError::TooLarge { .. })),
        "{refused:?}"
    );
    let largest = program("largest", MAX_TEXT_BYTES - 100, 2);
    ok(scene.record_program(largest.clone()));
    assert_eq!(ok(scene.store.programs()), [largest, before]);
}

/// Nothing of it is left where a smaller one takes its place.
pub fn a_large_manifest_comes_and_goes(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    for bytes in [100_000, 10, 400_000, 200] {
        let program = program("one", bytes, 1);
        ok(scene.record_program(program.clone()));
        assert_eq!(ok(scene.store.programs()), [program]);
    }
}

/// In stores that outlive their process.
pub fn programs_are_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (one, two) = (program("one", 10, 1), program("two", 100_000, 2));
    ok(scene.record_program(one.clone()));
    ok(scene.record_program(two.clone()));
    let Some(scene) = scene.reopen() else { return };
    assert_eq!(ok(scene.store.programs()), [two, one]);
    let three = program("three", 10, 3);
    ok(scene.record_program(three.clone()));
    assert_eq!(ok(scene.store.programs())[0], three);
}

/// And an import puts them back.
pub fn programs_stand_in_exports(factory: Factory<'_>) {
    let (scene, copy) = (Scene::new(factory), MemoryStore::new());
    scene.begin("order-42");
    for number in [2, 3, 1] {
        ok(scene.record_program(program(&format!("program-{number}"), 10, number)));
    }
    let mut text = Vec::new();
    let exported = export(&*scene.store, &mut text, at(9));
    assert!(
        matches!(&exported, Ok(exported) if exported.counts.programs == 3),
        "{exported:?}"
    );
    let reader = Reader::new(&text[..], "the export");
    let imported = reader
        .map_err(Into::into)
        .and_then(|mut reader| import(&mut reader, &copy, PartialRuns::Refuse));
    assert!(
        matches!(&imported, Ok(imported) if imported.counts.programs == 3),
        "{imported:?}"
    );
    assert_eq!(ok(copy.programs()), ok(scene.store.programs()));
}
