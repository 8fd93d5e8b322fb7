//! The commands of *From the shell*, called in the order of the chapter.

use std::path::Path;

use perennial_book::shell;
use perennial_runtime::store::Durability;
use perennial_runtime::{Builder, Runtime};

use crate::chapters::Still;
use crate::texts::{assert_like, assert_text};

fn program(folder: &Path) -> Builder {
    Runtime::builder(folder.join("data"))
        .durability(Durability::Os)
        .workflow(shell::purchase)
        .workflow(shell::article)
        .activity(shell::quote)
        .artifact("shop")
        .clock(Still)
}

/// What a terminal shows of a command that is called in `folder`.
fn terminal(folder: &Path, command: &str) -> String {
    let data = folder.join("data").display().to_string();
    let words = command.split(' ').map(|word| match word {
        "data" => data.clone(),
        word => word.to_owned(),
    });
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    perennial_cli::call(words.collect::<Vec<_>>(), &mut out, &mut errors);
    out.extend(errors);
    let text = String::from_utf8(out).unwrap();
    let text = text.replace(&data, "data");
    let text = text.replace(&std::process::id().to_string(), "4711");
    format!("$ {command}\n{text}")
}

#[tokio::test]
#[cfg(unix)]
async fn from_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let runtime = program(folder).control_socket().start().await.unwrap();
    let client = runtime.client();
    let start = |id: &'static str| client.start(shell::purchase, id, "lamp".to_owned());
    let run = start("order-42").await.unwrap();
    start("order-43").await.unwrap();
    for id in ["order-42", "order-43"] {
        let id = id.parse().unwrap();
        // Until it waits.
        while client.status(&id).await.unwrap().events < 5 {
            tokio::task::yield_now().await;
        }
    }
    assert_text(
        "texts/shell/show.txt",
        &terminal(folder, "perennial show data order-42"),
    );
    let refused = terminal(folder, "perennial send data order-42 aproval true");
    assert_text("texts/shell/refused.txt", &refused);
    let send = "perennial send data order-42 approval true --key approve-42";
    let sent = terminal(folder, send);
    assert_eq!(run.result().await.unwrap(), 400);
    assert_text(
        "texts/shell/send.txt",
        &format!("{sent}{}", terminal(folder, send)),
    );
    assert_eq!(shell::open(&folder.join("data"), "purchase").unwrap(), 1);
    talk(folder, &client).await;
    drop(runtime);

    let runtime = program(folder).start().await.unwrap();
    let list = terminal(folder, "perennial list data");
    assert_text("texts/shell/no-socket.txt", &list);
    drop(runtime);
    let stopped = [
        "perennial list data --state running",
        "perennial send data order-43 approval false",
    ]
    .map(|command| terminal(folder, command));
    assert_like("texts/shell/stopped.txt", &stopped.join("\n"));
}

/// What a run waits for from an editor, and what it says before and after.
#[cfg(unix)]
async fn talk(folder: &Path, client: &perennial_runtime::Client) {
    let article = client
        .start(shell::article, "article-7", "Sled".to_owned())
        .await
        .unwrap();
    while client.waiting().page().await.unwrap().offers.is_empty() {
        tokio::task::yield_now().await;
    }
    let waiting = ["perennial waiting data", "perennial show data article-7"];
    let waiting = waiting.map(|command| terminal(folder, command));
    assert_text("texts/shell/waiting.txt", &waiting.join("\n"));
    let view = terminal(folder, "perennial view data article-7 status");
    assert_text("texts/shell/view.txt", &view);
    let refused = terminal(folder, "perennial show data order-4");
    assert_text("texts/shell/ambiguous.txt", &refused);
    // They follow it while it goes on.
    let (owned, store) = (folder.to_owned(), folder.join("data"));
    let following = std::thread::spawn(move || {
        terminal(&owned, "perennial stream data article-7 log --follow")
    });
    let (said, heard) = std::sync::mpsc::channel();
    let listening = std::thread::spawn(move || {
        shell::follow(&store, "article-7", |item| {
            said.send(item.to_owned()).unwrap()
        })
        .unwrap();
    });
    let fulfil = terminal(folder, "perennial fulfil data article-7~1 edit true");
    assert_text("texts/shell/fulfil.txt", &fulfil);
    assert!(article.result().await.unwrap());
    assert_text("texts/shell/follow.txt", &following.join().unwrap());
    listening.join().unwrap();
    let heard: Vec<_> = heard.into_iter().collect();
    assert_eq!(heard, ["\"Sled: handed in\"", "\"Sled: accepted\""]);
}
