//! Where a test that fails is said to have failed: in the test, and not in the kit.
//!
//! Alone in its program, since it takes the hook of all panics.

#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

use perennial::assert_history;
use perennial::prelude::*;
use perennial::testing::{Run, Snapshot, TestRun, check_histories, test};

static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[activity(pure)]
async fn touch(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[workflow]
async fn later(cx: &Cx) -> Result<(), Error> {
    cx.sleep(days(1)).await?;
    Ok(touch(cx).await?)
}

const GO: Message<u8> = Message::new("go");
const HALT: Signal<u8> = Signal::new("halt");
const RAISE: Update<u8, u8, String> = Update::new("raise");
const OUT: Stream<u8> = Stream::new("out");
const STAGE: View<u8> = View::new("stage");

#[stub]
async fn review(cx: &Cx) -> u8;

/// Gives out and shows what others take for something else.
#[workflow]
async fn tells(cx: &Cx) -> Result<u8, Error> {
    cx.emit(OUT, 1);
    cx.set(STAGE, 1);
    Ok(review(cx).await?)
}

fn talks(t: &mut TestRun) -> Run<tells> {
    let run = t.start(tells, ());
    t.advance(seconds(1));
    run
}

fn ended(t: &mut TestRun) -> Run<tells> {
    let run = talks(t);
    run.fulfil(review, 1);
    run
}

fn waits(t: &mut TestRun) -> Run<later> {
    t.start(later, ())
}

#[test]
fn a_failure_stands_in_the_test() {
    set_hook(Box::new(|panic| {
        let place = panic.location().unwrap().file().to_owned();
        PLACES.lock().unwrap().push(place);
    }));
    let failing: [fn(&mut TestRun); 18] = [
        |t| _ = t.start_as("no id", later, ()),
        |t| _ = waits(t).result(),
        |t| {
            waits(t);
            t.advance(days(1));
        },
        |t| t.strict(),
        |t| _ = t.mock(touch, |()| Ok(())),
        |t| {
            let run = waits(t);
            let hidden = Snapshot::new().redact("nobody.input", "[hidden]");
            assert_history!(run, hidden, @"");
        },
        |_| _ = check_histories("no/such/folder", later),
        |t| _ = waits(t).result().map(|()| panic!("of its own")),
        |t| ended(t).send(GO, 1),
        |t| waits(t).send_json("go", "no JSON"),
        |t| ended(t).signal(HALT, 1),
        |t| waits(t).signal_json("no name", "1"),
        |t| waits(t).fulfil(review, 1),
        |t| {
            let run = talks(t);
            run.fulfil_json(&run.offers()[0].reference, "no JSON");
        },
        |t| _ = waits(t).update(RAISE, 1),
        |t| _ = waits(t).update_json("raise", "no JSON"),
        |t| _ = talks(t).stream(Stream::<String>::new("out")),
        |t| _ = talks(t).view(View::<String>::new("stage")),
    ];
    for (number, body) in failing.iter().enumerate() {
        catch_unwind(AssertUnwindSafe(|| test(body))).expect_err("it fails");
        let places = std::mem::take(&mut *PLACES.lock().unwrap());
        assert_eq!(places, [file!()], "test {number}");
    }
}
