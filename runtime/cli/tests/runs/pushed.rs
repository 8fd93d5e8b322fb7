//! A program that is at work hands on what its runs give out and show, and takes answers.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout};
use std::time::Duration;

use perennial::prelude::*;

use crate::at_work;
use crate::process::{Process, tell};
use crate::world::World;

const SAY: Message<String> = Message::new("say");
const OUTPUT: Stream<String> = Stream::new("output");
const STATUS: View<String> = View::new("status");

/// A person says yes or no.
#[stub]
async fn review(cx: &Cx, question: String) -> bool;

/// Says again what it hears, louder, until it hears a bye; then it asks how that was.
#[workflow]
async fn talk(cx: &Cx) -> Result<Option<bool>, Error> {
    cx.set(STATUS, "listens".to_owned());
    loop {
        let said = cx.receive(SAY).await?;
        if said == "bye" {
            break;
        }
        cx.emit(OUTPUT, said.to_uppercase());
        cx.set(STATUS, format!("has heard {said}"));
    }
    cx.set(STATUS, "asks".to_owned());
    Ok(review(cx, "well?".to_owned()).timeout(days(7)).await?)
}

/// The program: has a run, says how it ends, and ends with it.
#[test]
#[ignore = "the other process"]
fn program() {
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let builder = at_work::runtime().workflow(talk).control_socket();
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(talk, "talk", ()).await.unwrap();
        tell("ready");
        tell(format!("talk {:?}", run.result().await));
        let _ = runtime.drain(Duration::from_secs(30)).await;
    });
}

fn started(world: &World) -> Process {
    at_work::started(at_work::role("pushed::program", world))
}

/// A command that prints what comes.
struct Following {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Following {
    fn new(world: &World, arguments: &[&str]) -> Self {
        let mut child = world.spawn(arguments);
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    /// Its exit code, and all that it says from here on.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        rest += &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), rest)
    }
}

#[test]
fn what_comes_is_printed_as_it_comes_until_the_run_has_ended() {
    let world = World::new();
    let process = started(&world);
    let mut items = Following::new(&world, &["stream", "store", "talk", "output", "--follow"]);
    let json = ["stream", "store", "talk", "output", "--follow", "--json"];
    let mut objects = Following::new(&world, &json);
    let mut status = Following::new(&world, &["view", "store", "talk", "status", "--watch"]);
    assert_eq!(status.line(), "2025-11-24 16:00:00Z  \"listens\"\n");
    for (number, said) in (1..).zip(["one", "two"]) {
        let payload = format!("\"{said}\"");
        world
            .perennial(&["send", "store", "talk", "say", &payload])
            .succeeded();
        // The next one is said when this one was read.
        let loud = said.to_uppercase();
        assert_eq!(
            items.line(),
            format!("{number}  2025-11-24 16:00:00Z  \"{loud}\"\n")
        );
        let object = format!("{{\"number\":{number},\"at\":1764000000000,\"value\":\"{loud}\"}}\n");
        assert_eq!(objects.line(), object);
        assert_eq!(
            status.line(),
            format!("2025-11-24 16:00:00Z  \"has heard {said}\"\n")
        );
    }
    world
        .perennial(&["send", "store", "talk", "say", "\"bye\""])
        .succeeded();
    assert_eq!(status.line(), "2025-11-24 16:00:00Z  \"asks\"\n");
    let told = [
        &["list", "store"][..],
        &["show", "store", "talk"],
        &["waiting", "store"],
        &["fulfil", "store", "talk~4", "review", "\"yes\""],
        &["fulfil", "store", "talk~4", "review", "true"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    for following in [items, status] {
        assert_eq!(
            following.end(),
            (Some(0), "run talk has ended\n".to_owned())
        );
    }
    assert_eq!(objects.end(), (Some(0), String::new()));
    assert_eq!(process.line().as_deref(), Some("talk Ok(Some(true))"));
    process.ended();
    // It can be read as before, whether somebody runs it or not.
    let after = [
        "stream", "store", "talk", "output", "--after", "1", "--follow",
    ];
    let after = world.perennial(&after).succeeded();
    assert_eq!(
        after,
        "2  2025-11-24 16:00:00Z  \"TWO\"\nrun talk has ended\n"
    );
}

#[test]
fn who_follows_a_program_that_is_killed_is_told_how_to_go_on() {
    let world = World::new();
    let process = started(&world);
    let mut items = Following::new(&world, &["stream", "store", "talk", "output", "--follow"]);
    world
        .perennial(&["send", "store", "talk", "say", "\"one\""])
        .succeeded();
    assert!(items.line().starts_with("1  "));
    process.killed();
    let (code, text) = items.end();
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(text);
}

/// As `head -1` does.
#[test]
fn a_reader_that_leaves_ends_it() {
    let world = World::new();
    let process = started(&world);
    let mut items = Following::new(&world, &["stream", "store", "talk", "output", "--follow"]);
    world
        .perennial(&["send", "store", "talk", "say", "\"one\""])
        .succeeded();
    assert!(items.line().starts_with("1  "));
    let Following { mut child, out } = items;
    drop(out);
    world
        .perennial(&["send", "store", "talk", "say", "\"two\""])
        .succeeded();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    process.killed();
}
