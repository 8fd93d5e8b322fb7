//! Answers in place of an activity's code.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use crate::activity::end;
use crate::value::{DecodeError, Value};
use crate::{Activity, ActivityCx, AttemptEnd, Data};

/// Answers for the activity `A`. Made by [`TestRun::mock`](super::TestRun::mock).
///
/// Each attempt is a call: one that is answered with a transient failure is followed by another, as the
/// activity's options say. Unless something else is declared, a mock is called at least once.
pub struct Mock<A: Activity> {
    state: Rc<MockState>,
    activity: PhantomData<fn() -> A>,
}

pub(super) type Answer = Box<dyn FnMut(&ActivityCx, &Value) -> Result<AttemptEnd, DecodeError>>;

/// A mock without its types.
pub(super) struct MockState {
    activity: &'static str,
    /// Where the test made it.
    place: &'static Location<'static>,
    /// What the first call is answered with, the second, and so on; the last one stays.
    answers: RefCell<Vec<Answer>>,
    /// What it was called with.
    calls: RefCell<Vec<Value>>,
    declared: Cell<Option<Declared>>,
    takes: Cell<Duration>,
}

/// How often a mock is called, as the test says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Declared {
    /// So often.
    Times(usize),
    /// So often or more often.
    AtLeast(usize),
    /// As often as it likes, or not at all.
    Optional,
}

impl MockState {
    pub(super) fn new(
        activity: &'static str,
        place: &'static Location<'static>,
        answer: Answer,
    ) -> Self {
        Self {
            activity,
            place,
            answers: RefCell::new(vec![answer]),
            calls: RefCell::default(),
            declared: Cell::new(None),
            takes: Cell::new(Duration::ZERO),
        }
    }

    /// Counts a call. `Err`: it is one too many.
    pub(super) fn count(&self, input: &Value) -> Result<(), Miscounted> {
        self.calls.borrow_mut().push(input.clone());
        match self.declared.get() {
            Some(Declared::Times(times)) if self.calls.borrow().len() > times => {
                Err(self.miscounted(Declared::Times(times)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn answer(
        &self,
        acx: &ActivityCx,
        input: &Value,
    ) -> Result<AttemptEnd, DecodeError> {
        let answers = &mut *self.answers.borrow_mut();
        let last = answers.len() - 1;
        let call = self.calls.borrow().len().saturating_sub(1);
        answers[call.min(last)](acx, input)
    }

    pub(super) fn takes(&self) -> Duration {
        self.takes.get()
    }

    /// What is wrong with the number of calls at the end of the test.
    pub(super) fn check(&self) -> Option<Miscounted> {
        let declared = self
            .declared
            .get()
            .unwrap_or(Declared::AtLeast(self.answers.borrow().len()));
        let calls = self.calls.borrow().len();
        let fits = match declared {
            Declared::Times(times) => calls == times,
            Declared::AtLeast(times) => calls >= times,
            Declared::Optional => true,
        };
        (!fits).then(|| self.miscounted(declared))
    }

    /// Another mock takes its place: what nobody has declared is not missed.
    pub(super) fn replaced(&self) {
        if self.declared.get().is_none() {
            self.declared.set(Some(Declared::Optional));
        }
    }

    fn miscounted(&self, declared: Declared) -> Miscounted {
        Miscounted {
            activity: self.activity.to_owned(),
            calls: self.calls.borrow().len(),
            declared,
            place: format!("{}:{}", self.place.file(), self.place.line()),
        }
    }
}

impl<A: Activity> Mock<A> {
    pub(super) fn new(state: Rc<MockState>) -> Self {
        Self {
            state,
            activity: PhantomData,
        }
    }

    /// It is called exactly `times` times. One call more fails the test at once.
    pub fn times(self, times: usize) -> Self {
        self.declare(Declared::Times(times))
    }

    /// It is called `times` times or more often.
    pub fn at_least(self, times: usize) -> Self {
        self.declare(Declared::AtLeast(times))
    }

    /// It may be called, and need not be.
    pub fn optional(self) -> Self {
        self.declare(Declared::Optional)
    }

    /// It is not called. The same as `times(0)`.
    pub fn never(self) -> Self {
        self.declare(Declared::Times(0))
    }

    fn declare(self, declared: Declared) -> Self {
        self.state.declared.set(Some(declared));
        self
    }

    /// From the next call on this answers: the second call, where there was one answer before, the third
    /// where there were two. The last answer stays. Unless something else is declared, all of them are
    /// needed.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(idempotent)]
    /// # async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> { Ok(cents) }
    /// # #[workflow]
    /// # async fn order(cx: &Cx) -> Result<u64, Error> { Ok(charge(cx, 5).await?) }
    /// # perennial::testing::test(|t| {
    /// let charged = t
    ///     .mock(charge, |_| Err(Failure::transient("no connection")))
    ///     .then(|cents| Ok(cents));
    /// assert!(t.start(order, ()).result().is_ok());
    /// assert_eq!(charged.calls(), [5, 5]);
    /// # });
    /// ```
    pub fn then(self, mut answer: impl FnMut(A::Input) -> A::Output + 'static) -> Self {
        let answer = answer_of::<A>(move |_, input| answer(input));
        self.state.answers.borrow_mut().push(answer);
        self
    }

    /// Each call takes so long, on the test's clock; without it none. An attempt's deadline may pass before
    /// that. `Duration::MAX`: no answer ever comes.
    pub fn takes(self, duration: Duration) -> Self {
        self.state.takes.set(duration);
        self
    }

    /// The inputs of all calls so far, in order: `()`, the one parameter, or a tuple of the parameters.
    ///
    /// # Panics
    ///
    /// When an input does not decode, as one whose type reads other than it writes.
    #[must_use]
    pub fn calls(&self) -> Vec<A::Input> {
        let calls = self.state.calls.borrow();
        let decode = |input: &Value| match A::Input::from_value(input) {
            Ok(input) => input,
            Err(error) => panic!("the input of `{}`: {error}", A::NAME),
        };
        calls.iter().map(decode).collect()
    }
}

impl<A: Activity> fmt::Debug for Mock<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mock")
            .field("activity", &A::NAME)
            .field("calls", &self.state.calls.borrow().len())
            .field("declared", &self.state.declared.get())
            .finish()
    }
}

pub(super) fn answer_of<A: Activity>(
    mut answer: impl FnMut(&ActivityCx, A::Input) -> A::Output + 'static,
) -> Answer {
    Box::new(move |acx, input| Ok(end(answer(acx, A::Input::from_value(input)?))))
}

/// A mock that was called less or more often than declared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miscounted {
    /// The activity.
    pub activity: String,
    /// How often it was called.
    pub calls: usize,
    /// How often it should have been.
    pub declared: Declared,
    /// Where the test made it, as `file:line`.
    pub place: String,
}

impl fmt::Display for Miscounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |n: usize| match n {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        let Self {
            activity,
            calls,
            declared,
            place,
        } = self;
        match calls {
            0 => write!(f, "`{activity}` was never called")?,
            calls => write!(f, "`{activity}` was called {}", times(*calls))?,
        }
        match declared {
            Declared::Times(0) => f.write_str(", and should not be called")?,
            Declared::Times(n) => write!(f, ", and should be called {}", times(*n))?,
            Declared::AtLeast(n) => write!(f, ", and should be called at least {}", times(*n))?,
            Declared::Optional => {}
        }
        write!(f, " (mocked at {place})")
    }
}
