//! What runs wait for from people, and values for it, from outside.

use perennial::history::Observation;
use perennial::prelude::*;
use perennial_runtime::control::{Fulfil, ListWaiting};
use perennial_runtime::{OfferInfo, OfferPage};

use crate::support::waiting::{soon, until};
use crate::*;

/// A person says yes or no.
#[stub]
async fn review(cx: &Cx, question: String) -> bool;

/// Asks, and waits a week at most.
#[workflow]
async fn asks(cx: &Cx, question: String) -> Result<Option<bool>, Error> {
    Ok(review(cx, question).timeout(days(7)).await?)
}

fn program(folder: &Path) -> Builder {
    crate::program(folder).workflow(asks).control_socket()
}

async fn started(runtime: &Runtime, id: &'static str) -> perennial_runtime::RunHandle<asks> {
    let client = runtime.client();
    let run = client.start(asks, id, format!("{id}?")).await.unwrap();
    until(async || {
        client
            .waiting()
            .page()
            .await
            .unwrap()
            .offers
            .iter()
            .any(|offer| offer.reference.run == *run.id())
    })
    .await;
    run
}

fn fulfil(run: &str, operation: u64, value: &str) -> Request {
    Request::Fulfil(Fulfil {
        run: run.parse().unwrap(),
        operation,
        stub: "review".into(),
        value: Value::from_json(value).unwrap(),
    })
}

async fn waiting(place: &Path, list: ListWaiting) -> OfferPage {
    let (_, answer) = ask(place, Request::Waiting(list)).await.unwrap();
    let Answer::Offers(page) = answer else {
        panic!("{answer:?}")
    };
    page
}

fn references(page: &OfferPage) -> Vec<String> {
    let offers = page.offers.iter();
    offers.map(|offer| offer.reference.to_string()).collect()
}

#[tokio::test]
async fn what_runs_wait_for_is_listed_by_a_program_a_stopped_store_and_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    for id in ["a", "b", "c"] {
        started(&runtime, id).await;
    }
    let export = folder.path().join("runs.jsonl");
    runtime.export(&export).await.unwrap();
    let list = || ListWaiting {
        limit: 2,
        ..ListWaiting::default()
    };
    let first = waiting(folder.path(), list()).await;
    assert_eq!(
        (references(&first), first.more),
        (vec!["a~1".into(), "b~1".into()], true)
    );
    let OfferInfo {
        stub,
        input,
        deadline,
        since,
        ..
    } = &first.offers[0];
    assert_eq!(
        (&**stub, input),
        ("review", &Some(Value::encode(&"a?").unwrap()))
    );
    assert_eq!(deadline.unwrap().since(*since), days(7));
    let rest = || ListWaiting {
        after: Some("b~1".parse().unwrap()),
        ..list()
    };
    let last = waiting(folder.path(), rest()).await;
    assert_eq!((references(&last), last.more), (vec!["c~1".into()], false));
    let elsewhere = ListWaiting {
        namespace: "other".parse().unwrap(),
        ..ListWaiting::default()
    };
    assert_eq!(
        waiting(folder.path(), elsewhere).await,
        OfferPage::default()
    );
    let shown = |answer| {
        let Answer::Run(details) = answer else {
            panic!("{answer:?}")
        };
        (details.offers, details.stubs, details.info.awaits)
    };
    let show = || Request::Show {
        run: "b".parse().unwrap(),
    };
    let of_run = shown(ask(folder.path(), show()).await.unwrap().1);
    assert_eq!(of_run.0, first.offers[1..]);
    assert_eq!((&*of_run.1[0].name, of_run.2.stubs), ("review", 1));
    drop(runtime);
    for place in [folder.path(), &*export] {
        assert_eq!(waiting(place, list()).await, first);
        assert_eq!(waiting(place, rest()).await, last);
        assert_eq!(shown(ask(place, show()).await.unwrap().1), of_run);
    }
}

#[tokio::test]
async fn a_value_goes_to_its_run_and_the_same_again_is_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    let run = started(&runtime, "a").await;
    let mut receipts = Vec::new();
    for _ in 0..2 {
        let (_, answer) = ask(folder.path(), fulfil("a", 1, " true")).await.unwrap();
        let Answer::Fulfilled(receipt) = answer else {
            panic!("{answer:?}")
        };
        receipts.push(receipt);
    }
    assert_eq!(receipts[0].number, receipts[1].number);
    assert!(!receipts[0].duplicate && receipts[1].duplicate);
    assert_eq!(soon(run.result()).await.unwrap(), Some(true));
}

#[tokio::test]
async fn a_value_that_is_given_while_nobody_has_the_store_is_told_by_the_next_program() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    started(&runtime, "a").await;
    drop(runtime);
    let (whereabouts, answer) = ask(folder.path(), fulfil("a", 1, "false")).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Stopped);
    assert!(matches!(answer, Answer::Fulfilled(receipt) if !receipt.duplicate));
    assert_eq!(
        waiting(folder.path(), ListWaiting::default()).await,
        OfferPage::default()
    );
    let show = Request::Show {
        run: "a".parse().unwrap(),
    };
    let (_, Answer::Run(details)) = ask(folder.path(), show).await.unwrap() else {
        panic!("it is shown")
    };
    let observation = &details.queue[0].observation;
    assert!(matches!(
        observation,
        Observation::StubFulfilled { operation: 1, .. }
    ));
    let runtime = program(folder.path()).start().await.unwrap();
    let run = runtime.client().run(asks, "a").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), Some(false));
}

#[tokio::test]
async fn what_is_no_value_for_a_call_is_refused_alike_by_a_program_and_a_stopped_store() {
    let folder = tempfile::tempdir().unwrap();
    let codes = async |requests: Vec<Request>| {
        let mut codes = Vec::new();
        for request in requests {
            match ask(folder.path(), request).await {
                Err(AskError::Refused(Refused { code, .. })) => codes.push(code),
                other => panic!("{other:?}"),
            }
        }
        codes
    };
    let other = |name: String| {
        let Request::Fulfil(fulfil) = fulfil("open", 1, "true") else {
            unreachable!()
        };
        Request::Fulfil(Fulfil {
            stub: name,
            ..fulfil
        })
    };
    let requests = || {
        vec![
            fulfil("nobody", 1, "true"),
            fulfil("open", 9, "true"),
            // The timer.
            fulfil("open", 2, "true"),
            other("revue".into()),
            other("r".repeat(2_000)),
            fulfil("done", 1, "false"),
        ]
    };
    let runtime = program(folder.path()).start().await.unwrap();
    started(&runtime, "open").await;
    let done = started(&runtime, "done").await;
    ask(folder.path(), fulfil("done", 1, "true")).await.unwrap();
    soon(done.result()).await.unwrap();
    let in_program = codes(requests()).await;
    // Of what type a stub is only the program knows.
    let wrong = codes(vec![fulfil("open", 1, "\"yes\"")]).await;
    assert_eq!(wrong, [Refused::WRONG_TYPE]);
    drop(runtime);
    assert_eq!(codes(requests()).await, in_program);
    assert_eq!(
        in_program,
        [
            Refused::RUN_NOT_FOUND,
            Refused::NO_SUCH_OPERATION,
            Refused::NOT_A_STUB,
            Refused::OTHER_STUB,
            Refused::INVALID_NAME,
            Refused::VALUE_CONFLICT,
        ]
    );
    // Nothing has come of it.
    assert_eq!(
        references(&waiting(folder.path(), ListWaiting::default()).await),
        ["open~1"]
    );
}

/// What is refused by an export changes nothing, and says so with the code of all such things.
#[tokio::test]
async fn nothing_is_fulfilled_in_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    started(&runtime, "a").await;
    let export = folder.path().join("runs.jsonl");
    runtime.export(&export).await.unwrap();
    let refused = ask(&export, fulfil("a", 1, "true")).await.unwrap_err();
    assert!(matches!(&refused, AskError::Refused(refused) if refused.code == Refused::READ_ONLY));
}
