//! Ten workflows and ten activities of all forms, RW-39 point 1.

#[allow(clippy::wildcard_imports)]
use crate::sdk::*;

/// What is ordered.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Order {
    id: String,
    cents: u64,
}

/// It was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

/// Nothing in, nothing out.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
pub async fn nothing(_acx: &ActivityCx) -> Result<(), Refused> {
    std::future::ready(()).await;
    Ok(())
}

/// A unit in and a unit out.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
pub async fn unit(_acx: &ActivityCx, unit: ()) -> Result<(), Refused> {
    std::future::ready(unit).await;
    Ok(())
}

/// Arguments that are ignored.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
pub async fn ignoring(_: &ActivityCx, _order: Order, _: u8) -> Result<bool, Refused> {
    std::future::ready(Ok(true)).await
}

/// `mut` and patterns.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
pub async fn push(_acx: &ActivityCx, mut list: Vec<u32>, (n, _rest): (u32, u8)) -> Result<Vec<u32>, Refused> {
    std::future::ready(()).await;
    list.push(n);
    Ok(list)
}

/// As many inputs as there can be.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
#[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
pub async fn eight(_acx: &ActivityCx, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> Result<u32, Refused> {
    std::future::ready(()).await;
    Ok([a, b, c, d, e, f, g, h].into_iter().map(u32::from).sum())
}

/// A struct, moved out of.
///
/// # Errors
///
/// If it is refused.
#[activity(idempotent, attempt = "30s", timeout = "1h", retry(attempts = 5, initial = "200ms", cap = "1m"))]
pub async fn charge(_acx: &ActivityCx, order: Order) -> Result<u64, Refused> {
    std::future::ready(()).await;
    if order.id.is_empty() {
        return Err(Refused);
    }
    Ok(order.cents)
}

/// Options and nested types.
///
/// # Errors
///
/// If it is refused.
#[activity(idempotent, name = "look-up")]
pub async fn look_up(_acx: &ActivityCx, ids: Vec<Option<String>>) -> Result<Option<Vec<Order>>, Refused> {
    std::future::ready(()).await;
    let orders = ids.into_iter().flatten().map(|id| Order { id, cents: 1 });
    Ok(Some(orders.collect()))
}

/// Returns from the middle.
///
/// # Errors
///
/// If it is refused.
#[activity(pure)]
pub(crate) async fn early(_acx: &ActivityCx, n: i64) -> Result<i64, Refused> {
    if n < 0 {
        return Err(Refused);
    }
    std::future::ready(()).await;
    Ok(n)
}

/// Private to the module.
#[activity(pure)]
async fn inner(_acx: &ActivityCx, text: String) -> Result<String, Refused> {
    std::future::ready(()).await;
    Ok(text)
}

/// A raw identifier.
#[activity(pure)]
async fn r#type(_acx: &ActivityCx, r#struct: u32) -> Result<u32, Refused> {
    std::future::ready(()).await;
    Ok(r#struct)
}

/// A unit result.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn run_all(cx: &Cx) -> Result<(), Error> {
    nothing(cx).await?;
    unit(cx, ()).await?;
    cx.sleep(seconds(1)).await?;
    Ok(())
}

/// No inputs.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn number(cx: &Cx) -> Result<u32, Error> {
    Ok(r#type(cx, 1).await? + 1)
}

/// Arguments that are ignored.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn ignored(cx: &Cx, _order: Order, _: u8) -> Result<bool, Error> {
    let order = Order { id: String::new(), cents: 1 };
    Ok(ignoring(cx, order, 1).await?)
}

/// Eight inputs.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
#[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
pub async fn of_eight(cx: &Cx, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> Result<u32, Error> {
    let sum = eight(cx, a, b, c, d, e, f, g, h).await?;
    Ok(sum)
}

/// Markers beside other conditions.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn patched(cx: &Cx, order: Order) -> Result<u64, Error> {
    if order.cents > 10 && cx.patched("early") {
        nothing(cx).await?;
    }
    if cx.patched("late") && order.cents < 100 && !order.id.is_empty() {
        unit(cx, ()).await?;
    }
    Ok(charge(cx, order).await?)
}

/// Loops and branches.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn fulfil(cx: &Cx, mut order: Order, times: u8) -> Result<u64, Error> {
    order.cents += 1;
    let mut total = 0;
    for _ in 0..times {
        total += charge(cx, order.clone()).await?;
        if total > 10 && early(cx, 1).await? > 0 {
            break;
        }
    }
    while total > 5 {
        total -= 1;
        cx.sleep(millis(total)).await?;
    }
    match look_up(cx, vec![Some(order.id)]).await? {
        Some(orders) if !orders.is_empty() => Ok(total),
        Some(_) | None => Err(Error::new("nothing there")),
    }
}

/// Awaits in all kinds of places.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn places(cx: &Cx, (a, b): (u32, u32)) -> Result<String, Error> {
    let list = push(cx, vec![r#type(cx, a).await?, b], (b, 1)).await?;
    let joined = inner(cx, format!("{}", list.len())).await?;
    let closure = |n: u32| n + a;
    let length = inner(cx, joined.clone()).await.map_or(0, |text| text.len());
    if inner(cx, joined).await.is_ok_and(|text| text.len() == length) {
        unit(cx, ()).await?;
    }
    let Ok(answer) = inner(cx, closure(b).to_string()).await else {
        return Err(Error::new("refused"));
    };
    Ok(answer)
}

/// Tail calls.
///
/// # Errors
///
/// If it is refused.
#[workflow]
pub async fn mapped(cx: &Cx, text: String) -> Result<String, Error> {
    inner(cx, text).await.map_err(Error::from)
}

/// An error type of its own.
///
/// # Errors
///
/// If anything is refused.
#[workflow(name = "of-its-own")]
pub async fn own_error(cx: &Cx, n: i64) -> Result<i64, Refused> {
    early(cx, n).await.map_err(|_| Refused)
}

/// Calls helpers.
///
/// # Errors
///
/// If anything is refused.
#[workflow]
pub async fn with_helpers(cx: &Cx, names: Vec<String>) -> Result<usize, Error> {
    let mut length = 0;
    for name in &names {
        length += helper(cx, name).await?;
    }
    let order = Order { id: names.concat(), cents: 1 };
    order.check(cx, 3).await?;
    Ok(length)
}

/// Private to the module.
#[workflow]
async fn private(cx: &Cx, order: Order) -> Result<u64, Error> {
    let charged = charge(cx, order).await;
    Ok(charged.unwrap_or_default())
}

#[durable]
async fn helper(cx: &Cx, name: &str) -> Result<usize, Error> {
    let text = inner(cx, name.to_owned()).await?;
    Ok(text.len())
}

impl Order {
    /// A method.
    ///
    /// # Errors
    ///
    /// If it is refused.
    #[durable]
    pub async fn check(&self, cx: &Cx, mut times: u8) -> Result<(), Error> {
        while times > 0 {
            times -= 1;
            cx.sleep(millis(charge(cx, self.clone()).await?)).await?;
        }
        Ok(())
    }
}

/// So that nothing here is unused.
pub fn use_all(cx: &Cx) {
    drop(private(cx, Order { id: String::new(), cents: 1 }));
}
