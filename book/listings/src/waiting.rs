//! *Waiting*.

// ANCHOR: imports
use perennial::prelude::*;
// ANCHOR_END: imports

// ANCHOR: activities
#[activity(pure)]
pub async fn price(_acx: &ActivityCx, item: String) -> Result<u64, Failure> {
    Ok(item.len() as u64 * 100)
}

#[activity(pure)]
pub async fn stock(_acx: &ActivityCx, item: String) -> Result<u64, Failure<String>> {
    match item.as_str() {
        "unicorn" => Err(Failure::reject("there are no unicorns".to_owned())),
        _ => Ok(3),
    }
}

/// Nobody answers.
#[activity(pure)]
pub async fn opinion(_acx: &ActivityCx, _item: String) -> Result<String, Failure> {
    std::future::pending().await
}
// ANCHOR_END: activities

// ANCHOR: join
#[workflow]
pub async fn offer(cx: &Cx, item: String) -> Result<String, Error> {
    let (price, stock) = join!(price(cx, item.clone()), stock(cx, item));
    let (price, stock) = (price?, stock.unwrap_or(0));
    Ok(format!("{stock} at {price}"))
}
// ANCHOR_END: join

// ANCHOR: try_join
#[workflow]
pub async fn strict_offer(cx: &Cx, item: String) -> Result<String, Error> {
    let (price, stock) = try_join!(
        async { price(cx, item.clone()).await.map_err(Error::from) },
        async { stock(cx, item.clone()).await.map_err(Error::from) },
    )?;
    Ok(format!("{stock} at {price}"))
}
// ANCHOR_END: try_join

// ANCHOR: select
#[workflow]
pub async fn impatient(cx: &Cx, item: String) -> Result<String, Error> {
    let opinion = select! {
        opinion = opinion(cx, item) => opinion?,
        _ = cx.sleep(millis(20)) => "no opinion".to_owned(),
    };
    Ok(opinion)
}
// ANCHOR_END: select

// ANCHOR: join_all
#[workflow]
pub async fn total(cx: &Cx, items: Vec<String>) -> Result<u64, Error> {
    let prices = join_all(items.into_iter().map(|item| price(cx, item))).await;
    let mut total = 0;
    for price in prices {
        total += price?;
    }
    Ok(total)
}
// ANCHOR_END: join_all

// ANCHOR: join_set
#[workflow]
pub async fn total_two_at_a_time(cx: &Cx, items: Vec<String>) -> Result<u64, Error> {
    let mut total = 0;
    let mut open = JoinSet::new(cx);
    for item in items {
        if open.len() == 2
            && let Some(price) = open.next().await
        {
            total += price?;
        }
        open.submit(price(cx, item));
    }
    while let Some(price) = open.next().await {
        total += price?;
    }
    Ok(total)
}
// ANCHOR_END: join_set

// ANCHOR: spawn
#[workflow]
pub async fn beside(cx: &Cx, item: String) -> Result<String, Error> {
    let price = cx.spawn(price(cx, item.clone())); // begins here
    let stock = stock(cx, item).await.unwrap_or(0); // at the same time
    Ok(format!("{stock} at {}", price.await?))
}
// ANCHOR_END: spawn

// ANCHOR: spawn_block
#[workflow]
pub async fn twice(cx: &Cx, item: String) -> Result<u64, Error> {
    let both = cx.spawn(async move {
        let once = price(cx, item.clone()).await?;
        Ok::<_, Error>(once + price(cx, item).await?)
    });
    both.await
}
// ANCHOR_END: spawn_block

// ANCHOR: durable
#[durable]
async fn price_with_tax(cx: &Cx, item: &str) -> Result<u64, Error> {
    Ok(price(cx, item.to_owned()).await? * 119 / 100)
}

#[workflow]
pub async fn basket(cx: &Cx, a: String, b: String) -> Result<u64, Error> {
    let (a, b) = try_join!(price_with_tax(cx, &a), price_with_tax(cx, &b))?;
    Ok(a + b)
}
// ANCHOR_END: durable
