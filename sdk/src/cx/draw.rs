//! Draws that are recorded (S6).

use std::ops::Range;
use std::panic::Location;

use super::Cx;
use crate::history::RecordSource;
use crate::value::Value;

impl Cx {
    /// A random number or truth value. It is drawn once and recorded; a replay gets the same.
    ///
    /// Floats are drawn evenly from `0.0..1.0`.
    #[track_caller]
    #[must_use]
    pub fn random<T: Draw>(&self) -> T {
        T::from_draw(self.draw(Location::caller()))
    }

    /// A random number from `range`, which must not be empty.
    ///
    /// # Panics
    ///
    /// When `range` is empty.
    #[track_caller]
    #[must_use]
    pub fn random_range(&self, range: Range<u64>) -> u64 {
        assert!(
            !range.is_empty(),
            "`cx.random_range` needs a range that is not empty"
        );
        let width = u128::from(range.end - range.start);
        // The high half of a product with an even draw is even over `width`, to within width / 2^64.
        let scaled = (u128::from(self.draw(Location::caller())) * width) >> 64;
        range.start + u64::try_from(scaled).unwrap_or(0)
    }

    /// A random (version 4) UUID. It is drawn once and recorded; a replay gets the same.
    #[track_caller]
    #[must_use]
    pub fn uuid(&self) -> uuid::Uuid {
        let recorded = self
            .core()
            .record(RecordSource::Uuid, Location::caller(), |entropy| {
                let bytes = (u128::from(entropy()) << 64 | u128::from(entropy())).to_le_bytes();
                Value::encode(&uuid::Builder::from_random_bytes(bytes).into_uuid())
            });
        self.decoded(recorded).unwrap_or_default()
    }

    #[track_caller]
    fn draw(&self, place: &'static Location<'static>) -> u64 {
        let recorded = self.core().record(RecordSource::Random, place, |entropy| {
            Value::encode(&entropy())
        });
        self.decoded(recorded).unwrap_or_default()
    }

    fn decoded<T: serde::de::DeserializeOwned>(&self, recorded: Option<Value>) -> Option<T> {
        match recorded?.decode() {
            Ok(value) => Some(value),
            Err(error) => {
                self.core().undecodable(
                    self.core().last_event(),
                    format!("a recorded draw: {error}"),
                );
                None
            }
        }
    }
}

/// What [`Cx::random`] can draw.
pub trait Draw: sealed::Sealed {
    #[doc(hidden)]
    fn from_draw(draw: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! draw {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}
        impl Draw for $type {
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
            fn from_draw(draw: u64) -> Self {
                // The low bits are as even as the rest.
                draw as Self
            }
        }
    )*};
}

draw!(u8 u16 u32 u64 i8 i16 i32 i64);

impl sealed::Sealed for bool {}
impl Draw for bool {
    fn from_draw(draw: u64) -> Self {
        draw & 1 == 1
    }
}

impl sealed::Sealed for f64 {}
impl Draw for f64 {
    #[allow(clippy::cast_precision_loss)]
    fn from_draw(draw: u64) -> Self {
        // 53 bits are what a float between 0 and 1 can hold evenly.
        (draw >> 11) as Self / (1_u64 << 53) as Self
    }
}
