//! Changes that others may ask of the run (S27).

use std::any::type_name;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use super::Cx;
use crate::machine::{Handler, Handles};
use crate::value::{DecodeError, EncodeError, Value};
use crate::{Data, Update};

impl Cx {
    /// Lets others ask a change of this run, from here until it ends; handled again, in place of what was there before.
    /// `validate` says whether it may be, and `handler` does it and gives the answer. Both are quick, wait for nothing
    /// and decide nothing: they see and change what they share with the workflow, which may [wait](Self::until) for
    /// that.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use perennial::prelude::*;
    ///
    /// const PAUSE: Update<bool, bool, String> = Update::new("pause");
    ///
    /// # #[activity(idempotent)]
    /// # async fn ship(_acx: &ActivityCx, parcel: u64) -> Result<(), Failure> { let _ = parcel; Ok(()) }
    /// #[workflow]
    /// async fn parcels(cx: &Cx, count: u64) -> Result<(), Error> {
    ///     let paused = Rc::new(Cell::new(false));
    ///     let switch = Rc::clone(&paused);
    ///     cx.handle(PAUSE, |_| Ok(()), move |pause| switch.replace(pause));
    ///     for parcel in 0..count {
    ///         let goes_on = Rc::clone(&paused);
    ///         cx.until(move || !goes_on.get()).await;
    ///         ship(cx, parcel).await?;
    ///     }
    ///     Ok(())
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// `validate` only looks: it runs before anything is recorded, and not in a replay, so what it changed would be
    /// missing there. What it refuses leaves no trace in the history (O21). What it accepts is one event with the answer
    /// of `handler`, which is run again in each replay and must come to the same (S9); the workflow is polled with it.
    ///
    /// `cx.handle` itself is no event. A run that comes back and has handled an update where the code handles it no more
    /// is blocked, since the answer that was recorded is missing.
    ///
    /// An answer that cannot be stored blocks the run, as does a panic of `handler` (S14), and an update more than
    /// [`MAX_UPDATES`](crate::MAX_UPDATES). A panic of `validate` is told to who has asked, and changes nothing.
    #[track_caller]
    pub fn handle<In, Out, Refused>(
        &self,
        update: Update<In, Out, Refused>,
        validate: impl Fn(&In) -> Result<(), Refused> + 'static,
        handler: impl FnMut(In) -> Out + 'static,
    ) where
        In: Data,
        Out: Data,
        Refused: Data,
    {
        let handles = Typed {
            validate,
            handler,
            data: PhantomData,
        };
        let handler = Handler {
            input: type_name::<In>(),
            place: Location::caller(),
            handles: Rc::new(RefCell::new(handles)),
        };
        self.core().handle_update(update.name(), handler);
    }
}

/// A validator and its handler.
struct Typed<In, Out, Refused, V, H> {
    validate: V,
    handler: H,
    data: PhantomData<fn(In) -> (Out, Refused)>,
}

impl<In, Out, Refused, V, H> Handles for Typed<In, Out, Refused, V, H>
where
    In: Data,
    Out: Data,
    Refused: Data,
    V: Fn(&In) -> Result<(), Refused>,
    H: FnMut(In) -> Out,
{
    fn validate(
        &self,
        input: &Value,
    ) -> Result<Result<(), Result<Value, EncodeError>>, DecodeError> {
        let input = In::from_value(input)?;
        Ok((self.validate)(&input).map_err(|refused| refused.to_value()))
    }

    fn handle(&mut self, input: &Value) -> Result<Result<Value, EncodeError>, DecodeError> {
        let input = In::from_value(input)?;
        Ok((self.handler)(input).to_value())
    }
}
