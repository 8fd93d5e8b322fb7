//! The code of the chapters, run.

use perennial::{ActivityCx, Cx, Timestamp};
use perennial_book::activities::{self, Bank, Order, charge_card};
use perennial_book::{determinism, running, stores, waiting};
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Client, Clock, Reuse, RunError, Runtime};

use crate::texts::assert_text;

fn order(cents: u64) -> Order {
    Order {
        id: "42".to_owned(),
        cents,
    }
}

async fn paying(bank: Bank) -> Runtime {
    Runtime::builder(MemoryStore::new())
        .workflow(activities::pay)
        .workflow(activities::pay_now_or_never)
        .workflow(activities::sell)
        .activities((
            charge_card,
            activities::count_primes,
            activities::check_amount,
        ))
        .state(bank)
        .start()
        .await
        .unwrap()
}

#[tokio::test]
async fn each_end_of_an_activity() {
    let runtime = paying(Bank::default()).await;
    let client = runtime.client();
    let pay = async |id: &str, cents| {
        let run = client.start(activities::pay, id, order(cents)).await;
        run.unwrap().result().await
    };
    assert_eq!(pay("one", 1_200).await.unwrap(), "paid, default/one~2");
    assert_eq!(pay("two", 2_000_000).await.unwrap(), "not paid: too much");
    assert_eq!(
        pay("three", 0).await.unwrap_err().to_string(),
        "order 42 is empty"
    );
}

#[tokio::test]
async fn a_transient_failure_is_tried_again() {
    let bank = Bank::default();
    *bank.outages.lock().unwrap() = 1;
    let runtime = paying(bank).await;
    let client = runtime.client();
    let run = client
        .start(activities::pay, "late", order(1))
        .await
        .unwrap();
    run.result().await.unwrap();
    let history = run.history().await.unwrap();
    assert_eq!(history.attempts.len(), 1, "of the attempt that failed");
    assert_text("texts/paid.txt", &history.history.text());
}

#[tokio::test]
async fn a_call_can_have_other_options() {
    let bank = Bank::default();
    *bank.outages.lock().unwrap() = 1;
    let runtime = paying(bank).await;
    let client = runtime.client();
    let run = client.start(activities::pay_now_or_never, "never", order(1));
    let error = run.await.unwrap().result().await.unwrap_err();
    assert_text("texts/pay-now-or-never.txt", &error.to_string());
}

// ANCHOR: activity_test
#[tokio::test]
async fn the_card_is_charged_once_for_each_key() {
    let acx = ActivityCx::for_test().with_state(Bank::default());

    let first = charge_card::run(&acx, order(1_200)).await.unwrap();
    let again = charge_card::run(&acx, order(1_200)).await.unwrap();

    assert_eq!(first, again);
    assert_eq!(acx.state::<Bank>().charges(), [1_200]);
}
// ANCHOR_END: activity_test

#[tokio::test]
async fn an_error_of_ones_own_can_be_matched() {
    let runtime = paying(Bank::default()).await;
    let client = runtime.client();
    let sell = async |id: &str, cents| {
        let run = client.start(activities::sell, id, order(cents)).await;
        run.unwrap().result().await
    };
    assert!(sell("sold", 1_200).await.is_ok());
    let declined = activities::NotSold::Declined("too much".to_owned());
    assert_eq!(
        sell("not", 2_000_000).await,
        Err(RunError::Failed(declined))
    );
}

#[tokio::test]
async fn computing_is_an_activity_too() {
    let acx = ActivityCx::for_test();
    assert_eq!(activities::count_primes::run(&acx, 100).unwrap(), 25);
}

#[tokio::test]
async fn what_is_missing_is_said_at_start() {
    let start = Runtime::builder(MemoryStore::new())
        .workflow(activities::pay)
        .activity(charge_card)
        .start();
    assert_text(
        "texts/incomplete.txt",
        &start.await.unwrap_err().to_string(),
    );
}

#[tokio::test]
async fn waiting_for_several_things() {
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(waiting::offer)
        .workflow(waiting::strict_offer)
        .workflow(waiting::impatient)
        .workflow(waiting::total)
        .workflow(waiting::total_two_at_a_time)
        .workflow(waiting::beside)
        .workflow(waiting::twice)
        .workflow(waiting::basket)
        .activities((waiting::price, waiting::stock, waiting::opinion))
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let tea = || "tea".to_owned();

    let run = client.start(waiting::offer, "offer", tea()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "3 at 300");
    let unicorn = || "unicorn".to_owned();
    let run = client
        .start(waiting::offer, "none", unicorn())
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), "0 at 700");
    let run = client
        .start(waiting::strict_offer, "strict", unicorn())
        .await
        .unwrap();
    let error = run.result().await.unwrap_err();
    assert_eq!(error.to_string(), "there are no unicorns");
    let run = client
        .start(waiting::impatient, "impatient", tea())
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), "no opinion");
    assert_text(
        "texts/impatient.txt",
        &run.history().await.unwrap().history.text(),
    );
    let items = || vec!["tea".to_owned(), "cake".to_owned(), "jam".to_owned()];
    let run = client
        .start(waiting::total, "total", items())
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), 1_000);
    let run = client.start(waiting::total_two_at_a_time, "two", items());
    assert_eq!(run.await.unwrap().result().await.unwrap(), 1_000);
    let run = client
        .start(waiting::beside, "beside", tea())
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), "3 at 300");
    let run = client.start(waiting::twice, "twice", tea()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 600);
    let run = client
        .start(waiting::basket, "basket", (tea(), tea()))
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), 714);
}

#[tokio::test]
async fn what_to_use_instead() {
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(determinism::careful)
        .start()
        .await
        .unwrap();
    let votes = ["yes", "no", "yes"].map(str::to_owned).to_vec();
    let run = runtime.client().start(determinism::careful, "vote", votes);
    let result = run.await.unwrap().result().await.unwrap();
    assert_eq!(result, r#"{"no": 1, "yes": 2}"#);
    let offers = [("b", 2), ("a", 2), ("c", 3)].map(|(name, cents)| (name.to_owned(), cents));
    let cheapest = determinism::cheapest(&offers.into()).cloned();
    assert_eq!(cheapest.as_deref(), Some("a"));
}

#[tokio::test]
async fn running_it() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = running::start(folder.path()).await.unwrap();
    let client: Client = runtime.client();
    running::start_runs(&client).await.unwrap();
    running::start_by_name(&client).await.unwrap();
    running::ask(&client).await.unwrap();
    let run = client.start(running::give_up, "give-up", ()).await.unwrap();
    let explained = running::explain(&run).await;
    assert_eq!(explained, "the workflow returned an error: enough");

    let other = client
        .start(running::welcome, "welcome-ada", "Grace".to_owned())
        .reuse(Reuse::Never)
        .await
        .unwrap_err();
    assert_text("texts/conflict.txt", &other.to_string());
    let invalid = client.start(running::welcome, "no spaces", String::new());
    assert_text(
        "texts/invalid-id.txt",
        &invalid.await.unwrap_err().to_string(),
    );

    running::serve(runtime, std::future::ready(())).await;
}

/// The limits that the book states are those of the code.
#[test]
fn the_numbers_of_the_limits() {
    use perennial::machine::{MAX_COMMANDS, MAX_EVENTS, MAX_OPEN, MAX_UNIT_BYTES, WARN_EVENTS};
    assert_eq!(perennial::value::MAX_VALUE_BYTES, 1 << 20);
    assert_eq!(perennial::value::MAX_VALUE_DEPTH, 127);
    assert_eq!(MAX_UNIT_BYTES, 16 << 20);
    assert_eq!((WARN_EVENTS, MAX_EVENTS), (50_000, 100_000));
    assert_eq!((MAX_COMMANDS, MAX_OPEN), (10_000, 10_000));
    assert_eq!(perennial::MAX_ID_LENGTH, 128);
    assert_eq!(perennial_runtime::store::MAX_NAME_BYTES, 1_024);
    use perennial_runtime::store::{KEY_WINDOW, MAX_INBOX, MAX_KEY_BYTES, MAX_KEYS};
    let month = u64::try_from(perennial::days(30).as_millis()).unwrap();
    assert_eq!((MAX_INBOX, MAX_KEYS, KEY_WINDOW), (10_000, 100_000, month));
    assert_eq!(perennial::MAX_SLEEP, perennial::days(36_525));
    assert_eq!((MAX_KEY_BYTES, perennial::MAX_CHANNEL_NAME), (256, 128));
    // Named here so that a rename of what the chapter on workflows calls it is seen.
    let _: fn(&Cx) -> perennial::Timestamp = Cx::now;
}

/// A clock that stands still, so that the texts that show times are the same each time.
#[derive(Debug)]
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }
}

#[tokio::test]
async fn a_purged_run_says_so() {
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(running::welcome)
        .activity(running::greet)
        .state(running::Greeting("Hello"))
        .clock(Still)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let start = || client.start(running::welcome, "welcome-ada", "Ada".to_owned());
    let run = start().await.unwrap();
    run.result().await.unwrap();
    running::forget(&client, &run).await.unwrap();
    let again = start().await.unwrap();
    let error = again.result().await.unwrap_err();
    assert_text("texts/purged.txt", &error.to_string());
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let opened = running::start_and_tidy_up(&folder.path().join("store")).await;
    assert!(opened.is_ok() || !cfg!(target_os = "linux"));
}

#[tokio::test]
async fn a_store_says_what_it_claims() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = stores::open_small(&folder.path().join("store")).unwrap();
    assert_text("texts/profile.txt", &stores::what_it_claims(&store));
    drop(store);
    let opened = stores::start(&folder.path().join("other")).await;
    assert!(opened.is_ok() || !cfg!(target_os = "linux"));
}
