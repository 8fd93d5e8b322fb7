//! Activities without their types: what drivers work with.

use std::any::{TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::failure::Kind;
use super::{Activity, ActivityCx, ActivityOptions, ActivityResult, Call, StateType};
use crate::value::{DecodeError, EncodeError, Value};
use crate::{Cx, Data, DataTypes};

/// An attempt of an activity, typed, not yet begun.
pub struct AttemptFuture<T>(AttemptCode<T>);

enum AttemptCode<T> {
    Asynchronous(Pin<Box<dyn Future<Output = T> + Send>>),
    Blocking(Box<dyn FnOnce() -> T + Send>),
}

impl<T> AttemptFuture<T> {
    /// An attempt that waits without holding its thread.
    pub fn asynchronous(code: impl Future<Output = T> + Send + 'static) -> Self {
        Self(AttemptCode::Asynchronous(Box::pin(code)))
    }

    /// An attempt that holds its thread.
    pub fn blocking(code: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(AttemptCode::Blocking(Box::new(code)))
    }
}

impl<T> fmt::Debug for AttemptFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AttemptFuture")
    }
}

/// An attempt without its types, not yet begun.
pub enum Attempted {
    /// Waits without holding its thread.
    Asynchronous(Pin<Box<dyn Future<Output = AttemptEnd> + Send>>),
    /// Holds its thread.
    Blocking(Box<dyn FnOnce() -> AttemptEnd + Send>),
}

impl fmt::Debug for Attempted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asynchronous(_) => "Asynchronous",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// With a result.
    Completed(Value),
    /// With a final "no".
    Rejected(Value),
    /// With a failure that another attempt may not meet.
    Failed(String),
    /// With a result that cannot be stored; another attempt would end the same way.
    Unstorable(EncodeError),
}

/// What an attempt's result comes to.
pub(crate) fn end<T: ActivityResult>(output: T) -> AttemptEnd {
    let stored = match output.into_attempt() {
        Ok(value) => value.to_value().map(AttemptEnd::Completed),
        Err(failure) => match failure.0 {
            Kind::Rejected(why) => why.to_value().map(AttemptEnd::Rejected),
            Kind::Transient(message) => return AttemptEnd::Failed(message),
        },
    };
    stored.unwrap_or_else(AttemptEnd::Unstorable)
}

/// An activity without its types.
#[derive(Clone, Copy, Debug)]
pub struct ActivityDefinition {
    /// Which function it is, whatever its name.
    pub id: TypeId,
    /// The name under which histories know it.
    pub name: &'static str,
    /// What it declares.
    pub options: ActivityOptions,
    /// The application state that it asks for.
    pub states: fn() -> Vec<StateType>,
    /// Makes an attempt over an input.
    pub run: fn(ActivityCx, &Value) -> Result<Attempted, DecodeError>,
    /// The types of its data.
    pub types: fn() -> DataTypes,
}

impl ActivityDefinition {
    /// The definition of `A`.
    #[must_use]
    pub fn of<A: Activity>() -> Self {
        fn run<A: Activity>(acx: ActivityCx, input: &Value) -> Result<Attempted, DecodeError> {
            let input = A::Input::from_value(input)?;
            Ok(match A::run(acx, input).0 {
                AttemptCode::Asynchronous(code) => {
                    Attempted::Asynchronous(Box::pin(async { end(code.await) }))
                }
                AttemptCode::Blocking(code) => Attempted::Blocking(Box::new(|| end(code()))),
            })
        }
        fn types<A: Activity>() -> DataTypes {
            let names = [
                type_name::<A::Input>(),
                type_name::<<A::Output as ActivityResult>::Value>(),
                type_name::<<A::Output as ActivityResult>::Rejection>(),
            ];
            DataTypes::new(names, A::schemas())
        }
        Self {
            id: TypeId::of::<A>(),
            name: A::NAME,
            options: A::OPTIONS,
            states: A::states,
            run: run::<A>,
            types: types::<A>,
        }
    }
}

/// The name of an activity's function, as in `builder.activity(charge_card)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an activity",
    label = "not an activity",
    note = "put `#[activity(..)]` on the function"
)]
pub trait ActivityFn<M> {
    /// The activity that it names.
    type A: Activity;
}

macro_rules! activity_fn {
    ($($arg:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, A: Activity, $($arg),*> ActivityFn<fn($($arg),*) -> A> for F
        where
            F: Fn(&Cx, $($arg),*) -> Call<A>,
        {
            type A = A;
        }
    };
}

activity_fn!();
activity_fn!(A1);
activity_fn!(A1 A2);
activity_fn!(A1 A2 A3);
activity_fn!(A1 A2 A3 A4);
activity_fn!(A1 A2 A3 A4 A5);
activity_fn!(A1 A2 A3 A4 A5 A6);
activity_fn!(A1 A2 A3 A4 A5 A6 A7);
activity_fn!(A1 A2 A3 A4 A5 A6 A7 A8);

/// Several activities, as in `builder.activities((charge_card, refund))`: a tuple of up to twelve.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of activities",
    label = "expected a tuple such as `(charge_card, refund)`, of at most twelve",
    note = "call `.activities(..)` again for more"
)]
pub trait ActivitySet<M> {
    /// Their definitions.
    fn definitions(&self) -> Vec<ActivityDefinition>;
}

macro_rules! activity_set {
    ($($f:ident $m:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($f: ActivityFn<$m>, $m),*> ActivitySet<($($m,)*)> for ($($f,)*) {
            fn definitions(&self) -> Vec<ActivityDefinition> {
                vec![$(ActivityDefinition::of::<$f::A>()),*]
            }
        }
    };
}

activity_set!(F1 M1);
activity_set!(F1 M1 F2 M2);
activity_set!(F1 M1 F2 M2 F3 M3);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10 F11 M11);
activity_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10 F11 M11 F12 M12);
