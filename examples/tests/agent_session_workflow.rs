//! The session's workflow alone: what steers it, what stops it, what goes wrong, and how it ends.
#![allow(clippy::unwrap_used)]

use perennial::assert_history;
use perennial::prelude::*;
use perennial::testing::{Run, TestRun};
use perennial_examples::agent_session::{
    Answer, Doing, Ended, Event, LONGEST_WORD, ModelError, OUTPUT, Prompt, STANDING, Settings, Who,
    Why, answer, hear, session,
};

fn says(text: &str) -> Result<Answer, Failure<ModelError>> {
    Ok(Answer {
        text: text.to_owned(),
        tokens: 10,
    })
}

fn settings() -> Settings {
    Settings {
        instructions: "be kind".to_owned(),
        ..Settings::default()
    }
}

/// What a model was shown, without who has said it.
fn shown(prompt: &Prompt) -> Vec<&str> {
    let lines = prompt.lines.iter();
    lines.map(|line| line.text.as_str()).collect()
}

fn say(run: &Run<session>, text: &str) {
    run.fulfil(hear, text.to_owned());
}

/// What has happened, in short.
fn happened(run: &Run<session>) -> Vec<String> {
    let events = run.stream(OUTPUT).into_iter();
    let short = events.map(|event| match event {
        Event::UserSaid { text } => format!("user {text}"),
        Event::NotHeard { .. } => "not heard".to_owned(),
        Event::StepBegan { step } => format!("step {step}"),
        Event::AssistantSaid { step, text } => format!("agent {step} {text}"),
        Event::Stopped { step } => format!("stopped {step}"),
        Event::StepFailed { step, .. } => format!("failed {step}"),
        Event::Enough { steps } => format!("enough {steps}"),
        Event::Ended { why } => format!("ended {why:?}"),
    });
    short.collect()
}

fn doing(run: &Run<session>) -> Doing {
    run.view(STANDING).unwrap().doing
}

#[perennial::test]
fn a_word_is_answered_and_the_session_waits_for_the_next_one(t: &mut TestRun) {
    let asked = t
        .mock(answer, |_| says("hello to you"))
        .then(|_| says("it is late"));
    let run = t.start(session, settings());
    let until = t.now() + minutes(30);
    assert_eq!(doing(&run), Doing::Waits { until });
    say(&run, "hello");
    say(&run, "how late is it?");
    say(&run, "/quit");
    let ended = Ended {
        why: Why::Quit,
        steps: 2,
        tokens: 20,
    };
    assert_eq!(run.result().unwrap(), ended);
    assert_eq!(
        shown(&asked.calls()[1]),
        ["hello", "hello to you", "how late is it?"]
    );
    assert_eq!(asked.calls()[1].lines[1].who, Who::Assistant);
    assert_eq!(doing(&run), Doing::Ended { why: Why::Quit });
    assert_history!(run);
}

#[perennial::test]
fn a_model_that_has_more_to_do_goes_on_by_itself(t: &mut TestRun) {
    let asked = t
        .mock(answer, |_| says("first\nCONTINUE"))
        .then(|_| says("second"));
    let run = t.start(session, settings());
    say(&run, "work");
    assert_eq!(
        happened(&run),
        [
            "user work",
            "step 1",
            "agent 1 first",
            "step 2",
            "agent 2 second"
        ]
    );
    assert_eq!(shown(&asked.calls()[1]), ["work", "first"]);
    assert!(matches!(doing(&run), Doing::Waits { .. }));
}

#[perennial::test]
fn what_is_said_while_a_step_is_at_work_is_seen_by_the_next_one(t: &mut TestRun) {
    let asked = t
        .mock(answer, |_| says("sorted"))
        .then(|_| says("sorted by size"))
        .takes(minutes(1));
    let run = t.start(session, settings());
    say(&run, "sort them");
    t.advance(seconds(30));
    say(&run, "by size");
    say(&run, "please");
    // It is heard at once, and the call that is under way goes on.
    assert_eq!(run.stream(OUTPUT).len(), 4);
    assert_eq!(asked.calls().len(), 1);
    assert_eq!(doing(&run), Doing::Works);
    t.advance(minutes(2));
    assert_eq!(
        happened(&run),
        [
            "user sort them",
            "step 1",
            "user by size",
            "user please",
            "agent 1 sorted",
            "step 2",
            "agent 2 sorted by size"
        ]
    );
    assert_eq!(
        shown(&asked.calls()[1]),
        ["sort them", "sorted", "by size", "please"]
    );
    assert_history!(run);
}

#[perennial::test]
fn stop_ends_the_step_and_its_answer_is_not_heard(t: &mut TestRun) {
    let asked = t
        .mock(answer, |_| says("all deleted\nCONTINUE"))
        .then(|_| says("nothing deleted"))
        .takes(minutes(1));
    let run = t.start(session, settings());
    say(&run, "delete them");
    say(&run, "or rather not");
    say(&run, "/stop");
    assert!(matches!(doing(&run), Doing::Waits { .. }));
    t.advance(minutes(2));
    say(&run, "what have you done?");
    t.advance(minutes(2));
    assert_eq!(
        happened(&run),
        [
            "user delete them",
            "step 1",
            "user or rather not",
            "stopped 1",
            "user what have you done?",
            "step 2",
            "agent 2 nothing deleted"
        ]
    );
    assert_eq!(
        shown(&asked.calls()[1]),
        ["delete them", "or rather not", "what have you done?"]
    );
    assert_history!(run);
}

#[perennial::test]
fn stop_stops_nothing_where_nothing_is_at_work(t: &mut TestRun) {
    let run = t.start(session, settings());
    t.advance(minutes(20));
    say(&run, " /stop ");
    assert_eq!(happened(&run), [""; 0]);
    assert_eq!(run.view(STANDING).unwrap().heard, 1);
    // It is a sign of life all the same.
    t.advance(minutes(20));
    assert!(!run.is_finished());
}

#[perennial::test]
fn quit_ends_the_session_in_the_middle_of_a_step(t: &mut TestRun) {
    t.mock(answer, |_| says("late")).takes(minutes(1));
    let run = t.start(session, settings());
    say(&run, "work");
    say(&run, "/quit");
    assert_eq!(run.result().unwrap().why, Why::Quit);
    assert_eq!(happened(&run), ["user work", "step 1", "ended Quit"]);
}

#[perennial::test]
fn a_silent_user_ends_it_and_a_step_is_no_silence(t: &mut TestRun) {
    t.mock(answer, |_| says("done")).takes(hours(2));
    let run = t.start(session, settings());
    t.advance(minutes(29));
    say(&run, "work");
    t.advance(hours(2));
    assert!(!run.is_finished(), "it has only begun to wait");
    assert_eq!(run.result().unwrap().why, Why::Idle);
    assert_eq!(
        t.now(),
        TestRun::BEGIN + minutes(29) + hours(2) + minutes(30)
    );
    assert_eq!(run.offers(), [], "nothing can be said any more");
}

#[perennial::test]
fn a_model_that_never_ends_is_stopped_after_so_many_steps(t: &mut TestRun) {
    let asked = t.mock(answer, |_| says("more\nCONTINUE"));
    let few = Settings {
        steps: 3,
        ..settings()
    };
    let run = t.start(session, few);
    say(&run, "work");
    assert_eq!(asked.calls().len(), 3);
    assert_eq!(happened(&run).last().unwrap(), "enough 3");
    say(&run, "go on");
    assert_eq!(asked.calls().len(), 6);
}

#[perennial::test]
fn a_session_ends_before_its_history_does(t: &mut TestRun) {
    t.mock(answer, |_| says("more\nCONTINUE"));
    let short = Settings {
        most: 4,
        ..settings()
    };
    let run = t.start(session, short);
    say(&run, "work");
    let ended = run.result().unwrap();
    assert_eq!(
        (ended.why, ended.steps),
        (Why::Full, 3),
        "three steps and a word"
    );
}

#[perennial::test]
fn what_may_pass_is_tried_again_and_not_shown(t: &mut TestRun) {
    let slow = || Err(Failure::transient("the model did not answer in 1m"));
    let asked = t.mock(answer, move |_| slow()).then(|_| says("here"));
    let run = t.start(session, settings());
    say(&run, "hello");
    t.advance(seconds(1));
    assert_eq!(asked.calls().len(), 2);
    assert_eq!(happened(&run), ["user hello", "step 1", "agent 1 here"]);
}

#[perennial::test]
fn a_model_that_says_no_ends_the_step_and_not_the_session(t: &mut TestRun) {
    let asked = t
        .mock(answer, |_| {
            Err(Failure::reject(ModelError::Key { status: 401 }))
        })
        .then(|_| says("here"));
    let run = t.start(session, settings());
    say(&run, "hello");
    let Some(Event::StepFailed { step: 1, problem }) = run.stream(OUTPUT).pop() else {
        panic!("it failed");
    };
    assert!(problem.contains("does not take the key (401)"), "{problem}");
    t.advance(minutes(10));
    assert_eq!(asked.calls().len(), 1, "it is not asked again by itself");
    say(&run, "again");
    assert_eq!(happened(&run).last().unwrap(), "agent 2 here");
}

#[perennial::test]
fn a_model_that_is_not_there_is_given_up_and_a_word_meanwhile_asks_again(t: &mut TestRun) {
    let gone = || Err(Failure::transient("there is no model"));
    let asked = t
        .mock(answer, move |_| gone())
        .then(move |_| gone())
        .then(move |_| gone())
        .then(move |_| gone())
        .then(move |_| gone())
        .then(|_| says("here"));
    let run = t.start(session, settings());
    say(&run, "hello");
    say(&run, "are you there?");
    t.advance(minutes(5));
    assert_eq!(asked.calls().len(), 6);
    assert_eq!(
        happened(&run),
        [
            "user hello",
            "step 1",
            "user are you there?",
            "failed 1",
            "step 2",
            "agent 2 here"
        ]
    );
}

#[perennial::test]
fn what_is_no_text_or_too_long_is_not_heard(t: &mut TestRun) {
    let asked = t.mock(answer, |_| says("here"));
    let run = t.start(session, settings());
    let reference = run.offers()[0].reference.clone();
    run.fulfil_json(&reference, r#"{"say": "hello"}"#);
    say(&run, &"a".repeat(LONGEST_WORD + 1));
    assert_eq!(happened(&run), ["not heard", "not heard"]);
    assert_eq!(run.view(STANDING).unwrap().heard, 2);
    say(&run, "hello");
    assert_eq!(shown(&asked.calls()[0]), ["hello"]);
}

#[perennial::test]
fn the_same_word_at_the_same_offer_is_heard_once(t: &mut TestRun) {
    t.mock(answer, |_| says("here")).times(1);
    let run = t.start(session, settings());
    let reference = run.offers()[0].reference.clone();
    for _ in 0..2 {
        run.fulfil_at(&reference, hear, "hello".to_owned());
    }
    assert_eq!(happened(&run), ["user hello", "step 1", "agent 1 here"]);
    assert_eq!(run.offers().len(), 1);
}
