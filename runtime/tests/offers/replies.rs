//! Which call of a stub is the reply to a request (B20): one that the run makes when it has heard that.

use std::time::Duration;

use perennial::prelude::*;
use perennial_runtime::{RequestError, Reuse};

use crate::support::each_store;
use crate::world::*;

const SWITCH: Message<u64> = Message::new("switch");

#[durable]
async fn talk(cx: &Cx, name: &str) -> Result<(), Error> {
    let mut said = format!("{name} waits");
    loop {
        let heard = turn(cx, said).await?;
        if heard == "bye" {
            return Ok(());
        }
        said = format!("{name} has heard {heard}");
    }
}

/// Talks with two at once, each in their own words.
#[workflow]
async fn two_talks(cx: &Cx) -> Result<(), Error> {
    let (one, two) = join!(talk(cx, "one"), talk(cx, "two"));
    one?;
    two
}

/// Says what comes first: a word, or that it is to speak of something else.
#[workflow]
async fn switches(cx: &Cx) -> Result<(), Error> {
    let mut about = 0;
    loop {
        about = select! {
            heard = turn(cx, format!("about {about}")) => match &heard?[..] {
                "bye" => return Ok(()),
                _ => about,
            },
            switched = cx.receive(SWITCH) => switched?,
        };
    }
}

#[tokio::test]
async fn b20_a_call_that_was_open_before_the_request_is_no_reply_to_it() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).workflow(two_talks);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client.start(two_talks, "talks", ()).await.unwrap();
        let request = |reference: &str, said: &str| {
            let request = client.request(reference, turn, &text(said));
            soon(request.into_future())
        };
        let first = request("talks~1", "a").await.unwrap();
        assert_eq!(first.value, "one has heard a");
        let second = request("talks~2", "b").await.unwrap();
        assert_eq!(second.value, "two has heard b");
        // The same when it is asked for again, now that both have gone on.
        assert_eq!(request("talks~1", "a").await.unwrap(), first);
        for reply in [first, second] {
            client
                .fulfil(&reply.reference, turn, &text("bye"))
                .await
                .unwrap();
        }
        soon(run.result()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn b20_a_run_that_has_gone_another_way_has_not_replied() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).workflow(switches);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client.start(switches, "switches", ()).await.unwrap();
        // What comes first is told first.
        run.pause().await.unwrap();
        run.send(SWITCH, &7).await.unwrap();
        let request = || client.request("switches~1", turn, &text("well?"));
        let nothing = request().timeout(Duration::ZERO).into_future();
        assert!(matches!(
            soon(nothing).await,
            Err(RequestError::TimedOut { .. })
        ));
        let waits = tokio::spawn(request().into_future());
        run.resume().await.unwrap();
        let error = soon(waits).await.unwrap().unwrap_err();
        let RequestError::NotHeard { at, .. } = &error else {
            panic!("{error}")
        };
        insta::assert_snapshot!(
            "b20_not_heard",
            error.to_string().replace(&at.to_string(), "<when>")
        );
        let again = soon(request().into_future()).await.unwrap_err();
        assert_eq!(again, error);
        let next = open(&client, "switches").await;
        let reply = soon(client.request(&next, turn, &text("well?")).into_future());
        assert_eq!(reply.await.unwrap().value, "about 7");
    })
    .await;
}

#[tokio::test]
async fn b20_what_a_run_says_that_has_begun_anew_is_no_reply_to_what_the_one_before_was_given() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(echo, "anew", ()).await.unwrap();
        let request = || client.request("anew~1", turn, &text("bye"));
        let ended = soon(request().into_future()).await;
        assert!(matches!(ended, Err(RequestError::RunEnded { .. })));
        soon(run.result()).await.unwrap();
        let start = client.start(echo, "anew", ()).reuse(Reuse::AfterFinish);
        start.await.unwrap();
        assert_eq!(open(&client, "anew").await.number, 2);
        let gone = soon(request().into_future()).await;
        assert!(
            matches!(gone, Err(RequestError::RunGone { .. })),
            "{gone:?}"
        );
    })
    .await;
}
