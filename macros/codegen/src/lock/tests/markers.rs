//! Markers: what the lock knows of them, and what it does not.

use super::super::Lock;
use super::{Level, found, package, released, shown};

fn order(body: &str) -> String {
    format!("#[workflow]\nasync fn order(cx: &Cx, n: u64) -> R {{\n{body}\n}}\n")
}

const OLD: &str = "    charge(cx, n).await?;\n    ship(cx, n).await";
const GUARDED: &str = "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    charge(cx, n).await?;\n    ship(cx, n).await";
const THREE: &str = "    match cx.version(\"tax\", 0..=1) {\n        0 => {}\n        1 => tax(cx, n).await?,\n    }\n    ship(cx, n).await";

#[test]
fn what_stands_behind_a_new_marker_is_free() {
    let guarded = [
        GUARDED,
        "    if !cx.patched(\"a\") { charge(cx, n).await?; } else { pay(cx).await?; }\n    ship(cx, n).await",
        "    let r = if cx.patched(\"a\") { pay(cx).await } else { charge(cx, n).await };\n    r?;\n    ship(cx, n).await",
        "    if cx.patched_each(\"a\") { pay(cx).await? } else { charge(cx, n).await? }\n    ship(cx, n).await",
        "    match cx.version(\"a\", 0..=2) { 0 => charge(cx, n).await?, 1 => pay(cx).await?, 2 => {} }\n    ship(cx, n).await",
        "    match cx.version(\"a\", 0..=2) { 0 | 1 => charge(cx, n).await?, 2 => {} }\n    ship(cx, n).await",
        "    charge(cx, n).await?;\n    if n > 3 { if cx.patched(\"a\") { check(cx).await?; } }\n    ship(cx, n).await",
        "    charge(cx, n).await?;\n    if cx.patched(\"a\") { if n > 3 { return Ok(1) } }\n    ship(cx, n).await",
        "    if cx.patched(\"a\") { return new(cx).await }\n    charge(cx, n).await?;\n    ship(cx, n).await",
    ];
    for body in guarded {
        let found = found(&order(OLD), &order(body));
        assert!(found.is_empty(), "{body}\n{}", shown(&found));
    }
}

#[test]
fn a_new_arm_of_a_released_marker_is_free() {
    let body = THREE.replace("0..=1", "0..=2").replace(
        "        1 =>",
        "        2 => more(cx).await?,\n        1 =>",
    );
    let found = found(&order(THREE), &order(&body));
    assert!(found.is_empty(), "{}", shown(&found));
}

#[test]
fn the_marker_is_released_by_the_next_update() {
    let lock = released(&order(OLD));
    let update = package(&order(GUARDED)).update(&lock);
    assert_eq!(
        update
            .changes
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["workflow order: released version 1 of \"fraud\""]
    );
    let edited = GUARDED.replace("check(cx)", "check(cx).await?; check_more(cx)");
    assert_eq!(
        package(&order(&edited)).compare(&lock).len(),
        1,
        "a note that there is something to release"
    );
    let found = package(&order(&edited)).compare(&update.lock);
    assert_eq!(found[0].code, Some("L305"));
}

/// The code, and what is written instead.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "a released arm is edited",
        "L305",
        GUARDED,
        "    if cx.patched(\"fraud\") {\n        look(cx).await?;\n    }\n    charge(cx, n).await?;\n    ship(cx, n).await",
    ),
    (
        "the old arm is edited",
        "L305",
        THREE,
        "    match cx.version(\"tax\", 0..=1) {\n        0 => other(cx).await?,\n        1 => tax(cx, n).await?,\n    }\n    ship(cx, n).await",
    ),
    (
        "a released arm is empty now",
        "L305",
        THREE,
        "    match cx.version(\"tax\", 0..=1) {\n        0 => {}\n        1 => {}\n    }\n    ship(cx, n).await",
    ),
    (
        "the arms change places",
        "L305",
        GUARDED,
        "    if !cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    charge(cx, n).await?;\n    ship(cx, n).await",
    ),
    (
        "a released marker is gone",
        "L306",
        GUARDED,
        "    check(cx).await?;\n    charge(cx, n).await?;\n    ship(cx, n).await",
    ),
    (
        "a released marker of versions is gone",
        "L306",
        THREE,
        "    tax(cx, n).await?;\n    ship(cx, n).await",
    ),
    (
        "a released arm is gone",
        "L306",
        THREE,
        "    match cx.version(\"tax\", 1..=1) {\n        1 => tax(cx, n).await?,\n    }\n    ship(cx, n).await",
    ),
    (
        "a new marker starts at 1",
        "L307",
        OLD,
        "    match cx.version(\"new\", 1..=2) {\n        1 => charge(cx, n).await?,\n        2 => pay(cx, n).await?,\n    }\n    ship(cx, n).await",
    ),
    (
        "a marker has moved",
        "L303",
        GUARDED,
        "    charge(cx, n).await?;\n    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    ship(cx, n).await",
    ),
    (
        "a marker decides anew at every call",
        "L304",
        GUARDED,
        "    if cx.patched_each(\"fraud\") {\n        check(cx).await?;\n    }\n    charge(cx, n).await?;\n    ship(cx, n).await",
    ),
    (
        "outside of a marker",
        "L301",
        GUARDED,
        "    if cx.patched(\"fraud\") {\n        check(cx).await?;\n    }\n    charge(cx, n).await?;\n    tell(cx, n).await?;\n    ship(cx, n).await",
    ),
];

#[test]
fn released_arms_are_frozen() {
    let mut report = String::new();
    for (what, code, old, new) in CASES {
        let findings = found(&order(old), &order(new));
        assert_eq!(findings.len(), 1, "{what}:\n{}", shown(&findings));
        assert_eq!(
            findings[0].code,
            Some(*code),
            "{what}:\n{}",
            shown(&findings)
        );
        assert_eq!(findings[0].level, Level::Error);
        report += &format!("# {what}\n{}\n", findings[0]);
    }
    insta::assert_snapshot!(report);
}

/// A run has one answer for all calls of a marker.
#[test]
fn a_marker_is_released_in_all_functions_of_a_run_at_once() {
    let package = |outer: &str, inner: &str, other: &str| {
        format!(
            "#[workflow]\nasync fn order(cx: &Cx) -> R {{ {outer} outer(cx).await }}
            #[durable]\nasync fn outer(cx: &Cx) -> R {{ inner(cx).await }}
            #[durable]\nasync fn inner(cx: &Cx) -> R {{ {inner} ship(cx).await }}
            #[workflow]\nasync fn other(cx: &Cx) -> R {{ {other} ship(cx).await }}"
        )
    };
    let marker = "if cx.patched(\"fraud\") { check(cx).await?; }";
    for (released, new) in [
        (package(marker, "", ""), package(marker, marker, "")),
        (package("", marker, ""), package(marker, marker, "")),
    ] {
        let findings = found(&released, &new);
        assert_eq!(findings.len(), 1, "{}", shown(&findings));
        assert_eq!(findings[0].code, Some("L307"), "{}", findings[0]);
        assert!(findings[0].text.contains("\"fraud-2\""), "{}", findings[0]);
    }
    for (released, new) in [
        // In both at once.
        (package("", "", ""), package(marker, marker, "")),
        // Runs of another workflow have answers of their own.
        (package(marker, marker, ""), package(marker, marker, marker)),
        (package("", "", marker), package("", marker, marker)),
    ] {
        let findings = found(&released, &new);
        assert!(findings.is_empty(), "{}", shown(&findings));
    }
}

#[test]
fn a_marker_that_was_retired_in_one_function_of_a_run_is_not_new_in_another() {
    let package = |workflow: &str, helper: &str| {
        super::package(&format!(
            "#[workflow]\nasync fn order(cx: &Cx) -> R {{ {workflow} helper(cx).await }}
            #[durable]\nasync fn helper(cx: &Cx) -> R {{ {helper} ship(cx).await }}"
        ))
    };
    let marker = "if cx.patched(\"fraud\") { check(cx).await?; }";
    let lock = package(marker, "").update(&Lock::default()).lock;
    let retired = package("check(cx).await?;", "")
        .accept(&lock, "order")
        .unwrap()
        .lock;
    let again = package("check(cx).await?;", marker).compare(&retired);
    let codes: Vec<_> = again.iter().filter_map(|finding| finding.code).collect();
    assert_eq!(codes, ["L307"], "{}", shown(&again));
}

#[test]
fn the_name_that_is_suggested_is_free() {
    let body = "    if cx.patched(\"add-tell\") { tell(cx).await?; }\n    tell(cx, n).await?;\n    charge(cx, n).await?;\n    ship(cx, n).await";
    let found = found(&order(OLD), &order(body));
    assert!(
        found[0].text.contains("cx.patched(\"add-tell-2\")"),
        "{}",
        found[0]
    );
}

#[test]
fn a_marker_of_which_it_cannot_be_told_what_it_guards_is_said_and_never_taken_over() {
    let old = order(r#"if cx.patched("fraud-check") { check(cx, n).await? } ship(cx, n).await"#);
    let lock = released(&old);
    let mistaken = [
        (
            "L324",
            r#"if n > 1 || cx.patched("fraud-check") { check(cx, n).await? } ship(cx, n).await"#,
        ),
        (
            "L320",
            r#"if cx.patched(NAME) { check(cx, n).await? } ship(cx, n).await"#,
        ),
        (
            "L321",
            r#"match cx.version("fraud-check", 0..=1) { 1 => check(cx, n).await? } ship(cx, n).await"#,
        ),
    ];
    for (code, body) in mistaken {
        let package = package(&order(body));
        let codes = |findings: &[crate::lock::Finding]| -> Vec<_> {
            findings.iter().filter_map(|finding| finding.code).collect()
        };
        assert_eq!(codes(&package.compare(&lock)), [code], "{body}");
        let update = package.update(&lock);
        assert!(update.is_refused() && update.lock == lock, "{body}");
        let accepted = package.accept(&lock, "order").unwrap();
        assert!(accepted.is_refused() && accepted.lock == lock, "{body}");
        assert!(package.update(&Lock::default()).is_refused(), "{body}");
    }
}

/// Clippy asks for the one where it sees the other.
#[test]
fn an_if_in_an_if_may_be_written_as_one() {
    let pairs = [
        (
            "if cx.patched(\"a\") { if n > 1 { check(cx).await? } }",
            "if cx.patched(\"a\") && n > 1 { check(cx).await? }",
        ),
        (
            "if n > 1 { if !cx.patched(\"a\") { check(cx).await? } }",
            "if n > 1 && !cx.patched(\"a\") { check(cx).await? }",
        ),
        (
            "if n > 1 && n < 9 { if cx.patched_each(\"a\") { if cx.patched(\"b\") { if let Some(m) = n && let Some(k) = m { check(cx).await? } } } }",
            "if n > 1 && (n < 9) && cx.patched_each(\"a\") && (cx.patched(\"b\") && let Some(m) = n && let Some(k) = m) { check(cx).await? }",
        ),
        (
            "if n > 1 { pay(cx).await? } else if cx.patched(\"a\") { if n > 0 { check(cx).await? } }",
            "if n > 1 { pay(cx).await? } else if cx.patched(\"a\") && n > 0 { check(cx).await? }",
        ),
    ];
    for (nested, one) in pairs {
        let text = |code: &str| order(&format!("{code}\n    ship(cx, n).await"));
        let lock = released(&text(nested));
        assert_eq!(released(&text(one)), lock, "{one}");
        assert!(lock.to_string().contains("version"), "{lock}");
    }
}

/// Runs that have recorded its version can go on again, and no other run has to do with it.
#[test]
fn an_arm_that_was_taken_out_can_be_put_back() {
    let narrowed = "    match cx.version(\"tax\", 1..=1) {\n        1 => tax(cx, n).await?,\n    }\n    ship(cx, n).await";
    let lock = released(&order(THREE));
    let narrow = package(&order(narrowed)).accept(&lock, "order").unwrap();
    assert!(narrow.lock.to_string().contains("retired \"tax\" 0"));
    let back = package(&order(THREE));
    let findings = back.compare(&narrow.lock);
    assert!(
        findings.iter().all(|finding| finding.level == Level::Note),
        "{}",
        shown(&findings)
    );
    assert_eq!(back.update(&narrow.lock).lock, lock);
}

#[test]
fn a_marker_that_has_moved_into_a_helper_is_not_retired() {
    let text = |workflow: &str, helper: &str| {
        format!(
            "#[workflow]\nasync fn order(cx: &Cx) -> R {{ {workflow} helper(cx).await }}
            #[durable]\nasync fn helper(cx: &Cx) -> R {{ {helper} ship(cx).await }}"
        )
    };
    let guarded = r#"if cx.patched("fraud") { check(cx).await?; }"#;
    let lock = released(&text(guarded, ""));
    let accepted = package(&text("", guarded)).accept(&lock, "order").unwrap();
    assert!(!accepted.lock.to_string().contains("retired"));
}
