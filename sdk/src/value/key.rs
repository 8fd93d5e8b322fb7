//! Keys of maps: JSON has strings only, and what would silently become one is refused (S10).

use serde::ser::{self, Serialize, Serializer};

/// Takes strings, characters and names of variants, which read back as what they were, and nothing else.
pub(super) struct Key;

/// What a key was that is no text.
#[derive(Debug)]
pub(super) struct NotText(pub(super) &'static str);

impl std::fmt::Display for NotText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotText {}

impl ser::Error for NotText {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self("a value that refuses to be written")
    }
}

macro_rules! no_key {
    ($($method:ident($($type:ty),*) $what:literal)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<String, NotText> { Err(NotText($what)) })*
    };
}

macro_rules! no_compound_key {
    ($($method:ident($($type:ty),*) $result:ident $what:literal)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<Self::$result, NotText> { Err(NotText($what)) })*
    };
}

impl Serializer for Key {
    type Ok = String;
    type Error = NotText;
    type SerializeSeq = ser::Impossible<String, NotText>;
    type SerializeTuple = ser::Impossible<String, NotText>;
    type SerializeTupleStruct = ser::Impossible<String, NotText>;
    type SerializeTupleVariant = ser::Impossible<String, NotText>;
    type SerializeMap = ser::Impossible<String, NotText>;
    type SerializeStruct = ser::Impossible<String, NotText>;
    type SerializeStructVariant = ser::Impossible<String, NotText>;

    fn serialize_str(self, v: &str) -> Result<String, NotText> {
        Ok(v.to_owned())
    }

    fn serialize_char(self, v: char) -> Result<String, NotText> {
        Ok(v.to_string())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, NotText> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, NotText> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, NotText> {
        Err(NotText("an `Option`"))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, NotText> {
        Err(NotText("an enum with data"))
    }

    no_key! {
        serialize_bool(bool) "a boolean"
        serialize_i8(i8) "an integer"
        serialize_i16(i16) "an integer"
        serialize_i32(i32) "an integer"
        serialize_i64(i64) "an integer"
        serialize_u8(u8) "an integer"
        serialize_u16(u16) "an integer"
        serialize_u32(u32) "an integer"
        serialize_u64(u64) "an integer"
        serialize_i128(i128) "an integer"
        serialize_u128(u128) "an integer"
        serialize_f32(f32) "a float"
        serialize_f64(f64) "a float"
        serialize_bytes(&[u8]) "a byte string"
        serialize_none() "an `Option`"
        serialize_unit() "the unit `()`"
        serialize_unit_struct(&'static str) "a struct"
    }

    no_compound_key! {
        serialize_seq(Option<usize>) SerializeSeq "a sequence"
        serialize_tuple(usize) SerializeTuple "a tuple"
        serialize_tuple_struct(&'static str, usize) SerializeTupleStruct "a struct"
        serialize_tuple_variant(&'static str, u32, &'static str, usize) SerializeTupleVariant "an enum with data"
        serialize_map(Option<usize>) SerializeMap "a map"
        serialize_struct(&'static str, usize) SerializeStruct "a struct"
        serialize_struct_variant(&'static str, u32, &'static str, usize) SerializeStructVariant "an enum with data"
    }
}
