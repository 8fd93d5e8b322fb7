//! Lints about forms that the attributes prescribe.

#[allow(clippy::wildcard_imports)]
use crate::sdk::*;
use crate::shop::{Refused, unit};

/// Nine parameters with the context, of which eight inputs may be.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn many(_acx: &ActivityCx, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> Result<u8, Refused> {
    std::future::ready(()).await;
    Ok(a + b + c + d + e + f + g + h)
}

/// More than three flags.
///
/// # Errors
///
/// None.
#[workflow]
pub async fn flags(cx: &Cx, one: bool, two: bool, three: bool, four: bool) -> Result<bool, Error> {
    unit(cx, ()).await?;
    Ok(one && two && three && four)
}

/// An input is read back from a history, so it cannot be borrowed.
///
/// # Errors
///
/// None.
#[activity(pure, blocking)]
pub fn by_value(_acx: &ActivityCx, text: String) -> Result<usize, Refused> {
    if text.is_empty() { Err(Refused) } else { Ok(text.len()) }
}

/// Large, and `Copy`.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub struct Large {
    numbers: [[u64; 10]; 10],
}

/// Nor can this.
///
/// # Errors
///
/// None.
#[activity(pure, blocking)]
pub fn large(_acx: &ActivityCx, large: Large) -> Result<u64, Refused> {
    large.numbers.first().and_then(|row| row.first()).copied().ok_or(Refused)
}

/// It must return a `Result`.
#[activity(pure, blocking)]
fn wrapped(_acx: &ActivityCx) -> Result<u8, Refused> {
    Ok(1)
}

/// It must be `async`.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn not_waiting(_acx: &ActivityCx) -> Result<u8, Refused> {
    Err(Refused)
}

/// It must be `async`.
///
/// # Errors
///
/// None.
#[workflow]
pub async fn not_waiting_either(_cx: &Cx) -> Result<u8, Error> {
    Err(Error::new("no"))
}

/// What it returns is a call, which has errors only when it is awaited.
#[activity(pure)]
pub async fn errors(_acx: &ActivityCx) -> Result<u8, Refused> {
    std::future::ready(()).await;
    Ok(1)
}

/// The call does not panic.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn panics(_acx: &ActivityCx, list: Vec<u8>) -> Result<u8, Refused> {
    std::future::ready(()).await;
    Ok(*list.first().unwrap())
}

/// So that nothing here is unused.
pub fn use_all(cx: &Cx) {
    let _ = wrapped(cx);
}
