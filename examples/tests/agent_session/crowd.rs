//! Many who talk in one session at once.

use std::collections::BTreeSet;
use std::time::Duration;

use perennial::RunId;
use perennial_examples::agent_session::{
    Desk, Event, Model, PATIENCE, Settings, StandIn, answer, session,
};
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{IntoStore, Runtime};
use tokio::task::JoinSet;

const WORDS: usize = 8;

async fn each_word_is_heard_once(store: impl IntoStore) {
    let stand_in = StandIn::start(0, Duration::ZERO).await.unwrap();
    let model = Model::new(&stand_in.address(), "m".to_owned(), None, PATIENCE).unwrap();
    let builder = Runtime::builder(store).workflow(session).activity(answer);
    let runtime = builder.state(model).start().await.unwrap();
    let (desk, id) = (Desk::new(runtime.client()), RunId::new("plan-1").unwrap());
    assert!(desk.open(&id, Settings::default()).await.unwrap());
    let mut crowd = JoinSet::new();
    for word in 0..WORDS {
        let (desk, id) = (desk.clone(), id.clone());
        crowd.spawn(async move { desk.say(&id, &format!("word {word}"), None).await });
    }
    let said = crowd.join_all().await.into_iter().map(Result::unwrap);
    let references: BTreeSet<_> = said.map(|reference| reference.number).collect();
    assert_eq!(references.len(), WORDS, "each has an offer of its own");
    desk.settled(&id).await.unwrap();
    let mut items = desk.follow(&id, 0).await.unwrap().no_wait();
    let mut heard = Vec::new();
    while let Some(item) = items.next().await {
        if let Event::UserSaid { text } = item.unwrap().value {
            heard.push(text);
        }
    }
    heard.sort();
    let all: Vec<_> = (0..WORDS).map(|word| format!("word {word}")).collect();
    assert_eq!(heard, all);
    assert!(!desk.open(&id, Settings::default()).await.unwrap());
}

#[tokio::test]
async fn each_word_of_many_is_heard_once_in_memory() {
    each_word_is_heard_once(MemoryStore::new()).await;
}

#[tokio::test]
async fn each_word_of_many_is_heard_once_in_a_folder() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    each_word_is_heard_once(root.path().join("store")).await;
}
