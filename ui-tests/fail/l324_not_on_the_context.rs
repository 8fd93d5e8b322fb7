//! A marker is asked for on the function's own context.

use perennial::prelude::*;

struct Shop<'a> {
    cx: &'a Cx,
    registry: Registry,
}

struct Registry;

impl Registry {
    fn patched(&self, name: &str) -> bool {
        name.is_empty()
    }
}

impl Shop<'_> {
    #[durable]
    async fn ship(&self) -> Result<(), Error> {
        if self.cx.patched("slowly") {
            self.cx.sleep(seconds(1)).await?;
        }
        Ok(())
    }

    #[durable]
    async fn restock(&self, cx: &Cx) -> Result<(), Error> {
        if self.cx.patched("later") {
            cx.sleep(seconds(1)).await?;
        }
        // These are none.
        if Registry::patched(&self.registry, "shop") {
            cx.sleep(seconds(1)).await?;
        }
        let name = "shop";
        if self.registry.patched(name) {
            cx.sleep(seconds(1)).await?;
        }
        Ok(())
    }
}

#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    let other = cx;
    if other.patched("wait") {
        cx.sleep(seconds(1)).await?;
    }
    Ok(())
}

#[workflow]
async fn refund(cx: &Cx) -> Result<(), Error> {
    match cx.clone().version("twice", 0..=1) {
        0 => {}
        _ => cx.sleep(seconds(1)).await?,
    }
    if Cx::patched_each(cx, "by-path") {
        cx.sleep(seconds(1)).await?;
    }
    let ask = |context: &Cx| context.patched("in a closure");
    if ask(cx) {
        cx.sleep(seconds(1)).await?;
    }
    let shop = Shop { cx, registry: Registry };
    shop.ship().await?;
    shop.restock(cx).await
}

fn main() {
    println!("{} {}", order::NAME, refund::NAME);
}
