//! A program that lets itself be asked from outside, and one that does not.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "outside/following.rs"]
mod following;
#[path = "outside/stubs.rs"]
mod stubs;
mod support;
#[path = "outside/types.rs"]
mod types;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use perennial::history::Channel;
use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::control::{
    Answer, AskError, ControlError, ListMessages, ListRuns, Refused, Request, Runs, Tell,
    Whereabouts, socket_path,
};
use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store};
use perennial_runtime::{Builder, Runtime, StartupError};

const APPROVAL: Message<bool> = Message::new("approval");

#[workflow]
async fn order(cx: &Cx) -> Result<bool, Error> {
    Ok(cx.receive(APPROVAL).await?)
}

fn program(folder: &Path) -> Builder {
    Runtime::builder(folder)
        .durability(Durability::Os)
        .workflow(order)
}

fn send(run: &str, payload: &str) -> Request {
    Request::Send(Tell {
        run: run.parse().unwrap(),
        channel: Channel::Message,
        name: "approval".into(),
        payload: Value::from_json(payload).unwrap(),
        key: Some("a".into()),
        first: None,
    })
}

/// Asks from a thread of its own, as another process would.
async fn ask(folder: &Path, request: Request) -> Result<(Whereabouts, Answer), AskError> {
    let folder = folder.to_owned();
    let asking = tokio::task::spawn_blocking(move || {
        let mut runs = Runs::at(folder)?;
        let answer = runs.ask(request)?;
        let whereabouts = runs.whereabouts();
        runs.close().unwrap();
        Ok((whereabouts, answer))
    });
    asking.await.unwrap()
}

#[tokio::test]
async fn the_same_is_answered_by_a_program_a_stopped_store_and_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path())
        .control_socket()
        .start()
        .await
        .unwrap();
    let run = runtime.client().start(order, "order-1", ()).await.unwrap();
    let (whereabouts, sent) = ask(folder.path(), send("order-1", "true")).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Program);
    assert!(matches!(sent, Answer::Sent(receipt) if receipt.number == 1 && !receipt.duplicate));
    assert!(run.result().await.unwrap());
    let export = folder.path().join("runs.jsonl");
    runtime.export(&export).await.unwrap();

    let key = || "order-1".parse().unwrap();
    let requests = || {
        let messages = ListMessages {
            run: key(),
            after: None,
            before: None,
            limit: 0,
            named: None,
        };
        [
            Request::List(ListRuns::default()),
            Request::Show { run: key() },
            Request::History {
                run: key(),
                from: 3,
            },
            Request::Messages(messages),
        ]
    };
    let mut seen = Vec::new();
    for request in requests() {
        seen.push(ask(folder.path(), request).await.unwrap().1);
    }
    let _ = runtime.drain(Duration::from_secs(30)).await;
    assert!(!socket_path(folder.path()).exists());
    for (place, expected) in [
        (folder.path(), Whereabouts::Stopped),
        (&*export, Whereabouts::Export),
    ] {
        for (request, before) in requests().into_iter().zip(&seen) {
            let (whereabouts, mut answer) = ask(place, request).await.unwrap();
            assert_eq!(whereabouts, expected);
            if let (Answer::Run(one), Answer::Run(other)) = (&mut answer, before) {
                // When it was asked.
                one.at = other.at;
            }
            assert_eq!(&answer, before);
        }
    }
    // The run knows the key after its end, and the store too (M18).
    let (_, again) = ask(folder.path(), send("order-1", " true")).await.unwrap();
    assert!(matches!(again, Answer::Sent(receipt) if receipt.number == 1 && receipt.duplicate));
}

#[tokio::test]
async fn refusals_have_the_same_codes_in_a_program_and_in_a_stopped_store() {
    let folder = tempfile::tempdir().unwrap();
    let requests = || {
        let named = |name: &str, key: &str| {
            let Request::Send(tell) = send("order-1", "true") else {
                unreachable!()
            };
            Request::Send(Tell {
                name: name.into(),
                key: Some(key.into()),
                ..tell
            })
        };
        let list = ListRuns {
            after: Some("no cursor".into()),
            ..ListRuns::default()
        };
        [
            send("order-9", "true"),
            send("order-1", "false"),
            named("aproval", "b"),
            named("an approval", "b"),
            named("approval", ""),
            named("approval", &"k".repeat(1_000)),
            Request::List(list),
            Request::Show {
                run: "order-9".parse().unwrap(),
            },
        ]
    };
    let codes = async || {
        let mut codes = Vec::new();
        for request in requests() {
            match ask(folder.path(), request).await {
                Err(AskError::Refused(Refused { code, .. })) => codes.push(code),
                other => panic!("{other:?}"),
            }
        }
        codes
    };
    let runtime = program(folder.path())
        .control_socket()
        .start()
        .await
        .unwrap();
    let run = runtime.client().start(order, "order-1", ()).await.unwrap();
    ask(folder.path(), send("order-1", "true")).await.unwrap();
    run.result().await.unwrap();
    let in_program = codes().await;
    let _ = runtime.drain(Duration::from_secs(30)).await;
    assert_eq!(codes().await, in_program);
    assert_eq!(
        in_program,
        [
            Refused::RUN_NOT_FOUND,
            Refused::KEY_CONFLICT,
            Refused::NO_SUCH_MESSAGE,
            Refused::INVALID_NAME,
            Refused::INVALID_KEY,
            Refused::INVALID_KEY,
            Refused::INVALID_CURSOR,
            Refused::RUN_NOT_FOUND,
        ]
    );
}

#[tokio::test]
async fn nothing_listens_unless_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    assert!(!socket_path(folder.path()).exists());
    let refused = ask(folder.path(), Request::List(ListRuns::default())).await;
    match refused {
        Err(AskError::NoSocket { process, .. }) => assert_eq!(process, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    drop(runtime);
    ask(folder.path(), Request::List(ListRuns::default()))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_store_that_was_opened_beforehand_has_its_socket_too() {
    let folder = tempfile::tempdir().unwrap();
    let options = SledStore::options().durability(Durability::Os);
    let store: Arc<dyn Store> = Arc::new(options.open(folder.path()).unwrap());
    let builder = Runtime::builder(store).workflow(order).control_socket();
    let runtime = builder.start().await.unwrap();
    let (whereabouts, _) = ask(folder.path(), Request::List(ListRuns::default()))
        .await
        .unwrap();
    assert_eq!(whereabouts, Whereabouts::Program);
    drop(runtime);
    assert!(!socket_path(folder.path()).exists());
}

#[tokio::test]
async fn a_socket_that_cannot_be_had_is_an_error_and_the_store_is_let_go() {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let nowhere = Runtime::builder(memory).control_socket().start().await;
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(200));
    let too_long = program(&deep).control_socket().start().await;
    let too_long = too_long.map(drop).unwrap_err();
    assert!(matches!(
        &too_long,
        StartupError::Control(ControlError::TooLong { path, .. }) if *path == socket_path(&deep)
    ));
    let shown = folder.path().display().to_string();
    let texts = [nowhere.map(drop).unwrap_err(), too_long].map(|error| error.to_string());
    let text = texts.join("\n---\n").replace(&shown, "[folder]");
    let bytes = socket_path(&deep).as_os_str().len();
    let text = text.replace(&format!("has {bytes} bytes"), "has [n] bytes");
    let (text, limit) = text.split_once("at most ").unwrap();
    let limit = limit.trim_start_matches(|c: char| c.is_ascii_digit());
    insta::assert_snapshot!(format!("{text}at most [n]{limit}"));
    // It is there and can be opened, and a look at it says what is the matter only where there is a socket.
    program(&deep).start().await.unwrap();
    ask(&deep, Request::List(ListRuns::default()))
        .await
        .unwrap();
    std::fs::write(socket_path(&deep), "").unwrap();
    let refused = ask(&deep, Request::List(ListRuns::default())).await;
    assert!(
        matches!(refused, Err(AskError::TooLong { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_is_at_the_path_is_told_from_a_store_and_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("empty")).unwrap();
    std::fs::write(path("text"), "no export\n").unwrap();
    let list = || Request::List(ListRuns::default());
    let at = async |name: &str| ask(&path(name), list()).await.map(drop).unwrap_err();
    assert!(matches!(at("nothing").await, AskError::Missing { .. }));
    assert!(matches!(at("empty").await, AskError::Open(_)));
    assert!(matches!(at("text").await, AskError::Export(_)));
}

/// Somebody else's socket, with the name of ours.
#[tokio::test]
async fn who_answers_something_else_is_not_understood() {
    use std::io::Write as _;

    let folder = tempfile::tempdir().unwrap();
    let listener = std::os::unix::net::UnixListener::bind(socket_path(folder.path())).unwrap();
    let answering = std::thread::spawn(move || {
        for answer in ["ready\n", "{\"perennial\":2}\n", ""] {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"{\"perennial\":1}\nwhat?\n").unwrap();
        let mut said = Vec::new();
        std::io::Read::read_to_end(&mut stream, &mut said).unwrap();
    });
    let show = || send("order-1", "true");
    for _ in 0..2 {
        let error = ask(folder.path(), show()).await.unwrap_err();
        assert!(matches!(error, AskError::NotUnderstood { .. }), "{error}");
        assert!(!error.may_be_done());
    }
    // One that is just ending: there is nobody, and no store.
    let error = ask(folder.path(), show()).await.unwrap_err();
    assert!(matches!(error, AskError::Open(_)), "{error}");
    let error = ask(folder.path(), show()).await.unwrap_err();
    assert!(matches!(error, AskError::Lost { .. }), "{error}");
    assert!(error.may_be_done());
    answering.join().unwrap();
}

/// A history of more parts than one answer has.
#[tokio::test]
async fn a_long_history_comes_in_parts() {
    #[workflow]
    async fn long(cx: &Cx) -> Result<(), Error> {
        for number in 0..60_u64 {
            cx.record("text", || number.to_string().repeat(60_000));
            cx.sleep(Duration::ZERO).await?;
        }
        Ok(())
    }

    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path())
        .workflow(long)
        .control_socket()
        .start()
        .await
        .unwrap();
    let run = runtime.client().start(long, "long", ()).await.unwrap();
    run.result().await.unwrap();
    let whole = run.history().await.unwrap().history;
    let mut units = Vec::new();
    let mut parts = 0;
    while units.last().map_or(0, perennial::history::Unit::last) < whole.length() {
        let from = units.last().map_or(0, perennial::history::Unit::last) + 1;
        let run = "long".parse().unwrap();
        let (_, answer) = ask(folder.path(), Request::History { run, from })
            .await
            .unwrap();
        let Answer::History(part) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(part.events, whole.length());
        units.extend(part.units);
        parts += 1;
    }
    assert_eq!(units, whole.units);
    assert!(parts > 1);
}
