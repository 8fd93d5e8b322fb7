//! What `perennial lock` does with a lock.

use std::path::PathBuf;

use super::{BASE, Level, changed, package, released};
use crate::lock::{Lock, NotAccepted, Package};

fn order(body: &str) -> String {
    format!("#[workflow]\nasync fn order(cx: &Cx, n: u64) -> R {{\n{body}\n}}\n")
}

const GUARDED: &str =
    "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    ship(cx, n).await";

#[test]
fn the_lock_of_a_first_release() {
    insta::assert_snapshot!(released(BASE));
}

#[test]
fn the_same_code_changes_nothing() {
    let update = package(BASE).update(&released(BASE));
    assert!(update.changes.is_empty() && update.findings.is_empty());
}

#[test]
fn one_function_that_does_not_fit_keeps_the_lock_as_it_is() {
    let lock = released(BASE);
    let text = changed(&[
        ("review(cx", "inspect(cx"),
        (
            "#[durable]",
            "#[workflow]\nasync fn new(cx: &Cx) -> R { a(cx).await }\n#[durable]",
        ),
    ]);
    let update = package(&text).update(&lock);
    assert!(update.is_refused());
    assert_eq!(update.lock, lock);
    assert!(update.changes.is_empty());
}

#[test]
fn a_function_that_is_accepted_is_locked_as_it_is_and_the_others_stay() {
    let lock = released(BASE);
    let text = changed(&[("review(cx", "inspect(cx"), ("store(cx", "keep(cx")]);
    let update = package(&text).accept(&lock, "fulfil").unwrap();
    assert_eq!(
        update.changes[0].to_string(),
        "workflow fulfil: accepted as it is"
    );
    let left = package(&text).compare(&update.lock);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].key.as_ref().unwrap().name, "src/lib.rs::archive");
    let update = package(&text).accept(&update.lock, "archive").unwrap();
    assert!(package(&text).compare(&update.lock).is_empty());
    assert!(
        package(&text)
            .accept(&update.lock, "archive")
            .unwrap()
            .changes
            .is_empty()
    );
}

#[test]
fn a_marker_that_is_gone_is_retired_with_the_version_whose_code_has_stayed() {
    let lock = released(&order(GUARDED));
    for (body, version) in [
        ("    check(cx).await?;\n    ship(cx, n).await", 1),
        ("    ship(cx, n).await", 0),
        ("    look(cx).await?;\n    other(cx).await", 1),
    ] {
        let text = order(body);
        let update = package(&text).accept(&lock, "order").unwrap();
        let (_, section) = update.lock.functions.first_key_value().unwrap();
        assert_eq!(section.retired.len(), 1);
        assert_eq!(
            (section.retired[0].id.as_str(), section.retired[0].version),
            ("fraud", version)
        );
        assert!(package(&text).compare(&update.lock).is_empty());
    }
}

#[test]
fn an_arm_that_is_gone_is_retired_until_its_marker_is() {
    let three = |low: u32, arms: &str| {
        order(&format!(
            "    match cx.version(\"tax\", {low}..=2) {{ {arms} }}\n    ship(cx).await"
        ))
    };
    let lock = released(&three(0, "0 => {} 1 => a(cx).await?, 2 => b(cx).await?,"));
    let later = three(1, "1 => a(cx).await?, 2 => b(cx).await?,");
    let lock = package(&later).accept(&lock, "order").unwrap().lock;
    insta::assert_snapshot!(lock);
    let gone = order("    b(cx).await?;\n    ship(cx).await");
    let update = package(&gone).accept(&lock, "order").unwrap();
    insta::assert_snapshot!(update.lock);
    let again = order(
        "    if cx.patched(\"tax\") { c(cx).await?; }\n    b(cx).await?;\n    ship(cx).await",
    );
    let found = package(&again).compare(&update.lock);
    assert_eq!(found[0].code, Some("L307"), "a retired name is not free");
    insta::assert_snapshot!(found[0]);
}

#[test]
fn what_is_gone_is_taken_out_when_that_is_accepted() {
    let lock = released(BASE);
    let text = changed(&[("fn fulfil", "fn deliver")]);
    let found = package(&text).compare(&lock);
    let gone: Vec<_> = found
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .collect();
    assert_eq!(gone.len(), 1);
    assert_eq!(
        (gone[0].code, gone[0].file.to_str()),
        (Some("L308"), Some("perennial.lock"))
    );
    let update = package(&text).accept(&lock, "fulfil").unwrap();
    assert_eq!(update.changes[0].to_string(), "workflow fulfil: taken out");
}

#[test]
fn a_released_function_that_is_left_out_is_not_taken_for_gone() {
    let lock = released(BASE);
    let text = changed(&[
        ("#[workflow]", "#[workflow(lock = false)]"),
        ("#[durable]", "#[durable(lock = false)]"),
    ]);
    let package = package(&text);
    let found = package.compare(&lock);
    assert_eq!(found.len(), 2);
    for finding in &found {
        assert_eq!((finding.code, finding.level), (None, Level::Error));
    }
    insta::assert_snapshot!(found[0]);
    assert!(package.update(&lock).is_refused());
    let lock = package.accept(&lock, "fulfil").unwrap().lock;
    let lock = package.accept(&lock, "archive").unwrap().lock;
    assert_eq!(lock, Lock::default());
    assert!(package.compare(&lock).is_empty());
}

#[test]
fn a_helper_may_move_to_another_file() {
    let lock = released(BASE);
    let (rest, helper) = BASE.split_at(BASE.find("#[durable]").unwrap());
    let files = [
        (PathBuf::from("src/lib.rs"), rest.to_owned()),
        (PathBuf::from("src/archive.rs"), helper.to_owned()),
    ];
    let moved = Package::of_sources(&files).unwrap();
    let found = moved.compare(&lock);
    assert!(found.iter().all(|finding| finding.level == Level::Note));
    let update = moved.update(&lock);
    assert_eq!(
        update.changes[0].to_string(),
        "durable src/archive.rs::archive: was durable src/lib.rs::archive"
    );
    assert!(moved.compare(&update.lock).is_empty());
}

#[test]
fn a_name_that_is_not_clear_is_not_accepted() {
    let text = "
        impl Shop { #[durable] async fn restock(&self, cx: &Cx) { a(cx).await } }
        impl Store { #[durable] async fn restock(&self, cx: &Cx) { b(cx).await } }
        #[workflow(name = \"the order\")] async fn order(cx: &Cx) -> R { a(cx).await }
    ";
    let package = package(text);
    let text = |name: &str| {
        package
            .accept(&Lock::default(), name)
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(text("restock"), @"
    several functions are called `restock`

    help: say which one: `src/lib.rs::Shop::restock` `src/lib.rs::Store::restock`
    ");
    insta::assert_snapshot!(text("restok"), @"
    there is no workflow and no `#[durable]` function `restok`, neither in the sources nor in the lock

    help: did you mean `restock`?
    ");
    assert!(matches!(
        package.accept(&Lock::default(), "x"),
        Err(NotAccepted::Unknown { closest: None, .. })
    ));
    assert!(package.accept(&Lock::default(), "Shop::restock").is_ok());
    assert!(package.accept(&Lock::default(), "the order").is_ok());
}
