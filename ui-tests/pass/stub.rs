//! Stubs, join sets with names, and mailboxes, in the forms in which they stand in workflows.

use perennial::prelude::*;
use perennial::{MemberId, Offer, OperationId};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Order {
    id: u32,
}

/// A person looks at an order.
#[stub]
pub async fn review(cx: &Cx, order: Order, _note: String) -> Option<bool>;

#[stub(name = "put-in")]
async fn inject(cx: &Cx) -> String;

#[stub]
async fn r#match(cx: &Cx);

#[stub]
#[deprecated = "ask twice"]
async fn old(cx: &Cx, n: u8) -> u8;

mod inner {
    use perennial::prelude::*;

    #[stub]
    pub(super) async fn look(cx: &Cx, n: u32) -> u32;
}

#[durable]
async fn reviewed(cx: &Cx, order: Order) -> Result<Option<bool>, StubError> {
    review(cx, order, String::new()).await
}

enum Event {
    Mail(Result<String, StubError>),
    Looked(Result<u32, StubError>),
}

#[workflow]
async fn all(cx: &Cx, order: Order) -> Result<u32, Error> {
    r#match(cx).await?;
    let offer: Offer<u32> = inner::look(cx, 1).open()?;
    let reference: OperationId = offer.reference();
    cx.log(reference);
    let limited: Option<u32> = offer.timeout(days(1)).await?;
    let (a, b) = join!(reviewed(cx, order.clone()), inner::look(cx, order.id));
    if a?.flatten_or_no() {
        return Ok(b?);
    }
    let mailbox = Mailbox::open(cx, inject);
    let mut set = JoinSet::named(cx, "turn").on_close(Close::Detach);
    let look: MemberId = set.submit(async move { Event::Looked(inner::look(cx, 2).await) });
    let next = mailbox.next();
    set.submit(async move { Event::Mail(next.await) });
    let sum = match set.next_with_id().await {
        Some((id, Event::Looked(n))) if id == look => n?,
        Some((_, Event::Mail(text))) => u32::try_from(text?.len())?,
        _ => 0,
    };
    select! {
        mail = mailbox.next() => drop(mail?),
        n = inner::look(cx, 3).timeout(hours(1)) => drop(n?),
    }
    let both = join_all([inner::look(cx, 4), inner::look(cx, 5)]).await;
    let task = cx.spawn(inner::look(cx, 6));
    Ok(sum + limited.unwrap_or(0) + task.await? + u32::try_from(both.len())?)
}

trait FlattenOrNo {
    fn flatten_or_no(self) -> bool;
}

impl FlattenOrNo for Option<bool> {
    fn flatten_or_no(self) -> bool {
        self.unwrap_or(false)
    }
}

fn main() {
    assert_eq!((review::NAME, inject::NAME, r#match::NAME), ("review", "put-in", "match"));
    #[allow(deprecated)]
    let _ = old;
    let offers = all::GRAPH.offers();
    let names: Vec<_> = offers.iter().map(|one| one.name).collect();
    assert_eq!(names, ["look", "match", "put-in"]);
    let stubs = all::GRAPH.callees.iter();
    let stubs: Vec<_> = stubs
        .filter(|callee| callee.kind == perennial::CalleeKind::Stub)
        .map(|callee| callee.name)
        .collect();
    assert_eq!(stubs, ["match", "look", "review", "put-in"]);
}
