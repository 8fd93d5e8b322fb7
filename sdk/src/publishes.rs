//! What a workflow publishes, out of the constants that its body names: streams and views.
//!
//! As with what it waits for, the attribute sees `cx.emit(OUTPUT, ..)` and not what `OUTPUT` is, so it lets the
//! compiler find out: see the module `listens`.

use std::any::type_name;

use serde::{Deserialize, Serialize};

use crate::types::DataType;
use crate::{Stream, View};

/// What a workflow can publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Publication {
    /// A stream: items that stay in order.
    Stream,
    /// A view: the last value.
    View,
}

/// A stream or a view that a workflow publishes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Publishes {
    /// Which of them.
    pub kind: Publication,
    /// The name.
    pub name: &'static str,
    /// The constant that has the name, without its path: `OUTPUT`.
    pub constant: &'static str,
    data: fn() -> DataType,
}

impl Publishes {
    /// The type of its items or values.
    #[must_use]
    pub fn data(&self) -> DataType {
        (self.data)()
    }
}

/// A constant that a body publishes under.
#[doc(hidden)]
#[derive(Debug)]
pub struct Published<'a, T>(pub &'a T);

/// What has the name of something that is published, and its type.
#[doc(hidden)]
pub trait Name {
    type Data;
    const KIND: Publication;

    fn published(&self) -> &'static str;
}

impl<T> Name for Stream<T> {
    type Data = T;
    const KIND: Publication = Publication::Stream;

    fn published(&self) -> &'static str {
        self.name()
    }
}

impl<T> Name for View<T> {
    type Data = T;
    const KIND: Publication = Publication::View;

    fn published(&self) -> &'static str {
        self.name()
    }
}

fn publishes<N: Name>(name: &N, constant: &'static str, data: fn() -> DataType) -> Publishes {
    Publishes {
        kind: N::KIND,
        name: name.published(),
        constant,
        data,
    }
}

#[doc(hidden)]
pub trait Typed {
    fn publishes(&self, constant: &'static str) -> Option<Publishes>;
}

#[cfg(feature = "schemars")]
impl<N: Name> Typed for &Published<'_, N>
where
    N::Data: schemars::JsonSchema,
{
    fn publishes(&self, constant: &'static str) -> Option<Publishes> {
        fn data<T: schemars::JsonSchema>() -> DataType {
            let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
            DataType {
                name: type_name::<T>(),
                schema: crate::value::Value::encode(&schema).ok(),
            }
        }
        Some(publishes(self.0, constant, data::<N::Data>))
    }
}

#[doc(hidden)]
pub trait Known {
    fn publishes(&self, constant: &'static str) -> Option<Publishes>;
}

impl<N: Name> Known for &&Published<'_, N> {
    fn publishes(&self, constant: &'static str) -> Option<Publishes> {
        fn data<T>() -> DataType {
            DataType {
                name: type_name::<T>(),
                schema: None,
            }
        }
        Some(publishes(self.0, constant, data::<N::Data>))
    }
}

#[doc(hidden)]
pub trait Unknown {
    fn publishes(&self, constant: &'static str) -> Option<Publishes>;
}

impl<T> Unknown for Published<'_, T> {
    fn publishes(&self, _: &'static str) -> Option<Publishes> {
        None
    }
}
