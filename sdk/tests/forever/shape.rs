//! The kinds and fields that a type has, asked of the code that reads it: a new one cannot be forgotten.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::U32Deserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};

type Names = &'static [&'static str];

/// Ends the reading as soon as the names are known.
#[derive(Debug)]
struct Known;

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("known")
    }
}

impl std::error::Error for Known {}

impl de::Error for Known {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Notes the names that it is asked for; of the variant with `index`, where there is one.
#[derive(Clone, Copy)]
struct Noting<'a> {
    names: &'a RefCell<Vec<&'static str>>,
    index: Option<u32>,
}

impl Noting<'_> {
    fn note(&self, names: Names) -> Known {
        self.names.borrow_mut().extend(names);
        Known
    }
}

impl<'de> Deserializer<'de> for Noting<'_> {
    type Error = Known;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Known> {
        Err(Known)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: Names,
        _: V,
    ) -> Result<V::Value, Known> {
        Err(self.note(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        kinds: Names,
        visitor: V,
    ) -> Result<V::Value, Known> {
        match self.index {
            Some(_) => visitor.visit_enum(self),
            None => Err(self.note(kinds)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Noting<'_> {
    type Error = Known;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Known> {
        let index: U32Deserializer<Known> = self.index.unwrap_or_default().into_deserializer();
        let inside = Self {
            index: None,
            ..self
        };
        Ok((seed.deserialize(index)?, inside))
    }
}

impl<'de> VariantAccess<'de> for Noting<'_> {
    type Error = Known;

    fn unit_variant(self) -> Result<(), Known> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Known> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Known> {
        Err(Known)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Names, _: V) -> Result<V::Value, Known> {
        Err(self.note(fields))
    }
}

fn noted<T: DeserializeOwned>(index: Option<u32>) -> Vec<&'static str> {
    let names = RefCell::default();
    let _ = T::deserialize(Noting {
        names: &names,
        index,
    });
    names.into_inner()
}

/// The fields of a struct.
pub(crate) fn fields<T: DeserializeOwned>() -> Vec<&'static str> {
    let fields = noted::<T>(None);
    assert!(!fields.is_empty());
    fields
}

/// The kinds of an enum, and the fields of each.
pub(crate) fn variants<T: DeserializeOwned>() -> Vec<(&'static str, Vec<&'static str>)> {
    let kinds = noted::<T>(None);
    assert!(!kinds.is_empty());
    (0..)
        .zip(kinds)
        .map(|(index, kind)| (kind, noted::<T>(Some(index))))
        .collect()
}
