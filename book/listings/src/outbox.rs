//! *Mailbox and outbox*.

// ANCHOR: imports
use perennial::prelude::*;
use perennial_runtime::{Client, StreamError};
use serde::{Deserialize, Serialize};
// ANCHOR_END: imports

// ANCHOR: declare
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Began { pages: u64 },
    Translated { page: u64, text: String },
}

pub const OUTPUT: Stream<Event> = Stream::new("output");
// ANCHOR_END: declare

#[activity(pure)]
pub async fn translate(_acx: &ActivityCx, page: String) -> Result<String, Failure> {
    Ok(page.to_uppercase())
}

// ANCHOR: emit
#[workflow]
pub async fn translation(cx: &Cx, pages: Vec<String>) -> Result<(), Error> {
    cx.emit(
        OUTPUT,
        Event::Began {
            pages: pages.len() as u64,
        },
    );
    for (page, text) in (1..).zip(pages) {
        let text = translate(cx, text).await?;
        cx.emit(OUTPUT, Event::Translated { page, text });
    }
    Ok(())
}
// ANCHOR_END: emit

// ANCHOR: read
/// Shows all that comes after item number `seen`, and gives back how far it came.
pub async fn follow(client: &Client, run: &RunId, mut seen: u64) -> Result<u64, StreamError> {
    let mut items = client.stream(run, OUTPUT).after(seen);
    while let Some(item) = items.next().await {
        let item = item?;
        if let Event::Translated { page, text } = item.value {
            println!("page {page}: {text}");
        }
        seen = item.number;
    }
    Ok(seen)
}
// ANCHOR_END: read

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use perennial::testing::{Snapshot, TestRun};

    // ANCHOR: test
    #[perennial::test]
    fn each_page_is_given_out(t: &mut TestRun) {
        t.allow(translate);
        let run = t.start(translation, vec!["one".to_owned(), "two".to_owned()]);
        run.result().unwrap();
        assert_eq!(run.stream(OUTPUT).len(), 3);
        assert_eq!(
            run.stream(OUTPUT)[2],
            Event::Translated {
                page: 2,
                text: "TWO".to_owned()
            }
        );
    }
    // ANCHOR_END: test

    #[perennial::test]
    fn items_stand_in_the_history(t: &mut TestRun) {
        t.allow(translate);
        let run = t.start(translation, vec!["one".to_owned()]);
        run.result().unwrap();
        let text = Snapshot::new().text(&run).unwrap();
        assert_eq!(text.matches("emitted    output #").count(), 2, "{text}");
    }

    #[tokio::test]
    async fn whoever_follows_goes_on_where_it_was() {
        use perennial_runtime::Runtime;
        use perennial_runtime::store::MemoryStore;

        let builder = Runtime::builder(MemoryStore::new()).workflow(translation);
        let runtime = builder.activity(translate).start().await.unwrap();
        let client = runtime.client();
        let pages = vec!["one".to_owned(), "two".to_owned()];
        let run = client.start(translation, "letter", pages).await.unwrap();
        assert_eq!(follow(&client, run.id(), 0).await.unwrap(), 3);
        assert_eq!(follow(&client, run.id(), 2).await.unwrap(), 3);
        assert_eq!(follow(&client, run.id(), 3).await.unwrap(), 3);
    }
}
