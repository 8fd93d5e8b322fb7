//! What runs give out and show, read and followed from outside.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use perennial::prelude::*;
use perennial_runtime::RunHandle;
use perennial_runtime::control::{Ended, Follow, ItemPage, ReadStream, Views};

use crate::support::waiting::{soon, until};
use crate::*;

const GO: Message<u64> = Message::new("go");
const OUTPUT: Stream<u64> = Stream::new("output");
const STATUS: View<u64> = View::new("status");
/// Those that it has, and none of these runs comes to.
const NOTES: Stream<u64> = Stream::new("notes");
const OTHER: View<u64> = View::new("other");

/// Gives out and shows what it is sent, so many times.
#[workflow]
async fn echo(cx: &Cx, count: u64) -> Result<u64, Error> {
    if count == 0 {
        cx.emit(NOTES, 0);
        cx.set(OTHER, 0);
    }
    for _ in 0..count {
        let number = cx.receive(GO).await?;
        cx.emit(OUTPUT, number);
        cx.set(STATUS, number);
    }
    Ok(count)
}

async fn started(folder: &Path, count: u64) -> (Runtime, RunHandle<echo>) {
    let builder = program(folder).workflow(echo).control_socket();
    let runtime = builder.start().await.unwrap();
    let run = runtime.client().start(echo, "a", count).await.unwrap();
    (runtime, run)
}

fn stream(after: u64) -> Follow {
    Follow::Stream {
        run: "a".parse().unwrap(),
        stream: "output".into(),
        after,
    }
}

fn view() -> Follow {
    Follow::View {
        run: "a".parse().unwrap(),
        name: "status".into(),
    }
}

/// What comes: a number and a value.
type Come = Receiver<(u64, String)>;

/// Follows from a thread of its own, as another process would, and hands on each value: of a stream with its number, of
/// a view with the event that it takes into account.
fn follow(place: &Path, follow: Follow) -> (Come, JoinHandle<Result<Ended, AskError>>) {
    let (values, come) = channel();
    let place = place.to_owned();
    let following = std::thread::spawn(move || {
        Runs::at(place)?.follow(follow, |answer| {
            let mut told = true;
            let mut tell = |number, value: &Value| {
                told &= values.send((number, value.as_json().to_owned())).is_ok();
            };
            match answer {
                Answer::Items(page) => page
                    .items
                    .iter()
                    .for_each(|item| tell(item.number, &item.value)),
                Answer::Views(views) => views
                    .views
                    .iter()
                    .for_each(|view| tell(view.event, &view.value)),
                other => panic!("{other:?}"),
            }
            told
        })
    });
    (come, following)
}

/// Waits on a thread that may be kept waiting.
async fn elsewhere<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    soon(tokio::task::spawn_blocking(what)).await.unwrap()
}

async fn next(come: Come) -> ((u64, String), Come) {
    elsewhere(move || (come.recv().expect("a value"), come)).await
}

#[tokio::test]
async fn an_item_is_handed_on_as_soon_as_it_is_given_out_and_the_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, run) = started(folder.path(), 5).await;
    run.send(GO, &10).await.unwrap();
    let (mut come, following) = follow(folder.path(), stream(0));
    for number in 1..=5 {
        let item;
        (item, come) = next(come).await;
        assert_eq!(item, (number, (number * 10).to_string()));
        // Nothing is given out before the one before has come.
        if number < 5 {
            run.send(GO, &((number + 1) * 10)).await.unwrap();
        }
    }
    let ended = elsewhere(|| following.join().unwrap()).await.unwrap();
    assert!(ended.finished);
    // Of a run that has ended all is there, after a number too.
    let (come, following) = follow(folder.path(), stream(3));
    assert!(
        elsewhere(|| following.join().unwrap())
            .await
            .unwrap()
            .finished
    );
    let numbers: Vec<_> = come.into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [4, 5]);
}

#[tokio::test]
async fn a_view_is_handed_on_whenever_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, run) = started(folder.path(), 3).await;
    let (mut come, following) = follow(folder.path(), view());
    let mut events = Vec::new();
    for number in 1..=3_u64 {
        run.send(GO, &number).await.unwrap();
        let shown;
        (shown, come) = next(come).await;
        assert_eq!(shown.1, number.to_string());
        events.push(shown.0);
    }
    assert!(events.is_sorted());
    let ended = elsewhere(|| following.join().unwrap()).await.unwrap();
    assert!(ended.finished);
}

#[tokio::test]
async fn what_is_given_out_and_shown_is_the_same_in_a_program_a_stopped_store_and_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, run) = started(folder.path(), 200).await;
    for number in 1..=150_u64 {
        run.send(GO, &number).await.unwrap();
    }
    let status = async || run.view(STATUS).await.unwrap().map(|status| status.value);
    until(async || status().await == Some(150)).await;
    let export = folder.path().join("runs.jsonl");
    runtime.export(&export).await.unwrap();
    let read = |stream: &str, after, limit| {
        let (run, stream) = ("a".parse().unwrap(), stream.into());
        let read = ReadStream {
            run,
            stream,
            after,
            limit,
        };
        Request::Stream(read)
    };
    let view = |name: Option<&str>| Request::View {
        run: "a".parse().unwrap(),
        name: name.map(str::to_owned),
    };
    let requests = || {
        [
            read("output", 0, 0),
            read("output", 100, 50),
            read("output", 100, 49),
            read("notes", 0, 0),
            view(None),
            view(Some("status")),
            view(Some("other")),
        ]
    };
    let mut seen = Vec::new();
    for request in requests() {
        seen.push(ask(folder.path(), request).await.unwrap().1);
    }
    let pages = seen.iter().map_while(|answer| match answer {
        Answer::Items(ItemPage { items, more, .. }) => Some((items.len(), *more)),
        _ => None,
    });
    assert_eq!(
        pages.collect::<Vec<_>>(),
        [(100, true), (50, false), (49, true), (0, false)]
    );
    let views = seen.iter().filter_map(|answer| match answer {
        Answer::Views(Views { views, stale, .. }) => Some((views.len(), *stale)),
        _ => None,
    });
    assert_eq!(
        views.collect::<Vec<_>>(),
        [(1, false), (1, false), (0, false)]
    );
    drop(runtime);
    for place in [folder.path(), &*export] {
        for (request, before) in requests().into_iter().zip(&seen) {
            assert_eq!(&ask(place, request).await.unwrap().1, before);
        }
        // Nothing more comes of what nobody goes on with.
        let (come, following) = follow(place, stream(0));
        let ended = elsewhere(|| following.join().unwrap()).await.unwrap();
        assert!(!ended.finished);
        assert_eq!(
            come.into_iter()
                .map(|(number, _)| number)
                .collect::<Vec<_>>(),
            Vec::from_iter(1..=150)
        );
        let (come, following) = follow(place, self::view());
        let ended = elsewhere(|| following.join().unwrap()).await.unwrap();
        assert!(!ended.finished);
        assert_eq!(
            come.into_iter().map(|(_, value)| value).collect::<Vec<_>>(),
            ["150"]
        );
    }
}

#[tokio::test]
async fn a_program_that_is_stopped_tells_those_who_follow() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, run) = started(folder.path(), 5).await;
    run.send(GO, &1).await.unwrap();
    let (come, following) = follow(folder.path(), stream(0));
    let (_, come) = next(come).await;
    elsewhere(move || drop(runtime)).await;
    let error = elsewhere(|| following.join().unwrap()).await.unwrap_err();
    assert!(
        matches!(&error, AskError::Refused(refused) if refused.code == Refused::STOPPING),
        "{error}"
    );
    assert!(come.into_iter().next().is_none());
}

#[tokio::test]
async fn what_a_run_is_known_never_to_publish_is_refused_in_a_program_a_stopped_store_and_an_export()
 {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, _) = started(folder.path(), 1).await;
    let export = folder.path().join("runs.jsonl");
    runtime.export(&export).await.unwrap();
    let run = || "a".parse().unwrap();
    let wishes = |name: &str| {
        let (stream, name) = (name.to_owned(), name.to_owned());
        [
            Follow::Stream {
                run: run(),
                stream,
                after: 0,
            },
            Follow::View { run: run(), name },
        ]
    };
    let refused = async |place: &Path| {
        let mut codes = Vec::new();
        for wish in wishes("outptu") {
            let (_, following) = follow(place, wish);
            match elsewhere(|| following.join().unwrap()).await {
                Err(AskError::Refused(refused)) => codes.push(refused.code),
                other => panic!("{other:?}"),
            }
        }
        let read = ReadStream {
            run: run(),
            stream: "outptu".into(),
            after: 0,
            limit: 0,
        };
        let view = Request::View {
            run: run(),
            name: Some("outptu".into()),
        };
        for request in [Request::Stream(read), view] {
            match ask(place, request).await {
                Err(AskError::Refused(refused)) => codes.push(refused.code),
                other => panic!("{:?}", other.map(|answer| answer.1)),
            }
        }
        codes
    };
    let expected = [
        Refused::NO_SUCH_STREAM,
        Refused::NO_SUCH_VIEW,
        Refused::NO_SUCH_STREAM,
        Refused::NO_SUCH_VIEW,
    ];
    assert_eq!(refused(folder.path()).await, expected);
    drop(runtime);
    for place in [folder.path(), &*export] {
        assert_eq!(refused(place).await, expected);
    }
}

/// What each of two programs knows of the same runs.
mod older {
    use super::*;

    const AUDIT: Stream<u64> = Stream::new("audit");

    /// Gives out what it is sent under a name of its own.
    #[workflow(name = "echo")]
    pub(super) async fn gives(cx: &Cx, count: u64) -> Result<u64, Error> {
        let number = cx.receive(GO).await?;
        cx.emit(Stream::<u64>::new("audit"), number);
        Ok(count)
    }

    /// The same, where the name can be seen.
    #[workflow(name = "echo")]
    pub(super) async fn tells(cx: &Cx, count: u64) -> Result<u64, Error> {
        let number = cx.receive(GO).await?;
        cx.emit(AUDIT, number);
        Ok(count)
    }
}

/// The store noted the newer one last, and the older one is at work.
#[tokio::test]
async fn what_one_of_the_programs_publishes_is_read_whichever_of_them_was_there_first() {
    let folder = tempfile::tempdir().unwrap();
    let program = || {
        let builder = Runtime::builder(folder.path()).durability(Durability::Os);
        builder.control_socket()
    };
    let read = |stream: &str| {
        Request::Stream(ReadStream {
            run: "a".parse().unwrap(),
            stream: stream.into(),
            after: 0,
            limit: 0,
        })
    };
    let first = program().artifact("1").workflow(older::tells);
    let first = first.start().await.unwrap();
    let client = first.client();
    client.start(older::tells, "a", 1).await.unwrap();
    drop(client);
    drop(first);
    let second = program().artifact("2").workflow(echo).start().await;
    drop(second.unwrap());
    let back = program().artifact("1").workflow(older::tells);
    let back = back.start().await.unwrap();
    ask(folder.path(), read("audit")).await.unwrap();
    ask(folder.path(), read("output")).await.unwrap();
    match ask(folder.path(), read("audits")).await {
        Err(AskError::Refused(refused)) => assert_eq!(refused.code, Refused::NO_SUCH_STREAM),
        other => panic!("{:?}", other.map(|answer| answer.1)),
    }
    drop(back);
    // One that may publish anything lets all names through.
    let third = program().artifact("3").workflow(older::gives).start().await;
    ask(folder.path(), read("audits")).await.unwrap();
    drop(third.unwrap());
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, _) = started(folder.path(), 1).await;
    let nobody = || "nobody".parse().unwrap();
    let follows = [
        Follow::Stream {
            run: nobody(),
            stream: "output".into(),
            after: 0,
        },
        Follow::View {
            run: nobody(),
            name: "status".into(),
        },
    ];
    for wish in follows {
        let (_, following) = follow(folder.path(), wish);
        let error = elsewhere(|| following.join().unwrap()).await.unwrap_err();
        assert!(
            matches!(&error, AskError::Refused(refused) if refused.code == Refused::RUN_NOT_FOUND),
            "{error}"
        );
    }
}

/// Says hello and follows, with its own words.
fn socket(folder: &Path, say: &str) -> BufReader<UnixStream> {
    let mut stream = UnixStream::connect(socket_path(folder)).unwrap();
    write!(stream, "{{\"perennial\":1}}\n{say}\n").unwrap();
    let mut stream = BufReader::new(stream);
    assert!(line(&mut stream).starts_with("{\"perennial\":1"));
    stream
}

fn line(stream: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line
}

const FOLLOW: &str =
    r#"{"follow":{"stream":{"run":{"namespace":"default","id":"a"},"stream":"output"}}}"#;

#[tokio::test]
async fn who_says_something_else_follows_no_longer_and_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, run) = started(folder.path(), 2).await;
    run.send(GO, &7).await.unwrap();
    let place = folder.path().to_owned();
    let answers = elsewhere(move || {
        let mut stream = socket(&place, FOLLOW);
        let item = line(&mut stream);
        stream.get_mut().write_all(b"{\"fly\":{}}\n").unwrap();
        let (ended, refused) = (line(&mut stream), line(&mut stream));
        // It was ended, and may be begun again.
        writeln!(stream.get_mut(), "{FOLLOW}").unwrap();
        let again = line(&mut stream);
        [item, ended, refused, again]
    })
    .await;
    let [item, ended, refused, again] = &answers;
    assert!(
        item.starts_with("{\"items\":{\"items\":[{\"number\":1,"),
        "{item}"
    );
    assert_eq!(ended, "{\"ended\":{\"finished\":false}}\n");
    assert!(
        refused.contains("unknown_request") && refused.contains("view and follow"),
        "{refused}"
    );
    assert_eq!(item, again);
}

/// A run of which nothing comes tells nobody anything, so that only a look at the connection shows who has left it.
#[tokio::test]
async fn who_leaves_while_nothing_comes_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, run) = started(folder.path(), 2).await;
    for _ in 0..5 {
        let place = folder.path().to_owned();
        elsewhere(move || {
            // As many as may follow.
            let follows: Vec<_> = (0..32).map(|_| socket(&place, FOLLOW)).collect();
            // Those before may not be gone yet, but these come to their turn.
            drop(follows);
        })
        .await;
    }
    run.send(GO, &1).await.unwrap();
    let place = folder.path().to_owned();
    until(async move || {
        let place = place.clone();
        let first = elsewhere(move || line(&mut socket(&place, FOLLOW))).await;
        first.starts_with("{\"items\"")
    })
    .await;
}

#[tokio::test]
async fn there_is_room_for_who_asks_beside_those_who_follow() {
    let folder = tempfile::tempdir().unwrap();
    let (_runtime, run) = started(folder.path(), 2).await;
    run.send(GO, &1).await.unwrap();
    let place = folder.path().to_owned();
    let refused = elsewhere(move || {
        let mut follows: Vec<_> = (0..32).map(|_| socket(&place, FOLLOW)).collect();
        for stream in &mut follows {
            assert!(line(stream).starts_with("{\"items\""));
        }
        let refused = line(&mut socket(&place, FOLLOW));
        let list = socket(&place, "{\"list\":{}}");
        let mut list = list;
        assert!(line(&mut list).starts_with("{\"runs\""));
        refused
    })
    .await;
    insta::assert_snapshot!(refused);
}
