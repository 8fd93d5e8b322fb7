//! What runs fulfil of each other's offers, and of their own, over each store (S3, S25).

use std::sync::Arc;

use perennial::history::{Decision, History, Observation, SlotResult};
use perennial::prelude::*;
use perennial::{OperationId, RunEnd, Workflow};
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{Durability, SledStore, Store, StoreError};
use perennial_runtime::{Builder, OfferStatus, RunHandle, Runtime};

use crate::support::held::{HeldStore, Shared};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

/// What became of what a run gave, for its result.
type Given = Result<u64, FulfilFailure>;

const BELL: Signal<u64> = Signal::new("bell");
const QUESTION: Message<OperationId> = Message::new("question");

/// Says each of these to what was asked, and waits for the test.
#[workflow]
async fn says(cx: &Cx, asked: OperationId, words: Vec<String>) -> Result<Vec<Given>, Error> {
    let mut all = Vec::new();
    for word in words {
        let given = cx.fulfil(&asked, review, &word).await;
        all.push(given.map(|receipt| receipt.number));
    }
    cx.wait_for(BELL).await?;
    Ok(all)
}

/// The same of one word, when the test lets it.
#[workflow]
async fn says_later(cx: &Cx, asked: OperationId) -> Result<Given, Error> {
    cx.wait_for(BELL).await?;
    let given = cx.fulfil(&asked, review, &"so".to_owned()).await;
    Ok(given.map(|receipt| receipt.number))
}

/// Gives to all of them at once.
#[workflow]
async fn says_all(cx: &Cx, all: Vec<OperationId>) -> Result<Vec<Given>, Error> {
    let word = "so".to_owned();
    let given = join_all(all.iter().map(|asked| cx.fulfil(asked, review, &word))).await;
    let given = given.into_iter();
    Ok(given.map(|one| one.map(|receipt| receipt.number)).collect())
}

/// Gives a number to what asks for a word, and what is too large.
#[workflow]
async fn says_nonsense(cx: &Cx, asked: OperationId) -> Result<(Given, Given), Error> {
    let number = cx.fulfil(&asked, inject, &5).await;
    let large = cx.fulfil(&asked, review, &"x".repeat(2 << 20)).await;
    let number_of = |given: Result<Receipt, FulfilFailure>| given.map(|receipt| receipt.number);
    Ok((number_of(number), number_of(large)))
}

/// Asks, and answers itself.
#[workflow]
async fn answers_itself(cx: &Cx, count: u64) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for number in 0..count {
        let offer = review(cx, format!("question {number}")).open()?;
        let word = format!("answer {number}");
        cx.fulfil(&offer.reference(), review, &word).await?;
        all.push(offer.await?);
    }
    Ok(all)
}

/// Puts so much into its own mailbox, each while it takes the one before.
#[workflow]
async fn talks_to_itself(cx: &Cx, count: u64) -> Result<Vec<u64>, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = Vec::new();
    for number in 0..count {
        let given = cx.fulfil(&mailbox.reference(), inject, &number);
        let (given, taken) = join!(given, mailbox.next());
        given?;
        heard.push(taken?);
    }
    Ok(heard)
}

/// Has its questions answered by another run, one after the other.
#[workflow]
async fn questions(cx: &Cx, whom: RunId, count: u64) -> Result<Vec<String>, Error> {
    let mut heard = Vec::new();
    for number in 0..count {
        let offer = review(cx, format!("question {number}")).open()?;
        cx.send(&whom, QUESTION, &offer.reference()).await?;
        heard.push(offer.await?);
    }
    Ok(heard)
}

/// Answers so many questions, whoever asks.
#[workflow]
async fn oracle(cx: &Cx, count: u64) -> Result<(), Error> {
    for number in 0..count {
        let asked = cx.receive(QUESTION).await?;
        cx.fulfil(&asked, review, &format!("answer {number}"))
            .await?;
    }
    Ok(())
}

/// Gives an answer up before it knows what came of it, and another one on its way out.
#[workflow]
async fn gives_away(cx: &Cx, first: OperationId, second: OperationId) -> Result<bool, Error> {
    let word = "so".to_owned();
    let known = select! {
        given = cx.fulfil(&first, review, &word) => given.is_ok(),
        _ = async {} => false,
    };
    let _left = cx.spawn(async move {
        let given = cx.fulfil(&second, review, &"last".to_owned()).await;
        drop(given);
    });
    cx.spawn(async {}).await;
    Ok(known)
}

fn with_givers(store: Arc<dyn Store>) -> Builder {
    builder(store, &World::new())
        .workflow(says)
        .workflow(says_later)
        .workflow(says_all)
        .workflow(says_nonsense)
        .workflow(answers_itself)
        .workflow(talks_to_itself)
        .workflow(questions)
        .workflow(oracle)
        .workflow(gives_away)
}

fn reference(text: &str) -> OperationId {
    text.parse().unwrap()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

async fn ring<W: Workflow>(run: &RunHandle<W>) {
    run.signal(BELL, &1).await.unwrap();
}

async fn history<W: Workflow>(run: &RunHandle<W>) -> History {
    run.history().await.unwrap().history
}

/// What a history has of what the run gave: the operation, and what follows the unit that decided it.
fn given(history: &History) -> Vec<(u64, Option<SlotResult>)> {
    let mut all = Vec::new();
    for (at, unit) in history.units.iter().enumerate() {
        let given = unit.decisions.iter().filter_map(|decision| match decision {
            Decision::FulfilRequested { operation, .. } => Some(*operation),
            _ => None,
        });
        for (place, operation) in given.enumerate() {
            let next = history.units.get(at + 1 + place);
            let result = next.map(|unit| match &unit.observation {
                Observation::SlotFilled {
                    operation: filled,
                    result,
                } if *filled == operation => result.clone(),
                other => panic!("~{operation} is followed by {other:?}"),
            });
            all.push((operation, result));
        }
    }
    all
}

/// By which keys a history says that the run was given something.
fn keys(history: &History) -> Vec<String> {
    let units = history.units.iter();
    let keys = units.filter_map(|unit| match &unit.observation {
        Observation::StubFulfilled { key, .. } => key.clone(),
        _ => None,
    });
    keys.collect()
}

#[tokio::test]
async fn a_run_gives_another_one_what_it_waits_for_once_and_a_replay_gives_nothing() {
    each_place(async |place: Place| {
        let first = with_givers(place.open()).start().await.unwrap();
        let client = first.client();
        let other = client.start(in_turn, "to", 2).await.unwrap();
        let run = client.start(says, "run", (reference("to~1"), words(["so", "so", "no"])));
        let run = run.await.unwrap();
        until(async || given(&history(&run).await).len() == 3).await;
        until(async || history(&other).await.units.len() == 2).await;
        drop((first, run, other, client));

        let second = with_givers(place.open()).start().await.unwrap();
        let client = second.client();
        let run = client.run(says, "run").unwrap();
        ring(&run).await;
        let conflict = FulfilFailure::Conflict {
            reference: reference("to~1"),
            stub: "review".into(),
        };
        assert_eq!(
            soon(run.result()).await.unwrap(),
            [Ok(1), Ok(1), Err(conflict)]
        );
        let other = client.run(in_turn, "to").unwrap();
        other.fulfil("to~2", review, &text("well")).await.unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), ["so", "well"]);
        // It says who has given the first.
        let keys = keys(&history(&other).await);
        assert!(keys.len() == 1 && keys[0].starts_with("run~1@"), "{keys:?}");
        let duplicates = given(&history(&run).await)
            .into_iter()
            .map(|(operation, result)| match result {
                Some(SlotResult::Fulfilled(receipt)) => (operation, Some(receipt.duplicate)),
                _ => (operation, None),
            });
        let expected = [(1, Some(false)), (2, Some(true)), (3, None)];
        assert_eq!(duplicates.collect::<Vec<_>>(), expected);
    })
    .await;
}

#[tokio::test]
async fn s25_what_a_run_gives_brings_the_other_one_into_memory_wherever_it_is() {
    each_store(async |store| {
        let builder = with_givers(store).shards(4).warm_memory(0);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let oracle = client.start(oracle, "oracle", 12).await.unwrap();
        let mut runs = Vec::new();
        for number in 0..3 {
            let whom = RunId::new("oracle").unwrap();
            let name = format!("asks-{number}");
            runs.push(client.start(questions, name, (whom, 4)).await.unwrap());
        }
        let mut all = Vec::new();
        for run in runs {
            all.extend(soon(run.result()).await.unwrap());
        }
        soon(oracle.result()).await.unwrap();
        all.sort();
        let mut expected: Vec<_> = (0..12).map(|number| format!("answer {number}")).collect();
        expected.sort();
        assert_eq!(all, expected);
    })
    .await;
}

#[tokio::test]
async fn a_run_gives_itself_what_it_waits_for_also_over_a_restart() {
    each_place(async |place: Place| {
        let first = with_givers(place.open()).start().await.unwrap();
        let client = first.client();
        let run = client.start(answers_itself, "itself", 3).await.unwrap();
        let mail = client.start(talks_to_itself, "mail", 3).await.unwrap();
        assert_eq!(
            soon(run.result()).await.unwrap(),
            ["answer 0", "answer 1", "answer 2"]
        );
        assert_eq!(soon(mail.result()).await.unwrap(), [0, 1, 2]);
        client.start(answers_itself, "many", 300).await.unwrap();
        drop((run, mail, client, first));
        let second = with_givers(place.open()).start().await.unwrap();
        let many = second.client().run(answers_itself, "many").unwrap();
        let answers = soon(many.result()).await.unwrap();
        let expected: Vec<_> = (0..300).map(|number| format!("answer {number}")).collect();
        assert_eq!(answers, expected);
        let states = states(&second.client(), "itself").await;
        let fulfilled = |state: &OfferStatus| matches!(state, OfferStatus::Fulfilled { .. });
        assert!(states.len() == 3 && states.iter().all(fulfilled));
    })
    .await;
}

#[tokio::test]
async fn b11_b12_why_nothing_was_given_is_a_result() {
    each_store(async |store| {
        let runtime = with_givers(store).start().await.unwrap();
        let client = runtime.client();
        let other = client.start(once, "other", text("well?")).await.unwrap();
        let run = client.start(says_nonsense, "nonsense", reference("other~1"));
        let (number, large) = soon(run.await.unwrap().result()).await.unwrap();
        let of_another = FulfilFailure::OtherStub {
            reference: reference("other~1"),
            is: "review".into(),
            given: "inject".into(),
        };
        assert_eq!(number, Err(of_another));
        assert!(matches!(
            large,
            Err(FulfilFailure::TooLarge {
                limit: 1_048_576,
                ..
            })
        ));
        let all = ["nobody~1", "other~2", "all~1", "other~1"].map(reference);
        let run = client.start(says_all, "all", all.to_vec()).await.unwrap();
        let nobody = FulfilFailure::RunNotFound {
            reference: reference("nobody~1"),
        };
        let too_early = FulfilFailure::NoSuchOperation {
            reference: reference("other~2"),
        };
        let no_stub = FulfilFailure::NotAStub {
            reference: reference("all~1"),
        };
        assert_eq!(
            soon(run.result()).await.unwrap(),
            [Err(nobody), Err(too_early), Err(no_stub), Ok(1)]
        );
        assert_eq!(soon(other.result()).await.unwrap(), "so");
        // All four are one unit, and one commit.
        let history = history(&run).await;
        assert_eq!(given(&history).len(), 4);
        assert_eq!(history.units[0].decisions.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn b11_a_run_that_has_ended_is_given_nothing() {
    each_store(async |store| {
        let world = World::new();
        let runtime = builder(store, &world).workflow(says).start().await.unwrap();
        let client = runtime.client();
        let ended = client.start(leaves, "ended", false).await.unwrap();
        world.open(1);
        assert!(soon(ended.result()).await.is_err());
        let run = client.start(says, "late", (reference("ended~1"), words(["so"])));
        let run = run.await.unwrap();
        ring(&run).await;
        let given = soon(run.result()).await.unwrap();
        assert!(
            matches!(
                &given[..],
                [Err(FulfilFailure::Closed {
                    end: Some(RunEnd::Failed),
                    ..
                })]
            ),
            "{given:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn what_is_given_up_and_what_is_given_last_is_given() {
    each_store(async |store| {
        let runtime = with_givers(store).start().await.unwrap();
        let client = runtime.client();
        let one = client.start(once, "one", text("well?")).await.unwrap();
        let two = client.start(once, "two", text("well?")).await.unwrap();
        let run = client.start(
            gives_away,
            "gives",
            (reference("one~1"), reference("two~1")),
        );
        assert!(!soon(run.await.unwrap().result()).await.unwrap());
        assert_eq!(soon(one.result()).await.unwrap(), "so");
        assert_eq!(soon(two.result()).await.unwrap(), "last");
    })
    .await;
}

#[tokio::test]
async fn s16_a_blocked_run_is_given_what_it_waits_for_and_takes_it_when_it_goes_on() {
    each_place(async |place: Place| {
        let first = with_givers(place.open()).start().await.unwrap();
        first
            .client()
            .start(once, "blocked-to", text("well?"))
            .await
            .unwrap();
        drop(first);
        // A program without its workflow, which what it is given makes it look at.
        let without = Runtime::builder(place.open())
            .workflow(says)
            .artifact("without");
        let second = without.start().await.unwrap();
        let client = second.client();
        let run = client.start(says, "gives", (reference("blocked-to~1"), words(["so"])));
        let run = run.await.unwrap();
        ring(&run).await;
        assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
        until(async || {
            let runs = client.list().blocked(true).page().await.unwrap().runs;
            runs.len() == 1
        })
        .await;
        drop((second, run, client));
        let third = with_givers(place.open()).start().await.unwrap();
        let other = third.client().run(once, "blocked-to").unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), "so");
    })
    .await;
}

/// Brings a run to what it gives, and lets that end as nobody knows; then the program is started again.
async fn lost(lose: impl Fn(&HeldStore), was_written: bool) {
    let store = HeldStore::new();
    let shared = || Arc::new(Shared(Arc::clone(&store)));
    let over = || with_givers(shared()).warm_memory(0).shards(2);
    let first = over().start().await.unwrap();
    let client = first.client();
    client.start(once, "to", text("well?")).await.unwrap();
    let run = client.start(says_later, "run", reference("to~1"));
    let run = run.await.unwrap();
    lose(&store);
    ring(&run).await;
    assert!(soon(run.result()).await.is_err(), "nothing goes on");
    drop((first, run, client));
    let offer = shared().offer(&"to".parse().unwrap(), 1).unwrap().unwrap();
    assert_eq!(offer.is_open(), !was_written);

    let second = over().start().await.unwrap();
    let client = second.client();
    let run = client.run(says_later, "run").unwrap();
    assert_eq!(soon(run.result()).await.unwrap(), Ok(1));
    let other = client.run(once, "to").unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), "so");
    assert_eq!(keys(&history(&other).await).len(), 1, "once");
    assert_eq!(given(&history(&run).await).len(), 1);
}

#[tokio::test]
async fn s4_what_was_given_and_whose_answer_was_lost_is_not_given_again() {
    lost(HeldStore::lose_next_answer, true).await;
}

#[tokio::test]
async fn s4_what_was_not_written_is_given_then() {
    let unknown = || StoreError::Unknown {
        reason: "the power is gone".into(),
    };
    lost(|store| store.refuse_next(unknown()), false).await;
}

/// The embedded store: the pair is in one frame of the journal, so that neither is there without the other.
#[tokio::test]
async fn over_the_embedded_store_a_write_that_fails_leaves_neither() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let options = SledStore::options().durability(Durability::Os);
        Arc::new(options.open(folder.path()).unwrap())
    };
    let store = open();
    let first = with_givers(store.clone()).start().await.unwrap();
    let client = first.client();
    client.start(once, "to", text("well?")).await.unwrap();
    store.tamper(Tamper::FailNextWrite).unwrap();
    let run = client.start(says, "run", (reference("to~1"), words(["so"])));
    assert!(run.await.is_err(), "it begins with what it gives");
    drop((client, first, store));

    let store = open();
    assert!(
        store
            .offer(&"to".parse().unwrap(), 1)
            .unwrap()
            .unwrap()
            .is_open()
    );
    let second = with_givers(store).start().await.unwrap();
    let client = second.client();
    let run = client.start(says, "run", (reference("to~1"), words(["so"])));
    ring(&run.await.unwrap()).await;
    let other = client.run(once, "to").unwrap();
    assert_eq!(soon(other.result()).await.unwrap(), "so");
}
