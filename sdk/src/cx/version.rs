//! Which version of a changed piece of code a run has (S36).

use std::ops::RangeInclusive;
use std::panic::Location;

use super::Cx;
use crate::machine::MarkerCall;

impl Cx {
    /// Whether this run has the code after a change: `false` for a run whose history was made by the code before
    /// it, `true` for one that comes here for the first time, which is then recorded.
    ///
    /// It is [`version`](Self::version)`(id, 0..=1) == 1`, and all that is said there holds.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(idempotent)]
    /// # async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> { Ok(cents) }
    /// # #[activity(pure)]
    /// # async fn check_for_fraud(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> { Ok(cents > 100) }
    /// #[workflow]
    /// async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    ///     if cx.patched("fraud-check") {
    ///         if check_for_fraud(cx, cents).await? {
    ///             return Err(Error::new("refused"));
    ///         }
    ///     } else {
    ///         // Runs that were in flight when the check came: as before.
    ///     }
    ///     Ok(charge(cx, cents).await?)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// The answer sticks. Where runs in flight shall change over, as a loop that goes on for months does with its
    /// next iteration, ask with [`patched_each`](Self::patched_each).
    #[track_caller]
    #[must_use]
    pub fn patched(&self, id: &'static str) -> bool {
        self.marker(id, 0..=1, false, Location::caller()) == 1
    }

    /// As [`patched`](Self::patched), and decides anew at each call: a run in flight gets the new code from the next
    /// call on. Only changes are recorded.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(idempotent)]
    /// # async fn poll(_acx: &ActivityCx) -> Result<bool, Failure> { Ok(true) }
    /// # #[activity(idempotent)]
    /// # async fn poll_in_batches(_acx: &ActivityCx) -> Result<bool, Failure> { Ok(true) }
    /// #[workflow]
    /// async fn watch(cx: &Cx) -> Result<(), Error> {
    ///     loop {
    ///         cx.sleep(hours(1)).await?;
    ///         let done = if cx.patched_each("batches") {
    ///             poll_in_batches(cx).await?
    ///         } else {
    ///             poll(cx).await?
    ///         };
    ///         if done {
    ///             return Ok(());
    ///         }
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[track_caller]
    #[must_use]
    pub fn patched_each(&self, id: &'static str) -> bool {
        self.marker(id, 0..=1, true, Location::caller()) == 1
    }

    /// The version of a changed piece of code that this run has (S36). `supported` are the versions whose code is
    /// still there; 0 is the code before the marker existed.
    ///
    /// * A run that comes here for the first time gets the highest, which is recorded.
    /// * A run whose history has one gets that.
    /// * A run whose history passed here and has none gets 0: the code did not ask then.
    ///
    /// The first answer of a generation sticks, a 0 that was not recorded too, wherever the same `id` is asked for.
    /// Nothing is waited for, so that it may stand in `join!`, in loops, in helpers and in spawned blocks.
    ///
    /// In a `#[workflow]` and in a `#[durable]` function the name and the range are literals, and the call is what a
    /// `match` is over, with an arm for each version; no `_` is needed. (`if cx.patched(..)` is the other form.)
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[activity(pure)]
    /// # async fn in_cents(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> { Ok(sum) }
    /// # #[activity(pure)]
    /// # async fn rounded(_acx: &ActivityCx, sum: u64) -> Result<u64, Failure> { Ok(sum) }
    /// #[workflow]
    /// async fn invoice(cx: &Cx, sum: u64) -> Result<u64, Error> {
    ///     let total = match cx.version("rounding", 0..=2) {
    ///         0 => sum,
    ///         1 => in_cents(cx, sum).await?,
    ///         2 => rounded(cx, sum).await?,
    ///     };
    ///     Ok(total)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// A run that has a version outside of `supported` is blocked (`H207`), as is one whose history has a marker that
    /// the code does not ask for any more and that was not retired (`H208`). A name of more than
    /// [`MAX_MARKER_ID`](crate::machine::MAX_MARKER_ID) bytes blocks the run too.
    ///
    /// # Panics
    ///
    /// When `supported` is empty, which the attributes refuse where they see it.
    #[track_caller]
    #[must_use]
    pub fn version(&self, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
        self.marker(id, supported, false, Location::caller())
    }

    /// As [`version`](Self::version), and decides anew at each call: a run in flight gets the newest code from the
    /// next call on, while what was recorded is replayed as it was. Only changes are recorded, so that a loop adds
    /// a record for each new version and not for each iteration.
    ///
    /// # Panics
    ///
    /// When `supported` is empty.
    #[track_caller]
    #[must_use]
    pub fn version_each(&self, id: &'static str, supported: RangeInclusive<u32>) -> u32 {
        self.marker(id, supported, true, Location::caller())
    }

    fn marker(
        &self,
        id: &'static str,
        supported: RangeInclusive<u32>,
        each: bool,
        place: &'static Location<'static>,
    ) -> u32 {
        let call = MarkerCall::new(id, supported, each, place);
        self.core().version(&call)
    }
}
