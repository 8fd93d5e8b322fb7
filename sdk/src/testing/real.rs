//! Activities whose own code is run.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use super::failure::TestFailure;
use crate::value::Value;
use crate::{ActivityCx, ActivityDefinition, AttemptEnd, Attempted};

/// The code of an attempt, for whoever runs it to its end.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs futures to their end, in place of the kit's own way.
pub(super) type BlockOn = Box<dyn FnMut(Work)>;

/// What each of tokio's panics says where code needs its runtime and there is none.
const TOKIO_IS_MISSING: &str = "from the context of a Tokio 1.x runtime";

/// Runs an activity's code once, on this thread. A panic of it is a failed attempt.
pub(super) fn run(
    definition: &ActivityDefinition,
    acx: ActivityCx,
    input: &Value,
    block_on: Option<&mut BlockOn>,
) -> Result<AttemptEnd, TestFailure> {
    let name = definition.name;
    let attempted = match (definition.run)(acx, input) {
        Ok(attempted) => attempted,
        Err(error) => {
            return Ok(AttemptEnd::Failed(format!(
                "the input of `{name}`: {error}"
            )));
        }
    };
    let without = block_on.is_none();
    let end = match attempted {
        Attempted::Blocking(code) => catch_unwind(AssertUnwindSafe(|| Some(code()))),
        Attempted::Asynchronous(code) => match block_on {
            None => catch_unwind(AssertUnwindSafe(|| park_on(code))),
            Some(block_on) => catch_unwind(AssertUnwindSafe(|| handed_over(block_on, code))),
        },
    };
    match end {
        Ok(Some(end)) => Ok(end),
        Ok(None) => Err(TestFailure::Stuck {
            activity: name.to_owned(),
        }),
        Err(payload) => {
            let said = text(payload.as_ref());
            // Another attempt would find no runtime either.
            if without && said.contains(TOKIO_IS_MISSING) {
                let activity = name.to_owned();
                return Err(TestFailure::NoRuntime { activity, said });
            }
            Ok(AttemptEnd::Failed(format!("the activity panicked: {said}")))
        }
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}

/// Has the test's own way run `code`; `None` where that returned before it had ended.
fn handed_over<T: Send + 'static>(
    block_on: &mut BlockOn,
    code: Pin<Box<dyn Future<Output = T> + Send>>,
) -> Option<T> {
    let end = Arc::new(Mutex::new(None));
    let into = Arc::clone(&end);
    block_on(Box::pin(async move {
        let value = code.await;
        *into.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }));
    end.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Wakes a thread that is parked.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Polls `code` until it is ready, and parks the thread meanwhile; `None` where nobody is left who could wake
/// it.
fn park_on<T>(mut code: Pin<Box<dyn Future<Output = T> + Send>>) -> Option<T> {
    let unpark = Arc::new(Unpark {
        thread: std::thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(end) = code.as_mut().poll(&mut context) {
            return Some(end);
        }
        while !unpark.woken.swap(false, Ordering::Acquire) {
            // This function has two of them. Whoever had another one has woken the thread before it was
            // gone, or never does.
            if Arc::strong_count(&unpark) == 2 {
                fence(Ordering::Acquire);
                if unpark.woken.swap(false, Ordering::Acquire) {
                    break;
                }
                return None;
            }
            std::thread::park();
        }
    }
}
