//! Messages that the run had not taken when it was moved.

use perennial::prelude::*;
use perennial_runtime::{MessageState, Runtime};

use crate::support::each_store;

const NOTE: Message<String> = Message::new("note");
const GO: Message<()> = Message::new("go");

#[workflow]
async fn notes(cx: &Cx) -> Result<Vec<String>, Error> {
    cx.receive(GO).await?;
    Ok(vec![cx.receive(NOTE).await?])
}

#[workflow]
async fn notes_v2(_cx: &Cx, notes: Vec<String>) -> Result<Vec<String>, Error> {
    Ok(notes)
}

#[migration(from = notes, to = notes_v2)]
fn with_its_notes(old: &OldRun) -> Result<Vec<String>, Refuse> {
    old.messages(NOTE)
}

#[tokio::test]
async fn m42_messages_stay_with_the_run_that_was_moved_and_the_new_one_may_have_them_too() {
    each_store(async |store| {
        let builder = Runtime::builder(store).workflow(notes).workflow(notes_v2);
        let runtime = builder.artifact("test").start().await.unwrap();
        let client = runtime.client();
        let old = client.start(notes, "notes-1", ()).await.unwrap();
        let receipt = old.send(NOTE, &"ring twice".to_owned()).await.unwrap();
        let new = client.migrate("notes-1", with_its_notes, "notes-2");
        assert_eq!(new.await.unwrap().result().await.unwrap(), ["ring twice"]);
        let page = client.list_messages(old.id()).page().await.unwrap();
        let [left] = &page.messages[..] else {
            panic!("{page:?}")
        };
        assert_eq!(
            (left.number, &left.state),
            (receipt.number, &MessageState::Unread)
        );
        client.purge(old.id()).await.unwrap();
    })
    .await;
}
