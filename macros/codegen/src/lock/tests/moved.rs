//! A marker that a function has handed to a `#[durable]` function that it calls.

use super::super::{Lock, Package};
use super::{Level, package, shown};

const MARKER: &str = r#"if cx.patched("fraud") { check(cx).await?; }"#;

/// A workflow that calls `outer`, which calls `inner`, and another workflow that calls `inner` too, each with what
/// stands before that call.
fn shop(order: &str, outer: &str, inner: &str, other: &str) -> Package {
    package(&format!(
        "#[workflow]\nasync fn order(cx: &Cx) -> R {{ {order} outer(cx).await }}
        #[durable]\nasync fn outer(cx: &Cx) -> R {{ {outer} inner(cx).await }}
        #[durable]\nasync fn inner(cx: &Cx) -> R {{ {inner} ship(cx).await }}
        #[workflow]\nasync fn other(cx: &Cx) -> R {{ {other} inner(cx).await }}"
    ))
}

fn released(package: &Package) -> Lock {
    package.update(&Lock::default()).lock
}

/// The code and the first line of each error.
fn errors(package: &Package, lock: &Lock) -> Vec<String> {
    let mut found = package.compare(lock);
    found.retain(|finding| finding.level == Level::Error);
    let headlines = found
        .iter()
        .map(|finding| finding.text.lines().next().unwrap().to_owned());
    headlines.collect()
}

/// Accepts a function, and says what was changed.
fn accepted(package: &Package, lock: &mut Lock, name: &str) -> Vec<String> {
    let update = package.accept(lock, name).unwrap();
    *lock = update.lock;
    update.changes.iter().map(ToString::to_string).collect()
}

#[test]
fn who_asks_for_it_now_is_named_and_one_acceptance_writes_both() {
    for (outer, inner, helper) in [(MARKER, "", "outer"), ("", MARKER, "inner")] {
        let mut lock = released(&shop(MARKER, "", "", ""));
        let now = shop("", outer, inner, "");
        assert_eq!(
            errors(&now, &lock),
            [format!(
                "[L306] `order` no longer asks for the marker \"fraud\" itself; `{helper}`, which it calls, does now"
            )]
        );
        assert_eq!(
            accepted(&now, &mut lock, "order"),
            [
                "workflow order: accepted as it is".to_owned(),
                format!("durable src/lib.rs::{helper}: released version 1 of \"fraud\""),
            ]
        );
        let left = now.compare(&lock);
        assert!(left.is_empty(), "{}", shown(&left));
        assert!(now.update(&lock).changes.is_empty());
    }
}

#[test]
fn a_durable_function_hands_it_on_as_a_workflow_does() {
    let mut lock = released(&shop("", MARKER, "", ""));
    let now = shop("", "", MARKER, "");
    assert_eq!(
        errors(&now, &lock),
        [
            "[L306] `outer` no longer asks for the marker \"fraud\" itself; `inner`, which it calls, does now"
        ]
    );
    accepted(&now, &mut lock, "outer");
    assert!(now.compare(&lock).is_empty());
    assert!(!lock.to_string().contains("retired"));
}

#[test]
fn a_helper_that_is_new_is_released_with_it() {
    let text = |order: &str, rest: &str| {
        package(&format!(
            "#[workflow]\nasync fn order(cx: &Cx) -> R {{ {order} ship(cx).await }}\n{rest}"
        ))
    };
    let mut lock = released(&text(MARKER, ""));
    let helper = format!("#[durable]\nasync fn checked(cx: &Cx) -> R {{ {MARKER} Ok(()) }}");
    let now = text("checked(cx).await?;", &helper);
    assert_eq!(
        accepted(&now, &mut lock, "order"),
        [
            "workflow order: accepted as it is",
            "durable src/lib.rs::checked: released"
        ]
    );
    assert!(now.compare(&lock).is_empty());
}

#[test]
fn other_new_markers_of_the_helper_stay_free() {
    let another = r#"if cx.patched("gift") { wrap(cx).await?; }"#;
    let mut lock = released(&shop(MARKER, "", "", ""));
    let now = shop("", &format!("{MARKER} {another}"), "", "");
    accepted(&now, &mut lock, "order");
    let text = lock.to_string();
    assert!(text.contains("fraud") && !text.contains("gift"), "{text}");
    assert!(errors(&now, &lock).is_empty());
}

#[test]
fn what_else_changed_in_the_helper_is_not_taken_over() {
    let mut lock = released(&shop(MARKER, "", "", ""));
    let now = shop("", &format!("{MARKER} tell(cx).await?;"), "", "");
    assert_eq!(
        accepted(&now, &mut lock, "order"),
        ["workflow order: accepted as it is"]
    );
    let errors = errors(&now, &lock);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("[L301] `outer` now"), "{errors:?}");
}

/// A run of the other workflow has its answer from elsewhere, and has passed the helper without the marker.
#[test]
fn other_callers_of_the_helper_that_have_the_marker_are_still_told() {
    let mut lock = released(&shop(MARKER, "", "", MARKER));
    let now = shop("", "", MARKER, MARKER);
    let told = "[L307] the marker \"fraud\" is new in `inner`, and was released in `other`: a run has one answer for both";
    assert!(errors(&now, &lock).contains(&told.to_owned()));
    assert_eq!(
        accepted(&now, &mut lock, "order"),
        ["workflow order: accepted as it is"]
    );
    assert_eq!(errors(&now, &lock), [told]);
    // Where both have handed it on, each is accepted.
    let mut lock = released(&shop(MARKER, "", "", MARKER));
    let now = shop("", "", MARKER, "");
    accepted(&now, &mut lock, "order");
    assert_eq!(
        errors(&now, &lock),
        [
            "[L306] `other` no longer asks for the marker \"fraud\" itself; `inner`, which it calls, does now"
        ]
    );
    accepted(&now, &mut lock, "other");
    assert!(now.compare(&lock).is_empty());
}

#[test]
fn a_helper_that_lacks_a_released_version_has_not_got_it() {
    let asks =
        |range: &str| format!(r#"match cx.version("fraud", {range}) {{ 0 => {{}}, 1 => {{}} }}"#);
    let three = r#"match cx.version("fraud", 0..=2) { 0 => {}, 1 => {}, 2 => {} }"#;
    let lock = released(&shop(three, "", "", ""));
    let errors = errors(&shop("", &asks("0..=1"), "", ""), &lock);
    assert!(
        errors[0].contains("runs in flight have recorded it"),
        "{errors:?}"
    );
}
