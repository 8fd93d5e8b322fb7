//! The commands of *Planning a deploy*, called in the order of the chapter.

use std::fs;
use std::path::Path;
use std::process::Command;

use perennial::testing::{TestRun, save_history};
use perennial_book::planning::{self, next, repaired};
use perennial_codegen::lock::{Lock, Package};
use perennial_runtime::store::Durability;
use perennial_runtime::{Builder, cli};

use crate::cargo::{at_home, succeed};
use crate::chapters::Still;
use crate::texts::{assert_text, root};

/// What a terminal shows of a command of a program, called in `folder`.
fn terminal(folder: &Path, program: Builder, command: &str) -> String {
    let words = command.split(' ').map(|word| match word {
        word if word.contains(['.', '/']) => folder.join(word).display().to_string(),
        word => word.to_owned(),
    });
    let words: Vec<_> = words.collect();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let code = cli::call(program, words, &mut out, &mut errors);
    out.extend(errors);
    let text = String::from_utf8(out).unwrap();
    let text = text.replace(&format!("{}/", folder.display()), "");
    format!("$ {command}\n{text}$ echo $?\n{code}\n")
}

/// A part of the listing, as it would stand in a program of its own.
fn listing(anchor: &str) -> String {
    let text = include_str!("../../src/planning.rs");
    let (_, from) = text.split_once(&format!("// ANCHOR: {anchor}\n")).unwrap();
    let (part, _) = from.split_once("// ANCHOR_END").unwrap();
    let lines = part.lines().map(|line| line.strip_prefix("    "));
    let is_indented = part.starts_with("    ");
    if is_indented {
        lines
            .flat_map(|line| [line.unwrap_or_default(), "\n"])
            .collect()
    } else {
        part.to_owned()
    }
}

#[tokio::test]
async fn planning_a_deploy() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    let data = folder.join("data");
    let program = planning::program(&data)
        .durability(Durability::Os)
        .clock(Still);
    let runtime = program.start().await.unwrap();
    let client = runtime.client();
    for name in ["order-41", "order-42", "order-43"] {
        let run = client.start(planning::order, name, 1250).await.unwrap();
        // Until its timer is kept.
        while run.status().await.unwrap().events < 4 {
            tokio::task::yield_now().await;
        }
    }
    client.export(folder.join("backup.jsonl")).await.unwrap();
    let plan = "my-shop perennial plan backup.jsonl";
    let text = terminal(folder, planning::program("./data"), plan);
    assert!(text.contains("all open runs are covered"), "{text}");
    let text = terminal(folder, next::program("./data"), plan);
    assert_text("texts/planning/uncovered.txt", &text);
    let text = terminal(folder, repaired::program("./data"), plan);
    assert_text("texts/planning/repaired.txt", &text);
    let export = folder.join("backup.jsonl").display().to_string();
    let may_be_deployed = |program: Builder| planning::may_be_deployed(&program, &export).unwrap();
    assert!(may_be_deployed(repaired::program("./data")));
    assert!(!may_be_deployed(next::program("./data")));

    let text = terminal(folder, next::program(&data), "my-shop perennial plan data/");
    let process = std::process::id().to_string();
    assert_text("texts/planning/in-use.txt", &text.replace(&process, "4711"));
}

#[perennial::test]
fn the_check(t: &mut TestRun) {
    t.mock(planning::charge_card, Ok);
    t.mock(planning::ship, |_| Ok(()));
    let run = t.start(planning::order, 1250);
    run.result().unwrap();

    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    save_history(&run, folder.join("tests/histories/order.json")).unwrap();
    let sources = folder.join("src");
    fs::create_dir(&sources).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"my-shop\"\n").unwrap();
    fs::write(sources.join("main.rs"), listing("released")).unwrap();
    let package = Package::read(folder).unwrap();
    let lock = package.update(&Lock::default()).lock.to_string();
    fs::write(folder.join("perennial.lock"), lock).unwrap();
    let block = perennial_codegen::clippy::block();
    let clippy = format!("disallowed-methods = [\n{block}]\n");
    fs::write(folder.join("clippy.toml"), clippy).unwrap();
    let check = "my-shop perennial check --folder ./";
    let text = terminal(folder, planning::program("./data"), check);
    let text = text.replace(" --folder ./", "");
    assert_text("texts/planning/check.txt", &text);
    fs::write(sources.join("main.rs"), listing("next")).unwrap();
    let text = terminal(folder, next::program("./data"), check);
    let text = text.replace(" --folder ./", "");
    assert_text("texts/planning/wrong.txt", &text);
}

#[test]
fn the_commands() {
    assert!(!cli::asked());
    let text = terminal(
        Path::new(""),
        planning::program("./data"),
        "my-shop perennial --help",
    );
    assert_text(
        "texts/planning/help.txt",
        &text.replace("$ echo $?\n0\n", ""),
    );
}

/// The crate is a dependency already, from a folder beside this one.
#[test]
fn the_command_adds_the_feature() {
    let outside = tempfile::tempdir().unwrap();
    let mut new = Command::new(env!("CARGO"));
    new.args(["new", "my-shop"]).current_dir(&outside);
    succeed(at_home(&mut new));
    let shop = outside.path().join("my-shop");
    let mut add = Command::new(env!("CARGO"));
    add.args(["add", "--path"]).arg(root().join("runtime"));
    succeed(at_home(add.current_dir(&shop)));
    let setup = include_str!("../../planning/setup.sh");
    let mut bash = Command::new("bash");
    bash.args(["-euc", setup]).current_dir(&shop);
    succeed(at_home(&mut bash));
    let manifest = fs::read_to_string(shop.join("Cargo.toml")).unwrap();
    let added = manifest
        .lines()
        .find(|line| line.starts_with("perennial-runtime = "));
    let added = added.unwrap();
    assert!(
        added.contains("features = [\"cli\"]") && added.contains("path = "),
        "{added}"
    );
}
