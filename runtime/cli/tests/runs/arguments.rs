//! What is wrong with arguments is told before anything is opened.

use crate::world::World;

#[test]
fn arguments_that_cannot_be_used_are_told() {
    let world = World::new();
    let told = [
        &["send", "store", "order 42", "payment", "1"][..],
        &["send", "store", "order-42", "payment"],
        &["show", "store", "shop/order-42", "--namespace", "other"],
        &["send", "store", "order-42", "payment", "yes"],
        &[
            "messages", "store", "order-42", "--after", "1", "--before", "2",
        ],
        &["list", "store", "--limit", "0"],
        &["messages", "store", "shop/order-42~7"],
        &["show", "store", "order-42~"],
        &["fulfil", "store", "order-42", "review", "true"],
        &["fulfil", "store", "order-42~7", "review", "yes"],
        &["waiting", "store", "--after", "order-42"],
        &["history", "store", "order-42", "--json", "--limit", "1"],
        &[
            "stream", "store", "order-42", "output", "--follow", "--limit", "1",
        ],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_is_misspelt_is_told_how_it_is_spelt() {
    let world = World::new();
    let command = world.perennial(&["fulfill", "store"]).all();
    assert!(
        command.contains("a similar subcommand exists: 'fulfil'"),
        "{command}"
    );
    let option = world.perennial(&["list", "store", "--jsno"]).all();
    assert!(
        option.contains("a similar argument exists: '--json'"),
        "{option}"
    );
}

#[test]
fn each_command_says_what_it_does() {
    let world = World::new();
    let told = [
        "send", "signal", "list", "show", "history", "messages", "waiting", "fulfil", "view",
        "stream",
    ]
    .map(|command| world.perennial(&[command, "--help"]).succeeded());
    insta::assert_snapshot!(told.join("\n---\n"));
}
