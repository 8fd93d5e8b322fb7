//! Stubs: operations whose results come from outside of the run, typed once for who asks and who answers.

mod call;
mod mailbox;

pub use call::{Offer, StubCall, StubError, StubFuture, StubTimeout};
pub use mailbox::{Mailbox, NextMail};

use std::any::{TypeId, type_name};

use crate::types::Schemas;
use crate::value::{DecodeError, Value};
use crate::{Cx, Data, DataType};

/// A function with `#[stub]`. Implemented by the attribute.
pub trait Stub: 'static {
    /// The name under which histories know it.
    const NAME: &'static str;
    /// What whoever fulfils it is told: `()`, the one parameter, or a tuple of the parameters.
    type Input: Data;
    /// What it is fulfilled with.
    type Output: Data;

    #[doc(hidden)]
    #[must_use]
    fn schemas() -> Schemas {
        Schemas::default()
    }
}

/// A stub without its types: its name, and what is known of its data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StubDefinition {
    /// Which function it is, whatever its name.
    pub id: TypeId,
    /// The name under which histories know it.
    pub name: &'static str,
    /// Of what whoever fulfils it is told.
    pub input: DataType,
    /// Of what it is fulfilled with.
    pub result: DataType,
    /// Whether a value is of that type.
    pub accepts: fn(&Value) -> Result<(), DecodeError>,
}

impl StubDefinition {
    /// The definition of `S`.
    #[must_use]
    pub fn of<S: Stub>() -> Self {
        let Schemas { input, result, .. } = S::schemas();
        let of = |name, schema| DataType { name, schema };
        Self {
            id: TypeId::of::<S>(),
            accepts: |value| S::Output::from_value(value).map(drop),
            name: S::NAME,
            input: of(type_name::<S::Input>(), input),
            result: of(type_name::<S::Output>(), result),
        }
    }
}

/// The name of a stub's function, as in `client.fulfil(&reference, review, &answer)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stub",
    label = "not a stub",
    note = "put `#[stub]` on the signature of the function, which has no body"
)]
pub trait StubFn<M> {
    /// The stub that it names.
    type S: Stub;
}

macro_rules! stub_fn {
    ($($arg:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, S: Stub, $($arg),*> StubFn<fn($($arg),*) -> S> for F
        where
            F: Fn(&Cx, $($arg),*) -> StubCall<S>,
        {
            type S = S;
        }
    };
}

stub_fn!();
stub_fn!(A1);
stub_fn!(A1 A2);
stub_fn!(A1 A2 A3);
stub_fn!(A1 A2 A3 A4);
stub_fn!(A1 A2 A3 A4 A5);
stub_fn!(A1 A2 A3 A4 A5 A6);
stub_fn!(A1 A2 A3 A4 A5 A6 A7);
stub_fn!(A1 A2 A3 A4 A5 A6 A7 A8);
