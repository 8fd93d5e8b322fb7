//! JSON without its silent losses: what serde_json would write as `null` or turn into a string is an error
//! here, with the place inside the value (S10).

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use serde::ser::{self, Serialize, Serializer};

use super::key::{Key, NotText};
use super::{EncodeError, MAX_VALUE_BYTES, MAX_VALUE_DEPTH};

thread_local! {
    /// Where texts are written, before it is known how long they are.
    static DRAFT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The largest piece of memory that is kept for the next text.
const MAX_DRAFT: usize = 64 << 10;

pub(super) fn encode<T: Serialize + ?Sized>(data: &T) -> Result<Arc<str>, EncodeError> {
    // Taken and not borrowed: the value's own code may encode another one.
    let mut draft = DRAFT.try_with(Cell::take).unwrap_or_default();
    draft.clear();
    let text = write(data, &mut draft);
    if draft.capacity() <= MAX_DRAFT {
        let _ = DRAFT.try_with(|kept| kept.set(draft));
    }
    text
}

fn write<T: Serialize + ?Sized>(data: &T, bytes: &mut Vec<u8>) -> Result<Arc<str>, EncodeError> {
    let place = Place::default();
    let result = data.serialize(Strict {
        inner: &mut serde_json::Serializer::new(&mut *bytes),
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
    let text = std::str::from_utf8(bytes).map_err(|error| EncodeError::Refused {
        reason: error.to_string(),
    })?;
    Ok(text.into())
}

/// Where the serializer is, and the problem it found there.
#[derive(Default)]
struct Place {
    path: RefCell<Vec<Step>>,
    /// How many brackets are open.
    depth: Cell<usize>,
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

    /// Brackets open: one, or two where a variant with parts is an object with one member.
    fn open<E: ser::Error>(&self, brackets: usize) -> Result<(), E> {
        self.depth.set(self.depth.get() + brackets);
        if self.depth.get() > MAX_VALUE_DEPTH {
            return Err(self.fail(|path| EncodeError::TooDeep {
                path,
                limit: MAX_VALUE_DEPTH,
            }));
        }
        Ok(())
    }

    fn close(&self, brackets: usize) {
        self.depth.set(self.depth.get() - brackets);
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
    variant: bool,
}

impl<'a, C> Compound<'a, C> {
    fn begin<E: ser::Error>(
        place: &'a Place,
        inner: impl FnOnce() -> Result<C, E>,
    ) -> Result<Self, E> {
        place.open(1)?;
        Ok(Self {
            inner: inner()?,
            place,
            index: 0,
            key: None,
            variant: false,
        })
    }

    fn begin_variant<E: ser::Error>(
        place: &'a Place,
        variant: &'static str,
        inner: impl FnOnce() -> Result<C, E>,
    ) -> Result<Self, E> {
        place.open(2)?;
        place.path.borrow_mut().push(Step::Field(variant));
        Ok(Self {
            inner: inner()?,
            place,
            index: 0,
            key: None,
            variant: true,
        })
    }

    fn finish<T, E>(self, end: impl FnOnce(C) -> Result<T, E>) -> Result<T, E> {
        if self.variant {
            self.place.path.borrow_mut().pop();
        }
        self.place.close(1 + usize::from(self.variant));
        end(self.inner)
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
        place.open(1)?;
        let result = place.within(Step::Field(variant), || {
            inner.serialize_newtype_variant(name, index, variant, &Nested { value, place })
        });
        place.close(1);
        result
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        Compound::begin(self.place, || self.inner.serialize_seq(length))
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        Compound::begin(self.place, || self.inner.serialize_tuple(length))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        Compound::begin(self.place, || {
            self.inner.serialize_tuple_struct(name, length)
        })
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        Compound::begin_variant(self.place, variant, || {
            self.inner
                .serialize_tuple_variant(name, index, variant, length)
        })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Compound::begin(self.place, || self.inner.serialize_map(length))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        Compound::begin(self.place, || self.inner.serialize_struct(name, length))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        Compound::begin_variant(self.place, variant, || {
            self.inner
                .serialize_struct_variant(name, index, variant, length)
        })
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
                self.finish(C::end)
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
                self.finish(C::end)
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
        self.finish(C::end)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::{BTreeMap, HashMap};

    use serde::{Deserialize, Serialize};

    use crate::value::{EncodeError, MAX_VALUE_BYTES, MAX_VALUE_DEPTH, Value};

    #[derive(Serialize)]
    struct Line {
        price: f64,
        notes: BTreeMap<String, Vec<f32>>,
    }

    #[derive(Serialize)]
    enum Shape {
        Round { radius: f64 },
        Oval { radii: [f64; 2] },
        Line(f64, f64),
        Dot(i128),
    }

    #[derive(Serialize, Deserialize)]
    struct Chain(Vec<Chain>);

    impl Chain {
        fn of(length: usize) -> Self {
            (1..length).fold(Self(vec![]), |inner, _| Self(vec![inner]))
        }
    }

    #[derive(Serialize, Deserialize)]
    enum Nest {
        End,
        One(Box<Nest>),
        Pair(Box<Nest>, u8),
        Named { inner: Box<Nest> },
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
            refused(&Shape::Oval {
                radii: [1.0, f64::NAN],
            }),
            refused(&Shape::Line(1.0, f64::NAN)),
            refused(&"x".repeat(MAX_VALUE_BYTES)),
            refused(&Chain::of(MAX_VALUE_DEPTH + 1)),
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

    #[test]
    fn what_is_written_is_not_too_deep_to_be_read() {
        for length in MAX_VALUE_DEPTH - 2..MAX_VALUE_DEPTH + 3 {
            let encoded = Value::encode(&Chain::of(length));
            assert_eq!(encoded.is_ok(), length <= MAX_VALUE_DEPTH, "{length}");
            let text = "[".repeat(length) + &"]".repeat(length);
            let read = serde_json::from_str::<Chain>(&text);
            assert_eq!(read.is_ok(), encoded.is_ok(), "{length}");
            assert_eq!(Value::from_json(text).is_ok(), encoded.is_ok(), "{length}");
        }
        let wraps: [fn(Nest) -> Nest; 3] = [
            |inner| Nest::One(Box::new(inner)),
            |inner| Nest::Pair(Box::new(inner), 0),
            |inner| Nest::Named {
                inner: Box::new(inner),
            },
        ];
        for wrap in wraps {
            for length in 60..130 {
                let nest = (0..length).fold(Nest::End, |inner, _| wrap(inner));
                let text = serde_json::to_string(&nest).unwrap();
                assert_eq!(
                    Value::encode(&nest).is_ok(),
                    serde_json::from_str::<Nest>(&text).is_ok(),
                    "{length}"
                );
            }
        }
        // Brackets that were closed do not count.
        assert!(Value::encode(&vec![Chain::of(100), Chain::of(100)]).is_ok());
    }
}
