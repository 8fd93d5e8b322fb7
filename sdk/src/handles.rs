//! The updates that a workflow handles, out of the constants that its body names.
//!
//! As with what it waits for, the attribute sees `cx.handle(SET_LIMIT, ..)` and not what `SET_LIMIT` is, so it lets the
//! compiler find out: see the module `listens`.

use std::any::type_name;

use crate::Update;
use crate::types::DataType;

/// An update that a workflow handles.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Handled {
    /// The name.
    pub name: &'static str,
    /// The constant that has the name, without its path: `SET_LIMIT`.
    pub constant: &'static str,
    data: fn() -> [DataType; 3],
}

impl Handled {
    /// The type of what is asked.
    #[must_use]
    pub fn input(&self) -> DataType {
        let [input, _, _] = (self.data)();
        input
    }

    /// The type of the answer.
    #[must_use]
    pub fn answer(&self) -> DataType {
        let [_, answer, _] = (self.data)();
        answer
    }

    /// The type of why it is refused.
    #[must_use]
    pub fn refused(&self) -> DataType {
        let [_, _, refused] = (self.data)();
        refused
    }
}

/// A constant whose update a body handles.
#[doc(hidden)]
#[derive(Debug)]
pub struct OfUpdate<'a, T>(pub &'a T);

/// What has the name of an update, and its types.
#[doc(hidden)]
pub trait Name {
    type In;
    type Out;
    type Refused;

    fn update(&self) -> &'static str;
}

impl<In, Out, Refused> Name for Update<In, Out, Refused> {
    type In = In;
    type Out = Out;
    type Refused = Refused;

    fn update(&self) -> &'static str {
        self.name()
    }
}

#[doc(hidden)]
pub trait Typed {
    fn handles(&self, constant: &'static str) -> Option<Handled>;
}

#[cfg(feature = "schemars")]
impl<N: Name> Typed for &OfUpdate<'_, N>
where
    N::In: schemars::JsonSchema,
    N::Out: schemars::JsonSchema,
    N::Refused: schemars::JsonSchema,
{
    fn handles(&self, constant: &'static str) -> Option<Handled> {
        fn of<T: schemars::JsonSchema>() -> DataType {
            let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
            DataType {
                name: type_name::<T>(),
                schema: crate::value::Value::encode(&schema).ok(),
            }
        }
        Some(Handled {
            name: self.0.update(),
            constant,
            data: || [of::<N::In>(), of::<N::Out>(), of::<N::Refused>()],
        })
    }
}

#[doc(hidden)]
pub trait Known {
    fn handles(&self, constant: &'static str) -> Option<Handled>;
}

impl<N: Name> Known for &&OfUpdate<'_, N> {
    fn handles(&self, constant: &'static str) -> Option<Handled> {
        fn of<T>() -> DataType {
            DataType {
                name: type_name::<T>(),
                schema: None,
            }
        }
        Some(Handled {
            name: self.0.update(),
            constant,
            data: || [of::<N::In>(), of::<N::Out>(), of::<N::Refused>()],
        })
    }
}

#[doc(hidden)]
pub trait Unknown {
    fn handles(&self, constant: &'static str) -> Option<Handled>;
}

impl<T> Unknown for OfUpdate<'_, T> {
    fn handles(&self, _: &'static str) -> Option<Handled> {
        None
    }
}
