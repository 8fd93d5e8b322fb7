//! Activities whose own code is run.

use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Waker};

use perennial::prelude::*;
use perennial::testing::TestRun;

use super::{count, text_of};

/// What the test's bank has.
struct Bank(u64);

#[activity(idempotent)]
async fn balance(acx: &ActivityCx) -> Result<u64, Failure> {
    Ok(acx.state::<Bank>().0)
}

/// Sends its waker to a thread that wakes it, a few times.
struct Woken {
    left: u32,
    by: Sender<Waker>,
}

impl Future for Woken {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.left == 0 {
            return Poll::Ready(());
        }
        self.left -= 1;
        self.by.send(context.waker().clone()).unwrap();
        Poll::Pending
    }
}

#[activity(pure)]
async fn wait_for_a_thread(_acx: &ActivityCx) -> Result<u64, Failure> {
    let (by, wakers) = channel::<Waker>();
    let thread = std::thread::spawn(move || wakers.into_iter().for_each(Waker::wake));
    Woken { left: 20, by }.await;
    thread.join().unwrap();
    Ok(1)
}

/// Wakes itself, as `tokio::task::yield_now` does.
#[activity(pure)]
async fn give_way(_acx: &ActivityCx) -> Result<u64, Failure> {
    let mut left = 5;
    std::future::poll_fn(move |context| {
        context.waker().wake_by_ref();
        left -= 1;
        match left {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    Ok(2)
}

#[activity(pure)]
async fn wait_in_vain(_acx: &ActivityCx) -> Result<u64, Failure> {
    std::future::pending().await
}

#[activity(pure, retry(attempts = 2))]
async fn panics(acx: &ActivityCx) -> Result<u64, Failure> {
    assert_eq!(acx.attempt(), 2, "the first attempt");
    Ok(3)
}

#[workflow]
async fn asks(cx: &Cx) -> Result<u64, Error> {
    Ok(balance(cx).await? + count(cx).await?)
}

#[workflow]
async fn waits(cx: &Cx) -> Result<u64, Error> {
    let (a, b) = try_join!(wait_for_a_thread(cx), give_way(cx))?;
    Ok(a + b + panics(cx).await?)
}

#[workflow]
async fn in_vain(cx: &Cx) -> Result<u64, Error> {
    Ok(wait_in_vain(cx).await?)
}

#[perennial::test]
fn an_allowed_activity_runs_with_the_state_of_the_test(t: &mut TestRun) {
    t.allow(balance);
    t.allow(count);
    t.state(Bank(4));
    assert_eq!(t.start(asks, ()).result().unwrap(), 7);
}

#[test]
fn an_allowed_activity_without_its_state_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        t.allow(balance);
        t.start(asks, ());
    }));
}

#[perennial::test]
fn an_activity_may_be_woken_by_others_and_by_itself_and_a_panic_is_a_failed_attempt(
    t: &mut TestRun,
) {
    t.allow(wait_for_a_thread);
    t.allow(give_way);
    t.allow(panics);
    assert_eq!(t.start(waits, ()).result().unwrap(), 6);
    assert_eq!(t.now(), TestRun::BEGIN + millis(100));
}

#[test]
fn an_activity_that_nobody_will_wake_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        t.allow(wait_in_vain);
        t.start(in_vain, ());
    }));
}

#[perennial::test]
fn the_test_may_bring_its_own_way_to_run_them(t: &mut TestRun) {
    let mut count = 0;
    t.block_on_with(move |mut work| {
        count += 1;
        assert!(count <= 3, "three attempts");
        let mut context = Context::from_waker(Waker::noop());
        while work.as_mut().poll(&mut context).is_pending() {
            std::thread::yield_now();
        }
    });
    t.allow(give_way);
    t.allow(panics);
    t.mock(wait_for_a_thread, |()| Ok(1));
    assert_eq!(t.start(waits, ()).result().unwrap(), 6);
}

/// What tokio says where there is no runtime of it. With tokio itself this is tested where it is at hand, with
/// the sandbox.
#[activity(pure)]
async fn needs_tokio(_acx: &ActivityCx) -> Result<u64, Failure> {
    panic!("there is no reactor running, must be called from the context of a Tokio 1.x runtime")
}

#[workflow]
async fn asks_tokio(cx: &Cx) -> Result<u64, Error> {
    Ok(needs_tokio(cx).await.unwrap_or(0))
}

/// It is not tried again and again: no other attempt would find one.
#[test]
fn an_activity_that_needs_a_runtime_fails_the_test_at_once() {
    insta::assert_snapshot!(text_of(|t| {
        t.allow(needs_tokio);
        t.start(asks_tokio, ());
    }));
}
