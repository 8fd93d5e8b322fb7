//! The commands of *Backup and upkeep*, called in the order of the chapter.

use std::fs;
use std::path::Path;

use perennial_book::running::{self, Greeting};
use perennial_book::upkeep;
use perennial_runtime::Runtime;
use perennial_runtime::store::Durability;

use crate::chapters::Still;
use crate::texts::{assert_like, assert_text};

async fn runtime(folder: &Path) -> Runtime {
    Runtime::builder(folder.join("shop.store"))
        .durability(Durability::Os)
        .workflow(running::welcome)
        .workflow(running::give_up)
        .workflow(upkeep::remind)
        .activity(running::greet)
        .state(Greeting("Hello"))
        .artifact("shop")
        .clock(Still)
        .start()
        .await
        .unwrap()
}

/// What a terminal shows of a command, called in `folder`.
fn terminal(folder: &Path, command: &str) -> String {
    let is_path = |word: &str| word.contains('.');
    let words = command.split(' ').map(|word| match word {
        word if is_path(word) => folder.join(word).display().to_string(),
        word => word.to_owned(),
    });
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    perennial_cli::call(words.collect::<Vec<_>>(), &mut out, &mut errors);
    out.extend(errors);
    let text = String::from_utf8(out).unwrap();
    let text = text.replace(&format!("{}/", folder.display()), "");
    format!("$ {command}\n{text}")
}

#[tokio::test]
async fn backup_and_upkeep() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    let program = runtime(folder).await;
    let client = program.client();
    for name in ["ada", "grace"] {
        let run = client.start(running::welcome, name, name.to_owned()).await;
        run.unwrap().result().await.unwrap();
    }
    let failed = client.start(running::give_up, "give-up", ()).await.unwrap();
    failed.result().await.unwrap_err();
    let reminder = client.start(upkeep::remind, "reminder", ()).await;
    let reminder = reminder.unwrap();
    // Until its timer is kept.
    while reminder.status().await.unwrap().events < 2 {
        tokio::task::yield_now().await;
    }

    let path = upkeep::back_up(&client, folder, "monday").await.unwrap();
    assert_eq!(upkeep::check(&path).unwrap(), 4);
    let export = fs::read_to_string(&path).unwrap();
    let shown = export
        .lines()
        .filter(|line| line.contains("\"run\":\"ada\""))
        // A checksum of what comes before, the time of the export included.
        .map(|line| match line.split_once("\"sum\":\"") {
            Some((before, _)) => format!("{before}\"sum\":\"00f50b2bd019c1b9\"}}\n"),
            None => format!("{line}\n"),
        });
    assert_like("texts/upkeep/lines.txt", &shown.collect::<String>());
    let shown = terminal(folder, "perennial store stat monday.jsonl");
    // How large it is depends on the features that a build has: schemas may be in it.
    let shown = match shown.rsplit_once("on the disk:") {
        Some((before, _)) => format!("{before}on the disk: 4.4 KiB\n"),
        None => shown,
    };
    assert_text("texts/upkeep/stat.txt", &shown);
    let shown = terminal(folder, "perennial store verify shop.store");
    let shown = shown.replace(&std::process::id().to_string(), "4711");
    assert_text("texts/upkeep/in-use.txt", &shown);
    drop(program);

    let shown = terminal(folder, "perennial store verify shop.store");
    assert_like("texts/upkeep/verify.txt", &shown);
    let shown = terminal(folder, "perennial store compact shop.store --discard-old");
    assert!(shown.contains("compacted shop.store"), "{shown}");

    fs::remove_file(folder.join("shop.store/perennial.state")).unwrap();
    let shown = terminal(folder, "perennial store verify shop.store");
    assert_like("texts/upkeep/damaged.txt", &shown);
    let shown = [
        "perennial store salvage shop.store --to saved.jsonl",
        "perennial store import saved.jsonl --to new.store",
    ]
    .map(|command| terminal(folder, command));
    assert_like("texts/upkeep/salvage.txt", &shown.join("\n"));
}
