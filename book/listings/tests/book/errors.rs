//! Each error that the chapter shows, made.

use std::sync::Arc;

use perennial::history::{Decision, Observation, SEMANTICS, Started, Unit};
use perennial::machine::Machine;
use perennial::value::Value;
use perennial::wire::RecordError;
use perennial::{Blocked, Incompatible, IncompatibleKind, RunKey, Timestamp, WorkflowDefinition};
use perennial_book::errors::{self, Order, Shop};
use perennial_runtime::store::{Durability, OpenError, SledStore};
use perennial_runtime::{Builder, Client, RunError, RunHandle, Runtime};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::texts::assert_text;

/// The program of a day, over the store of the days before.
fn program(folder: &TempDir, day: &str, shop: Shop) -> Builder {
    let options = SledStore::options().durability(Durability::Os);
    let store = options.open(folder.path()).unwrap();
    Runtime::builder(store)
        .activities((errors::ship, errors::send_receipt, errors::pack))
        .state(shop)
        .artifact(day)
}

/// A run that was killed while it shipped.
async fn shipping() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let told = Arc::new(Semaphore::new(0));
    let closed = Some(Arc::clone(&told));
    let monday = program(&folder, "monday", Shop { closed })
        .workflow(errors::fulfil)
        .activity(errors::charge_card);
    let runtime = monday.start().await.unwrap();
    let order = Order {
        id: "42".to_owned(),
        cents: 1_200,
    };
    let client = runtime.client();
    client
        .start(errors::fulfil, "order-42", order)
        .await
        .unwrap();
    told.acquire().await.unwrap().forget();
    drop(runtime);
    folder
}

fn run(client: &Client) -> RunHandle<errors::fulfil> {
    client.run(errors::fulfil, "order-42").unwrap()
}

async fn blocked(folder: &TempDir, tuesday: Builder, code: &str) {
    let runtime = tuesday.start().await.unwrap();
    let Err(RunError::Blocked {
        code: found, text, ..
    }) = run(&runtime.client()).result().await
    else {
        panic!("it is blocked");
    };
    assert_eq!(found, code);
    assert_text(&format!("texts/errors/{code}.txt"), &text);
    drop(runtime);

    // And it goes on as soon as there is code that fits.
    let wednesday = program(folder, "wednesday", Shop::default())
        .workflow(errors::fulfil)
        .activity(errors::charge_card);
    let runtime = wednesday.start().await.unwrap();
    let result = run(&runtime.client()).result().await.unwrap();
    assert_eq!(result, "parcel of 42");
}

macro_rules! blocked {
    ($($name:ident $code:literal $module:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let folder = shipping().await;
            let tuesday = program(&folder, "tuesday", Shop::default())
                .workflow(errors::$module::fulfil)
                .activity(errors::charge_card);
            blocked(&folder, tuesday, $code).await;
        }
    )*};
}

blocked! {
    a_changed_activity "H201" changed;
    a_changed_input "H202" changed_input;
    an_inserted_activity "H203" inserted;
    a_removed_activity "H204" removed;
    activities_in_another_order "H205" reordered;
    an_earlier_return "H206" left_over;
}

#[tokio::test]
async fn a_missing_workflow() {
    let folder = shipping().await;
    let tuesday = program(&folder, "tuesday", Shop::default()).activity(errors::charge_card);
    blocked(&folder, tuesday, "H209").await;
}

#[tokio::test]
async fn a_type_that_cannot_read_what_was_recorded() {
    let folder = shipping().await;
    let tuesday = program(&folder, "tuesday", Shop::default())
        .workflow(errors::does_not_decode::fulfil)
        .activity(errors::does_not_decode::charge_card);
    blocked(&folder, tuesday, "H210").await;
}

#[tokio::test]
async fn code_that_is_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(&folder, "monday", Shop::default())
        .workflow(errors::share)
        .workflow(errors::find_lucky_number)
        .workflow(errors::wait_unseen)
        .workflow(errors::average)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let run = client
        .start(errors::share, "bill-7", (5_000, 0))
        .await
        .unwrap();
    told("W101", run.result().await);
    let run = client
        .start(errors::find_lucky_number, "lucky", ())
        .await
        .unwrap();
    told("W102", run.result().await);
    let run = client
        .start(errors::wait_unseen, "unseen", ())
        .await
        .unwrap();
    told("W103", run.result().await);
    let run = client
        .start(errors::average, "grades", (0.0, 0.0))
        .await
        .unwrap();
    told("W104", run.result().await);
}

#[track_caller]
fn told<T, E>(code: &str, result: Result<T, RunError<E>>) {
    let Err(RunError::Blocked {
        code: found, text, ..
    }) = result
    else {
        panic!("it is blocked");
    };
    assert_eq!(found, code);
    assert_text(&format!("texts/errors/{code}.txt"), &text);
}

fn started(semantics: u32, first_operation: u64) -> Unit {
    let run = key();
    Unit {
        number: 1,
        at: Timestamp::from_millis(1_000),
        observation: Observation::Started(Started {
            workflow: errors::share::NAME.to_owned(),
            input: Value::from_json("[5000,2]").unwrap(),
            semantics,
            artifact: "monday".to_owned(),
            namespace: run.namespace,
            run: run.id,
            generation: 1,
            first_operation,
            version: None,
            migrated_from: None,
            forked_from: Vec::new(),
            streams: Vec::new(),
        }),
        decisions: Vec::new(),
    }
}

/// A marker whose version the program does not know, and one that it no longer asks for.
#[test]
fn markers_that_do_not_fit() {
    let wrap = WorkflowDefinition::of::<errors::marked::wrap>();
    let mut first = started(SEMANTICS, 1);
    if let Observation::Started(started) = &mut first.observation {
        started.workflow = wrap.name.to_owned();
        started.input = Value::from_json(r#"{"id":"42","cents":1200}"#).unwrap();
    }
    let mut machine = Machine::new(wrap, &"monday".into(), Box::new(|| 7));
    let told = machine.observe(first.observation, first.at, first.at);
    let mut unit = told.unwrap().unit;
    let removed = WorkflowDefinition::of::<errors::marked::removed::wrap>();
    let error = replayed_by(removed, [unit.clone()]);
    assert_text("texts/errors/H208.txt", &error.to_string());
    let Decision::Marker { version, .. } = &mut unit.decisions[0] else {
        panic!("it begins with the marker");
    };
    *version = 2;
    let error = replayed_by(wrap, [unit]);
    assert_text("texts/errors/H207.txt", &error.to_string());
}

fn key() -> RunKey {
    RunKey::new("default".parse().unwrap(), "bill-7".parse().unwrap())
}

fn replayed(units: impl IntoIterator<Item = Unit>) -> Blocked {
    replayed_by(WorkflowDefinition::of::<errors::share>(), units)
}

fn replayed_by(definition: WorkflowDefinition, units: impl IntoIterator<Item = Unit>) -> Blocked {
    let mut machine = Machine::new(definition, &"tuesday".into(), Box::new(|| 7));
    units
        .into_iter()
        .find_map(|unit| machine.replay(unit).err())
        .unwrap()
}

/// What only a store that was damaged, or newer software, can bring about.
#[test]
fn histories_that_cannot_be_read() {
    let result = Value::from_json("2500").unwrap();
    let mut first = started(SEMANTICS, 1);
    let decisions = &mut first.decisions;
    decisions.push(Decision::Completed {
        value: result.clone(),
        open: Vec::new(),
    });
    let operation = 1;
    let late = Unit {
        number: 7,
        at: first.at,
        observation: Observation::ActivityCompleted { operation, result },
        decisions: Vec::new(),
    };
    let unknown = RecordError::UnknownKind { kind: 77 };
    let kind = IncompatibleKind::UnknownEvent;
    let unknown = Incompatible::found(kind, key(), errors::share::NAME, 5, unknown.to_string());
    let errors = [
        ("H211", Blocked::Incompatible(Box::new(unknown))),
        ("H212", replayed([first, late])),
        ("H213", replayed([started(SEMANTICS, 0)])),
        ("H214", replayed([started(SEMANTICS + 1, 1)])),
    ];
    for (code, error) in errors {
        assert_eq!(error.code(), code);
        assert_text(&format!("texts/errors/{code}.txt"), &error.to_string());
    }
}

/// What a folder answers that cannot be a store, or not now.
#[test]
fn stores_that_cannot_be_opened() {
    let folder = || "trip.store".into();
    let no_sync = OpenError::NoSync {
        folder: folder(),
        path: "trip.store/sled".into(),
        reason: "Operation not supported (os error 95)".to_owned(),
    };
    let process = Some(4_711);
    let held = OpenError::Held {
        folder: folder(),
        process,
    };
    assert_text("texts/no-sync.txt", &no_sync.to_string());
    assert_text("texts/held.txt", &held.to_string());
}
