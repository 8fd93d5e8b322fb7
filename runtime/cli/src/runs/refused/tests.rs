#![allow(clippy::unwrap_used)]

use perennial::history::Channel;
use perennial::value::{Digest, Value};
use perennial::{OperationId, Timestamp};
use perennial_runtime::{
    ForkError, FulfilError, PauseError, ReadError, SendError, Status, StreamError, UpdateError,
};

use super::*;

fn at() -> Timestamp {
    Timestamp::from_millis(1_764_000_000_000)
}

fn digest() -> Box<Digest> {
    Digest([7; 32]).into()
}

/// What a library says to a program that does something with a run, where its help is something to be called.
fn refusals(run: &RunKey) -> Vec<Refused> {
    let (run, id) = (run.clone(), run.id.clone());
    let reference = OperationId { run: id, number: 7 };
    let key = || "a".to_owned();
    let name = || "approval".to_owned();
    let sent = [
        SendError::RunNotFound { run: run.clone() },
        SendError::RunFinished {
            run: run.clone(),
            status: Status::Failed,
            finished: at(),
            migrated_to: None,
        },
        SendError::InboxFull {
            run: run.clone(),
            limit: 10_000,
        },
        SendError::KeyTooOld {
            run: run.clone(),
            key: key(),
            at: at(),
        },
        SendError::NoSuchMessage {
            workflow: "order".into(),
            channel: Channel::Message,
            name: name(),
            declared: Vec::new(),
            closest: None,
        },
        SendError::Unacknowledged {
            run: run.clone(),
            reason: "the runtime was stopped".into(),
        },
    ];
    let asked: [UpdateError<Value>; 9] = [
        UpdateError::NoHandler {
            run: run.clone(),
            name: name(),
            handled: Vec::new(),
            closest: None,
        },
        UpdateError::NoSuchUpdate {
            workflow: "order".into(),
            name: name(),
            declared: Vec::new(),
            closest: None,
        },
        UpdateError::RunNotFound { run: run.clone() },
        UpdateError::RunFinished {
            run: run.clone(),
            status: Status::Completed,
            finished: at(),
            migrated_to: None,
        },
        UpdateError::RunEnded {
            run: run.clone(),
            status: Status::Completed,
            finished: at(),
            migrated_to: None,
        },
        UpdateError::RunBlocked {
            run: run.clone(),
            code: "H203".into(),
            text: "its history does not fit\n\nhelp: more".into(),
        },
        UpdateError::RunPaused {
            run: run.clone(),
            since: at(),
        },
        UpdateError::Panicked {
            run: run.clone(),
            name: name(),
            text: "no".into(),
        },
        UpdateError::Unacknowledged {
            run: run.clone(),
            reason: "the runtime was stopped".into(),
        },
    ];
    let fulfilled = [
        FulfilError::RunNotFound { run: run.clone() },
        FulfilError::Purged {
            reference: reference.clone(),
        },
        FulfilError::NoSuchOperation {
            reference: reference.clone(),
        },
        FulfilError::NotAStub {
            reference: reference.clone(),
        },
        FulfilError::OtherStub {
            reference: reference.clone(),
            is: "review".into(),
            given: "revue".into(),
        },
        FulfilError::Conflict {
            reference: reference.clone(),
            stub: "review".into(),
            recorded: digest(),
            given: digest(),
        },
        FulfilError::Closed {
            reference,
            stub: "review".into(),
            at: at(),
            ended: None,
        },
    ];
    let steered = [
        PauseError::NotFound { run: run.clone() },
        PauseError::Finished {
            run: run.clone(),
            status: Status::Completed,
            migrated_to: None,
        },
    ];
    let forked = [
        ForkError::NotFound { run: run.clone() },
        ForkError::Purged {
            run: run.clone(),
            at: at(),
        },
        ForkError::NoSuchEvent {
            run: run.clone(),
            event: 9,
            events: 7,
        },
        ForkError::NoSuchEvent {
            run: run.clone(),
            event: 9,
            events: 0,
        },
    ];
    let read = [
        ReadError::NotFound { run: run.clone() },
        ReadError::Purged {
            run: run.clone(),
            at: at(),
        },
        ReadError::InvalidCursor { cursor: "x".into() },
        ReadError::BothDirections,
    ];
    let missed = StreamError::Missed {
        run,
        stream: "output".into(),
        after: 3,
        first: 9,
    };
    // How a run has ended only the library can say.
    let ended = serde_json::json!({
        "code": Refused::RUN_FINISHED,
        "text": "it was not completed, since its run failed",
        "help": "`client.status(..)` shows how the run stands",
    });
    let ended: Refused = serde_json::from_value(ended).unwrap();
    let sent = sent.into_iter().map(Refused::from);
    sent.chain(asked.into_iter().map(Refused::from))
        .chain(fulfilled.into_iter().map(Refused::from))
        .chain(steered.into_iter().map(Refused::from))
        .chain(forked.into_iter().map(Refused::from))
        .chain(read.into_iter().map(Refused::from))
        .chain([missed.into(), ended])
        .collect()
}

/// Each error with its code.
fn texts(run: &str) -> String {
    let run: RunKey = run.parse().unwrap();
    let about = About::run(Path::new("my data"), &run);
    let all = refusals(&run).into_iter().map(|refused| {
        let code = refused.code.clone();
        let told = match &*code {
            Refused::NO_HANDLER | Refused::NO_SUCH_UPDATE | Refused::RUN_BLOCKED => {
                NotDone::asking(about, refused.into())
            }
            _ => NotDone::new(about, refused.into()),
        };
        format!("{code}: {told}")
    });
    all.collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn what_may_be_done_is_asked_for_again_in_the_way_in_which_it_was() {
    let run: RunKey = "order-42".parse().unwrap();
    let about = About::run(Path::new("data"), &run);
    let lost = || AskError::Lost {
        reason: "the program has ended the connection".into(),
    };
    let told = [
        NotDone::new(about, lost()),
        NotDone::asking(about, lost()),
        NotDone::fulfilling(about, lost()),
        NotDone::steering(about, lost()),
    ];
    assert!(told.iter().all(NotDone::may_be_done));
    insta::assert_snapshot!("lost", told.map(|told| told.to_string()).join("\n---\n"));
    assert!(!NotDone::reading(about, lost()).may_be_done());
}

#[test]
fn what_is_printed_names_commands_with_what_was_typed_and_nothing_that_a_program_calls() {
    for run in ["order-42", "shop/order-42"] {
        let texts = texts(run);
        for not in ["client.", "Builder", "<RUN>", "`.", "cx.", "`const`"] {
            assert!(!texts.contains(not), "{not} in {texts}");
        }
        insta::assert_snapshot!(format!("about_{}", run.replace('/', "_")), texts);
    }
}

#[test]
fn of_a_call_whose_run_was_migrated_the_new_run_can_be_found() {
    let run: RunKey = "order-42".parse().unwrap();
    let refused = serde_json::json!({
        "code": Refused::RUN_MIGRATED,
        "text": "order-42~7 was not completed, since its run was migrated to another one",
        "help": "`client.status(..)` shows how the run stands",
    });
    let refused: Refused = serde_json::from_value(refused).unwrap();
    let about = About::run(Path::new("data"), &run);
    let told = NotDone::fulfilling(about, refused.into());
    assert!(!told.may_be_done());
    insta::assert_snapshot!(told, @r"
    order-42~7 was not completed, since its run was migrated to another one

    help: `perennial show data order-42` names the run that goes on in its place
    ");
}
