//! What stands where a mutant does not wait for something any more: nothing is begun, and something plain comes
//! of it.

/// What can come of something that was not done.
pub trait Plain {
    fn plain() -> Self;
}

impl<T: Default, E> Plain for Result<T, E> {
    fn plain() -> Self {
        Ok(T::default())
    }
}

impl<T> Plain for Vec<T> {
    fn plain() -> Self {
        Self::new()
    }
}

impl<T> Plain for Option<T> {
    fn plain() -> Self {
        None
    }
}

/// In the place of `work.await`.
pub fn skipped<F: IntoFuture<Output: Plain>>(_work: F) -> F::Output {
    F::Output::plain()
}
