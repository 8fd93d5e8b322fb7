//! What is known of the types of data before anything runs: their names, and their schemas where they have one.

use crate::value::Value;

/// The types of data of a workflow or an activity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataTypes {
    /// Of the input: `()`, the one parameter, or a tuple of the parameters.
    pub input: DataType,
    /// Of the result.
    pub result: DataType,
    /// Of the error; of an activity that is what it rejects with.
    pub error: DataType,
}

/// A type of data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataType {
    /// Its path, for people: a compiler may write it in another way than another one.
    pub name: &'static str,
    /// Its JSON Schema, where it implements `schemars::JsonSchema` and the feature `schemars` of this crate is on.
    pub schema: Option<Value>,
}

/// The schemas of an input, a result and an error.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Schemas {
    pub input: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
}

impl DataTypes {
    pub(crate) fn new([input, result, error]: [&'static str; 3], schemas: Schemas) -> Self {
        let of = |name, schema| DataType { name, schema };
        Self {
            input: of(input, schemas.input),
            result: of(result, schemas.result),
            error: of(error, schemas.error),
        }
    }
}

/// In the `impl` that an attribute writes: the schemas of its types. Nothing without the feature, so that nobody pays
/// for what is not asked for; the trait's own answer is that there are none.
#[cfg(not(feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __schemas {
    ($kind:ident) => {};
}

/// In the `impl` that an attribute writes: the schemas of its types. They are concrete there, so that the method
/// call finds out whether each has one, and nothing is asked of those that have none.
#[cfg(feature = "schemars")]
#[doc(hidden)]
#[macro_export]
macro_rules! __schemas {
    (workflow) => {
        $crate::__schemas! { <Self::Output as $crate::WorkflowResult>::Value, <Self::Output as $crate::WorkflowResult>::Error }
    };
    (activity) => {
        $crate::__schemas! { <Self::Output as $crate::ActivityResult>::Value, <Self::Output as $crate::ActivityResult>::Rejection }
    };
    (stub) => {
        $crate::__schemas! { Self::Output, () }
    };
    ($result:ty, $error:ty) => {
        fn schemas() -> $crate::__private::Schemas {
            #[allow(unused_imports)]
            use $crate::__private::schema::{Known as _, Probe, Unknown as _};
            $crate::__private::Schemas {
                input: (&Probe::<Self::Input>::NEW).schema(),
                result: (&Probe::<$result>::NEW).schema(),
                error: (&Probe::<$error>::NEW).schema(),
            }
        }
    };
}

/// Whether a type has a schema, found out by the order in which methods are looked for: `Known` is for what is
/// borrowed once, and comes first where it applies at all.
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod schema {
    use std::marker::PhantomData;

    use schemars::JsonSchema;

    use crate::value::Value;

    #[derive(Debug)]
    pub struct Probe<T>(PhantomData<fn() -> T>);

    impl<T> Probe<T> {
        pub const NEW: Self = Self(PhantomData);
    }

    pub trait Known {
        fn schema(&self) -> Option<Value>;
    }

    impl<T: JsonSchema> Known for Probe<T> {
        fn schema(&self) -> Option<Value> {
            let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
            Value::encode(&schema).ok()
        }
    }

    pub trait Unknown {
        fn schema(&self) -> Option<Value>;
    }

    impl<T> Unknown for &Probe<T> {
        fn schema(&self) -> Option<Value> {
            None
        }
    }
}
