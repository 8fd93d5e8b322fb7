//! Commands that cannot be done, and what needs no account.

use std::io::Write as _;
use std::process::Stdio;

use perennial::value::Value;
use perennial::{Namespace, RunId, RunKey};
use perennial_runtime::control::{Answer, AskError, Fulfil, ListWaiting, Refused, Request, Runs};

use crate::world::{World, said};

#[test]
fn a_session_that_is_not_there_is_named() {
    let world = World::new();
    assert_eq!(world.done("list"), "there are no sessions\n");
    let refused = world.not_done("say plan-1 hello");
    assert_eq!(refused, world.not_done("follow plan-1"));
    insta::assert_snapshot!("no_session", refused);
}

#[test]
fn while_it_runs_another_one_says_who_has_the_store() {
    let world = World::new();
    let mut chat = world.chat("plan-1");
    chat.type_line("hello");
    chat.until("agent: You say: hello");
    let held = world.not_done("say plan-1 hello");
    let held = held.replace(&chat.id().to_string(), "[process]");
    insta::assert_snapshot!("held", held);
    chat.type_line("/quit");
    chat.until("(the session has ended");
}

#[test]
fn with_a_socket_it_is_asked_while_it_runs() {
    let world = World::new();
    let mut chat = world.chat("plan-1 --socket");
    chat.type_line("hello");
    chat.until("agent: You say: hello");
    let mut runs = Runs::at(world.path().join("target/agent_session/store")).unwrap();
    let run = RunKey::new(Namespace::default(), RunId::new("plan-1").unwrap());
    let show = Request::Show { run: run.clone() };
    let Answer::Run(shown) = runs.ask(show).unwrap() else {
        panic!("it is shown");
    };
    assert_eq!(shown.info.workflow, "session");
    // What is no word is not taken for one.
    let Answer::Offers(page) = runs.ask(Request::Waiting(ListWaiting::default())).unwrap() else {
        panic!("it is offered");
    };
    let number = Request::Fulfil(Fulfil {
        run,
        operation: page.offers[0].reference.number,
        stub: "hear".to_owned(),
        value: Value::encode(&17).unwrap(),
    });
    match runs.ask(number) {
        Err(AskError::Refused(refused)) => assert_eq!(refused.code, Refused::WRONG_TYPE),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sessions_are_listed_with_how_they_stand() {
    let world = World::new();
    world.done("chat plan-1");
    world.done("say plan-1 work in 2 steps");
    world.done("chat plan-2 --idle 0s");
    let list = world.done("list");
    let lines: Vec<_> = list.lines().collect();
    assert!(
        lines[0].starts_with("plan-1: waits for the user until "),
        "{list}"
    );
    assert!(lines[0].ends_with(" (steps: 2, tokens: 13)"), "{list}");
    assert_eq!(
        lines[1],
        "plan-2: has ended: the user was silent for too long (steps: 0, tokens: 0)"
    );
}

#[test]
fn what_is_too_long_is_not_said() {
    let world = World::new();
    world.done("chat plan-1");
    let refused = world.not_done(&format!("say plan-1 {}", "a".repeat(9000)));
    assert!(
        refused.contains("it has 9000 bytes, and may have 8192"),
        "{refused}"
    );
}

#[test]
fn without_a_model_it_says_what_to_set() {
    let world = World::new();
    let mut command = world.command();
    command.env_remove("OPENAI_MODEL").args(["chat", "plan-1"]);
    let refused = said(&mut command);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    insta::assert_snapshot!("no_model", refused.err);
}

#[test]
fn who_only_looks_needs_no_model() {
    let world = World::new();
    let looked = |command: &[&str]| {
        let mut without = world.command();
        without.env_remove("OPENAI_MODEL").args(command);
        said(&mut without)
    };
    assert_eq!(looked(&["list"]).out, "there are no sessions\n");
    world.done("chat plan-1 --idle 1h");
    world.done("say plan-1 hello");
    let list = looked(&["list"]);
    assert!(
        list.out.starts_with("plan-1: waits for the user"),
        "{}",
        list.err
    );
    let output = looked(&["follow", "plan-1", "--no-wait", "--after", "1"]);
    assert_eq!(output.out, "2 (step 1)\n3 agent: You say: hello\n");
    let nobody = looked(&["follow", "plan-2", "--no-wait"]);
    assert!(
        nobody.err.contains("there is no session plan-2"),
        "{}",
        nobody.err
    );
    // While a program has them it is asked, if it lets itself be.
    let mut chat = world.chat("plan-1");
    chat.type_line("more");
    chat.until("6 agent: You say: more");
    let held = world
        .not_done("list")
        .replace(&chat.id().to_string(), "[process]");
    insta::assert_snapshot!("held_from_a_look", held);
    chat.kill();
    let mut chat = world.chat("plan-1 --socket");
    chat.type_line("again");
    chat.until("9 agent: You say: again");
    let asked = looked(&["follow", "plan-1", "--no-wait", "--after", "7"]);
    assert_eq!(asked.out, "8 (step 3)\n9 agent: You say: again\n");
    assert!(looked(&["list"]).out.contains("steps: 3"));
}

#[test]
fn it_can_be_tried_without_an_account() {
    let world = World::new();
    let mut command = world.command();
    command
        .env_remove("OPENAI_MODEL")
        .env_remove("OPENAI_BASE_URL");
    command.args(["--stand-in", "--pace", "0s", "chat", "plan-1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    writeln!(typed, "work in 2 steps\n\n/quit").unwrap();
    drop(typed);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.starts_with("1 you: work in 2 steps\n2 (step 1)\n"),
        "{out}"
    );
    assert!(
        out.ends_with("(the session has ended: the user has ended it)\n"),
        "{out}"
    );
    assert_eq!(world.calls(), [], "it has asked itself");
}

#[test]
fn nothing_is_missing_in_it() {
    let world = World::new();
    let check = ["perennial", "check", "--folder", env!("CARGO_MANIFEST_DIR")];
    let said = world.agent_session(&check);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("1 workflow, 1 activity"), "{}", said.out);
}
