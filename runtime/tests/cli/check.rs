//! `check`: what is known of a program without a store.

use std::path::PathBuf;

use perennial::prelude::*;
use perennial_codegen::lock::{Lock, Package};
use perennial_runtime::cli::{self, CheckOptions, CheckState};
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Builder, Runtime};

use crate::shop::{charge_card, nobody_calls, order_1, ship, shop_1, shop_3};
use crate::world::{Event, World, record};

const RELEASED: &str = "
#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let receipt = charge_card(cx, cents).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}
";

fn options(folder: PathBuf) -> CheckOptions {
    let mut options = CheckOptions::default();
    options.folder = folder;
    options
}

fn with_histories() -> World {
    let world = World::package();
    let events = [
        Event::Done(1, "1250"),
        Event::Fired(2),
        Event::Done(3, "null"),
    ];
    for (name, events) in [("whole", &events[..]), ("waiting", &events[..1])] {
        let history = record(order_1, name, "shop 1", events);
        let text = history.to_json().unwrap();
        world.write(&format!("tests/histories/{name}.json"), &text);
    }
    world.write("src/lib.rs", RELEASED);
    let package = Package::read(&world.path(".")).unwrap();
    let lock = package.update(&Lock::default()).lock;
    world.write("perennial.lock", &lock.to_string());
    let clippy = perennial_codegen::clippy::block();
    let clippy = format!("disallowed-methods = [\n{clippy}]\n");
    world.write("clippy.toml", &clippy);
    world
}

#[test]
fn a_program_that_is_ready_passes() {
    let world = with_histories();
    let ran = world.call(shop_1(MemoryStore::new()), &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
    let checked = cli::check(&shop_1(MemoryStore::new()), &options(world.path(""))).unwrap();
    assert!(
        checked
            .checks
            .iter()
            .all(|check| check.state == CheckState::Well)
    );
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let world = with_histories();
    world.write(
        "src/lib.rs",
        &RELEASED.replace("charge_card", "charge_account"),
    );
    world.write("tests/histories/broken.json", "{}");
    world.write("tests/histories/broken.jsonl", "");
    world.write(
        "clippy.toml",
        &format!(
            "disallowed-methods = [\n{}\n{}\n]\n",
            perennial_codegen::clippy::BEGIN,
            perennial_codegen::clippy::END
        ),
    );
    let program = || shop_3(MemoryStore::new()).activity(nobody_calls);
    let ran = world.call(program(), &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
    let error = cli::check(&program(), &options(world.path("."))).unwrap_err();
    let folder = format!("{}/", world.path(".").display());
    let text = format!("{error:?}\n").replace(&folder, "[folder]/");
    assert_eq!(text, ran.out);
}

#[test]
fn what_is_not_released_yet_and_what_may_differ_is_not_wrong() {
    let world = with_histories();
    let warned = RELEASED.replace(
        "    ship",
        "    if receipt == 0 {\n        return Ok(0);\n    }\n    ship",
    );
    let more = warned.replace("fn order", "fn other");
    world.write("src/lib.rs", &format!("{warned}{more}"));
    // No `mod` leads to it.
    world.write("src/old.rs", &warned.replace("fn order", "fn old"));
    let ran = world.call(shop_1(MemoryStore::new()), &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn sources_and_a_lock_that_cannot_be_read_are_wrong() {
    let world = with_histories();
    world.write("src/lib.rs", "fn (");
    let sources = world.call(shop_1(MemoryStore::new()), &["check", "--folder", "@"]);
    insta::assert_snapshot!(sources.all());
    world.write("perennial.lock", "what is this");
    let lock = world.call(shop_1(MemoryStore::new()), &["check", "--folder", "@"]);
    insta::assert_snapshot!(lock.all());
}

#[test]
fn what_is_missing_is_wrong_and_what_is_not_called_is_a_remark() {
    struct Bank;

    #[activity(pure)]
    async fn audit(acx: &ActivityCx) -> Result<(), Failure> {
        let Bank = *acx.state::<Bank>();
        Ok(())
    }

    let world = with_histories();
    let program = Runtime::builder(MemoryStore::new())
        .workflow(order_1)
        .activities((charge_card, audit))
        .artifact("shop 1");
    let ran = world.call(program, &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_marker_of_which_one_version_is_left_is_a_remark() {
    #[workflow]
    async fn reorder(cx: &Cx) -> Result<(), Error> {
        match cx.version("rounding", 2..=2) {
            2 => ship(cx, 1).await?,
        }
        Ok(())
    }

    let world = World::package();
    let program = without_anything().workflow(reorder);
    let ran = world.call(program, &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
}

fn without_anything() -> Builder {
    Runtime::builder(MemoryStore::new())
        .workflow(order_1)
        .activities((charge_card, ship))
        .artifact("shop 1")
}

#[test]
fn what_is_not_there_is_told_and_is_not_wrong() {
    let world = World::package();
    let ran = world.call(without_anything(), &["check", "--folder", "@"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_folder_that_was_asked_for_and_shows_nothing_is_wrong() {
    let world = World::package();
    world.write("empty/read.me", "no history");
    let of = |histories: &str| {
        let arguments = ["check", "--folder", "@", "--histories", histories];
        world.call(without_anything(), &arguments).all()
    };
    insta::assert_snapshot!(of("empty"));
    insta::assert_snapshot!(of("missing"));
}

#[test]
fn a_folder_that_is_no_package_is_wrong() {
    let world = World::new();
    let ran = world.call(without_anything(), &["check", "--folder", "@"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("[folder] has no Cargo.toml"),
        "{}",
        ran.all()
    );
}
