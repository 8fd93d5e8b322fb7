//! The program that asks for things, and what the tests see of it.

use std::sync::{Arc, OnceLock};

use perennial::OperationId;
use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Client, OfferInfo, OfferStatus, Runtime};

pub(crate) use crate::support::waiting::{Gate as World, soon, until};

#[activity(idempotent)]
async fn gated(acx: &ActivityCx) -> Result<(), Failure> {
    let world = acx.state::<Arc<World>>();
    world.pass().await;
    Ok(())
}

/// A person says something about a question.
#[stub]
pub(crate) async fn review(cx: &Cx, question: String) -> String;

/// A person says yes or no.
#[stub]
pub(crate) async fn approve(cx: &Cx, amount: u64) -> bool;

/// Something for a run to think of.
#[stub]
pub(crate) async fn inject(cx: &Cx) -> u64;

/// A run says something, and hears what somebody says to that.
#[stub]
pub(crate) async fn turn(cx: &Cx, said: String) -> String;

/// Says again what it hears, louder; does something first where it is to, and ends when it has heard enough.
#[workflow]
pub(crate) async fn echo(cx: &Cx) -> Result<String, Error> {
    let mut said = "hello".to_owned();
    loop {
        let heard = turn(cx, said).await?;
        match &heard[..] {
            "bye" => return Ok(heard),
            "oh" => return Err(Error::new("oh")),
            "wait" => gated(cx).await?,
            _ => {}
        }
        said = heard.to_uppercase();
    }
}

/// Where a run is to send its answer.
pub(crate) const ASKED: Message<String> = Message::new("asked");

/// Tells the run `other` of what is asked for.
#[activity(idempotent)]
async fn tell(acx: &ActivityCx, other: String, reference: String) -> Result<(), Failure> {
    let client = acx.state::<Arc<OnceLock<Client>>>().get().unwrap();
    let other = other.parse().map_err(Failure::transient)?;
    client.send(&other, ASKED, &reference).await?;
    Ok(())
}

/// Gives an answer, more than once, as an attempt after a crash would.
#[activity(idempotent)]
async fn reply(acx: &ActivityCx, reference: String, text: String) -> Result<String, Failure> {
    let client = acx.state::<Arc<OnceLock<Client>>>().get().unwrap();
    for _ in 0..2 {
        if let Err(error) = client.fulfil(&reference, review, &text).await {
            return Ok(error.to_string());
        }
    }
    Ok("given".to_owned())
}

/// Asks another run, and waits for its answer no longer than a day.
#[workflow]
pub(crate) async fn asks(cx: &Cx, other: String) -> Result<Option<String>, Error> {
    let offer = review(cx, "well?".to_owned()).open()?;
    tell(cx, other, offer.reference().to_string()).await?;
    Ok(offer.timeout(days(1)).await?)
}

/// Answers one question, when it may.
#[workflow]
pub(crate) async fn answers(cx: &Cx) -> Result<String, Error> {
    let reference = cx.receive(ASKED).await?;
    gated(cx).await?;
    Ok(reply(cx, reference, "well".to_owned()).await?)
}

/// Asks where the attribute of a workflow does not see it.
#[durable]
async fn hidden(cx: &Cx) -> Result<u64, StubError> {
    secret(cx).await
}

/// Of a stub that is called by a helper alone the program knows only what it is told.
#[stub]
pub(crate) async fn secret(cx: &Cx) -> u64;

/// Asks through a helper.
#[workflow]
pub(crate) async fn asks_hidden(cx: &Cx) -> Result<u64, Error> {
    Ok(hidden(cx).await?)
}

/// Asks once.
#[workflow]
pub(crate) async fn once(cx: &Cx, question: String) -> Result<String, Error> {
    Ok(review(cx, question).await?)
}

/// Asks so many times, one question after the other.
#[workflow]
pub(crate) async fn in_turn(cx: &Cx, count: u64) -> Result<Vec<String>, Error> {
    let mut answers = Vec::new();
    for number in 0..count {
        answers.push(review(cx, format!("question {number}")).await?);
    }
    Ok(answers)
}

/// Asks, and gives up after two days.
#[workflow]
pub(crate) async fn limited(cx: &Cx) -> Result<Option<String>, Error> {
    Ok(review(cx, "soon?".to_owned()).timeout(days(2)).await?)
}

/// Asks, does something, and waits for the answer from then on.
#[workflow]
pub(crate) async fn busy(cx: &Cx) -> Result<String, Error> {
    let offer = review(cx, "meanwhile?".to_owned()).open()?;
    gated(cx).await?;
    Ok(offer.await?)
}

/// Asks, does something, and goes without an answer; then does something more.
#[workflow]
pub(crate) async fn gives_up(cx: &Cx) -> Result<(), Error> {
    let offer = review(cx, "never mind".to_owned()).open()?;
    gated(cx).await?;
    drop(offer);
    Ok(gated(cx).await?)
}

/// Asks, and ends without an answer.
#[workflow]
pub(crate) async fn leaves(cx: &Cx, well: bool) -> Result<String, Error> {
    let offer = review(cx, "too late".to_owned()).open()?;
    gated(cx).await?;
    if well {
        Ok(offer.reference().to_string())
    } else {
        Err(Error::new("no"))
    }
}

/// Asks two things of different kinds at once, beside an activity.
#[workflow]
pub(crate) async fn both(cx: &Cx) -> Result<(String, bool), Error> {
    let (said, approved, done) = join!(review(cx, "well?".to_owned()), approve(cx, 7), gated(cx));
    done?;
    Ok((said?, approved?))
}

/// Takes so much mail.
#[workflow]
pub(crate) async fn agent(cx: &Cx, count: usize) -> Result<Vec<u64>, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = Vec::new();
    while heard.len() < count {
        heard.push(mailbox.next().await?);
    }
    Ok(heard)
}

pub(crate) fn builder(store: Arc<dyn Store>, world: &Arc<World>) -> Builder {
    Runtime::builder(store)
        .workflow(once)
        .workflow(in_turn)
        .workflow(limited)
        .workflow(busy)
        .workflow(gives_up)
        .workflow(leaves)
        .workflow(both)
        .workflow(agent)
        .workflow(asks_hidden)
        .workflow(echo)
        .workflow(asks)
        .workflow(answers)
        .activities((gated, tell, reply))
        .state(Arc::<OnceLock<Client>>::default())
        .state(Arc::clone(world))
        .artifact("test")
        .shards(1)
}

pub(crate) async fn runtime(store: Arc<dyn Store>, world: &Arc<World>) -> Runtime {
    builder(store, world).start().await.unwrap()
}

/// All that all runs wait for.
pub(crate) async fn waiting(client: &Client) -> Vec<OfferInfo> {
    client.waiting().page().await.unwrap().offers
}

/// The one thing that a run waits for.
pub(crate) async fn open(client: &Client, id: &str) -> OperationId {
    let page = client.offers(&id.parse().unwrap()).open().page().await;
    let [offer] = &page.unwrap().offers[..] else {
        panic!("{id} waits for one thing")
    };
    offer.reference.clone()
}

/// What has become of the operations that a run has offered.
pub(crate) async fn states(client: &Client, id: &str) -> Vec<OfferStatus> {
    let page = client.offers(&id.parse().unwrap()).page().await.unwrap();
    page.offers.into_iter().map(|offer| offer.state).collect()
}

/// A text as the answer to `review`.
pub(crate) fn text(text: &str) -> String {
    text.to_owned()
}
