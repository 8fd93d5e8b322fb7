//! *Mailbox and outbox*: stubs and mailboxes.

// ANCHOR: imports
use std::collections::VecDeque;
use std::time::Duration;

use perennial::prelude::*;
use perennial_runtime::{Client, RequestError};
// ANCHOR_END: imports

#[activity(pure)]
pub async fn think(_acx: &ActivityCx, about: String) -> Result<String, Failure> {
    Ok(format!("thought about {about}"))
}

// ANCHOR: stub
/// A person looks at an order and says whether it may go out.
#[stub]
pub async fn review(cx: &Cx, order: String) -> bool;

#[workflow]
pub async fn purchase(cx: &Cx, order: String) -> Result<bool, Error> {
    match review(cx, order).timeout(days(2)).await? {
        Some(verdict) => Ok(verdict),
        None => Ok(false), // nobody has looked at it
    }
}
// ANCHOR_END: stub

// ANCHOR: fulfil
/// Gives the same verdict to all orders that wait for one.
pub async fn answer_all(client: &Client, verdict: bool) -> Result<u64, Box<dyn std::error::Error>> {
    let mut answered = 0;
    for waiting in client.waiting().page().await?.offers {
        if waiting.stub == "review" {
            client.fulfil(&waiting.reference, review, &verdict).await?;
            answered += 1;
        }
    }
    Ok(answered)
}
// ANCHOR_END: fulfil

// ANCHOR: mailbox
/// Something more to think about, put in while the agent is at work.
#[stub]
pub async fn put_in(cx: &Cx) -> String;

#[workflow]
pub async fn agent(cx: &Cx, task: String) -> Result<Vec<String>, Error> {
    let mailbox = Mailbox::open(cx, put_in);
    let (mut topics, mut thoughts) = (VecDeque::from([task]), Vec::new());
    while let Some(topic) = topics.pop_front() {
        let mut work = cx.spawn(think(cx, topic));
        let thought = loop {
            select! {
                mail = mailbox.next() => topics.push_back(mail?),
                thought = &mut work => break thought?,
            }
        };
        thoughts.push(thought);
    }
    Ok(thoughts)
}
// ANCHOR_END: mailbox

// ANCHOR: request
/// The run says something, and hears what somebody says to that.
#[stub]
pub async fn turn(cx: &Cx, said: String) -> String;

#[workflow]
pub async fn echo(cx: &Cx) -> Result<(), Error> {
    let mut heard = turn(cx, "hello".to_owned()).await?;
    while heard != "bye" {
        heard = turn(cx, heard.to_uppercase()).await?;
    }
    Ok(())
}

pub async fn ask(client: &Client) -> Result<String, RequestError> {
    let request = client.request("talk-1~1", turn, &"how are you".to_owned());
    let reply = request.timeout(Duration::from_secs(60)).await?;
    Ok(reply.value)
}
// ANCHOR_END: request

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use perennial::testing::TestRun;

    // ANCHOR: test
    #[perennial::test]
    fn whoever_looks_decides(t: &mut TestRun) {
        let run = t.start(purchase, "a lamp".to_owned());
        assert_eq!(run.offers()[0].name, "review");
        run.fulfil(review, true);
        assert!(run.result().unwrap());
    }

    #[perennial::test]
    fn nobody_looks_at_it(t: &mut TestRun) {
        let run = t.start(purchase, "a lamp".to_owned());
        t.advance(days(2));
        assert!(!run.result().unwrap());
    }
    // ANCHOR_END: test

    #[perennial::test]
    fn what_is_put_in_is_thought_about_next(t: &mut TestRun) {
        t.mock(think, |about| Ok(about + "!")).takes(hours(1));
        let run = t.start(agent, "snow".to_owned());
        run.fulfil(put_in, "ice".to_owned());
        run.fulfil(put_in, "rain".to_owned());
        assert_eq!(run.result().unwrap(), ["snow!", "ice!", "rain!"]);
    }

    #[tokio::test]
    async fn what_is_offered_is_answered_and_a_request_has_its_reply() {
        use perennial_runtime::Runtime;
        use perennial_runtime::store::MemoryStore;

        let builder = Runtime::builder(MemoryStore::new()).workflow(purchase);
        let runtime = builder.workflow(echo).start().await.unwrap();
        let client = runtime.client();
        let order = "a lamp".to_owned();
        let run = client.start(purchase, "order-1", order).await.unwrap();
        assert_eq!(answer_all(&client, true).await.unwrap(), 1);
        assert!(run.result().await.unwrap());
        client.start(echo, "talk-1", ()).await.unwrap();
        assert_eq!(ask(&client).await.unwrap(), "HOW ARE YOU");
    }
}
