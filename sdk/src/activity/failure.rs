//! How an attempt says that it failed (S19).

use std::fmt;

use crate::{Data, Never};

/// A failed attempt: transient, so that it may be followed by another, or a final and typed "no".
///
/// Any `std::error::Error` becomes a transient failure through `?`.
///
/// ```
/// use perennial::prelude::*;
///
/// fn parse(text: &str) -> Result<u32, Failure<String>> {
///     if text.is_empty() {
///         return Err(Failure::reject("nothing to parse".to_owned()));
///     }
///     Ok(text.parse()?) // a `ParseIntError` is transient
/// }
/// # assert!(parse("x").is_err());
/// ```
#[derive(Debug)]
pub struct Failure<R = Never>(pub(crate) Kind<R>);

#[derive(Debug)]
pub(crate) enum Kind<R> {
    Transient(String),
    Rejected(R),
}

impl<R> Failure<R> {
    /// A failure that another attempt may not meet.
    pub fn transient(message: impl fmt::Display) -> Self {
        Self(Kind::Transient(message.to_string()))
    }

    /// The final answer is no. It is never retried, and reaches the workflow as
    /// [`ActivityError::Rejected`](crate::ActivityError::Rejected).
    pub fn reject(why: R) -> Self {
        Self(Kind::Rejected(why))
    }
}

impl<E: std::error::Error, R> From<E> for Failure<R> {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self(Kind::Transient(message))
    }
}

/// What an activity returns: `Result<T, Failure<R>>`, or a plain `Result<T, R>` whose every `Err` is final.
#[diagnostic::on_unimplemented(
    message = "an activity cannot return `{Self}`: it returns a `Result`, and recorded values need `serde::Serialize` and `serde::Deserialize`",
    label = "expected a `Result` of types that can be stored",
    note = "`Result<T, Failure>` takes any error through `?` and retries it; `Failure<R>` can also reject, finally, with an `R`",
    note = "with a plain `Result<T, R>` every `Err` is final",
    note = "derive both serde traits on `T` and on `R`"
)]
pub trait ActivityResult: Send + 'static {
    /// The result.
    type Value: Data;
    /// The final "no".
    type Rejection: Data;

    /// As a result whose error says what it is.
    ///
    /// # Errors
    ///
    /// The attempt's failure.
    fn into_attempt(self) -> Result<Self::Value, Failure<Self::Rejection>>;
}

#[diagnostic::do_not_recommend]
impl<T: Data, R: Data> ActivityResult for Result<T, Failure<R>> {
    type Value = T;
    type Rejection = R;

    fn into_attempt(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Data, R: Data> ActivityResult for Result<T, R> {
    type Value = T;
    type Rejection = R;

    fn into_attempt(self) -> Result<T, Failure<R>> {
        self.map_err(Failure::reject)
    }
}
