//! What a program answers to words that it knows and to others.

use perennial_runtime::cli;
use perennial_runtime::store::MemoryStore;

use crate::shop::shop_1;
use crate::world::World;

#[test]
fn each_command_says_what_it_does() {
    let world = World::new();
    for (name, arguments) in [
        ("all", &["--help"][..]),
        ("check", &["check", "--help"]),
        ("plan", &["plan", "--help"]),
        ("blocked", &["blocked", "--help"]),
        ("unblock", &["unblock", "--help"]),
        ("migrate", &["migrate", "--help"]),
    ] {
        let ran = world.call(shop_1(MemoryStore::new()), arguments);
        insta::assert_snapshot!(format!("help_{name}"), ran.all());
    }
}

#[test]
fn other_words_are_refused() {
    let world = World::new();
    let all = [
        &[][..],
        &["deploy"],
        &["plan", "a", "b"],
        &["plan", "--ids", "many"],
        &["unblock"],
        &["migrate", "order-1"],
    ]
    .map(|arguments| {
        let ran = world.call(shop_1(MemoryStore::new()), arguments);
        assert_eq!(ran.code, 2);
        ran.all()
    });
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn the_manifest_is_printed() {
    let world = World::new();
    let ran = world.call(shop_1(MemoryStore::new()), &["manifest"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out, shop_1(MemoryStore::new()).manifest().to_json());
}

#[test]
fn a_binary_of_its_own_takes_the_commands_without_the_word() {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let arguments = ["shop-admin", "manifest"];
    let program = shop_1(MemoryStore::new());
    assert_eq!(cli::call(program, arguments, &mut out, &mut errors), 0);
    assert!(!out.is_empty() && errors.is_empty());
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let arguments = ["shop-admin", "--help"];
    cli::call(shop_1(MemoryStore::new()), arguments, &mut out, &mut errors);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("Usage: shop-admin <COMMAND>"), "{out}");
}

#[test]
fn this_test_was_not_asked_for_commands() {
    assert!(!cli::asked());
}
