//! All that a workflow may wait for.

#![deny(warnings)]
// Written in odd ways on purpose. What clippy says of plain code is shown in `tests/lints.rs`.
#![allow(clippy::all, clippy::cast_possible_truncation, clippy::unwrap_used)]
#![allow(dead_code)]
#![allow(async_fn_in_trait)]

use std::pin::Pin;

use perennial::prelude::*;

#[activity(pure)]
async fn ship(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
    Ok(n)
}

#[durable]
async fn generic<T: Into<u32> + 'static, const N: usize>(
    cx: &Cx,
    all: [T; N],
) -> Result<u32, Error> {
    let mut sum = 0;
    for one in all {
        sum += ship(cx, one.into()).await?;
    }
    Ok(sum)
}

#[durable]
async fn borrows<'a>(
    cx: &Cx,
    a: &'a str,
    b: &String,
    mut list: Vec<u32>,
    (c, _d): (u32, u8),
) -> Result<&'a str, Error> {
    list.push(ship(cx, c).await?);
    if b.is_empty() {
        return Ok(a);
    }
    Ok(a)
}

#[durable]
async fn coerces<'a>(cx: &Cx, text: &'a String) -> &'a str {
    let _ = cx;
    text
}

#[durable]
async fn nothing(_cx: &Cx) {}

#[durable]
async fn again(cx: &Cx, n: u32) -> Result<u32, Error> {
    if n == 0 {
        return Ok(0);
    }
    Ok(ship(cx, n).await? + Box::pin(again(cx, n - 1)).await?)
}

struct Shop {
    size: u32,
}

impl Shop {
    #[durable]
    async fn restock(&self, cx: &Cx) -> Result<u32, Error> {
        Ok(ship(cx, self.size).await?)
    }

    #[durable]
    async fn grow(&mut self, cx: &Cx, by: u32) -> Result<(), Error> {
        self.size += ship(cx, by).await?;
        Ok(())
    }

    #[durable]
    async fn close(self: Box<Self>, cx: &Cx) -> Result<Self, Error> {
        ship(cx, 0).await?;
        Ok(*self)
    }
}

trait Restock {
    #[durable]
    async fn all(&self, cx: &Cx) -> Result<u32, Error>;

    #[durable]
    async fn twice(&self, cx: &Cx) -> Result<u32, Error>
    where
        Self: Sync,
    {
        Ok(self.all(cx).await? + self.all(cx).await?)
    }
}

impl Restock for Shop {
    #[durable]
    async fn all(&self, cx: &Cx) -> Result<u32, Error> {
        self.restock(cx).await
    }
}

fn boxed<'a>(cx: &'a Cx, fast: bool) -> BoxDurable<'a, Result<u32, Error>> {
    if fast {
        BoxDurable::new(generic(cx, [1_u32]))
    } else {
        BoxDurable::new(again(cx, 3))
    }
}

#[workflow]
async fn work(cx: &Cx, n: u32) -> Result<u32, Error> {
    // An activity, with and without options; a timer.
    let a = ship(cx, n).await?;
    let b = ship(cx, n).retry(Retry::new().attempts(2)).await?;
    cx.sleep(seconds(1)).await?;

    // Held in variables, behind references, boxed, pinned.
    let later = ship(cx, 3);
    let mut sleep = Box::pin(cx.sleep(seconds(2)));
    (&mut sleep).await?;
    let c = later.await?;
    let pinned: Pin<Box<_>> = Box::pin(async { ship(cx, 4).await });
    let d = pinned.await?;
    let e = boxed(cx, a > b).await?;

    // Durable functions.
    generic(cx, [1_u8, 2]).await?;
    borrows(cx, "a", &"b".to_owned(), vec![], (1, 2)).await?;
    coerces(cx, &String::new()).await;
    nothing(cx).await;
    again(cx, 3).await?;
    let mut shop = Shop { size: 1 };
    shop.grow(cx, 2).await?;
    shop.twice(cx).await?;
    let shop = Box::new(shop).close(cx).await?;

    // Blocks and closures.
    let block = async {
        let inner = async move { shop.restock(cx).await };
        inner.await
    };
    block.await?;
    let make = |n: u32| async move { ship(cx, n).await };
    let f = make(1).await?;

    // Several at once.
    let (g, h) = join!(ship(cx, 1), async { ship(cx, 2).await });
    let (i, j) = try_join!(ship(cx, 1), ship(cx, 2))?;
    let k = select! {
        done = ship(cx, 5) => done?,
        Err(_) | Ok(_) = cx.sleep(seconds(1)) => {
            ship(cx, 6).await?
        }
    };
    let l: Vec<_> = join_all((0..3).map(|n| ship(cx, n))).await;
    let mut set = JoinSet::new(cx);
    for n in 0..3 {
        set.submit(async move { ship(cx, n).await });
    }
    while let Some(done) = set.next().await {
        done?;
    }
    let task = cx.spawn(async move { ship(cx, 7).await });
    cx.spawn(ship(cx, 8)).await?;

    // In macros whose grammar is known.
    let m = vec![ship(cx, 1).await?, ship(cx, 2).await?];
    let n = vec![ship(cx, 1).await?; 2];
    assert!(ship(cx, 1).await? == 1, "{}", ship(cx, 2).await?);
    assert!(matches!(ship(cx, 1).await, Ok(o) if o > 0));
    let o = format!("{} {named}", ship(cx, 1).await?, named = ship(cx, 2).await?);

    // Wherever an expression can stand.
    if let Ok(1) = ship(cx, 1).await {}
    match (ship(cx, 1).await?, 2) {
        (1, _) if ship(cx, 2).await? == 2 => {}
        _ => return Ok(ship(cx, 1).await?),
    }
    let Ok(_p) = ship(cx, 1).await else {
        return Ok(0);
    };
    let q = [(ship(cx, 1)).await?, 2][ship(cx, 0).await? as usize];
    let _r = Shop {
        size: ship(cx, 1).await?,
    };
    'outer: loop {
        while ship(cx, 1).await? > 1 {
            break 'outer;
        }
        break;
    }

    // A function inside is one of its own.
    async fn plain() {}
    drop(plain());

    Ok(a + b
        + c
        + d
        + e
        + f
        + g?
        + h?
        + i
        + j
        + k
        + task.await?
        + l.len() as u32
        + m[0]
        + n[0]
        + o.len() as u32
        + q)
}

mod queries {
    use perennial::prelude::*;

    macro_rules! join {
        ($($part:expr),*) => { [$($part),*].join(",") };
    }
    macro_rules! select {
        ($($column:ident),* from $table:ident) => {
            concat!($(stringify!($column), " ",)* "of ", stringify!($table))
        };
    }

    // One's own macros of such names.
    #[workflow]
    async fn named_alike(cx: &Cx) -> Result<String, Error> {
        let query = select!(id, cents from orders);
        cx.sleep(seconds(1)).await?;
        Ok(join!(query, "and", "others"))
    }
}

pub(crate) fn main() {
    let callees: Vec<_> = work::GRAPH
        .callees
        .iter()
        .map(|callee| (callee.name, callee.kind))
        .collect();
    assert!(
        callees.contains(&("ship", perennial::CalleeKind::Activity)),
        "{callees:?}"
    );
    assert!(work::GRAPH.file.ends_with("awaits.rs"));
}
