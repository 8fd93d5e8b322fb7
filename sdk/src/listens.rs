//! What a workflow waits for, out of the constants that its body names.
//!
//! The attribute sees `cx.receive(APPROVAL)` and not what `APPROVAL` is, so it lets the compiler find out, by the
//! order in which methods are looked for: of `(&&Listened(&APPROVAL)).receives(..)` that of [`Typed`] comes first,
//! then that of [`Known`], then that of [`Unknown`]. What is no message and no signal is an error where it is waited
//! for, and need not be one twice.

use std::any::type_name;

use crate::Data;
use crate::history::Channel;
use crate::types::DataType;
use crate::value::{DecodeError, Value};
use crate::{Message, Signal};

/// A message or a signal that a workflow waits for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Receives {
    /// Which of them.
    pub channel: Channel,
    /// The name.
    pub name: &'static str,
    /// The constant that has the name, without its path: `APPROVAL`.
    pub constant: &'static str,
    data: fn() -> DataType,
    accepts: fn(&Value) -> Result<(), DecodeError>,
}

impl Receives {
    /// The type of what it says.
    #[must_use]
    pub fn data(&self) -> DataType {
        (self.data)()
    }

    /// Whether a value is of that type.
    ///
    /// # Errors
    ///
    /// It is not: what is wrong with it, and where.
    pub fn accepts(&self, value: &Value) -> Result<(), DecodeError> {
        (self.accepts)(value)
    }
}

/// A constant that a body waits for.
#[doc(hidden)]
#[derive(Debug)]
pub struct Listened<'a, T>(pub &'a T);

/// What has the name of something that a run is told, and its type.
#[doc(hidden)]
pub trait Told {
    type Data: Data;
    const CHANNEL: Channel;

    fn told(&self) -> &'static str;
}

impl<T: Data> Told for Message<T> {
    type Data = T;
    const CHANNEL: Channel = Channel::Message;

    fn told(&self) -> &'static str {
        self.name()
    }
}

impl<T: Data> Told for Signal<T> {
    type Data = T;
    const CHANNEL: Channel = Channel::Signal;

    fn told(&self) -> &'static str {
        self.name()
    }
}

fn receives<C: Told>(told: &C, constant: &'static str, data: fn() -> DataType) -> Receives {
    Receives {
        channel: C::CHANNEL,
        name: told.told(),
        constant,
        data,
        accepts: |value| C::Data::from_value(value).map(drop),
    }
}

#[doc(hidden)]
pub trait Typed {
    fn receives(&self, constant: &'static str) -> Option<Receives>;
}

#[cfg(feature = "schemars")]
impl<C: Told> Typed for &Listened<'_, C>
where
    C::Data: schemars::JsonSchema,
{
    fn receives(&self, constant: &'static str) -> Option<Receives> {
        fn data<T: schemars::JsonSchema>() -> DataType {
            let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
            DataType {
                name: type_name::<T>(),
                schema: Value::encode(&schema).ok(),
            }
        }
        Some(receives(self.0, constant, data::<C::Data>))
    }
}

#[doc(hidden)]
pub trait Known {
    fn receives(&self, constant: &'static str) -> Option<Receives>;
}

impl<C: Told> Known for &&Listened<'_, C> {
    fn receives(&self, constant: &'static str) -> Option<Receives> {
        fn data<T>() -> DataType {
            DataType {
                name: type_name::<T>(),
                schema: None,
            }
        }
        Some(receives(self.0, constant, data::<C::Data>))
    }
}

#[doc(hidden)]
pub trait Unknown {
    fn receives(&self, constant: &'static str) -> Option<Receives>;
}

impl<T> Unknown for Listened<'_, T> {
    fn receives(&self, _: &'static str) -> Option<Receives> {
        None
    }
}
