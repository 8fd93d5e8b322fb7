//! What is said while the agent is at work, twice, or too late.

use crate::world::{World, words};

#[test]
fn what_is_typed_while_a_step_is_at_work_is_seen_before_the_next_one() {
    let world = World::new();
    world.hold(true);
    let mut chat = world.chat("plan-1");
    chat.type_line("work in 2 steps");
    world.until_calls(1);
    chat.type_line("hurry");
    chat.until("3 you: hurry");
    world.hold(false);
    chat.until("4 agent: This is step 1 of 2.");
    chat.until("6 agent: You say: hurry. This is step 2 of 2.");
    chat.end();
    assert_eq!(world.calls().len(), 2, "the first one went on");
}

#[test]
fn stop_ends_a_step_and_the_next_word_begins_another() {
    let world = World::new();
    world.hold(true);
    let mut chat = world.chat("plan-1");
    chat.type_line("delete them");
    world.until_calls(1);
    chat.type_line("/stop");
    chat.until("3 (step 1 is stopped)");
    world.hold(false);
    chat.type_line("what is left?");
    chat.until("6 agent: You say: delete them");
    chat.end();
    let roles: Vec<_> = world.calls()[1]
        .messages
        .iter()
        .map(|said| said.role.clone())
        .collect();
    assert_eq!(roles, ["system", "user"], "nobody has heard the answer");
    assert_eq!(words(&world.calls()[1]), ["delete them\n\nwhat is left?"]);
}

#[test]
fn quit_ends_the_session_and_what_comes_later_is_refused() {
    let world = World::new();
    let mut chat = world.chat("plan-1");
    chat.type_line("hello");
    chat.until("3 agent: You say: hello");
    chat.type_line("/quit");
    chat.until("4 (the session has ended: the user has ended it)");
    chat.end();
    let late = world.not_done("say plan-1 one more thing");
    insta::assert_snapshot!("late", late);
    assert_eq!(world.done("chat plan-1").lines().count(), 4);
    assert_eq!(world.calls().len(), 1);
}

#[test]
fn a_silent_user_ends_it() {
    let world = World::new();
    let mut chat = world.chat("plan-1 --idle 0s");
    chat.until("1 (the session has ended: the user was silent for too long)");
    chat.end();
}

#[test]
fn the_same_word_under_the_same_reference_is_heard_once() {
    let world = World::new();
    world.done("chat plan-1");
    let said = world.done("say plan-1 hello");
    let reference = said
        .lines()
        .next()
        .unwrap()
        .strip_prefix("said as ")
        .unwrap();
    let again = world.done(&format!("say plan-1 --as {reference} hello"));
    assert_eq!(again, format!("said as {reference}\n"));
    let other = world.not_done(&format!("say plan-1 --as {reference} goodbye"));
    assert_eq!(world.output("plan-1").len(), 3);
    let twice = world.done("say plan-1 hello");
    assert!(twice.ends_with("4 you: hello\n5 (step 2)\n6 agent: You say: hello\n"));
    insta::assert_snapshot!("references", format!("{said}\n{again}\n{other}\n{twice}"));
}

#[test]
fn a_reference_of_another_session_says_nothing() {
    let world = World::new();
    world.done("chat plan-1");
    world.done("chat plan-2");
    let said = world.done("say plan-1 hello");
    let reference = said
        .lines()
        .next()
        .unwrap()
        .strip_prefix("said as ")
        .unwrap();
    let refused = world.not_done(&format!("say plan-2 --as {reference} hello"));
    let never = world.not_done("say plan-2 --as plan-2~99 hello");
    insta::assert_snapshot!("elsewhere", format!("{refused}\n{never}"));
    assert_eq!(world.output("plan-2").len(), 0);
}
