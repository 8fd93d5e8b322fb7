use crate::sdk::*;

#[activity(pure)]
async fn documented(
    _acx: &ActivityCx,
    /// Not here.
    n: u32,
) -> Result<u32, Never> {
    Ok(n)
}

#[workflow]
async fn inlined(_cx: &Cx, #[inline] n: u32) -> Result<u32, Error> {
    Ok(n)
}

#[workflow]
async fn documented_context(
    /** Nor here. */ cx: &Cx,
    #[cfg_attr(all(), doc = "nor here")] n: u32,
) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    Ok(n)
}

#[durable]
async fn helper(
    _cx: &Cx,
    /// Nor here.
    n: u32,
    #[must_use] m: u32,
) -> u32 {
    n + m
}
