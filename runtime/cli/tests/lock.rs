//! `perennial lock`: what is released is written down, and what is not compatible with it is refused.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

const ORDERS: &str = "\
//! Orders.

use perennial::prelude::*;

#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<Shipped, Error> {
    let receipt = charge(cx, order.clone()).await?;
    if order.total > 100 {
        cx.sleep(days(1)).await?;
    }
    restock(cx, &order).await?;
    ship(cx, order, receipt).await
}

#[durable]
async fn restock(cx: &Cx, order: &Order) -> Result<(), Error> {
    order_parts(cx, order.clone()).await?;
    Ok(())
}
";

/// A folder with files in it, and the command called for it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files
            .iter()
            .for_each(|(name, text)| folder.write(name, text));
        folder
    }

    /// A package with one file of orders.
    fn shop() -> Self {
        Self::with(&[
            ("Cargo.toml", MANIFEST),
            ("src/lib.rs", "mod orders;\n"),
            ("src/orders.rs", ORDERS),
        ])
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "`{from}` is not in {name}");
        self.write(name, &text.replace(from, to));
    }

    /// The exit code and what was said, with another name for the folder.
    fn call(&self, arguments: &[&str]) -> String {
        self.call_in("", arguments)
    }

    fn call_in(&self, inside: &str, arguments: &[&str]) -> String {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let folder = self.path().join(inside);
        let folder = folder.to_str().unwrap().trim_end_matches('/');
        let arguments = ["perennial", "lock"].iter().chain(arguments);
        let code = perennial_cli::call(arguments.chain([&folder]), &mut out, &mut errors);
        out.append(&mut errors);
        let root = self.path().to_str().unwrap();
        let said = String::from_utf8(out).unwrap().replace(root, "[folder]");
        format!("exit code {code}\n{said}")
    }
}

#[test]
fn a_first_release_writes_the_lock() {
    let folder = Folder::shop();
    insta::assert_snapshot!(folder.call(&["--check"]));
    assert!(
        !folder.path().join("perennial.lock").exists(),
        "a check writes nothing"
    );
    insta::assert_snapshot!(folder.call(&[]));
    insta::assert_snapshot!(folder.read("perennial.lock"));
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&[]));
}

#[test]
fn the_package_is_compiled_again_when_the_lock_is_new() {
    let folder = Folder::shop();
    let root = folder.path().join("src/lib.rs");
    let changed = || fs::metadata(&root).unwrap().modified().unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let set = || {
        let file = fs::File::options().append(true).open(&root).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    set();
    folder.call(&["--check"]);
    assert_eq!(changed(), long_ago);
    folder.call(&[]);
    assert!(changed() > long_ago);
    // It is part of the build now.
    set();
    folder.edit(
        "src/orders.rs",
        "restock(cx, &order)",
        "if cx.patched(\"later\") { wait(cx).await?; }\n    restock(cx, &order)",
    );
    folder.call(&[]);
    assert_eq!(changed(), long_ago);
}

#[test]
fn markers_are_released_and_what_is_not_compatible_is_refused() {
    let folder = Folder::shop();
    folder.call(&[]);
    folder.edit(
        "src/orders.rs",
        "    restock(",
        "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    restock(",
    );
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&[]));
    let released = folder.read("perennial.lock");
    folder.edit("src/orders.rs", "check(cx)", "look(cx)");
    folder.edit(
        "src/orders.rs",
        "    order_parts",
        "    notify(cx).await?;\n    order_parts",
    );
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&[]));
    assert_eq!(folder.read("perennial.lock"), released);
    insta::assert_snapshot!(folder.call(&["--accept", "restock"]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    insta::assert_snapshot!(folder.call(&["--check"]));
}

#[test]
fn a_marker_that_is_accepted_as_gone_is_retired() {
    let folder = Folder::shop();
    folder.edit(
        "src/orders.rs",
        "    restock(",
        "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    restock(",
    );
    folder.call(&[]);
    folder.edit(
        "src/orders.rs",
        "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n",
        "    check(cx).await?;\n",
    );
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    insta::assert_snapshot!(folder.read("perennial.lock"));
    assert!(folder.call(&["--check"]).starts_with("exit code 0"));
}

#[test]
fn files_to_which_no_mod_leads_stop_nothing_and_are_not_written_down() {
    let folder = Folder::shop();
    folder.write("src/lib.rs", "#[cfg(windows)]\nmod orders;\n");
    folder.write("src/templates/order.rs", "fn {{ name }}() {}\n");
    folder.write("src/half.rs", "#[workflow]\nasync fn half(cx: &Cx) ->\n");
    folder.write("src/old.rs", &ORDERS.replace("charge(", "pay("));
    folder.write("src/plain.rs", "pub fn nothing() {}\n");
    fs::write(folder.path().join("src/binary.rs"), [0xff, 0xfe]).unwrap();
    insta::assert_snapshot!(folder.call(&["--check"]));
    folder.call(&[]);
    assert!(!folder.read("perennial.lock").contains("pay"));
    assert!(folder.read("perennial.lock").contains("workflow fulfil"));
    folder.write("src/lib.rs", "mod orders;\nmod half;\n");
    let said = folder.call(&["--check"]);
    assert!(
        said.contains("src/half.rs:1:1: it does not parse"),
        "{said}"
    );
    // Where none leads to what is released, it is gone.
    folder.write("src/lib.rs", "");
    let said = folder.call(&["--check"]);
    assert!(said.contains("[L308] `workflow fulfil`"), "{said}");
}

#[test]
fn a_crate_may_begin_in_a_file_that_the_manifest_names() {
    let folder = Folder::shop();
    let manifest = format!("{MANIFEST}\n[[bin]]\nname = \"app\"\npath = \"src/app/start.rs\"\n");
    folder.write("Cargo.toml", &manifest);
    folder.write("src/lib.rs", "");
    folder.write("src/app/start.rs", "mod orders;\n");
    folder.write("src/app/orders.rs", ORDERS);
    let said = folder.call(&[]);
    assert!(said.contains("workflow fulfil: released"), "{said}");
    assert!(said.contains("src/app/orders.rs::restock"), "{said}");
}

#[test]
fn a_marker_that_a_helper_asks_for_now_is_accepted_for_both_at_once() {
    let folder = Folder::shop();
    let marker = "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n";
    let before = |line: &str| format!("{marker}    {line}");
    folder.edit("src/orders.rs", "    restock(", &before("restock("));
    folder.call(&[]);
    folder.edit("src/orders.rs", marker, "");
    folder.edit("src/orders.rs", "    order_parts", &before("order_parts"));
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    insta::assert_snapshot!(folder.call(&["--check"]));
}

#[test]
fn a_marker_that_cannot_be_compared_is_an_error_for_the_check_and_is_never_accepted() {
    let folder = Folder::shop();
    folder.edit(
        "src/orders.rs",
        "    restock(",
        "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    restock(",
    );
    folder.call(&[]);
    let released = folder.read("perennial.lock");
    folder.edit(
        "src/orders.rs",
        "if cx.patched(\"fraud\")",
        "if order.total > 5 || cx.patched(\"fraud\")",
    );
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    assert_eq!(folder.read("perennial.lock"), released);
}

#[test]
fn a_changed_condition_is_a_warning_until_it_is_accepted() {
    let folder = Folder::shop();
    folder.call(&[]);
    folder.edit("src/orders.rs", "order.total > 100", "order.total > 50");
    insta::assert_snapshot!(folder.call(&["--check"]));
    let released = folder.read("perennial.lock");
    folder.call(&[]);
    assert_eq!(folder.read("perennial.lock"), released);
    folder.call(&["--accept", "fulfil"]);
    assert!(!folder.call(&["--check"]).contains("L310"));
}

#[test]
fn what_is_gone_fails_the_check_until_that_is_accepted() {
    let folder = Folder::shop();
    folder.call(&[]);
    folder.edit("src/orders.rs", "fn fulfil", "fn deliver");
    insta::assert_snapshot!(folder.call(&["--check"]));
    insta::assert_snapshot!(folder.call(&[]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfill"]));
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    insta::assert_snapshot!(folder.call(&[]));
}

#[test]
fn a_lock_that_cannot_be_read_is_left_alone() {
    let folder = Folder::shop();
    folder.call(&[]);
    let broken = folder
        .read("perennial.lock")
        .replace("  charge?", "<<<<<<< ours\n  charge?");
    folder.write("perennial.lock", &broken);
    for arguments in [&["--check"][..], &[], &["--accept", "fulfil"]] {
        let said = folder.call(arguments);
        assert!(said.starts_with("exit code 1"), "{said}");
        assert_eq!(folder.read("perennial.lock"), broken);
    }
    insta::assert_snapshot!(folder.call(&["--check"]));
    folder.edit("src/orders.rs", "let receipt =", "let =");
    folder.write("perennial.lock", "format 1\n");
    insta::assert_snapshot!(folder.call(&[]));
}

#[test]
fn in_a_workspace_each_package_has_its_own() {
    let package = |name: &str, more: &str| format!("{}\n{more}", MANIFEST.replace("shop", name));
    let folder = Folder::with(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\", \"crates/*\"]\nexclude = [\"crates/old\"]\n",
        ),
        (
            "app/Cargo.toml",
            &package("app", "[dependencies]\nhidden = { path = \"../hidden\" }"),
        ),
        ("app/src/main.rs", ORDERS),
        ("crates/mail/Cargo.toml", &package("mail", "")),
        ("crates/mail/src/lib.rs", ORDERS),
        ("crates/plain/Cargo.toml", &package("plain", "")),
        ("crates/plain/src/lib.rs", "pub fn nothing() {}\n"),
        ("crates/old/Cargo.toml", &package("old", "")),
        ("crates/old/src/lib.rs", ORDERS),
        ("hidden/Cargo.toml", &package("hidden", "")),
        (
            "hidden/src/lib.rs",
            "#[durable] async fn help(cx: &Cx) { a(cx).await }\n",
        ),
    ]);
    insta::assert_snapshot!(folder.call(&[]));
    assert!(!folder.path().join("crates/plain/perennial.lock").exists());
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil"]));
    insta::assert_snapshot!(folder.call_in("app", &["--accept", "fulfil"]));
    folder.edit("crates/mail/src/lib.rs", "charge(", "pay(");
    folder.edit(
        "app/src/main.rs",
        "#[durable]",
        "#[workflow]\nasync fn more(cx: &Cx) -> R { a(cx).await }\n#[durable]",
    );
    let before = folder.read("app/perennial.lock");
    insta::assert_snapshot!(folder.call(&[]));
    assert_eq!(folder.read("app/perennial.lock"), before, "all or nothing");
}

#[test]
fn a_folder_that_is_no_package_is_named() {
    let folder = Folder::shop();
    insta::assert_snapshot!(folder.call_in("src", &[]));
    insta::assert_snapshot!(folder.call(&["--accept"]).lines().next().unwrap());
    folder.write("Cargo.toml", "[package\n");
    insta::assert_snapshot!(folder.call(&[]));
    folder.write("Cargo.toml", MANIFEST);
    insta::assert_snapshot!(folder.call(&["--accept", "fulfil", "--check"]));
}
