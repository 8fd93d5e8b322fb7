//! Histories of a runtime, replayed by the tests of later code.
#![allow(clippy::unwrap_used)]

use std::fs;

use perennial::prelude::*;
use perennial::testing::{check_histories, replay_folder, save_history};
use perennial_runtime::Runtime;
use perennial_runtime::store::MemoryStore;

mod released {
    use super::*;

    #[activity(pure)]
    pub(super) async fn price(acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
        let _ = acx;
        Ok(cents)
    }

    #[workflow]
    pub(super) async fn quote(cx: &Cx, cents: u64) -> Result<u64, Error> {
        let price = price(cx, cents).await?;
        let lot = cx.random_range(0..100_u64);
        if cents > 1_000 {
            cx.sleep(days(1)).await?;
        }
        Ok(price + lot)
    }

    #[workflow]
    pub(super) async fn greet(cx: &Cx, name: String) -> Result<String, Error> {
        let _ = cx;
        Ok(name)
    }
}

mod changed {
    use super::*;

    #[workflow]
    pub(super) async fn quote(cx: &Cx, cents: u64) -> Result<u64, Error> {
        let lot = cx.random_range(0..100_u64);
        Ok(released::price(cx, cents).await? + lot)
    }
}

#[tokio::test]
async fn what_ran_in_production_is_replayed_from_an_export_and_from_single_files() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(released::quote)
        .workflow(released::greet)
        .activities((released::price,))
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let ended = client.start(released::quote, "q-1", 12).await.unwrap();
    ended.result().await.unwrap();
    let waits = client.start(released::quote, "q-2", 1_200).await.unwrap();
    while waits.history().await.unwrap().history.length() < 5 {
        tokio::task::yield_now().await;
    }
    let greeted = client.start(released::greet, "g-1", "Ada".to_owned());
    greeted.await.unwrap().result().await.unwrap();

    let export = folder.path().join("everything.jsonl");
    client.export(&export).await.unwrap();
    let run = ended.history().await.unwrap().history;
    save_history(&run, folder.path().join("quote-v1.json")).unwrap();
    let checked = check_histories(folder.path(), (released::quote, released::greet));
    assert_eq!((checked.files, checked.histories), (2, 4));
    assert_eq!(checked.unfinished, 1);

    let misfits = replay_folder(folder.path(), changed::quote).unwrap_err();
    let told: Vec<_> = misfits
        .misfits
        .iter()
        .map(|misfit| {
            let why = misfit.why.to_string();
            let why = why.lines().next().unwrap_or_default();
            let run = misfit.run.as_deref().unwrap_or_default();
            format!("{} {run}: {why}", misfit.file)
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    everything.jsonl g-1: it is the history of the workflow `greet`, which is not among those to check: quote
    everything.jsonl q-1: run q-1 (quote) is blocked: its history does not fit this program [H205 reordered]
    everything.jsonl q-2: run q-2 (quote) is blocked: its history does not fit this program [H205 reordered]
    quote-v1.json q-1: run q-1 (quote) is blocked: its history does not fit this program [H205 reordered]
    ");

    let text = fs::read_to_string(&export).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let broken = [
        lines[..lines.len() - 1].concat(),
        text[..text.len() - 10].to_owned(),
        text.replace("\"Ada\"", "\"Eve\""),
        text.replace("\"format\":1", "\"format\":2"),
        lines[1..].concat(),
        text.replace("timer_started", "timer_paused"),
        String::new(),
    ];
    let mut told = Vec::new();
    for text in broken {
        fs::write(&export, text).unwrap();
        let misfits = replay_folder(folder.path(), (released::quote, released::greet));
        for misfit in misfits.unwrap_err().misfits {
            let why = misfit.why.to_string();
            // A random draw has more digits or fewer, so that the byte is another one.
            let why = match why.lines().next().and_then(|why| why.split_once(": byte ")) {
                Some((place, rest)) => format!("{place}: {}", &rest[rest.find(' ').unwrap()..]),
                None => why.lines().next().unwrap_or_default().to_owned(),
            };
            told.push(why);
        }
    }
    insta::assert_snapshot!(told.join("\n"), @"
    not an export that is whole: line 12: the export is cut short here
    not an export that is whole: line 12: the export is cut short here
    not an export that is whole: line 12: a line before this one is not what was written; the checksum does not fit
    not an export that is whole: line 1: newer software has written this export (format 2; this one understands up to 1)
    not an export that is whole: line 1: it does not say that this is an export
    not an export that is whole: line 11:  unknown variant `timer_paused`, expected one of `activity_scheduled`, `timer_started`, `receive_started`, `received`, `stub_offered`, `stub_invalid`, `send_requested`, `fulfil_requested`, `recorded`, `emitted`, `update_answered`, `marker`, `set_closed`, `dropped`, `completed`, `failed`
    not an export that is whole: line 1: the export is cut short here
    ");
}
