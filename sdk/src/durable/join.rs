//! Waiting for several things at once.

use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Durable;
use super::group::{Group, Member};

/// Waits for all of up to twelve futures and gives a tuple of their results.
///
/// They are polled in source order; each begins when the `join!` is awaited.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(pure)]
/// # async fn reserve(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// # #[activity(pure)]
/// # async fn quote(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// #[workflow]
/// async fn offer(cx: &Cx, order: String) -> Result<(u64, u64), Error> {
///     let (stock, price) = join!(reserve(cx, order.clone()), quote(cx, order));
///     Ok((stock?, price?))
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! join {
    ($($future:expr),+ $(,)?) => { $crate::__private::join(($($future,)+)).await };
}

/// Waits for all of up to twelve futures that give results, and gives a tuple of their values, or the first
/// error: of two that come with the same event, the one that stands first. The others are dropped then, and
/// that is recorded. All errors are of one type: `async { Ok::<_, Error>(call.await?) }` makes one of it.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(pure)]
/// # async fn reserve(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// # #[activity(pure)]
/// # async fn quote(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// #[workflow]
/// async fn offer(cx: &Cx, order: String) -> Result<(u64, u64), Error> {
///     let (stock, price) = try_join!(reserve(cx, order.clone()), quote(cx, order))?;
///     Ok((stock, price))
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! try_join {
    ($($future:expr),+ $(,)?) => { $crate::__private::try_join(($($future,)+)).await };
}

/// A tuple of durable futures.
#[doc(hidden)]
pub trait JoinFutures {
    type Join;

    fn join(self) -> Self::Join;
}

/// A tuple of durable futures that give results.
#[doc(hidden)]
pub trait TryJoinFutures {
    type TryJoin;

    fn try_join(self) -> Self::TryJoin;
}

#[doc(hidden)]
pub fn join<T: JoinFutures>(futures: T) -> T::Join {
    futures.join()
}

#[doc(hidden)]
pub fn try_join<T: TryJoinFutures>(futures: T) -> T::TryJoin {
    futures.try_join()
}

/// Waits for all members.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Join<M> {
    group: Group,
    members: M,
    open: usize,
}

/// Waits for all members, or for the first error.
#[must_use = "futures do nothing unless they are awaited"]
pub struct TryJoin<M> {
    group: Group,
    /// `None` once there is an error.
    members: Option<M>,
    open: usize,
}

impl<M> fmt::Debug for Join<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join")
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for TryJoin<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryJoin")
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

macro_rules! tuple {
    ($count:literal: $($place:tt $F:ident $T:ident)*) => {
        impl<$($F: Durable),*> JoinFutures for ($($F,)*) {
            type Join = Join<($(Member<$F::IntoFuture>,)*)>;

            fn join(self) -> Self::Join {
                let group = Group::new();
                let members = ($(Member::new(&group, $place, self.$place.into_future()),)*);
                Join { group, members, open: $count }
            }
        }

        impl<$($F: Future),*> Future for Join<($(Member<$F>,)*)> {
            type Output = ($($F::Output,)*);

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                let Self { group, members, open } = self.get_mut();
                group.poll($count, context, |place| {
                    let ended = match place {
                        $($place => members.$place.poll(),)*
                        _ => false,
                    };
                    *open -= usize::from(ended);
                    ControlFlow::Continue(())
                });
                if *open > 0 {
                    return Poll::Pending;
                }
                Poll::Ready(($(members.$place.take(),)*))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($F: Future),*> Durable for Join<($(Member<$F>,)*)> {}

        impl<Error, $($F: Durable<Output = Result<$T, Error>>, $T),*> TryJoinFutures for ($($F,)*) {
            type TryJoin = TryJoin<($(Member<$F::IntoFuture>,)*)>;

            fn try_join(self) -> Self::TryJoin {
                let group = Group::new();
                let members = ($(Member::new(&group, $place, self.$place.into_future()),)*);
                TryJoin { group, members: Some(members), open: $count }
            }
        }

        impl<Error, $($F: Future<Output = Result<$T, Error>>, $T),*> Future for TryJoin<($(Member<$F>,)*)> {
            type Output = Result<($($T,)*), Error>;

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                let Self { group, members: slot, open } = self.get_mut();
                let Some(members) = slot else {
                    panic!("a `try_join!` was awaited again after it had given its error");
                };
                let mut failed = None;
                group.poll($count, context, |place| {
                    let (ended, error) = match place {
                        $($place => (members.$place.poll(), matches!(members.$place.output(), Some(Err(_)))),)*
                        _ => (false, false),
                    };
                    *open -= usize::from(ended);
                    if error {
                        failed = Some(place);
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(())
                });
                let error = match failed {
                    $(Some($place) => members.$place.take().err(),)*
                    _ => None,
                };
                if let Some(error) = error {
                    // The others are dropped before the caller goes on.
                    *slot = None;
                    return Poll::Ready(Err(error));
                }
                if *open > 0 {
                    return Poll::Pending;
                }
                Poll::Ready(Ok(($(
                    match members.$place.take() {
                        Ok(value) => value,
                        Err(error) => return Poll::Ready(Err(error)),
                    },
                )*)))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<Error, $($F: Future<Output = Result<$T, Error>>, $T),*> Durable for TryJoin<($(Member<$F>,)*)> {}
    };
}

tuple!(1: 0 F0 T0);
tuple!(2: 0 F0 T0 1 F1 T1);
tuple!(3: 0 F0 T0 1 F1 T1 2 F2 T2);
tuple!(4: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3);
tuple!(5: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4);
tuple!(6: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5);
tuple!(7: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6);
tuple!(8: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6 7 F7 T7);
tuple!(9: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6 7 F7 T7 8 F8 T8);
tuple!(10: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6 7 F7 T7 8 F8 T8 9 F9 T9);
tuple!(11: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6 7 F7 T7 8 F8 T8 9 F9 T9 10 F10 T10);
tuple!(12: 0 F0 T0 1 F1 T1 2 F2 T2 3 F3 T3 4 F4 T4 5 F5 T5 6 F6 T6 7 F7 T7 8 F8 T8 9 F9 T9 10 F10 T10 11 F11 T11);

/// Waits for all futures of a collection and gives their results in its order.
///
/// ```
/// # use perennial::prelude::*;
/// # #[activity(pure)]
/// # async fn charge(_acx: &ActivityCx, order: String) -> Result<u64, Failure> { Ok(order.len() as u64) }
/// #[workflow]
/// async fn charge_all(cx: &Cx, orders: Vec<String>) -> Result<u64, Error> {
///     let receipts = join_all(orders.into_iter().map(|order| charge(cx, order))).await;
///     Ok(receipts.into_iter().flatten().sum())
/// }
/// # fn main() {}
/// ```
pub fn join_all<I>(futures: I) -> JoinAll<<I::Item as IntoFuture>::IntoFuture>
where
    I: IntoIterator<Item: Durable>,
{
    let group = Group::new();
    let members = futures.into_iter().enumerate();
    let members: Vec<_> = members
        .map(|(place, future)| Member::new(&group, place, future.into_future()))
        .collect();
    let open = members.len();
    JoinAll(Join {
        group,
        members,
        open,
    })
}

/// Waits for a collection; see [`join_all`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct JoinAll<F: Future>(Join<Vec<Member<F>>>);

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Join {
            group,
            members,
            open,
        } = &mut self.get_mut().0;
        group.poll(members.len(), context, |place| {
            *open -= usize::from(members.get_mut(place).is_some_and(Member::poll));
            ControlFlow::Continue(())
        });
        if *open > 0 {
            return Poll::Pending;
        }
        Poll::Ready(members.iter_mut().map(Member::take).collect())
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> Durable for JoinAll<F> {}
