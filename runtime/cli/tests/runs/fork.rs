//! Forking runs from a shell where no program is at work. In a program: see `program`.

use perennial_runtime::store::Store as _;

use crate::world::World;

#[test]
fn a_store_that_no_program_has_open_forks_nothing() {
    let world = World::with_store("store");
    let export = ["store", "export", "store", "--to", "runs.jsonl"];
    world.perennial(&export).succeeded();
    let told = [
        &["fork", "store", "order-42", "7", "order-42-b"][..],
        &["fork", "runs.jsonl", "order-42", "7", "order-42-b"],
        &["fork", "store", "order-42", "seven", "order-42-b"],
        &["fork", "store", "order-42", "7", "an order"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    let run = "order-42-b".parse().unwrap();
    assert_eq!(world.open("store").head(&run).unwrap(), None);
}
