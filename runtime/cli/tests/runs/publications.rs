//! What runs show and give out, of an export and of a store that no program has open.

use crate::export::looked;
use crate::world::World;

#[test]
fn what_a_run_shows_is_printed() {
    let told = [
        &["view", "runs.jsonl", "shop/cart-1"][..],
        &["view", "runs.jsonl", "shop/cart-1", "status"],
        &["view", "runs.jsonl", "shop/cart-1", "status", "--json"],
        &["view", "runs.jsonl", "shop/cart-1", "status", "--watch"],
        &[
            "view",
            "runs.jsonl",
            "shop/cart-1",
            "status",
            "--watch",
            "--json",
        ],
        &["view", "runs.jsonl", "order-42"],
    ]
    .map(looked);
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_a_run_has_given_out_is_printed() {
    let told = [
        &["stream", "runs.jsonl", "shop/cart-1"][..],
        &["stream", "runs.jsonl", "shop/cart-1", "output"],
        &["stream", "runs.jsonl", "shop/cart-1", "output", "--json"],
        &["stream", "runs.jsonl", "shop/cart-1", "output", "--follow"],
        &[
            "stream",
            "runs.jsonl",
            "shop/cart-1",
            "output",
            "--follow",
            "--json",
        ],
        &[
            "stream",
            "runs.jsonl",
            "shop/cart-1",
            "output",
            "--after",
            "1",
        ],
        &["stream", "runs.jsonl", "order-42"],
    ]
    .map(looked);
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_is_not_shown_is_told_and_so_is_a_run_that_is_not_there() {
    let world = World::with_export();
    let told = [
        &["view", "runs.jsonl", "shop/cart-1", "statsu"][..],
        &["view", "runs.jsonl", "order-42", "status"],
        &["view", "runs.jsonl", "order-1", "status"],
        &["view", "runs.jsonl", "order-44", "status"],
        &["stream", "runs.jsonl", "shop/cart-1", "outputs"],
        &["stream", "runs.jsonl", "order-44", "output"],
        &["stream", "runs.jsonl", "order-1", "output", "--follow"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn who_follows_nothing_that_has_a_name_is_told_what_there_is_to_follow() {
    let world = World::with_export();
    let told = [
        &["view", "runs.jsonl", "shop/cart-1", "--watch"][..],
        &["stream", "runs.jsonl", "shop/cart-1", "--follow", "--json"],
        &["stream", "runs.jsonl", "order-42", "--follow"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_store_that_is_stopped_shows_what_there_is_and_says_why_there_is_no_more() {
    let world = World::with_store("store");
    let told = [
        &["view", "store", "shop/cart-1", "status", "--watch"][..],
        &["stream", "store", "shop/cart-1", "output", "--follow"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}
