//! What a migration sees of a run, and what it says of it (S38).

#![allow(clippy::unwrap_used)]

#[path = "story/mod.rs"]
mod story;

use perennial::history::{ActivityFailure, Channel, History, Observation, SlotResult, Unit};
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{BlockedBy, MigrationDefinition, Namespace, OpenKind, RunKey};
use serde::{Deserialize, Serialize};

use story::{Story, completed, started, told};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: String,
    cents: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OrderV2 {
    id: String,
    charged: Option<u64>,
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure<String>> {
    Ok(cents)
}

#[activity(idempotent)]
async fn mail(_acx: &ActivityCx, to: String) -> Result<(), Failure> {
    let _ = to;
    Ok(())
}

#[workflow(name = "order")]
async fn order_v1(cx: &Cx, order: Order) -> Result<u64, Error> {
    let limit = cx.record("limit", || 5_u64);
    let receipt = charge(cx, order.cents + limit).await?;
    let (sent, slept) = join!(mail(cx, order.id), cx.sleep(days(1)));
    sent?;
    slept?;
    Ok(receipt)
}

#[workflow]
async fn order_v2(cx: &Cx, order: OrderV2) -> Result<u64, Error> {
    cx.sleep(days(1)).await?;
    Ok(order.charged.unwrap_or_default())
}

/// Keeps the charge, and lets the mail go out.
#[migration(from = order_v1, to = order_v2)]
fn to_v2(old: &OldRun) -> Result<OrderV2, Refuse> {
    let order: Order = old.input()?;
    if order.cents == 0 {
        return Err(Refuse::because("an order of nothing"));
    }
    old.keep(mail);
    old.stop_timers();
    Ok(OrderV2 {
        id: order.id,
        charged: old.last_result(charge)?,
    })
}

fn order() -> Order {
    Order {
        id: "A-1".into(),
        cents: 12,
    }
}

fn history(units: Vec<Unit>) -> History {
    History {
        run: RunKey::new(Namespace::default(), RunId::new("order-42").unwrap()),
        generation: 1,
        units,
    }
}

fn begun() -> Story {
    Story::of::<order_v1>(order())
}

fn charged() -> Story {
    let mut story = begun();
    story.complete(1, 17);
    story
}

fn of(story: &Story) -> OldRun {
    OldRun::of(history(story.units.clone())).unwrap()
}

#[test]
fn s38_a_migration_makes_the_new_input_out_of_what_is_recorded() {
    let old = of(&charged());
    assert_eq!(
        to_v2::run(&old),
        Ok(OrderV2 {
            id: "A-1".into(),
            charged: Some(17)
        })
    );
    assert_eq!(old.undisposed(), []);
    assert_eq!(
        (old.id().as_str(), old.workflow(), old.generation()),
        ("order-42", "order", 1)
    );
    assert_eq!(old.recorded::<u64>("limit"), Ok(vec![5]));
    assert_eq!(old.recorded::<u64>("other"), Ok(vec![]));
    assert_eq!(old.now(), story::BEGIN);
}

#[test]
fn s38_what_is_open_is_named_until_something_is_said_of_it() {
    let old = of(&begun());
    let open: Vec<_> = old.undisposed().iter().map(|open| open.operation).collect();
    assert_eq!(open, [1]);
    assert!(to_v2::run(&old).is_ok());
    // It says what becomes of mails and timers, and not of the charge.
    let named: Vec<_> = old.undisposed().iter().map(ToString::to_string).collect();
    assert_eq!(named.len(), 1);
    assert!(
        named[0].starts_with("activity charge ~1  sdk/tests/migration.rs:"),
        "{}",
        named[0]
    );
    assert_eq!(old.keep(charge), 1);
    assert_eq!(old.undisposed(), []);

    let old = of(&charged());
    let kinds: Vec<_> = old.open().iter().map(|open| &open.kind).collect();
    assert!(matches!(
        kinds[..],
        [
            OpenKind::Activity { dropped: false, .. },
            OpenKind::Timer { .. }
        ]
    ));
    assert_eq!((old.keep_activities(), old.stop_timers()), (1, 1));
    assert_eq!(old.keep_named("nothing of that name"), 0);
    assert_eq!(old.undisposed(), []);
    assert_eq!(old.open_activities()[0].name, "mail");
    assert_eq!(old.open_timers(), [3]);
}

#[test]
fn s12_what_the_workflow_has_given_up_is_open_all_the_same() {
    #[workflow(name = "order")]
    async fn gives_up(cx: &Cx, _order: Order) -> Result<u64, Error> {
        select! {
            _ = mail(cx, "a".to_owned()) => {}
            _ = cx.sleep(days(1)) => {}
        }
        Ok(charge(cx, 1).await?)
    }
    let mut story = Story::of::<gives_up>(order());
    story.fire(2);
    let old = of(&story);
    let named: Vec<_> = old
        .open()
        .iter()
        .map(|open| (open.operation, &open.kind))
        .collect();
    assert!(matches!(
        named[..],
        [
            (1, OpenKind::Activity { dropped: true, .. }),
            (3, OpenKind::Activity { dropped: false, .. })
        ]
    ));
    // A timer that was given up is nobody's any more.
    let mut story = Story::of::<gives_up>(order());
    story.complete(1, ());
    assert_eq!(of(&story).open().len(), 1);
}

#[test]
fn s38_results_that_the_run_was_not_told_are_seen_too() {
    let story = begun();
    let arrived = vec![
        completed(1, 99),
        Observation::ActivityFailed {
            operation: 1,
            failure: ActivityFailure::TimedOut,
        },
    ];
    let by = BlockedBy::new("second", "H201", "its history does not fit");
    let old = OldRun::new(history(story.units.clone()), arrived, vec![by.clone()]).unwrap();
    assert_eq!(old.last_result(charge), Ok(Some(99)));
    assert_eq!(old.results(charge), Ok(vec![99]));
    assert_eq!(old.results_named::<u64>("charge"), Ok(vec![99]));
    assert_eq!(old.failures_named("charge"), [&ActivityFailure::TimedOut]);
    assert_eq!(old.open(), []);
    assert_eq!(old.blocked(), [by]);
    assert_eq!(old.arrived().len(), 2);
    assert_eq!(old.last_result(mail), Ok(None));
}

#[test]
fn s38_a_run_that_no_program_had_begun_has_its_input_in_what_has_arrived() {
    let old = OldRun::new(history(vec![]), vec![started::<order_v1>(order())], vec![]).unwrap();
    assert_eq!(to_v2::run(&old).unwrap().charged, None);
    assert_eq!(
        OldRun::of(history(vec![])).unwrap_err().to_string(),
        "how it began is not in its history"
    );
}

#[test]
fn s38_what_does_not_decode_refuses_the_migration_and_says_what_it_is() {
    let story = charged();
    let old = of(&story);
    let texts = [
        old.input::<u64>().unwrap_err(),
        old.results_named::<String>("charge").unwrap_err(),
        old.recorded::<String>("limit").unwrap_err(),
        old.started()
            .input
            .decode::<u64>()
            .map_err(Refuse::from)
            .unwrap_err(),
        to_v2::run(&of(&Story::of::<order_v1>(Order {
            cents: 0,
            ..order()
        })))
        .unwrap_err(),
    ];
    let texts: Vec<_> = texts.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    the input: the value does not decode as `u64`: invalid type: map, expected u64
    a result of `charge`: the value does not decode as `alloc::string::String`: invalid type: integer `17`, expected a string
    a value recorded as `limit`: the value does not decode as `alloc::string::String`: invalid type: integer `5`, expected a string
    a recorded value: the value does not decode as `u64`: invalid type: map, expected u64
    an order of nothing
    ");
}

#[test]
fn s38_a_migration_is_known_by_its_name_and_by_what_it_moves() {
    /// Within the workflow, to another input.
    #[migration(from = order_v2, name = "again")]
    fn with_charge(old: &OldRun) -> Result<OrderV2, Refuse> {
        let order = old.input()?;
        old.keep_activities();
        Ok(order)
    }
    #[migration(from = "order", to = order_v2)]
    fn of_code_that_is_gone(old: &OldRun) -> Result<OrderV2, Refuse> {
        let _ = old;
        Err(Refuse::because("no"))
    }
    fn named<X, F: perennial::MigrationFn<X>>(_: F) -> MigrationDefinition {
        MigrationDefinition::of::<F::M>()
    }
    let facts = [
        named(to_v2),
        named(with_charge),
        named(of_code_that_is_gone),
    ]
    .map(|found| (found.name, found.from, found.to.name));
    assert_eq!(
        facts,
        [
            ("to_v2", "order", "order_v2"),
            ("again", "order_v2", "order_v2"),
            ("of_code_that_is_gone", "order", "order_v2"),
        ]
    );
    let input = (named(to_v2).run)(&of(&charged())).unwrap();
    assert_eq!(input.as_json(), r#"{"id":"A-1","charged":17}"#);
    assert_eq!(format!("{:?}", to_v2(&of(&begun()))), "Migrates(\"to_v2\")");
}

// ---- messages ----------------------------------------------------------------------------------------

const NOTE: Message<String> = Message::new("note");
const BELL: Signal<u64> = Signal::new("bell");

/// Takes one note, and waits for others beside a signal.
#[workflow]
async fn noted(cx: &Cx) -> Result<(), Error> {
    cx.receive(NOTE).await?;
    select! {
        _ = cx.receive(NOTE) => {},
        slept = cx.sleep(days(1)) => slept?,
    }
    charge(cx, 5).await?;
    let (note, rung) = join!(cx.receive(NOTE), cx.wait_for(BELL));
    note?;
    rung?;
    Ok(())
}

fn noted_until_it_waits_again() -> Story {
    let mut story = Story::of::<noted>(());
    story.message(1, "note", "taken");
    story.fire(3);
    story.message(4, "note", "while it charges");
    story.message(5, "other", 7);
    story
}

#[test]
fn m42_messages_that_were_not_taken_are_told_to_the_migration_those_that_the_run_was_not_told_too()
{
    let story = noted_until_it_waits_again();
    let arrived = vec![
        Observation::SignalArrived(told(6, "bell", 1)),
        Observation::MessageArrived(told(7, "note", "late")),
        completed(4, 5),
    ];
    let old = OldRun::new(history(story.units.clone()), arrived, vec![]).unwrap();
    assert_eq!(old.messages(NOTE).unwrap(), ["while it charges", "late"]);
    let numbers: Vec<_> = old.unread().iter().map(|told| told.number).collect();
    assert_eq!(numbers, [4, 5, 7]);
    let wrong = Message::<String>::new("other");
    let error = old.messages(wrong).unwrap_err();
    insta::assert_snapshot!(error, @r#"message #5 "other": the value does not decode as `alloc::string::String`: invalid type: integer `7`, expected a string"#);
}

#[test]
fn a_wait_that_is_open_is_listed_and_ends_with_the_run_without_a_word() {
    let mut story = noted_until_it_waits_again();
    let open = |story: &Story| {
        let old = of(story);
        let open: Vec<_> = old.open().iter().map(|open| open.kind.clone()).collect();
        (open, old.undisposed().len())
    };
    // The wait that lost has ended, and so has the one that got its message.
    let (kinds, undisposed) = open(&story);
    assert!(matches!(&*kinds, [OpenKind::Activity { .. }]), "{kinds:?}");
    assert_eq!(undisposed, 1);
    story.complete(4, 5);
    let (kinds, undisposed) = open(&story);
    let bell = OpenKind::Receive {
        channel: Channel::Signal,
        name: "bell".to_owned(),
    };
    assert_eq!(kinds, [bell]);
    assert_eq!(undisposed, 0);
    insta::assert_snapshot!(of(&story).open()[0].to_string().split("  ").next().unwrap(), @r#"wait for the signal "bell" ~6"#);
    assert_eq!(of(&story).messages(NOTE).unwrap(), [] as [String; 0]);
}

#[stub]
async fn review(cx: &Cx, order: String) -> u64;

#[workflow]
async fn reviewed(cx: &Cx) -> Result<u64, Error> {
    let first = review(cx, "first".to_owned()).await?;
    let (second, third) = join!(
        review(cx, "second".to_owned()),
        review(cx, "third".to_owned()).timeout(days(1)),
    );
    Ok(first + second? + third?.unwrap_or(0))
}

#[test]
fn offers_that_are_open_have_to_be_closed_and_what_stubs_were_fulfilled_with_is_known() {
    let mut story = Story::of::<reviewed>(());
    story.fulfil(1, 5);
    story.fulfil(1, 6);
    let arrived = vec![Observation::StubFulfilled {
        operation: 3,
        value: Value::encode(&7).unwrap(),
        key: None,
    }];
    let old = OldRun::new(history(story.units.clone()), arrived, vec![]).unwrap();
    assert_eq!(old.fulfilled(review).unwrap(), [5, 7]);
    assert!(old.results_named::<u64>("review").unwrap().is_empty());
    let texts: Vec<_> = old.undisposed().iter().map(ToString::to_string).collect();
    let texts: Vec<_> = texts
        .iter()
        .map(|text| text.split("  ").next().unwrap())
        .collect();
    assert_eq!(texts[0], "offer of the stub review ~2");
    assert_eq!(old.ending(), [2, 4]);
    assert_eq!((old.close_offers(), old.stop_timers()), (1, 1));
    assert!(old.undisposed().is_empty());
}

// ---- what it has told others -------------------------------------------------------------------------

const RESERVE: Message<u64> = Message::new("reserve");
const OUTPUT: Stream<u64> = Stream::new("output");

#[stub]
async fn quote(cx: &Cx, seats: u64) -> u64;

fn hall() -> RunId {
    RunId::new("hall-1").unwrap()
}

/// Tells others this and that.
#[workflow]
async fn tells(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    cx.emit(OUTPUT, 1);
    let sent = cx.send(&hall(), RESERVE, &7).await;
    cx.emit(OUTPUT, 2);
    let rung = cx.signal(&hall(), BELL, &8).await;
    let given = cx.fulfil(&asked, quote, &9).await;
    let last = join!(
        cx.send(&hall(), RESERVE, &10),
        cx.fulfil(&asked, quote, &11)
    );
    drop((sent, rung, given, last));
    Ok(())
}

#[test]
fn what_the_run_has_told_others_is_told_to_the_migration_with_what_came_of_it() {
    let mut story = Story::of::<tells>("group-7~1");
    let receipt = Receipt {
        number: 3,
        at: story::BEGIN,
        duplicate: false,
    };
    let missing = SendFailure::RunNotFound { run: hall() };
    let asked: OperationId = "group-7~1".parse().unwrap();
    let conflict = FulfilFailure::Conflict {
        reference: asked.clone(),
        stub: "quote".to_owned(),
    };
    let filled = |operation, result| Observation::SlotFilled { operation, result };
    story.observe(filled(1, SlotResult::Sent(receipt)));
    story.observe(filled(2, SlotResult::NotSent(missing.clone())));
    story.observe(filled(3, SlotResult::NotFulfilled(conflict.clone())));
    // The last two are decided, and the run was told of one of them only by its queue.
    let arrived = vec![filled(4, SlotResult::Sent(receipt))];
    let old = OldRun::new(history(story.units.clone()), arrived, vec![]).unwrap();
    let sent: Vec<_> = old
        .sent()
        .into_iter()
        .map(|sent| {
            assert_eq!(sent.to, hall());
            let payload = sent.payload.decode::<u64>().unwrap();
            (sent.operation, sent.name, payload, sent.outcome)
        })
        .collect();
    let expected = [
        (1, "reserve".to_owned(), 7, Some(Ok(receipt))),
        (2, "bell".to_owned(), 8, Some(Err(missing))),
        (4, "reserve".to_owned(), 10, Some(Ok(receipt))),
    ];
    assert_eq!(sent, expected);
    let given: Vec<_> = old
        .fulfilments()
        .into_iter()
        .map(|given| {
            assert_eq!((&given.reference, &*given.stub), (&asked, "quote"));
            let value = given.value.decode::<u64>().unwrap();
            (given.operation, value, given.outcome)
        })
        .collect();
    assert_eq!(given, [(3, 9, Some(Err(conflict))), (5, 11, None)]);
    assert_eq!(old.emitted(OUTPUT).unwrap(), [1, 2]);
    let error = old.emitted(Stream::<String>::new("output")).unwrap_err();
    insta::assert_snapshot!(error, @r#"item #1 of "output": the value does not decode as `alloc::string::String`: invalid type: integer `1`, expected a string"#);
    // None of it is open: a migration has nothing to say of it.
    assert_eq!(old.undisposed(), []);
}
