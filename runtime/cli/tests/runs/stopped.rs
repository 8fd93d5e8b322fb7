//! Talking to the runs of a store that no program has open.

use perennial_runtime::store::Store as _;

use crate::world::World;

#[test]
fn a_message_is_put_into_the_queue_of_its_run() {
    let world = World::with_store("store");
    let sent = world.perennial(&["send", "store", "order-42", "payment", r#"{"cents":1200}"#]);
    insta::assert_snapshot!(sent.all());
    let listed = world.perennial(&["messages", "store", "order-42", "--name", "payment"]);
    let listed = listed.succeeded();
    assert!(
        listed.contains("pending") && listed.contains(r#"{"cents":1200}"#),
        "{listed}"
    );
}

#[test]
fn a_message_under_a_key_is_stored_once_and_another_one_under_it_is_refused() {
    let world = World::with_store("store");
    let send = |payload| {
        world.perennial(&[
            "send", "store", "order-42", "payment", payload, "--key", "pay-42",
        ])
    };
    let told = ["1", "1", "2"].map(|payload| send(payload).all());
    insta::assert_snapshot!(told.join("\n"));
    let listed = world.perennial(&[
        "messages", "store", "order-42", "--name", "payment", "--json",
    ]);
    let listed: serde_json::Value = serde_json::from_str(&listed.succeeded()).unwrap();
    assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
    assert_eq!(listed["messages"][0]["key"], "pay-42");
}

#[test]
fn m38_what_a_run_is_known_not_to_wait_for_is_refused_and_so_is_what_cannot_be_sent() {
    let world = World::with_store("store");
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    let before = world
        .open("store")
        .head(&"order-42".parse().unwrap())
        .unwrap();
    let told = [
        world.perennial(&["send", "store", "order-42", "paymnet", "1"]),
        world.perennial(&["send", "store", "order-42", "hurry", "1"]),
        world.perennial(&["signal", "store", "order-42", "bell", "1"]),
        world.perennial(&["send", "store", "order-43", "payment", "1"]),
        world.perennial(&["send", "store", "order-1", "payment", "1"]),
        world.perennial(&["send", "store", "order-42", "a payment", "1"]),
        world.perennial(&["send", "store", "order-42", "payment", "1", "--key", ""]),
        world.with_input(&["send", "store", "order-42", "payment", "-"], &long),
    ]
    .map(|ran| ran.all());
    insta::assert_snapshot!(told.join("\n"));
    let after = world
        .open("store")
        .head(&"order-42".parse().unwrap())
        .unwrap();
    assert_eq!(after, before, "nothing was stored");
}

#[test]
fn a_value_of_several_lines_comes_from_stdin_and_goes_into_an_export() {
    let world = World::with_store("store");
    let value = "{\n  \"cents\": -1,\r\n  \"from\": \"a\\nb\"\n}\n";
    let sent = world.with_input(&["send", "store", "order-42", "payment", "-"], value);
    sent.succeeded();
    let export = ["store", "export", "store", "--to", "runs.jsonl"];
    world.perennial(&export).succeeded();
    let listed = world.perennial(&["messages", "runs.jsonl", "order-42", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.succeeded()).unwrap();
    let expected = serde_json::json!({ "cents": -1, "from": "a\nb" });
    assert_eq!(listed["messages"][2]["payload"], expected);
}

#[test]
fn a_store_that_is_stopped_is_looked_at() {
    let world = World::with_store("my store");
    let told = [
        &["list", "my store"][..],
        &["show", "my store", "order-42"],
        &["signal", "my store", "order-42", "hurry", "null"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn where_there_is_no_store_none_is_made() {
    let world = World::new();
    std::fs::create_dir(world.path("empty")).unwrap();
    let told = [
        world.perennial(&["send", "empty", "order-42", "payment", "1"]),
        world.perennial(&["list", "empty"]),
    ]
    .map(|ran| ran.all());
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(std::fs::read_dir(world.path("empty")).unwrap().count(), 0);
}

/// A line that `show` gives to answer a run does so.
#[test]
#[cfg(unix)]
fn the_command_line_that_is_shown_can_be_given_to_a_shell() {
    let world = World::with_store("my store");
    let shown = world
        .perennial(&["show", "my store", "order-42"])
        .succeeded();
    let line = shown
        .lines()
        .find_map(|line| line.strip_prefix("answer it: "))
        .unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_perennial"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = std::process::Command::new("sh")
        .args(["-c", line])
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .current_dir(world.path(""))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{line}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let listed = world.perennial(&["messages", "my store", "order-42", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.succeeded()).unwrap();
    let expected = serde_json::json!({ "cents": 0, "from": "...", "it's": true });
    assert_eq!(listed["messages"][2]["payload"], expected);
}
