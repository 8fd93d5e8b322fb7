//! Clippy, set up as *Determinism* says.

use std::fs;
use std::path::Path;

use crate::texts::{assert_like, listings};

fn listing(name: &str) -> String {
    fs::read_to_string(listings().join("clippy").join(name)).unwrap()
}

/// What a terminal shows of a command of `perennial`, called in `folder`.
fn terminal(folder: &Path, command: &str) -> String {
    let words = command.split_whitespace().map(str::to_owned);
    let folder_of_it = folder.display().to_string();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let words: Vec<_> = words.chain([folder_of_it]).collect();
    perennial_cli::call(words, &mut out, &mut errors);
    out.extend(errors);
    let text = String::from_utf8(out).unwrap();
    let text = text.replace(&format!("{}/", folder.display()), "");
    format!("$ {command}\n{text}")
}

#[test]
fn the_calls_are_put_into_clippy_toml() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let manifest = "[package]\nname = \"shop\"\n\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let said = terminal(folder, listing("setup.sh").trim());
    assert_like("texts/clippy/setup.txt", &said);

    let lints = listing("Cargo.toml.txt");
    assert!(
        lints.lines().all(|line| said.contains(line)),
        "the command asks for other lints:\n{said}"
    );
    let list = fs::read_to_string(folder.join("clippy.toml")).unwrap();
    assert!(list.contains("std::time::SystemTime::now"));

    let check = listing("check.sh");
    let said = terminal(folder, check.lines().next().unwrap());
    assert!(said.ends_with("up to date\n"), "{said}");
}
