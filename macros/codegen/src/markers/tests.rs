//! Which markers are found in a body, and what is wrong with them.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Ident, parse_quote};

use super::check;
use crate::errors::Errors;
use crate::parse::{Body, Function};

/// The markers of a body with `cx`, and the first line of each error with the tokens under which it is.
fn report(body: &str) -> String {
    let source = format!("async fn flow(cx: &Cx) {{ {body} }}");
    let mut function: Function = syn::parse_str(&source).unwrap();
    assert!(matches!(function.body, Body::Parsed(_)), "{source}");
    let context = Ident::new("cx", Span::call_site());
    let mut errors = Errors::default();
    let krate = parse_quote!(::perennial);
    let found = check(&krate, Some(&context), &mut function.body, &mut errors);
    let mut report = String::new();
    for found in found {
        let marker = found.marker;
        let each = if marker.each { " each" } else { "" };
        writeln!(
            report,
            "{:?} {}..={}{each}",
            marker.id, marker.lowest, marker.highest
        )
        .unwrap();
    }
    for (span, text) in errors.texts() {
        let under = &source[span.byte_range()];
        writeln!(report, "{under}: {}", text.lines().next().unwrap()).unwrap();
    }
    report
}

/// That a body is fine, with so many markers.
fn fine(body: &str, markers: usize) {
    let report = report(body);
    assert_eq!(report.lines().count(), markers, "{body}\n{report}");
    assert!(!report.contains("[L3"), "{body}\n{report}");
}

#[test]
fn markers_are_found_wherever_their_arms_can_be_told() {
    fine(r#"if cx.patched("a") { x } else { y }"#, 1);
    fine(r#"if !cx.patched("a") { y }"#, 1);
    fine(
        r#"if (!(cx.patched_each("a"))) { y } else if cx.patched("b") { z }"#,
        2,
    );
    fine(r#"match cx.version("a", 0..=2) { 0 => x, 1 | 2 => y }"#, 1);
    fine(r#"if cx.patched("a") && x { y }"#, 1);
    fine(
        r#"if x && (!cx.patched("a") && cx.patched_each("b")) && let Some(y) = z { y }"#,
        2,
    );
    fine(r#"if x { y } else if cx.patched("a") && z { y }"#, 1);
    fine(
        r#"let v = match (cx.version_each("a", 1..=2)) { 1 => x, (2) => { y } };"#,
        1,
    );
    fine(
        r#"loop { if cx.patched_each("a") { if x { if cx.patched("b") {} } } }"#,
        2,
    );
    fine(
        r#"let f = |n| async move { if cx.patched("a") { n.await } };"#,
        1,
    );
    fine(
        r#"cx.spawn(async move { match cx.version("a", 0..=0) { 0 => 1u32 } });"#,
        1,
    );
    fine(
        r#"join!(async { if cx.patched("a") { 1 } else { 2 } }, other(cx));"#,
        1,
    );
    fine(
        r#"select! { a = async { if cx.patched("a") {} } => { match cx.version("b", 0..=1) { 0 => 1, 1 => 2 } } }"#,
        2,
    );
    fine(r#"vec![if cx.patched("a") { 1 } else { 2 }]"#, 1);
    fine(
        r#"match cx.version("a", 0..=1) { 0 => if cx.patched("b") { 1 } else { 2 }, 1u32 => 3 }"#,
        2,
    );
}

#[test]
fn other_things_of_these_names_are_none() {
    fine(
        r#"let v = other.version("a"); store.patched(); let cx2 = 1; dbg!(x.version);"#,
        0,
    );
    fine(
        r#"registry.patched(id); api.version("v1", 2); api.version(name, 0..=1); Registry::patched(&registry, "a"); x.patched("a", 1); unknown!(api.version("a"));"#,
        0,
    );
    fine(r#"fn inner(cx: &Cx) -> bool { cx.patched("a") }"#, 0);
    fine(r#"println!("{}", cx.run_id());"#, 0);
}

/// It is in no list, so it would be compared with nothing.
#[test]
fn a_marker_on_something_else_than_the_context_is_refused() {
    let bodies = [
        r#"if self.cx.patched("a") {}"#,
        r#"let other = cx; if other.patched("a") {}"#,
        r#"let ask = |c: &Cx| if c.patched_each("a") { 1 } else { 2 };"#,
        r#"if cx.clone().patched("a") {}"#,
        r#"if (&cx).patched("a") {}"#,
        r#"if self.cx.patched(NAME) {}"#,
        r#"match other.version("a", 0..=1) { 0 => 1, 1 => 2 }"#,
        r#"match self.shop.context().version_each("a", 0..=LAST) { 0 => 1 }"#,
        r#"if Cx::patched(cx, "a") {}"#,
        r#"match perennial::Cx::version(&cx, "a", 0..=1) { 0 => 1, 1 => 2 }"#,
        r#"unknown!(if other.patched("a") {});"#,
        r#"join!(async { if other.patched("a") {} }, b);"#,
    ];
    let reports: Vec<_> = bodies
        .iter()
        .map(|body| format!("{body}\n{}", report(body)))
        .collect();
    insta::assert_snapshot!(reports.join("\n"));
}

#[test]
fn what_is_wrong_stands_under_the_tokens_that_are_at_fault() {
    let bodies = [
        r#"if cx.patched(NAME) {}"#,
        r#"match cx.version(concat!("a"), 0..=1) { 0 => 1, 1 => 2 }"#,
        r#"match cx.version("a", 0..2) { 0 => 1, 1 => 2 }"#,
        r#"match cx.version("a", LOW..=2) { 0 => 1 }"#,
        r#"match cx.version("a", 2..=1) { 1 => 1 }"#,
        r#"match cx.version("a", 0..=2) { 0 => 1, 2 => 3 }"#,
        r#"match cx.version("a", 0..=4000000000) { 1 => 1 }"#,
        r#"match cx.version("a", 0..=2) { }"#,
        r#"match cx.version("a", 1..=2) { 0 => 1, 1 | 2 | 4 => 3 }"#,
        r#"match cx.version("a", 0..=1) { 0 => 1, _ => 2 }"#,
        r#"match cx.version("a", 0..=1) { 0..=1 => 1 }"#,
        r#"match cx.version("a", 0..=1) { 0 if x => 1, 0 | 1 => 2 }"#,
        r#"match cx.version("a", 0..=1) { 0 => 1, 1 => 2, v => 3 }"#,
        r#"let new = cx.patched("a");"#,
        r#"if cx.patched("a") && x {} else { y }"#,
        r#"if (x || cx.patched("a")) && y {}"#,
        r#"if x || !cx.patched_each("a") {}"#,
        r#"match cx.patched("a") { true => 1, false => 2 }"#,
        r#"if cx.version("a", 0..=1) == 1 {}"#,
        r#"while cx.patched_each("a") {}"#,
        r#"if let 1 = cx.version("a", 0..=1) {}"#,
        r#"helper(cx, cx.version("a", 0..=1)).await"#,
        r#"assert!(cx.patched("a"));"#,
        r#"unknown!(if cx.patched("a") {});"#,
        r#"matches!(cx.version("a", 0..=1), 1)"#,
        r#"if cx.patched("a") {} if cx.patched_each("a") {}"#,
        r#"if cx.patched("a") {} match cx.version("a", 0..=2) { 0 => 1, 1 => 2, 2 => 3 }"#,
    ];
    let reports: Vec<_> = bodies
        .iter()
        .map(|body| format!("{body}\n{}", report(body)))
        .collect();
    insta::assert_snapshot!(reports.join("\n"));
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    fine(&format!("if cx.patched({:?}) {{}}", "n".repeat(1_024)), 1);
    let report = report(&format!("if cx.patched({:?}) {{}}", "n".repeat(1_025)));
    assert!(
        report.contains("at most 1024 bytes, and this has 1025"),
        "{report}"
    );
}

#[test]
fn a_body_without_markers_stays_as_it_was() {
    let body =
        r#"{ join!(a(cx), async { b }); select! { x = c => d }; match e { 0 => 1, _ => 2 } }"#;
    let source = format!("async fn flow(cx: &Cx) {body}");
    let mut function: Function = syn::parse_str(&source).unwrap();
    let before = function.body.to_token_stream().to_string();
    let context = Ident::new("cx", Span::call_site());
    let krate = parse_quote!(::perennial);
    check(
        &krate,
        Some(&context),
        &mut function.body,
        &mut Errors::default(),
    );
    assert_eq!(function.body.to_token_stream().to_string(), before);
    assert!(matches!(function.body, Body::Parsed(_)));
}
