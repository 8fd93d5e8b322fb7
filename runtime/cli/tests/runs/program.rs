//! Talking to the runs of a program that is at work, in a process of its own.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use perennial::prelude::*;

use crate::at_work;
use crate::process::{Process, tell, variable};
use crate::world::World;

const SOCKET: &str = "PERENNIAL_TEST_OUTSIDE_SOCKET";

const APPROVAL: Message<bool> = Message::new("approval");
const HURRY: Signal<u64> = Signal::new("hurry");

#[activity(pure)]
async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Waits to be approved.
#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let paid = charge(cx, cents).await?;
    match cx.receive(APPROVAL).await? {
        true => Ok(paid),
        false => Err(Error::new("refused")),
    }
}

/// Waits to be approved so many times.
#[workflow]
async fn several(cx: &Cx, count: u64) -> Result<(), Error> {
    for _ in 0..count {
        cx.receive(APPROVAL).await?;
    }
    Ok(())
}

/// Waits to be hurried, an hour at most.
#[workflow]
async fn parcel(cx: &Cx) -> Result<Option<u64>, Error> {
    Ok(cx.wait_for(HURRY).timeout(hours(1)).await?)
}

/// The program: has three runs, says how two of them end, and ends with the second.
#[test]
#[ignore = "the other process"]
fn program() {
    // What it makes is everybody's, unless it says otherwise.
    rustix::process::umask(rustix::fs::Mode::empty());
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let builder = at_work::runtime()
            .workflow(order)
            .workflow(several)
            .workflow(parcel)
            .activity(charge);
        let builder = match variable(SOCKET).as_str() {
            "yes" => builder.control_socket(),
            _ => builder,
        };
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let one = client.start(order, "order-1", 1).await.unwrap();
        client.start(several, "several", 4).await.unwrap();
        let parcel = client.start(parcel, "parcel", ()).await.unwrap();
        // Until all of them wait.
        for (id, events) in [("order-1", 4), ("several", 2), ("parcel", 3)] {
            let id = id.parse().unwrap();
            while client.status(&id).await.unwrap().events < events {
                tokio::task::yield_now().await;
            }
        }
        tell("ready");
        tell(format!("order-1 {:?}", one.result().await));
        tell(format!("parcel {:?}", parcel.result().await));
        let _ = runtime.drain(Duration::from_secs(30)).await;
    });
}

fn started(world: &World, socket: &str) -> Process {
    at_work::started(at_work::role("program::program", world).with(SOCKET, socket))
}

#[test]
fn a_run_of_a_program_that_is_at_work_is_looked_at_and_answered() {
    let world = World::new();
    let process = started(&world, "yes");
    let path = world.path("store").join("control.socket");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let told = [
        &["list", "store"][..],
        &["show", "store", "order-1"],
        &["send", "store", "order-1", "aproval", "true"],
        &["send", "store", "order-1", "approval", "true", "--key", "a"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(process.line().as_deref(), Some("order-1 Ok(1)"));
    // The same again, after the end: it has it already (M18).
    let again = ["send", "store", "order-1", "approval", "true", "--key", "a"];
    let after = [
        &again[..],
        &["show", "store", "order-1"],
        &["messages", "store", "order-1"],
        &["history", "store", "order-1", "--plain"],
        &["send", "store", "order-1", "approval", "true"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(after.join("\n"));
    // It comes to its end, and its socket goes.
    let signal = ["signal", "store", "parcel", "hurry", "7"];
    insta::assert_snapshot!(world.perennial(&signal).all());
    assert_eq!(process.line().as_deref(), Some("parcel Ok(Some(7))"));
    let ended = process.ended();
    assert!(ended.status.success(), "{}", ended.last_words());
    assert!(!path.exists());
}

#[test]
fn what_is_sent_while_no_program_is_there_the_next_one_tells_its_run() {
    let world = World::new();
    let killed = started(&world, "yes").killed();
    assert!(!killed.status.success());
    // Nobody listens at the socket that was left behind.
    assert!(world.path("store").join("control.socket").exists());
    let sent = world.perennial(&["send", "store", "order-1", "approval", "true"]);
    insta::assert_snapshot!(sent.all());
    let process = started(&world, "yes");
    assert_eq!(process.line().as_deref(), Some("order-1 Ok(1)"));
    // And the socket is the new program's.
    let listed = world
        .perennial(&["list", "store", "--state", "completed"])
        .succeeded();
    assert!(listed.contains("order-1"), "{listed}");
    process.killed();
}

#[test]
fn a_program_without_a_socket_is_told_to_get_one() {
    let world = World::new();
    let process = started(&world, "no");
    let number = format!("process {}", process.id());
    let told = [
        &["send", "store", "order-1", "approval", "true"][..],
        &["show", "store", "order-1"],
    ]
    .map(|arguments| {
        world
            .perennial(arguments)
            .all()
            .replace(&number, "process [number]")
    });
    insta::assert_snapshot!(told.join("\n"));
    process.killed();
}

#[test]
fn two_who_ask_at_once_are_both_answered() {
    let world = World::new();
    let process = started(&world, "yes");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for key in ["a", "b", "c"] {
                    let send = ["send", "store", "several", "approval", "true", "--key", key];
                    world.perennial(&send).succeeded();
                }
            });
        }
    });
    let listed = world
        .perennial(&["messages", "store", "several", "--json"])
        .succeeded();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["messages"].as_array().unwrap().len(), 3);
    process.killed();
}

#[test]
fn m45_a_run_of_a_program_that_is_at_work_is_paused_and_goes_on() {
    let world = World::new();
    let process = started(&world, "yes");
    let told = [
        &["pause", "store", "order-1"][..],
        &["send", "store", "order-1", "approval", "true"],
        &["show", "store", "order-1"],
        &["resume", "store", "order-1"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(process.line().as_deref(), Some("order-1 Ok(1)"));
    process.killed();
}

#[test]
fn m43_a_run_of_a_program_that_is_at_work_is_forked() {
    let world = World::new();
    let process = started(&world, "yes");
    let told = [
        &["fork", "store", "order-1", "3", "order-1-b"][..],
        &["send", "store", "order-1-b", "approval", "false"],
        &["fork", "store", "order-1", "99", "order-1-c"],
        &["fork", "store", "order-1", "3", "order-1-b"],
        &["fork", "store", "order-2", "3", "order-1-c"],
        &["fork", "store", "several", "2", "several-b", "--json"],
    ]
    .map(|arguments| world.perennial(arguments).all());
    insta::assert_snapshot!(told.join("\n"));
    // It has gone on, as its own run: the other one waits.
    let ended = ["list", "store", "--state", "failed"];
    while !world.perennial(&ended).succeeded().contains("order-1-b") {
        std::thread::yield_now();
    }
    let shown = world.perennial(&["show", "store", "order-1-b"]).all();
    insta::assert_snapshot!(shown);
    let export = ["list", "store", "--state", "running"];
    assert!(world.perennial(&export).succeeded().contains("order-1 "));
    // An export and what is made of it have it as any other run.
    process.killed();
    for command in [
        &["store", "export", "store", "--to", "runs.jsonl"][..],
        &["store", "import", "runs.jsonl", "--to", "other"],
        &["store", "verify", "other"],
        &["store", "salvage", "store", "--to", "left.jsonl"],
    ] {
        world.perennial(command).succeeded();
    }
    for place in ["other", "left.jsonl"] {
        let again = world.perennial(&["show", place, "order-1-b"]).all();
        assert_eq!(again, shown);
    }
}
