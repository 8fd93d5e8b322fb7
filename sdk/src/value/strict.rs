//! JSON without its silent losses: what serde_json would write as `null` or turn into a string is an error
//! here, with the place inside the value (S10).

use std::cell::RefCell;

use serde::ser::{self, Serialize, Serializer};

use super::{EncodeError, MAX_VALUE_BYTES};

pub(super) fn encode<T: Serialize + ?Sized>(data: &T) -> Result<String, EncodeError> {
    let place = Place::default();
    let mut bytes = Vec::with_capacity(64);
    let result = data.serialize(Strict {
        inner: &mut serde_json::Serializer::new(&mut bytes),
        place: &place,
    });
    if let Some(problem) = place.problem.into_inner() {
        return Err(problem);
    }
    if let Err(error) = result {
        return Err(EncodeError::Refused {
            reason: error.to_string(),
        });
    }
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(EncodeError::TooLarge {
            size: bytes.len(),
            limit: MAX_VALUE_BYTES,
        });
    }
    String::from_utf8(bytes).map_err(|error| EncodeError::Refused {
        reason: error.to_string(),
    })
}

/// Where the serializer is, and the problem it found there.
#[derive(Default)]
struct Place {
    path: RefCell<Vec<Step>>,
    problem: RefCell<Option<EncodeError>>,
}

enum Step {
    Field(&'static str),
    Key(String),
    Index(usize),
}

impl Place {
    fn fail<E: ser::Error>(&self, problem: impl FnOnce(String) -> EncodeError) -> E {
        let path = self
            .path
            .borrow()
            .iter()
            .fold(String::new(), |path, step| match step {
                Step::Field(name) => path + "." + name,
                Step::Key(name) => path + "." + name,
                Step::Index(at) => format!("{path}[{at}]"),
            });
        self.problem.borrow_mut().get_or_insert(problem(path));
        E::custom("")
    }

    fn within<T, E>(&self, step: Step, inner: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.path.borrow_mut().push(step);
        let result = inner();
        self.path.borrow_mut().pop();
        result
    }
}

struct Strict<'a, S> {
    inner: S,
    place: &'a Place,
}

/// A nested value on its way through the inner serializer.
struct Nested<'a, T: ?Sized> {
    value: &'a T,
    place: &'a Place,
}

impl<T: Serialize + ?Sized> Serialize for Nested<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Strict {
            inner: serializer,
            place: self.place,
        })
    }
}

struct Compound<'a, C> {
    inner: C,
    place: &'a Place,
    index: usize,
    key: Option<String>,
}

impl<'a, C> Compound<'a, C> {
    fn new(inner: C, place: &'a Place) -> Self {
        Self {
            inner,
            place,
            index: 0,
            key: None,
        }
    }
}

macro_rules! forward {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, v: $type) -> Result<S::Ok, S::Error> { self.inner.$method(v) })*
    };
}

impl<'a, S: Serializer> Serializer for Strict<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Compound<'a, S::SerializeSeq>;
    type SerializeTuple = Compound<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Compound<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Compound<'a, S::SerializeTupleVariant>;
    type SerializeMap = Compound<'a, S::SerializeMap>;
    type SerializeStruct = Compound<'a, S::SerializeStruct>;
    type SerializeStructVariant = Compound<'a, S::SerializeStructVariant>;

    forward! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str,
    }

    fn serialize_i128(self, v: i128) -> Result<S::Ok, S::Error> {
        match (i64::try_from(v), u64::try_from(v)) {
            (Ok(v), _) => self.inner.serialize_i64(v),
            (_, Ok(v)) => self.inner.serialize_u64(v),
            _ => Err(self
                .place
                .fail(|path| EncodeError::IntegerTooLarge { path })),
        }
    }

    fn serialize_u128(self, v: u128) -> Result<S::Ok, S::Error> {
        match u64::try_from(v) {
            Ok(v) => self.inner.serialize_u64(v),
            Err(_) => Err(self
                .place
                .fail(|path| EncodeError::IntegerTooLarge { path })),
        }
    }

    fn serialize_f32(self, v: f32) -> Result<S::Ok, S::Error> {
        if v.is_finite() {
            self.inner.serialize_f32(v)
        } else {
            Err(not_finite(self.place))
        }
    }

    fn serialize_f64(self, v: f64) -> Result<S::Ok, S::Error> {
        if v.is_finite() {
            self.inner.serialize_f64(v)
        } else {
            Err(not_finite(self.place))
        }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Nested {
            value,
            place: self.place,
        })
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(
            name,
            &Nested {
                value,
                place: self.place,
            },
        )
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let Self { inner, place } = self;
        place.within(Step::Field(variant), || {
            inner.serialize_newtype_variant(name, index, variant, &Nested { value, place })
        })
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        Ok(Compound::new(self.inner.serialize_seq(length)?, self.place))
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        Ok(Compound::new(
            self.inner.serialize_tuple(length)?,
            self.place,
        ))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        Ok(Compound::new(
            self.inner.serialize_tuple_struct(name, length)?,
            self.place,
        ))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        Ok(Compound::new(
            self.inner
                .serialize_tuple_variant(name, index, variant, length)?,
            self.place,
        ))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Ok(Compound::new(self.inner.serialize_map(length)?, self.place))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        Ok(Compound::new(
            self.inner.serialize_struct(name, length)?,
            self.place,
        ))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        Ok(Compound::new(
            self.inner
                .serialize_struct_variant(name, index, variant, length)?,
            self.place,
        ))
    }
}

fn not_finite<E: ser::Error>(place: &Place) -> E {
    place.fail(|path| EncodeError::NotFinite { path })
}

macro_rules! items {
    ($($trait:ident $method:ident),* $(,)?) => {$(
        impl<C: ser::$trait> ser::$trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                let Self { inner, place, index, .. } = self;
                let step = Step::Index(*index);
                *index += 1;
                place.within(step, || inner.$method(&Nested { value, place }))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

macro_rules! fields {
    ($($trait:ident),* $(,)?) => {$(
        impl<C: ser::$trait> ser::$trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                let Self { inner, place, .. } = self;
                place.within(Step::Field(name), || inner.serialize_field(name, &Nested { value, place }))
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), C::Error> {
                self.inner.skip_field(name)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant }

impl<C: ser::SerializeMap> ser::SerializeMap for Compound<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        let text = key.serialize(Key).map_err(|NotText(key)| {
            self.place
                .fail::<C::Error>(|path| EncodeError::KeyNotString { path, key })
        })?;
        self.inner.serialize_key(&text)?;
        self.key = Some(text);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let Self {
            inner, place, key, ..
        } = self;
        let step = Step::Key(key.take().unwrap_or_default());
        place.within(step, || inner.serialize_value(&Nested { value, place }))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

/// Takes strings, characters and names of variants, which read back as what they were, and nothing else.
struct Key;

/// What a key was that is no text.
#[derive(Debug)]
struct NotText(&'static str);

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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::{BTreeMap, HashMap};

    use serde::Serialize;

    use crate::value::{EncodeError, MAX_VALUE_BYTES, Value};

    #[derive(Serialize)]
    struct Line {
        price: f64,
        notes: BTreeMap<String, Vec<f32>>,
    }

    #[derive(Serialize)]
    enum Shape {
        Round { radius: f64 },
        Dot(i128),
    }

    fn refused<T: Serialize>(data: &T) -> String {
        Value::encode(data).unwrap_err().to_string()
    }

    #[test]
    fn what_json_would_lose_is_refused_with_its_place() {
        let bad_note = Line {
            price: 1.0,
            notes: BTreeMap::from([("x".into(), vec![1.0, f32::INFINITY])]),
        };
        let texts = [
            refused(&f64::NAN),
            refused(&vec![Line {
                price: f64::NEG_INFINITY,
                notes: BTreeMap::new(),
            }]),
            refused(&Some(bad_note)),
            refused(&Shape::Round { radius: f64::NAN }),
            refused(&Shape::Dot(i128::MAX)),
            refused(&HashMap::from([(1_u32, 2)])),
            refused(&(1, BTreeMap::from([((1, 2), 3)]))),
            refused(&BTreeMap::from([(Some("x"), 3)])),
            refused(&"x".repeat(MAX_VALUE_BYTES)),
        ];
        insta::assert_snapshot!(texts.join("\n---\n"));
    }

    #[test]
    fn what_fits_is_plain_json() {
        let line = Line {
            price: 0.1,
            notes: BTreeMap::from([("a b".into(), vec![1.5])]),
        };
        assert_eq!(
            Value::encode(&line).unwrap().as_json(),
            r#"{"price":0.1,"notes":{"a b":[1.5]}}"#
        );
        assert_eq!(
            Value::encode(&Shape::Dot(u64::MAX.into()))
                .unwrap()
                .as_json(),
            r#"{"Dot":18446744073709551615}"#
        );
        assert_eq!(
            Value::encode(&BTreeMap::from([('c', ())]))
                .unwrap()
                .as_json(),
            r#"{"c":null}"#
        );
        assert!(
            matches!(Value::encode(&f32::NAN), Err(EncodeError::NotFinite { path }) if path.is_empty())
        );
    }
}
