//! Commands that cannot be done, and those for who deploys it.

use crate::world::World;

#[test]
fn a_purchase_that_is_not_there_cannot_be_approved_or_shown() {
    let world = World::new();
    assert_eq!(world.done("list"), "there are no purchases\n");
    let approved = world.not_done("approve desk-42 --by Grace");
    assert_eq!(approved, world.not_done("show desk-42"));
    insta::assert_snapshot!("no_purchase", approved);
}

#[test]
fn an_id_names_one_purchase() {
    let world = World::new();
    world.done("buy desk-42 300 a desk");
    let other = world.not_done("buy desk-42 400 a desk");
    insta::assert_snapshot!("other", other);
}

#[test]
fn while_it_runs_commands_are_typed_into_it() {
    let world = World::new();
    let mut running = world.start();
    running.type_line("aprove desk-42");
    running.type_line("buy desk-42 300 a desk");
    running.until("letter to the boss");
    let held = world.not_done("approve desk-42 --by Grace");
    let held = held.replace(&running.id().to_string(), "[process]");
    insta::assert_snapshot!("held", held);
    running.type_line("approve desk-42 --by Grace");
    running.until("letter to the buyer: bought");
}

#[test]
fn why_it_does_not_go_on_is_shown() {
    let world = World::new();
    world.lose_letters();
    let mut running = world.start();
    running.type_line("buy desk-42 300 a desk");
    running.until("desk-42: asked for");
    let shown = loop {
        running.type_line("show desk-42");
        running.type_line("list");
        running.until("desk-42: asked for at");
        // More of what is shown, or the list.
        let line = running.until("");
        if !line.starts_with("desk-42") {
            break line;
        }
    };
    assert!(shown.contains("failed"), "{shown}");
}

#[test]
fn nothing_is_missing_in_it() {
    let world = World::new();
    let check = ["perennial", "check", "--folder", env!("CARGO_MANIFEST_DIR")];
    let said = world.approval(&check);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("1 workflow, 2 activities"),
        "{}",
        said.out
    );
}
