//! Code that lints are about: each of them fires with the attributes as it does without, once, and at the
//! token that is at fault. RW-33 point 2, RW-39.

#[allow(clippy::wildcard_imports)]
use crate::sdk::*;
use crate::shop::{Order, Refused, charge, unit};

#[activity(pure)]
pub(crate) async fn quiet(_acx: &ActivityCx) -> Result<u8, Refused> {
    std::future::ready(Ok(1)).await
}

#[allow(clippy::missing_errors_doc)]
#[activity(pure)]
pub async fn undocumented(_acx: &ActivityCx) -> Result<u8, Refused> {
    std::future::ready(Ok(1)).await
}

/// A needless `mut`, an unused argument, an unused variable.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn needless(acx: &ActivityCx, mut n: u32, unused: u8, (a, b): (u8, u8)) -> Result<u32, Refused> {
    std::future::ready(()).await;
    let also_unused = 1;
    let mut needless = 2;
    Ok(n + u32::from(a) + needless)
}

/// What clippy says of expressions.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn clumsy(_acx: &ActivityCx, text: String, n: u64) -> Result<String, Refused> {
    std::future::ready(()).await;
    let copy = text.clone();
    let short = n as u32;
    let double = (&text).to_string();
    if short == 1 {
        return Ok(copy);
    } else {
        return Ok(format!("{}{}", double, n.clone()));
    }
}

/// Never called.
#[activity(pure)]
async fn dead(_acx: &ActivityCx) -> Result<(), Refused> {
    std::future::ready(()).await;
    return Ok(());
    Ok(())
}

/// Names that are not in style.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn BadName(_acx: &ActivityCx, BadArgument: u32) -> Result<u32, Refused> {
    std::future::ready(()).await;
    Ok(BadArgument)
}

/// Old.
///
/// # Errors
///
/// None.
#[deprecated(note = "use another")]
#[activity(pure)]
pub async fn old(_acx: &ActivityCx) -> Result<(), Refused> {
    std::future::ready(()).await;
    Ok(())
}

#[allow(clippy::missing_errors_doc)]
#[workflow]
pub async fn undocumented_workflow(cx: &Cx) -> Result<(), Error> {
    if cx.patched("outer") {
        if cx.run_id().as_str().is_empty() {
            cx.sleep(seconds(1)).await?;
        }
    }
    if cx.run_id().as_str().len() > 1 {
        if cx.patched("inner") {
            cx.sleep(seconds(1)).await?;
        }
    }
    unit(cx, ()).await?;
    Ok(())
}

/// Uses what is old, forgets to await, needs no `mut`.
///
/// # Errors
///
/// None.
#[workflow]
pub async fn careless(cx: &Cx, mut order: Order, unused: u8) -> Result<u64, Error> {
    old(cx).await?;
    unit(cx, ());
    unit(cx, (())).await;
    let mut total = charge(cx, order.clone()).await?;
    let nothing = unit(cx, ()).await?;
    if total == 0 {
        return Ok(1);
    } else {
        cx.sleep(seconds((total))).await?;
    }
    return Ok(total);
}

/// What clippy says of expressions with awaits in them.
///
/// # Errors
///
/// None.
#[workflow]
pub async fn clumsy_workflow(cx: &Cx, order: Order, list: Vec<Order>) -> Result<usize, Error> {
    let mut length = 0;
    for n in 0..list.len() {
        length += charge(cx, list[n].clone()).await? as usize;
    }
    let charged = charge(cx, order.clone()).await.unwrap_or(u64::default());
    let _unit = unit(cx, ()).await;
    if charged > 1 {
        if length > 1 {
            length = length + 1;
        }
    }
    match unit(cx, ()).await {
        Ok(_) => {}
        _ => {}
    }
    Ok(length)
}

/// Never started.
#[workflow]
async fn dead_workflow(cx: &Cx) -> Result<(), Error> {
    unit(cx, ()).await?;
    Ok(())
}

#[durable]
pub async fn careless_helper(cx: &Cx, mut n: u32, (a, b): (u8, u8), _ignored: u8) -> u32 {
    let unused = 1;
    unit(cx, ());
    unit(cx, (())).await;
    return n;
}

/// Never called.
#[durable]
async fn dead_helper(cx: &Cx, text: &String) -> Result<(), Error> {
    let _ = text.len() as u32;
    unit(cx, ()).await?;
    Ok(())
}

/// Uses some of it.
pub fn use_some(cx: &Cx) {
    drop((quiet(cx), hidden::unreachable(cx), hidden::unreachable_workflow(cx)));
}

mod hidden {
    #[allow(clippy::wildcard_imports)]
    use crate::sdk::*;
    use crate::shop::Refused;

    /// Public in a module that is not.
    #[activity(pure)]
    pub async fn unreachable(_acx: &ActivityCx) -> Result<(), crate::shop::Refused> {
        std::future::ready(()).await;
        Ok(())
    }

    #[workflow]
    pub async fn unreachable_workflow(cx: &Cx) -> Result<(), Error> {
        unreachable(cx).await?;
        Ok(())
    }
}

/// Must be used, above the attribute and below it.
///
/// # Errors
///
/// None.
#[must_use = "it costs money"]
#[activity(pure)]
#[inline]
pub async fn must_be_used(_acx: &ActivityCx) -> Result<u8, Refused> {
    std::future::ready(Ok(1)).await
}

/// As a workflow that nobody can wait for.
///
/// # Errors
///
/// None.
#[workflow]
#[must_use = "it costs time"]
#[deprecated = "use another"]
pub async fn old_workflow(cx: &Cx) -> Result<(), Error> {
    must_be_used(cx);
    unit(cx, ()).await?;
    Ok(())
}

/// Uses what is old and must be used.
pub fn use_old(cx: &Cx) {
    old_workflow(cx);
    #[allow(deprecated)]
    drop(old_workflow(cx));
}

/// Lint levels of arguments.
///
/// # Errors
///
/// None.
#[activity(pure)]
pub async fn levels(
    _acx: &ActivityCx,
    #[allow(unused_variables)] quiet: u8,
    #[cfg_attr(all(), allow(unused_mut))] mut also_quiet: u8,
    #[warn(unused_mut)] mut loud: u8,
    #[cfg(any())] gone: Missing,
) -> Result<u8, Refused> {
    std::future::ready(()).await;
    Ok(also_quiet + loud)
}

/// The same of a helper.
///
/// # Errors
///
/// None.
#[durable]
pub async fn helper_levels(
    cx: &Cx,
    #[allow(unused_variables)] quiet: u8,
    #[cfg_attr(all(), allow(unused_mut))] mut also_quiet: u8,
    mut loud: u8,
    #[cfg(any())] gone: Missing,
) -> Result<u8, Error> {
    unit(cx, ()).await?;
    Ok(also_quiet + loud)
}
