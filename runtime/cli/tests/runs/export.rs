//! Looking at an export.

use std::fs;

use crate::scene::EVIL;
use crate::world::World;

#[track_caller]
pub(crate) fn looked(arguments: &[&str]) -> String {
    let text = World::with_export().perennial(arguments).succeeded();
    // Nothing reaches a terminal as a command.
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'));
    text
}

#[test]
fn m41_a_message_that_came_early_stands_before_its_wait_in_the_timeline() {
    let text = looked(&["show", "runs.jsonl", "order-42"]);
    let place = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("{what} in {text}"))
    };
    assert!(place("message \"approval\"") < place("waits for"));
    assert!(text.contains("before a wait for it"));
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_has_ended_is_shown_with_what_it_left_unread() {
    insta::assert_snapshot!(looked(&["show", "runs.jsonl", "order-43"]));
}

#[test]
fn a_blocked_run_is_shown_with_its_error_and_nothing_of_it_is_a_command() {
    insta::assert_snapshot!(looked(&["show", "runs.jsonl", "order-44"]));
}

#[test]
fn a_run_of_another_namespace_is_named_in_either_way() {
    let one = looked(&["show", "runs.jsonl", "shop/cart-1"]);
    let other = looked(&["show", "runs.jsonl", "cart-1", "--namespace", "shop"]);
    assert_eq!(one, other);
    insta::assert_snapshot!(one);
}

#[test]
fn runs_are_listed_page_by_page() {
    insta::assert_snapshot!(looked(&["list", "runs.jsonl"]));
    let page = looked(&["list", "runs.jsonl", "--limit", "1"]);
    assert!(page.contains("order-42") && page.ends_with("there are more: `--after order-42`\n"));
    let rest = looked(&["list", "runs.jsonl", "--after", "order-42"]);
    assert!(!rest.contains("order-42") && rest.contains("order-44") && !rest.contains("more"));
}

#[test]
fn runs_are_listed_by_what_they_are() {
    let ids = |arguments: &[&str]| {
        let text = looked(&[&["list", "runs.jsonl"], arguments].concat());
        let lines = text.lines().skip(1);
        let ids: Vec<_> = lines.filter_map(|line| line.split(' ').next()).collect();
        ids.join(" ")
    };
    assert_eq!(ids(&["--state", "blocked"]), "order-44");
    assert_eq!(ids(&["--state", "running"]), "order-42 order-44");
    assert_eq!(ids(&["--state", "completed"]), "order-43");
    assert_eq!(ids(&["--workflow", "order"]), "order-42 order-43");
    assert_eq!(ids(&["--prefix", "order-4"]), "order-42 order-43 order-44");
    // With its namespace, so that it can be given back.
    assert_eq!(ids(&["--namespace", "shop"]), "shop/cart-1");
    let none = looked(&["list", "runs.jsonl", "--namespace", "none"]);
    assert_eq!(none, "there is no run in the namespace none\n");
    let none = looked(&["list", "runs.jsonl", "--prefix", "none"]);
    assert_eq!(none, "there is no such run in the namespace default\n");
}

#[test]
fn messages_are_listed_with_what_has_become_of_them() {
    insta::assert_snapshot!(looked(&["messages", "runs.jsonl", "order-42"]));
    let unread = looked(&["messages", "runs.jsonl", "order-43"]);
    assert!(unread.contains("unread"), "{unread}");
    let last = looked(&[
        "messages",
        "runs.jsonl",
        "order-42",
        "--before",
        "9",
        "--limit",
        "1",
    ]);
    assert!(
        last.contains("note") && last.ends_with("there are more: `--before 3`\n"),
        "{last}"
    );
    let named = looked(&["messages", "runs.jsonl", "order-42", "--name", "approval"]);
    assert!(
        named.contains("approval") && !named.contains("note"),
        "{named}"
    );
    let none = looked(&["messages", "runs.jsonl", "order-42", "--after", "3"]);
    assert_eq!(none, "run order-42 was sent no message after number 3\n");
    let none = looked(&["messages", "runs.jsonl", "order-42", "--name", "hurry"]);
    assert_eq!(none, "run order-42 was sent no message \"hurry\"\n");
    let none = looked(&["messages", "runs.jsonl", "order-44"]);
    assert_eq!(none, "run order-44 was sent no message\n");
}

#[test]
fn a_history_is_printed_with_its_times_or_without() {
    insta::assert_snapshot!(looked(&["history", "runs.jsonl", "order-42"]));
    let part = [
        "history",
        "runs.jsonl",
        "order-42",
        "--after",
        "2",
        "--limit",
        "3",
    ];
    insta::assert_snapshot!(looked(&part), @r#"
    order-42 · generation 1 · 18 events
     3 message      #1 approval {"approved":true}   2025-11-24T16:00:01.000Z
     4 completed    ~1 charge_card {"receipt":"R-1"}   2025-11-24T16:00:02.000Z
     5   marker     fraud-check 1

    there are more: `--after 5`
    "#);
    let rest = looked(&[
        "history",
        "runs.jsonl",
        "order-42",
        "--after",
        "17",
        "--plain",
    ]);
    insta::assert_snapshot!(rest, @"18   sleep      ~8");
    let plain = looked(&["history", "runs.jsonl", "order-42", "--plain"]);
    assert!(!plain.contains("2025-"), "{plain}");
}

#[test]
fn a_history_as_json_is_one_that_can_be_stored_and_replayed() {
    let json = looked(&["history", "runs.jsonl", "order-42", "--json"]);
    let history = perennial::history::History::from_json(&json).unwrap();
    assert_eq!(
        (history.run.to_string(), history.length()),
        ("order-42".into(), 18)
    );
}

#[test]
fn json_has_what_there_is_to_the_letter() {
    let details = looked(&["show", "runs.jsonl", "order-44", "--json"]);
    let details: serde_json::Value = serde_json::from_str(&details).unwrap();
    assert_eq!(details["info"]["workflow"], EVIL);
    let list = looked(&["list", "runs.jsonl", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["runs"][1]["state"], "completed");
    let messages = looked(&["messages", "runs.jsonl", "order-42", "--json"]);
    let messages: serde_json::Value = serde_json::from_str(&messages).unwrap();
    assert_eq!(messages["messages"][0]["state"]["consumed"]["operation"], 3);
}

#[test]
fn nothing_is_sent_into_an_export_and_what_is_not_there_is_told() {
    let world = World::with_export();
    let before = fs::read(world.path("runs.jsonl")).unwrap();
    let told = [
        &["send", "runs.jsonl", "order-42", "payment", "1"][..],
        &["fulfil", "runs.jsonl", "shop/cart-1~4", "review", "true"],
        &["show", "runs.jsonl", "order-1"],
        &["show", "nothing", "order-1"],
        &["list", "runs.jsonl", "--after", "no cursor"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(fs::read(world.path("runs.jsonl")).unwrap(), before);
}

#[test]
fn an_export_that_was_cut_short_is_told_whatever_is_asked() {
    let world = World::with_export();
    let text = fs::read_to_string(world.path("runs.jsonl")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    fs::write(
        world.path("cut.jsonl"),
        lines[..lines.len() - 1].join("\n") + "\n",
    )
    .unwrap();
    for arguments in [
        &["list", "cut.jsonl"][..],
        &["show", "cut.jsonl", "order-42"],
        &["history", "cut.jsonl", "order-42"],
        &["messages", "cut.jsonl", "order-42"],
        &["waiting", "cut.jsonl"],
        &["view", "cut.jsonl", "shop/cart-1"],
        &["stream", "cut.jsonl", "shop/cart-1", "output", "--follow"],
    ] {
        let ran = world.perennial(arguments);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(
            ran.out.is_empty() && ran.error.contains("cut.jsonl"),
            "{}",
            ran.all()
        );
    }
}
