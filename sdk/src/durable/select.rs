//! Waiting for the first of several things.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Durable;
use crate::machine::judged;

/// Waits for the first of its arms and runs its code: `pattern = future => code`.
///
/// Of two arms that become ready with the same event the one that stands first is taken, live and in
/// replay. The other futures are dropped before the code runs, and that is recorded: a timer is stopped, an
/// activity that was dispatched goes on and its result is no longer waited for (S12).
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(idempotent)]
/// # async fn ask(_acx: &ActivityCx, question: String) -> Result<String, Failure> { Ok(question) }
/// #[workflow]
/// async fn ask_for_an_hour(cx: &Cx, question: String) -> Result<Option<String>, Error> {
///     Ok(select! {
///         reply = ask(cx, question) => Some(reply?),
///         _ = cx.sleep(hours(1)) => None,
///     })
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! select {
    ($($arms:tt)+) => { $crate::__select_arms!([] $($arms)+) };
}

/// Reads the arms one by one: `[(pattern, future, code) ..] rest`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_arms {
    ([$($done:tt)*] $pattern:pat = $future:expr => $code:block, $($rest:tt)*) => {
        $crate::__select_arms!([$($done)* ($pattern, $future, $code)] $($rest)*)
    };
    ([$($done:tt)*] $pattern:pat = $future:expr => $code:block $($rest:tt)*) => {
        $crate::__select_arms!([$($done)* ($pattern, $future, $code)] $($rest)*)
    };
    ([$($done:tt)*] $pattern:pat = $future:expr => $code:expr, $($rest:tt)*) => {
        $crate::__select_arms!([$($done)* ($pattern, $future, $code)] $($rest)*)
    };
    ([$($done:tt)*] $pattern:pat = $future:expr => $code:expr) => {
        $crate::__select_arms!([$($done)* ($pattern, $future, $code)])
    };
    ([$(($pattern:pat, $future:expr, $code:expr))+]) => {
        $crate::__select_match!($crate::__select_race!($($future),+).await; $(($pattern, $code))+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __select_race {
    ($future:expr) => { $future };
    ($future:expr, $($rest:expr),+) => {
        $crate::__private::race($future, $crate::__select_race!($($rest),+))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __select_match {
    ($value:expr; ($pattern:pat, $code:expr)) => {
        match $value { $pattern => $code }
    };
    ($value:expr; ($pattern:pat, $code:expr) $($rest:tt)+) => {
        match $value {
            $crate::__private::Either::First($pattern) => $code,
            $crate::__private::Either::Second(second) => $crate::__select_match!(second; $($rest)+),
        }
    };
}

/// Which of two futures was first.
#[doc(hidden)]
#[derive(Debug)]
pub enum Either<A, B> {
    First(A),
    Second(B),
}

/// Waits for the first of two futures. Whoever awaits it drops both when it is ready, in source order; an
/// inner race must not drop its own before.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Race<A, B> {
    first: Pin<Box<A>>,
    second: Pin<Box<B>>,
    ended: bool,
}

#[doc(hidden)]
pub fn race<A: Durable, B: Durable>(first: A, second: B) -> Race<A::IntoFuture, B::IntoFuture> {
    Race {
        first: Box::pin(first.into_future()),
        second: Box::pin(second.into_future()),
        ended: false,
    }
}

impl<A: Future, B: Future> Future for Race<A, B> {
    type Output = Either<A::Output, B::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(
            !self.ended,
            "a `select!` was awaited again after it had given its result"
        );
        let first = judged(|| self.first.as_mut().poll(context)).map(Either::First);
        let end = match first {
            Poll::Pending => judged(|| self.second.as_mut().poll(context)).map(Either::Second),
            ready => ready,
        };
        self.ended = end.is_ready();
        end
    }
}

#[diagnostic::do_not_recommend]
impl<A: Future, B: Future> Durable for Race<A, B> {}

impl<A, B> fmt::Debug for Race<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Race")
    }
}
