//! Names that are mistyped, or taken for something else, at a program that is at work and at its store when it is
//! stopped.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::ChildStderr;
use std::time::Duration;

use perennial::prelude::*;

use crate::at_work;
use crate::process::{Process, tell};
use crate::world::World;

const APPROVAL: Message<bool> = Message::new("approval");
const HURRY: Signal<u64> = Signal::new("hurry");
const OUTPUT: Stream<String> = Stream::new("output");
const NOTES: Stream<String> = Stream::new("notes");
const STANDING: View<String> = View::new("standing");

/// What somebody has to say.
#[stub]
async fn hear(cx: &Cx) -> String;

/// All that it publishes stands in it.
#[workflow]
async fn plain(cx: &Cx) -> Result<bool, Error> {
    let mailbox = Mailbox::open(cx, hear);
    cx.set(STANDING, "listens".to_owned());
    cx.emit(OUTPUT, "begun".to_owned());
    let said = mailbox.next().await?;
    cx.emit(NOTES, said);
    drop(mailbox);
    Ok(cx.receive(APPROVAL).await?)
}

/// What it publishes and waits for stands elsewhere.
#[workflow]
async fn helped(cx: &Cx) -> Result<(), Error> {
    listen(cx).await
}

#[durable]
async fn listen(cx: &Cx) -> Result<(), Error> {
    let mailbox = Mailbox::open(cx, hear);
    cx.set(STANDING, "listens".to_owned());
    cx.emit(OUTPUT, "begun".to_owned());
    cx.wait_for(HURRY).await?;
    drop(mailbox);
    Ok(())
}

/// The program: has two runs, and ends with them.
#[test]
#[ignore = "the other process"]
fn program() {
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let builder = at_work::runtime()
            .workflow(plain)
            .workflow(helped)
            .control_socket();
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let plain = client.start(plain, "plain", ()).await.unwrap();
        let helped = client.start(helped, "helped", ()).await.unwrap();
        for id in ["plain", "helped"] {
            let id = id.parse().unwrap();
            while client.offers(&id).page().await.unwrap().offers.is_empty() {
                tokio::task::yield_now().await;
            }
        }
        tell("ready");
        tell(format!("helped {:?}", helped.result().await));
        tell(format!("plain {:?}", plain.result().await));
        let _ = runtime.drain(Duration::from_secs(30)).await;
    });
}

fn started(world: &World) -> Process {
    at_work::started(at_work::role("names::program", world))
}

#[test]
fn what_a_run_says_with_a_stub_without_arguments_is_null_and_not_unreadable() {
    let world = World::new();
    let process = started(&world);
    let waiting = ["waiting", "store"];
    let json = ["waiting", "store", "--json"];
    let over_the_socket = [&waiting[..], &json].map(|all| world.perennial(all).succeeded());
    process.killed();
    let stopped = [&waiting[..], &json].map(|all| world.perennial(all).succeeded());
    assert_eq!(over_the_socket, stopped);
    insta::assert_snapshot!(stopped[0]);
    let json: serde_json::Value = serde_json::from_str(&stopped[1]).unwrap();
    let said = json["offers"][0].get("input");
    assert_eq!(said, Some(&serde_json::Value::Null));
}

#[test]
fn a_stream_or_view_that_a_run_is_known_not_to_have_is_an_error_however_it_is_asked_for() {
    let world = World::new();
    let process = started(&world);
    let ask = || {
        [
            &["stream", "store", "plain", "outpt", "--follow"][..],
            &["stream", "store", "plain", "outpt"],
            &["stream", "store", "plain", "standing", "--follow", "--json"],
            &["view", "store", "plain", "stnding", "--watch"],
            &["view", "store", "plain", "stnding"],
            &["view", "store", "plain", "output", "--watch"],
        ]
        .map(|arguments| world.perennial(arguments).all())
        .join("\n")
    };
    let told = ask();
    insta::assert_snapshot!(told);
    process.killed();
    assert_eq!(ask(), told);
    // One that its workflow has, and has not come to.
    let declared = ["stream", "store", "plain", "notes", "--follow"];
    let declared = world.perennial(&declared);
    assert_eq!((declared.code, &*declared.error), (0, ""));
}

/// A command that waits, and what it says beside what it was asked for.
fn remark(
    world: &World,
    arguments: &[&str],
) -> (std::process::Child, BufReader<ChildStderr>, String) {
    let mut child = world.spawn(arguments);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    (child, errors, line)
}

#[test]
fn who_waits_for_a_name_that_may_yet_come_is_told_what_there_is_and_nothing_else_is_printed() {
    let world = World::new();
    let process = started(&world);
    let followed = [
        &["stream", "store", "helped", "outpt", "--follow"][..],
        &["view", "store", "helped", "stnding", "--watch"],
    ]
    .map(|arguments| remark(&world, arguments));
    let remarks = followed.each_ref().map(|(_, _, line)| line.clone());
    insta::assert_snapshot!(remarks.concat());
    world
        .perennial(&["signal", "store", "helped", "hurry", "1"])
        .succeeded();
    for (child, mut errors, _) in followed {
        let ended = child.wait_with_output().unwrap();
        let mut rest = String::new();
        errors.read_to_string(&mut rest).unwrap();
        assert_eq!((ended.status.code(), &*rest), (Some(0), ""));
        let out = String::from_utf8(ended.stdout).unwrap();
        assert_eq!(out, "run helped has ended\n");
    }
    assert_eq!(process.line().as_deref(), Some("helped Ok(())"));
    process.killed();
    let told = [
        &["stream", "store", "helped", "outpt", "--follow"][..],
        &["view", "store", "helped", "stnding", "--watch"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_is_sent_as_something_else_than_it_is_comes_with_the_command_that_does_it() {
    let world = World::new();
    let process = started(&world);
    let told = [
        &["signal", "store", "plain", "approval", "true"][..],
        &["send", "store", "plain", "hear", "\"it's me\""],
        &["signal", "store", "plain", "hear", "-"],
        &["send", "store", "plain", "aproval", "true"],
        &["send", "store", "helped", "hurry", "1"],
        &["send", "store", "helped", "hear", "1"],
        &["send", "store", "helped", "hear", "1", "--json"],
        &["send", "store", "helped", "other", "1"],
    ]
    .map(|arguments| {
        let ran = world.perennial(arguments);
        format!("{}\n{}", arguments.join(" "), ran.all())
    });
    insta::assert_snapshot!(
        told.join("\n")
            .replace("\"at\": 1764000000000", "\"at\": [millis]")
    );
    process.killed();
    let stopped = [
        &["signal", "store", "plain", "approval", "true"][..],
        &["send", "store", "plain", "hear", "\"it's me\""],
        &["send", "store", "helped", "hear", "1"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(stopped.join("\n"));
}
