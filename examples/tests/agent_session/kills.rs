//! Killed in the middle of a step.

use perennial_examples::agent_session::Reply;

use crate::world::{World, words};

#[test]
fn a_step_that_was_killed_is_asked_for_again_and_all_is_said_once() {
    let world = World::new();
    world.script([Reply::Nothing]);
    let mut chat = world.chat("plan-1");
    chat.type_line("work in 2 steps");
    chat.until("2 (step 1)");
    world.until_calls(1);
    chat.kill();

    let mut chat = world.chat("plan-1 --after 2");
    chat.until("3 agent: This is step 1 of 2.");
    chat.until("5 agent: This is step 2 of 2.");
    chat.end();
    assert_eq!(
        world.output("plan-1"),
        [
            "1 you: work in 2 steps",
            "2 (step 1)",
            "3 agent: This is step 1 of 2.",
            "4 (step 2)",
            "5 agent: This is step 2 of 2."
        ]
    );
    // One kill, one call more: it is the same call, by its key.
    let calls = world.calls();
    assert_eq!(calls.len(), 3);
    assert_eq!(
        (&calls[0].key, &calls[0].messages),
        (&calls[1].key, &calls[1].messages)
    );
    assert_ne!(calls[1].key, calls[2].key);
    let made: Vec<_> = calls.iter().map(|call| call.made).collect();
    assert_eq!(made, [false, true, true]);
}

#[test]
fn an_answer_that_was_lost_with_the_process_is_not_made_again() {
    let world = World::new();
    world.script([Reply::Lost("here I am".to_owned())]);
    let mut chat = world.chat("plan-1");
    chat.type_line("hello");
    world.until_calls(1);
    chat.kill();
    let mut chat = world.chat("plan-1");
    chat.until("3 agent: here I am");
    chat.end();
    let made: Vec<_> = world.calls().iter().map(|call| call.made).collect();
    assert_eq!(made, [true, false], "whoever knows the key makes it once");
}

#[test]
fn killed_again_and_again_it_asks_once_more_each_time_and_says_nothing_twice() {
    let world = World::new();
    for round in 1..=3 {
        world.script([Reply::Nothing]);
        let mut chat = world.chat("plan-1");
        if round == 1 {
            chat.type_line("hello");
        }
        world.until_calls(round);
        chat.kill();
    }
    world.chat("plan-1").end();
    assert_eq!(
        world.output("plan-1"),
        ["1 you: hello", "2 (step 1)", "3 agent: You say: hello"]
    );
    let calls = world.calls();
    assert_eq!(calls.len(), 4);
    assert!(calls.iter().all(|call| call.key == calls[0].key));
}

#[test]
fn what_was_said_before_the_kill_steers_the_step_after_it() {
    let world = World::new();
    world.script([Reply::Nothing]);
    let mut chat = world.chat("plan-1");
    chat.type_line("work in 2 steps");
    world.until_calls(1);
    chat.type_line("hurry");
    chat.type_line("but be careful");
    chat.until("4 you: but be careful");
    chat.kill();
    world.chat("plan-1").end();
    let calls = world.calls();
    assert_eq!(calls.len(), 3);
    assert_eq!(words(&calls[1]), ["work in 2 steps"], "the same as before");
    assert_eq!(
        words(&calls[2]),
        ["work in 2 steps", "hurry\n\nbut be careful"]
    );
}

#[test]
fn a_session_that_waits_goes_on_waiting_in_the_next_process() {
    let world = World::new();
    let mut chat = world.chat("plan-1");
    chat.type_line("hello");
    chat.until("3 agent: You say: hello");
    chat.kill();
    let mut chat = world.chat("plan-1");
    chat.type_line("and goodbye");
    chat.until("6 agent: You say: and goodbye");
    chat.end();
    assert_eq!(words(&world.calls()[1]), ["hello", "and goodbye"]);
}

#[test]
fn the_time_of_a_silent_user_goes_on_while_nothing_runs() {
    let world = World::new();
    let mut chat = world.chat("plan-1 --idle 1s");
    chat.type_line("hello");
    chat.until("3 agent: You say: hello");
    chat.kill();
    // This ends with the session.
    let said = world.done("follow plan-1 --after 3");
    assert_eq!(
        said,
        "4 (the session has ended: the user was silent for too long)\n"
    );
}
