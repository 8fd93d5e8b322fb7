//! A test: its clock, its mocks, its runs.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::attempts::settle;
use super::drive::{drive, fail, move_to, or_fail};
use super::driver::{Answering, Driver, Shared};
use super::failure::TestFailure;
use super::mock::{Answer, Mock, MockState, answer_of};
use super::real::Work;
use super::report::Report;
use super::run::Run;
use super::sandbox::sandbox;
use crate::{
    Activity, ActivityCx, ActivityDefinition, ActivityFn, Data, InvalidId, RunId, Timestamp,
    Workflow, WorkflowDefinition, WorkflowFn,
};

type InputOf<F, M> = <<F as ActivityFn<M>>::A as Activity>::Input;
type OutputOf<F, M> = <<F as ActivityFn<M>>::A as Activity>::Output;

/// A test of workflows, at work. [`#[perennial::test]`](macro@crate::test) and [`test`](super::test()) make one.
///
/// What lets workflows run ([`start`](Self::start), [`advance`](Self::advance), [`Run::result`]) panics when
/// the test fails; the text is that of a [`TestFailure`]. A test that has failed stays so.
pub struct TestRun {
    pub(super) shared: Shared,
}

impl TestRun {
    /// When the clock of each test begins: 2000-01-01T00:00:00Z.
    pub const BEGIN: Timestamp = Timestamp::from_millis(946_684_800_000);

    pub(super) fn new() -> Self {
        let driver = Driver::new(Self::BEGIN);
        Self {
            shared: Rc::new(RefCell::new(driver)),
        }
    }

    // ---- activities ----------------------------------------------------------------------------------

    /// Answers for an activity: `answer` is called with its input (`()`, the one parameter, or a tuple of the
    /// parameters) and returns what the activity would. A later mock of the same activity takes its place.
    ///
    /// Unless the [`Mock`] says something else, a mock that is never called fails the test at its end. A
    /// panic of `answer` fails the test.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(idempotent)]
    /// # async fn pay(_acx: &ActivityCx, to: String, cents: u64) -> Result<u64, Failure> { Ok(cents) }
    /// # #[workflow]
    /// # async fn order(cx: &Cx) -> Result<u64, Error> { Ok(pay(cx, "me".into(), 5).await?) }
    /// # perennial::testing::test(|t| {
    /// let paid = t.mock(pay, |(to, cents)| Ok(cents + 1)).times(1);
    /// assert_eq!(t.start(order, ()).result().unwrap(), 6);
    /// assert_eq!(paid.calls(), [("me".to_owned(), 5)]);
    /// # });
    /// ```
    #[track_caller]
    pub fn mock<F: ActivityFn<M>, M>(
        &mut self,
        activity: F,
        mut answer: impl FnMut(InputOf<F, M>) -> OutputOf<F, M> + 'static,
    ) -> Mock<F::A> {
        let _ = activity;
        let answer = answer_of::<F::A>(move |_, input| answer(input));
        self.put_mock(answer, Location::caller())
    }

    /// As [`mock`](Self::mock), with what an activity sees besides its input: the number of the attempt, the
    /// idempotency key, the deadline, the state.
    #[track_caller]
    pub fn mock_with<F: ActivityFn<M>, M>(
        &mut self,
        activity: F,
        answer: impl FnMut(&ActivityCx, InputOf<F, M>) -> OutputOf<F, M> + 'static,
    ) -> Mock<F::A> {
        let _ = activity;
        self.put_mock(answer_of::<F::A>(answer), Location::caller())
    }

    fn put_mock<A: Activity>(
        &mut self,
        answer: Answer,
        place: &'static Location<'static>,
    ) -> Mock<A> {
        let state = Rc::new(MockState::new(A::NAME, place, answer));
        let driver = &mut *self.shared.borrow_mut();
        driver.mocks.push(Rc::clone(&state));
        self.replace::<A>(driver, Answering::Mock(Rc::clone(&state)));
        Mock::new(state)
    }

    fn replace<A: Activity>(&self, driver: &mut Driver, answering: Answering) {
        if let Some(Answering::Mock(before)) = driver.activities.insert(A::NAME, answering) {
            before.replaced();
        }
    }

    /// Runs the activity's own code. An attempt takes none of the test's time, however long it takes.
    ///
    /// An `async` activity is polled on the test's thread, which sleeps meanwhile. One that needs a runtime
    /// such as tokio's gets it through [`block_on_with`](Self::block_on_with).
    pub fn allow<F: ActivityFn<M>, M>(&mut self, activity: F) {
        let _ = activity;
        let real = Answering::Real(ActivityDefinition::of::<F::A>());
        self.replace::<F::A>(&mut self.shared.borrow_mut(), real);
    }

    /// Gives the activities application state, in place of an earlier one of the same type.
    pub fn state<T: Any + Send + Sync>(&mut self, state: T) {
        let driver = &mut *self.shared.borrow_mut();
        Arc::make_mut(&mut driver.states).insert(state);
    }

    /// Has `run` run the futures of allowed `async` activities to their ends, as in
    /// `t.block_on_with(move |work| tokio.block_on(work))`.
    pub fn block_on_with(&mut self, run: impl FnMut(Work) + 'static) {
        let block_on = Rc::new(RefCell::new(Box::new(run) as _));
        self.shared.borrow_mut().block_on = Some(block_on);
    }

    // ---- runs ----------------------------------------------------------------------------------------

    /// Starts a run and lets it go as far as it goes without time passing. Its id is `test-1`, `test-2` and so
    /// on. The input is `()`, the one parameter, or a tuple of the parameters.
    ///
    /// # Panics
    ///
    /// When the test fails ([`TestFailure`]).
    #[track_caller]
    pub fn start<F: WorkflowFn<M>, M>(
        &mut self,
        workflow: F,
        input: <F::W as Workflow>::Input,
    ) -> Run<F::W> {
        let _ = workflow;
        self.begin(None, &input)
    }

    /// As [`start`](Self::start), under an id of the test's choice.
    ///
    /// # Panics
    ///
    /// When the id is not one or is taken, and when the test fails ([`TestFailure`]).
    #[track_caller]
    pub fn start_as<F: WorkflowFn<M>, M>(
        &mut self,
        id: impl TryInto<RunId, Error: Into<InvalidId>>,
        workflow: F,
        input: <F::W as Workflow>::Input,
    ) -> Run<F::W> {
        let _ = workflow;
        match id.try_into() {
            Ok(id) => self.begin(Some(id), &input),
            Err(error) => {
                let invalid: InvalidId = error.into();
                fail(
                    &self.shared,
                    TestFailure::Refused {
                        reason: invalid.to_string(),
                    },
                )
            }
        }
    }

    #[track_caller]
    fn begin<W: Workflow>(&mut self, id: Option<RunId>, input: &W::Input) -> Run<W> {
        let started = input
            .to_value()
            .map_err(|error| TestFailure::Refused {
                reason: format!("the input of `{}`: {error}", W::NAME),
            })
            .and_then(|input| {
                drive(&self.shared, |shared| {
                    let definition = WorkflowDefinition::of::<W>();
                    let index = shared.borrow_mut().start(definition, id, input)?;
                    settle(shared)?;
                    Ok(index)
                })
            });
        let index = or_fail(&self.shared, started);
        Run::new(Rc::clone(&self.shared), index)
    }

    // ---- time ----------------------------------------------------------------------------------------

    /// The time on the test's clock. It moves only by what the test does.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.borrow().now
    }

    /// Moves the clock by `duration`. It stops at each moment at which something is due, a timer, another
    /// attempt, an answer, and lets that happen, in order.
    ///
    /// # Panics
    ///
    /// When the test fails ([`TestFailure`]).
    #[track_caller]
    pub fn advance(&mut self, duration: Duration) {
        let until = self.now() + duration;
        self.advance_to(until);
    }

    /// As [`advance`](Self::advance), to a point in time; a clock that is later stays.
    ///
    /// # Panics
    ///
    /// When the test fails ([`TestFailure`]).
    #[track_caller]
    pub fn advance_to(&mut self, time: Timestamp) {
        let driven = drive(&self.shared, |shared| {
            settle(shared)?;
            loop {
                let next = shared.borrow().next_time();
                let Some(next) = next.filter(|next| *next <= time) else {
                    break;
                };
                move_to(shared, next)?;
            }
            move_to(shared, time)
        });
        or_fail(&self.shared, driven);
    }

    /// From now on only [`advance`](Self::advance) moves the clock: [`Run::result`] fails the test where the
    /// run waits.
    pub fn stop_clock(&mut self) {
        self.shared.borrow_mut().auto_advance = false;
    }

    // ---- versions ------------------------------------------------------------------------------------

    /// From now on runs that come to the marker `id` get `version`, in place of the highest that the code supports:
    /// 0 is the code before the marker existed. It is recorded as it would have been then, so a 0 is not.
    ///
    /// So each arm of a marker can be tested, without a history of the old code:
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[workflow]
    /// # async fn invoice(cx: &Cx) -> Result<u32, Error> {
    /// #     Ok(match cx.version("rounding", 0..=2) { 0 => 10, 1 => 11, 2 => 12 })
    /// # }
    /// # perennial::testing::test(|t| {
    /// for (version, total) in [(0, 10), (1, 11), (2, 12)] {
    ///     t.version("rounding", version);
    ///     assert_eq!(t.start(invoice, ()).result().unwrap(), total);
    /// }
    /// # });
    /// ```
    ///
    /// And a run that is in flight while a new program is deployed is one that begins with 0, and goes on after
    /// [`newest_version`](Self::newest_version): what it has decided holds, and what it decides from then on is
    /// new.
    ///
    /// A version that no run has got fails the test at its end: its name may be mistyped. One that the code does
    /// not support blocks the run that comes to it.
    pub fn version(&mut self, id: &str, version: u32) {
        self.shared.borrow().pins.set(id, version);
    }

    /// From now on runs that come to the marker `id` get the highest version again.
    ///
    /// # Panics
    ///
    /// When no run has got the version that [`version`](Self::version) gave to it.
    #[track_caller]
    pub fn newest_version(&mut self, id: &str) {
        let not_asked = {
            let driver = self.shared.borrow();
            let version = driver
                .pins
                .not_asked()
                .into_iter()
                .find(|(not, _)| not == id);
            driver.pins.remove(id);
            version.map(|(id, version)| driver.not_asked(id, version))
        };
        if let Some(failure) = not_asked {
            fail(&self.shared, failure);
        }
    }

    // ---- how it is checked ---------------------------------------------------------------------------

    /// Other random numbers for `cx.random()`, `cx.uuid()` and the like, in runs that start from now on. They
    /// depend on the seed and on the run's id; without this the seed is 0.
    pub fn seed(&mut self, seed: u64) {
        self.shared.borrow_mut().seed = seed;
    }

    /// From now on nothing is replayed, and the [report](Self::report) says why not. What is not the same
    /// twice goes unnoticed then.
    pub fn without_replays(&mut self, reason: &str) {
        self.shared.borrow_mut().not_replayed = Some(reason.to_owned());
    }

    /// From now on the test fails when a workflow asks the operating system for anything while it runs, even
    /// where that changes nothing: a clock, random bytes, a file. `#[perennial::test(strict)]` does the same.
    ///
    /// # Panics
    ///
    /// When no sandbox is linked.
    #[track_caller]
    pub fn strict(&mut self) {
        if sandbox().is_none() {
            fail(&self.shared, TestFailure::NoSandbox);
        }
        self.shared.borrow_mut().strict = true;
    }

    /// What has been checked so far, besides what the test itself asserts.
    #[must_use]
    pub fn report(&self) -> Report {
        self.shared.borrow().report()
    }

    /// The checks at the end of a test.
    #[track_caller]
    pub(super) fn finish(&self) {
        let checked = drive(&self.shared, |shared| {
            shared.borrow_mut().last_replays()?;
            let driver = shared.borrow();
            if let Some((id, version)) = driver.pins.not_asked().pop() {
                return Err(driver.not_asked(id, version));
            }
            let wrong: Vec<_> = driver
                .mocks
                .iter()
                .filter_map(|mock| mock.check())
                .collect();
            if wrong.is_empty() {
                Ok(())
            } else {
                Err(TestFailure::Miscounted(wrong))
            }
        });
        or_fail(&self.shared, checked);
    }

    /// Why the kit has let it fail.
    pub(super) fn failure(&self) -> Option<TestFailure> {
        self.shared.borrow().failure.clone()
    }
}

impl fmt::Debug for TestRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestRun")
            .field("now", &self.now())
            .field("report", &self.report())
            .finish_non_exhaustive()
    }
}
