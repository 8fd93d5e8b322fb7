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

fn waits(t: &mut TestRun) -> Run<later> {
    t.start(later, ())
}

#[test]
fn a_failure_stands_in_the_test() {
    set_hook(Box::new(|panic| {
        let place = panic.location().unwrap().file().to_owned();
        PLACES.lock().unwrap().push(place);
    }));
    let failing: [fn(&mut TestRun); 8] = [
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
    ];
    for (number, body) in failing.iter().enumerate() {
        catch_unwind(AssertUnwindSafe(|| test(body))).expect_err("it fails");
        let places = std::mem::take(&mut *PLACES.lock().unwrap());
        assert_eq!(places, [file!()], "test {number}");
    }
}
