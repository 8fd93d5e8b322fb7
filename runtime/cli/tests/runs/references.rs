//! What is printed as a reference can be given back (O55).

use crate::export::looked;
use crate::world::World;

/// The words of a text that could be references.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '~'))
}

/// Whether a word is one of an operation.
fn is_operation(word: &str) -> bool {
    word.split_once('~')
        .is_some_and(|(_, number)| number.parse::<u64>().is_ok())
}

#[test]
fn o55_whatever_is_printed_as_a_reference_is_shown_when_it_is_given_back() {
    let world = World::with_export();
    let shown = |reference: &str| {
        let text = world
            .perennial(&["show", "runs.jsonl", reference])
            .succeeded();
        assert!(text.starts_with(reference), "{reference}: {text}");
        text
    };
    let mut found = Vec::new();
    for namespace in ["default", "shop"] {
        let list = ["list", "runs.jsonl", "--namespace", namespace];
        let listed = world.perennial(&list).succeeded();
        let runs = listed
            .lines()
            .skip(1)
            .filter_map(|line| line.split(' ').next());
        for run in runs {
            let timeline = shown(run);
            found.extend(
                words(&timeline)
                    .filter(|word| is_operation(word))
                    .map(str::to_owned),
            );
            // In a history operations stand without their run, which stands above.
            let history = world.perennial(&["history", "runs.jsonl", run]).succeeded();
            assert!(history.starts_with(run), "{history}");
            let operations =
                words(&history).filter(|word| word.starts_with('~') && is_operation(word));
            found.extend(operations.map(|operation| format!("{run}{operation}")));
        }
        let waiting = ["waiting", "runs.jsonl", "--namespace", namespace];
        let waiting = world.perennial(&waiting).succeeded();
        found.extend(
            words(&waiting)
                .filter(|word| is_operation(word))
                .map(str::to_owned),
        );
    }
    found.sort();
    found.dedup();
    let expected = "order-42~1 order-42~2 order-42~3 order-42~4 order-42~5 order-42~6 order-42~7 order-42~8 \
                    order-44~1 shop/cart-1~1 shop/cart-1~2 shop/cart-1~3 shop/cart-1~4 shop/cart-1~5";
    assert_eq!(found.join(" "), expected);
    for reference in found {
        shown(&reference);
    }
}

#[test]
fn o55_the_beginning_of_an_id_is_enough_where_no_other_begins_like_that() {
    let whole = looked(&["show", "runs.jsonl", "shop/cart-1"]);
    assert_eq!(looked(&["show", "runs.jsonl", "shop/c"]), whole);
    for arguments in [
        &["show", "runs.jsonl", "shop/c~4"][..],
        &["history", "runs.jsonl", "shop/c"],
        &["messages", "runs.jsonl", "shop/c"],
        &["view", "runs.jsonl", "shop/c", "status"],
        &["stream", "runs.jsonl", "shop/c", "output"],
        &["stream", "runs.jsonl", "shop/c", "output", "--follow"],
    ] {
        let full = arguments
            .iter()
            .map(|word| word.replace("shop/c", "shop/cart-1"));
        let full: Vec<_> = full.collect();
        let full: Vec<_> = full.iter().map(String::as_str).collect();
        assert_eq!(looked(arguments), looked(&full));
    }
}

#[test]
fn o55_a_beginning_that_several_have_is_an_error_and_so_is_one_that_nobody_has() {
    let world = World::with_export();
    let told = [
        &["show", "runs.jsonl", "order-4"][..],
        &["messages", "runs.jsonl", "o"],
        &["show", "runs.jsonl", "order-4~1"],
        &["show", "runs.jsonl", "cart"],
        &["show", "runs.jsonl", "order-42~9"],
        &["show", "runs.jsonl", "order-43~1"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

/// What changes something is for the run that is named, and no other.
#[test]
fn o55_nothing_is_sent_to_a_run_by_the_beginning_of_its_id() {
    let world = World::with_store("store");
    for arguments in [
        &["send", "store", "shop/cart", "payment", "1"][..],
        &["signal", "store", "shop/cart", "hurry", "1"],
        &["fulfil", "store", "shop/cart~4", "review", "true"],
    ] {
        let ran = world.perennial(arguments);
        assert!(
            ran.code == 1 && ran.error.contains("no run shop/cart"),
            "{}",
            ran.all()
        );
    }
}

#[test]
fn o55_an_operation_is_shown_with_the_events_that_are_about_it() {
    let told = [
        "order-42~1",
        "order-42~2",
        "order-42~3",
        "order-42~5",
        "order-42~6",
        "order-42~7",
        "order-44~1",
        "shop/cart-1~1",
        "shop/cart-1~4",
    ]
    .map(|reference| looked(&["show", "runs.jsonl", reference]));
    insta::assert_snapshot!(told.join("\n"));
    let json = looked(&["show", "runs.jsonl", "order-42~6", "--json"]);
    insta::assert_snapshot!(json);
}
