//! Which activity a call is of is told by its path and by the imports in sight, not by the function's name alone.

use std::path::PathBuf;

use super::super::{Level, Lock, Package};

/// `src/lib.rs` with this head and this statement, and an activity `send` in each of the modules.
fn package(modules: &[&str], head: &str, statement: &str) -> Package {
    let mut lib: String = modules
        .iter()
        .map(|name| format!("mod {name};\n"))
        .collect();
    lib.push_str(&format!(
        "{head}\n#[workflow]\nasync fn order(\n    cx: &Cx,\n) -> Result<(), Error>\n{{\n    {statement}\n}}\n"
    ));
    let mut sources = vec![(PathBuf::from("src/lib.rs"), lib)];
    for name in modules {
        sources.push((
            PathBuf::from(format!("src/{name}.rs")),
            format!(
                "#[activity(idempotent, name = \"{name}.send\")]\npub async fn send(acx: &ActivityCx) -> R {{ x() }}"
            ),
        ));
    }
    Package::of_sources(&sources).unwrap()
}

const BOTH: &[&str] = &["email", "sms"];

/// Ways to call `email::send`.
const WAYS: &[(&str, &str)] = &[
    ("", "crate::email::send(cx).await"),
    ("", "email::send(cx).await"),
    ("", "self::email::send(cx).await"),
    ("use crate::email;", "email::send(cx).await"),
    ("use crate::email::send;", "send(cx).await"),
    ("use email::{self, send};", "send(cx).await"),
    ("use crate::email::send as post;", "post(cx).await"),
    ("use crate::email as mail;", "mail::send(cx).await"),
    (
        "use crate::email as mail; use mail::send as post;",
        "post(cx).await",
    ),
    (
        "use perennial::prelude::*; use crate::email::*;",
        "send(cx).await",
    ),
    ("", "use crate::email::send; send(cx).await"),
    (
        "use crate::sms::send;",
        "{ use crate::email::send as mail; mail(cx).await }",
    ),
    ("use crate::email::send;", "let sent = send(cx); sent.await"),
];

#[test]
fn each_way_to_call_an_activity_is_the_same_line() {
    for (head, statement) in WAYS {
        let package = package(BOTH, head, statement);
        assert_eq!(
            package.functions()[0].structure,
            "email.send\n",
            "{head} {statement}"
        );
    }
}

#[test]
fn another_activity_of_the_same_function_name_is_found_however_it_is_imported() {
    for (head, statement) in WAYS {
        let other = |text: &str| {
            let text = text.replace("email", "\u{1}").replace("sms", "email");
            text.replace('\u{1}', "sms")
        };
        let released = package(BOTH, head, statement).update(&Lock::default()).lock;
        let changed = package(BOTH, &other(head), &other(statement)).compare(&released);
        let codes: Vec<_> = changed
            .iter()
            .filter(|finding| finding.level != Level::Note)
            .map(|finding| finding.code)
            .collect();
        assert_eq!(codes, [Some("L304")], "{head} {statement}");
    }
}

#[test]
fn an_activity_of_the_same_name_elsewhere_changes_nothing() {
    for (head, statement) in WAYS.iter().filter(|(head, _)| !head.contains("sms")) {
        let released = package(&["email"], head, statement)
            .update(&Lock::default())
            .lock;
        assert_eq!(
            package(BOTH, head, statement).compare(&released),
            [],
            "{head} {statement}"
        );
    }
}

#[test]
fn an_activity_beside_the_workflow_is_the_one_that_it_calls() {
    let here =
        "#[activity(idempotent, name = \"send\")]\nasync fn send(acx: &ActivityCx) -> R { x() }";
    let released = package(&[], here, "send(cx).await")
        .update(&Lock::default())
        .lock;
    let more = package(BOTH, here, "send(cx).await");
    assert_eq!(more.functions()[0].structure, "send\n");
    assert_eq!(more.compare(&released), []);
}

#[test]
fn a_helper_that_is_imported_under_another_name_is_the_same_helper() {
    let released = package(&[], "use tools::ship;", "ship(cx).await")
        .update(&Lock::default())
        .lock;
    let renamed = package(&[], "use tools::ship as send;", "send(cx).await");
    assert_eq!(renamed.compare(&released), []);
    let other = package(&[], "use tools::keep as ship;", "ship(cx).await");
    assert_eq!(other.compare(&released)[0].code, Some("L304"));
}
