//! A first release and a change, as *The lock* shows them.

use std::fs;
use std::path::Path;

use crate::texts::{assert_text, book, listings};

fn listing(name: &str) -> String {
    fs::read_to_string(listings().join(name)).unwrap()
}

/// What a terminal shows of the first line of a listing, called in `folder`.
fn terminal(folder: &Path, listing: &str) -> String {
    let command = self::listing(listing).lines().next().unwrap().to_owned();
    let words = command.split_whitespace().map(str::to_owned);
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let words: Vec<_> = words.chain([folder.display().to_string()]).collect();
    perennial_cli::call(words, &mut out, &mut errors);
    out.extend(errors);
    let text = String::from_utf8(out).unwrap();
    let text = text.replace(&format!("{}/", folder.display()), "");
    format!("$ {command}\n{text}")
}

#[test]
fn a_release_a_change_and_the_next_release() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("src/orders.rs");
    let release = |name: &str| fs::write(&source, listing(&format!("src/lock/{name}.rs"))).unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"shop\"\n").unwrap();
    fs::write(folder.join("src/lib.rs"), "pub mod orders;\n").unwrap();
    release("released");
    assert_text("texts/lock/first.txt", &terminal(folder, "lock/lock.sh"));
    let lock = || fs::read_to_string(folder.join("perennial.lock")).unwrap();
    assert_text("texts/lock/perennial.lock.txt", &lock());

    release("guarded");
    assert_text("texts/lock/check.txt", &terminal(folder, "lock/check.sh"));
    assert_text(
        "texts/lock/second.txt",
        &terminal(folder, "lock/release.sh"),
    );
    let guarded = lock();
    let section = guarded
        .split("\n\n")
        .find(|part| part.starts_with("workflow"));
    assert_text("texts/lock/guarded.txt", section.unwrap());

    let without =
        listing("src/lock/guarded.rs").replace("    if cx.patched(\"fraud-check\") {\n", "    {\n");
    fs::write(&source, without).unwrap();
    assert_text("texts/lock/gone.txt", &terminal(folder, "lock/check.sh"));
    assert_text(
        "texts/lock/accepted.txt",
        &terminal(folder, "lock/accept.sh"),
    );
    assert!(lock().contains("\n  retired \"fraud-check\" 1\n"));
}

/// The errors name it.
#[test]
fn each_code_has_its_place() {
    let page = fs::read_to_string(book().join("src/lock.md")).unwrap();
    for code in 301..=310 {
        let heading = format!("### L{code}");
        assert!(page.lines().any(|line| line == heading), "{heading}");
    }
}
