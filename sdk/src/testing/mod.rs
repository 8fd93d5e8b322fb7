//! Tests of workflows: without a runtime, on a clock that the test moves, with mocks for activities.
//!
//! ```
//! use perennial::prelude::*;
//! use perennial::testing::TestRun;
//!
//! #[activity(idempotent)]
//! async fn remind(_acx: &ActivityCx, who: String) -> Result<(), Failure> {
//!     Err(Failure::transient(format!("no mail to {who} in tests")))
//! }
//!
//! #[workflow]
//! async fn remind_after_a_week(cx: &Cx, who: String) -> Result<Timestamp, Error> {
//!     cx.sleep(days(7)).await?;
//!     remind(cx, who).await?;
//!     Ok(cx.now())
//! }
//!
//! #[perennial::test]
//! fn it_reminds_after_a_week(t: &mut TestRun) {
//!     let reminded = t.mock(remind, |_| Ok(())).times(1);
//!     let run = t.start(remind_after_a_week, "Ada".to_owned());
//!
//!     t.advance(days(6));
//!     assert!(reminded.calls().is_empty());
//!
//!     assert_eq!(run.result().unwrap(), TestRun::BEGIN + days(7));
//!     assert_eq!(reminded.calls(), ["Ada"]);
//! }
//! # fn main() { perennial::testing::test(|t| {
//! #     t.mock(remind, |_| Ok(()));
//! #     assert!(t.start(remind_after_a_week, "Ada".to_owned()).result().is_ok());
//! # }); }
//! ```
//!
//! # What fails a test besides its own assertions
//!
//! * An activity is called that is neither [mocked](TestRun::mock) nor [allowed](TestRun::allow), whatever the
//!   workflow would make of that.
//! * A mock is called less or more often than its test says; without a word at least once.
//! * A run is blocked: the workflow panics, waits for what is not durable, or never comes to an end.
//! * A run is asked for its result and waits for what no time brings, such as a message that the test does not
//!   [send](Run::send) or a stub that it does not [fulfil](Run::fulfil).
//! * The workflow does not decide the same when it is replayed. After each unit up to 100, then at doubling
//!   distances, and several times at the end of the test, each run is replayed from its beginning on a fresh
//!   thread, in a changed world: with `perennial-sandbox` linked another clock, other random bytes and other
//!   hash keys, without it other hash keys alone. What a clock or random bytes decide goes unnoticed without
//!   it. Once at the end it is replayed twice on one thread, as on a runtime's: what a `thread_local!` remembers
//!   shows the second time.
//!
//! To use it, add the feature `testing` to the dev-dependency: in Cargo.toml
//! `perennial = { version = "..", features = ["testing"] }` under `[dev-dependencies]`.

mod attempts;
mod body;
mod diverged;
mod draws;
mod drive;
mod driver;
mod export;
mod failure;
mod files;
mod fulfilled;
mod histories;
mod misfit;
mod mock;
mod offers;
mod real;
mod recorded;
mod redact;
mod replay;
mod report;
mod run;
mod sandbox;
mod sent;
mod slots;
mod snapshot;
mod streams;
mod suggest;
mod test_run;
mod thorough;
mod told;
mod updates;

pub use body::{TestResult, failure_of, test};
pub use diverged::Diverged;
pub use failure::{Ended, Endless, MarkerNotAsked, NotMocked, TestFailure, TouchedIn, Waiting};
pub use files::{NotSaved, save_history};
pub use fulfilled::Fulfilled;
pub use histories::{Checked, check_histories, replay_folder};
pub use misfit::{Misfit, Misfits, Unfit};
pub use mock::{Declared, Miscounted, Mock};
pub use offers::{NotOffered, OpenOffer};
pub use real::Work;
pub use recorded::Recorded;
pub use redact::RedactionError;
pub use report::{Changed, Report};
pub use run::Run;
pub use sandbox::{Sandbox, Touched, World, sandbox, set_sandbox};
pub use sent::Sent;
pub use snapshot::Snapshot;
pub use test_run::TestRun;
pub use told::Unread;
pub use updates::{NotTaken, NotTakenWhy};
