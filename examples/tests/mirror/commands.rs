//! The commands for those who deploy it.

use perennial_runtime::store::{SledStore, Store as _};

use crate::world::World;

#[test]
fn a_store_of_its_runs_can_be_planned_over() {
    let world = World::new();
    world.write("file", "content");
    let mirrored = world.said(world.command().args(world.arguments()));
    assert_eq!(mirrored.code, Some(0), "{}", mirrored.err);
    let said = world.said(world.command().args(["perennial", "plan", "store"]));
    let lines: Vec<_> = said.out.lines().skip(2).collect();
    let expected = [
        "        0 open runs; 1 that has ended is not looked at",
        "",
        "no run is open: nothing stands against a deploy",
    ];
    assert_eq!(lines, expected, "{}{}", said.out, said.err);
    assert_eq!(said.code, Some(0));
    let store = SledStore::open_existing(world.path("store")).unwrap();
    let said = world.said(world.command().args(["perennial", "plan", "store"]));
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("is in use by process"), "{}", said.err);
    store.close().unwrap();
}

#[test]
fn nothing_is_missing_in_it() {
    let world = World::new();
    let check = ["perennial", "check", "--folder", env!("CARGO_MANIFEST_DIR")];
    let said = world.said(world.command().args(check));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("1 workflow, 10 activities"),
        "{}",
        said.out
    );
    let said = world.said(world.command().args(["perennial", "manifest"]));
    assert!(
        said.out.contains("\"name\": \"copy_files\""),
        "{}",
        said.out
    );
}
