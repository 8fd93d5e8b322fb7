//! A shop, as it was released.

use perennial::prelude::*;

/// Charges.
#[activity(idempotent, name = "charge-card")]
pub async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Ships.
#[activity(idempotent)]
pub async fn ship(_acx: &ActivityCx, _item: u64) -> Result<(), Failure> {
    Ok(())
}

/// Looks at it.
#[activity(pure)]
pub async fn review(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 5)
}

/// Fulfils an order.
#[workflow]
pub async fn fulfil(cx: &Cx, items: Vec<u64>) -> Result<u64, Error> {
    let total: u64 = items.iter().sum();
    let paid = charge(cx, total).await?;
    if total > 100 {
        cx.sleep(days(1)).await?;
    }
    for item in items {
        ship(cx, item).await?;
    }
    Ok(paid)
}

/// Takes an order back.
#[workflow(name = "take-back")]
pub async fn r#return(cx: &Cx, cents: u64) -> Result<(), Error> {
    if cx.patched("shelf-first") {
        Shelf.restock(cx, cents).await?;
    }
    review(cx, cents).await?;
    Ok(())
}

/// A shelf.
#[derive(Debug)]
pub struct Shelf;

impl Shelf {
    /// Puts something back.
    ///
    /// # Errors
    ///
    /// The activity's.
    #[durable]
    pub async fn restock(&self, cx: &Cx, item: u64) -> Result<(), Error> {
        ship(cx, item).await?;
        Ok(())
    }

    /// Draws a number.
    #[durable]
    #[must_use]
    pub fn number(&self, cx: &Cx) -> u64 {
        cx.random()
    }
}

#[cfg(test)]
mod tests {
    use perennial::prelude::*;

    /// Not the one that is released.
    #[allow(dead_code)]
    #[workflow]
    pub async fn fulfil(cx: &Cx) -> Result<(), Error> {
        cx.sleep(days(9)).await?;
        Ok(())
    }
}
