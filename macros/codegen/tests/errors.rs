//! Every error: its text, and what it stands under.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use proc_macro2::{Span, TokenStream, TokenTree};

type Attribute = fn(TokenStream, TokenStream) -> TokenStream;

/// The cases with their errors, as one text. Each of them must still declare its function.
fn report(attribute: Attribute, cases: &[(&str, &str)]) -> String {
    let mut report = String::new();
    for (options, item) in cases {
        let expanded = attribute(tokens(options), tokens(item));
        let name = item
            .split("fn ")
            .nth(1)
            .and_then(|rest| rest.split(['(', '<']).next());
        if let Some(name) = name {
            assert!(
                expanded.to_string().contains(&format!("fn {name}")),
                "{name} is gone"
            );
        }
        let found = errors(expanded);
        assert!(!found.is_empty(), "no error for {item}");
        let options = if options.is_empty() {
            String::new()
        } else {
            format!("[{options}] ")
        };
        writeln!(report, "{options}{item}\n{found}").unwrap();
    }
    report
}

const ACTIVITY: &str = "async fn a(acx: &ActivityCx) -> Result<u8, Failure> { Ok(1) }";

#[test]
fn options_of_an_activity() {
    let text = report(
        perennial_codegen::activity,
        &[
            ("", ACTIVITY),
            ("pure, idempotent", ACTIVITY),
            ("once", ACTIVITY),
            ("lookup = find_it", ACTIVITY),
            ("pure = true", ACTIVITY),
            ("pure, pure", ACTIVITY),
            ("idempotant", ACTIVITY),
            ("pure, version = 2, atempt = \"1s\"", ACTIVITY),
            (
                "pure, attempt = 30, timeout = \"soon\", name = \"\"",
                ACTIVITY,
            ),
            ("pure, attempt = \"0s\", timeout = \"30\", name", ACTIVITY),
            ("pure, attempt =, timeout", ACTIVITY),
            ("pure, retry", ACTIVITY),
            (
                "pure, retry(attempts = 0, initial = 200, cap = \"x\", factor = -1, jitter = true)",
                ACTIVITY,
            ),
            ("pure, retry(attempts = 5000000000, factor = 2.5)", ACTIVITY),
            ("pure, state = Bank", ACTIVITY),
            ("pure, crate = 5", ACTIVITY),
            (
                "pure, blocking = true",
                "fn a(acx: &ActivityCx) -> Result<u8, Failure> { Ok(1) }",
            ),
            ("pure, blocking", ACTIVITY),
            (
                "pure",
                "fn a(acx: &ActivityCx) -> Result<u8, Failure> { Ok(1) }",
            ),
            ("pure, \"text\"", ACTIVITY),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn options_of_the_others() {
    let workflow = "async fn w(cx: &Cx) -> Result<(), Error> { Ok(()) }";
    let mut text = report(
        perennial_codegen::workflow,
        &[
            ("verison = 3", workflow),
            ("nane = \"x\"", workflow),
            ("version", workflow),
            ("version = \"3\"", workflow),
            ("version = -1", workflow),
            ("version = 4294967296", workflow),
            ("version = 1, version = 2", workflow),
            ("compare_inputs", workflow),
            ("compare_inputs = 0", workflow),
            ("compare_inputs(false)", workflow),
        ],
    );
    text += &report(
        perennial_codegen::durable,
        &[("name = \"x\"", "async fn d(cx: &Cx) {}")],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_migration() {
    let migration = "fn m(old: &OldRun) -> Result<New, Refuse> { old.input() }";
    let text = report(
        perennial_codegen::migration,
        &[
            ("", migration),
            ("to = order_v2", migration),
            ("from, to = order_v2", migration),
            ("from = \"order\"", migration),
            ("from = \"\", to = order_v2", migration),
            ("from = order, to = \"order_v2\"", migration),
            ("from = order(1), version = 2", migration),
            ("from = order, from = order", migration),
            (
                "from = order",
                "pub async fn m<T>(old: &OldRun) -> Result<New, Refuse> { old.input() }",
            ),
            (
                "from = order",
                "unsafe fn m(old: &mut OldRun) -> Result<New, Refuse> { old.input() }",
            ),
            ("from = order", "fn m() -> Result<New, Refuse> { Ok(New) }"),
            (
                "from = order",
                "fn m(cx: &Cx, old: &OldRun) -> Result<New, Refuse> { Ok(New) }",
            ),
            ("from = order", "fn m(old: &OldRun) { }"),
            (
                "from = order",
                "fn m(&self) -> Result<New, Refuse> { Ok(New) }",
            ),
            ("from = order", "fn m(old: &OldRun) -> Result<New, Refuse>;"),
        ],
    );
    insta::assert_snapshot!(text);
    let not_a_function =
        perennial_codegen::migration(tokens("from = order"), tokens("struct New;"));
    insta::assert_snapshot!(errors(not_a_function), @"
    `struct`
        `#[migration]` goes on a plain `fn`, not on a struct
    ");
}

#[test]
fn signature_of_a_workflow() {
    let text = report(
        perennial_codegen::workflow,
        &[
            ("", "fn w(cx: &Cx) -> Result<(), Error> { Ok(()) }"),
            ("", "async fn w() -> Result<(), Error> { Ok(()) }"),
            (
                "",
                "async fn w(order: Order) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async fn w(acx: &ActivityCx) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async fn w(cx: &mut Cx) -> Result<(), Error> { Ok(()) }",
            ),
            ("", "async fn w(cx: &Cx) { }"),
            (
                "",
                "async fn w(cx: &Cx, name: &str, list: Vec<&'static str>, x: impl Clone) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async fn w(cx: &Cx, text: Cow<'_, str>) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async fn w(cx: &Cx) -> Result<&str, Error> { Ok(\"\") }",
            ),
            ("", "async fn w(cx: &Cx) -> impl Sized { }"),
            (
                "",
                "async fn w<'a, T: Data, const N: usize>(cx: &Cx, x: T) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async fn w(&self, cx: &Cx) -> Result<(), Error> { Ok(()) }",
            ),
            (
                "",
                "async unsafe extern \"C\" fn w(cx: &Cx) -> Result<(), Error> { Ok(()) }",
            ),
            ("", "async fn w(cx: &Cx) -> Result<(), Error>;"),
            (
                "",
                "#[tracing::instrument(skip(cx))] async fn w(cx: &Cx) -> Result<(), Error> { Ok(()) }",
            ),
            ("", "#[derive(Debug)] pub struct Order { id: u32 }"),
            ("", "impl Shop { async fn w(cx: &Cx) {} }"),
            (
                "",
                "async fn w(cx: &Cx, #[cfg(a)] a: u8, #[cfg(b)] b: u8, #[cfg(c)] c: u8, #[cfg(d)] d: u8, #[cfg(e)] e: u8) -> Result<(), Error> { Ok(()) }",
            ),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn signature_of_a_stub() {
    let text = report(
        perennial_codegen::stub,
        &[
            ("", "async fn s(cx: &Cx) -> u8 { 1 }"),
            ("", "fn s(cx: &Cx) -> u8;"),
            ("", "async fn s() -> u8;"),
            ("", "async fn s(order: Order) -> u8;"),
            ("", "async fn s(acx: &ActivityCx) -> u8;"),
            ("", "async fn s<T>(cx: &Cx, name: &str) -> Vec<T>;"),
            ("", "async fn s(cx: &Cx) -> impl Sized;"),
            ("", "async fn s(&self, cx: &Cx) -> u8;"),
            ("nmae = \"x\"", "async fn s(cx: &Cx);"),
            ("name = \"\"", "async fn s(cx: &Cx);"),
            ("", "struct S;"),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn too_many_inputs() {
    let inputs: String = ('a'..='i').map(|name| format!(", {name}: u8")).collect();
    let item = format!("async fn a(acx: &ActivityCx{inputs}) -> Result<u8, Failure> {{ Ok(1) }}");
    let text = report(perennial_codegen::activity, &[("pure", &item)]);
    insta::assert_snapshot!(text);
}

#[test]
fn signature_of_an_activity() {
    let text = report(
        perennial_codegen::activity,
        &[
            (
                "pure",
                "async fn a(mut v: Vec<u32>) -> Result<Vec<u32>, Failure> { Ok(v) }",
            ),
            ("pure", "async fn a() -> Result<u8, Failure> { Ok(1) }"),
            (
                "pure",
                "async fn a(cx: &Cx) -> Result<u8, Failure> { Ok(1) }",
            ),
            ("pure", "async fn a(acx: &ActivityCx) { }"),
            (
                "pure",
                "async fn a<T>(acx: &ActivityCx, x: &T) -> Result<u8, Failure> { Ok(1) }",
            ),
            (
                "pure",
                "async fn a(self, acx: &ActivityCx) -> Result<u8, Failure> { Ok(1) }",
            ),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn signature_of_a_durable_function() {
    let text = report(
        perennial_codegen::durable,
        &[("", "struct Order;"), ("", "fn d(cx: &Cx) { 1 + }")],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_test_of_workflows() {
    let text = report(
        perennial_codegen::test,
        &[
            ("", "fn t() {}"),
            ("", "async fn t(t: &mut TestRun) {}"),
            ("", "fn t(t: &TestRun) {}"),
            ("", "fn t(t: TestRun) {}"),
            ("", "fn t(t: &mut TestRun, n: u32) {}"),
            ("", "fn t(&mut self) {}"),
            ("", "fn t<T>(t: &mut TestRun) {}"),
            ("", "unsafe fn t(t: &mut TestRun) {}"),
            ("", "#[test] fn t(t: &mut TestRun) {}"),
            ("", "fn t(t: &mut TestRun);"),
            (
                "strct, crate = 5, strict = true",
                "fn t(t: &mut TestRun) {}",
            ),
            ("", "mod tests {}"),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn awaits_that_cannot_be_checked() {
    let text = report(
        perennial_codegen::durable,
        &[
            (
                "",
                "async fn d(cx: &Cx) { let f = async |x: u32| ship(cx, x).await; }",
            ),
            (
                "",
                "async fn d(cx: &Cx) { tokio::join!(a(cx), b(cx)); futures::select! { x = a(cx) => x }; }",
            ),
            (
                "",
                "async fn d(cx: &Cx) { my::assert_ok!(ship(cx).await, \"text\"); }",
            ),
            (
                "",
                "async fn d(cx: &Cx) { let x = json!({ \"a\": ship(cx).await }); info!(%ship(cx).await); }",
            ),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_body_that_does_not_parse_is_passed_on() {
    let expanded = perennial_codegen::workflow(
        TokenStream::new(),
        tokens("async fn w(cx: &Cx) -> Result<(), E> { let s = String::new(); s. }"),
    );
    assert!(
        expanded
            .to_string()
            .contains("let s = String :: new () ; s .")
    );
    assert!(
        expanded
            .to_string()
            .contains("fn w (cx : & :: perennial :: Cx")
    );
    insta::assert_snapshot!(errors(expanded));

    let expanded = perennial_codegen::activity(
        tokens("pure"),
        tokens("async fn a(acx: &ActivityCx, x: u32) -> Result<u32, E> { let  Ok(x) }"),
    );
    assert!(expanded.to_string().contains("let Ok (x)"));
    insta::assert_snapshot!(errors(expanded));
}

/// The errors among expanded tokens: where each one starts and ends, and its text.
fn errors(expanded: TokenStream) -> String {
    let tokens: Vec<TokenTree> = expanded.into_iter().collect();
    let mut found = String::new();
    for window in tokens.windows(3) {
        let [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Group(message),
        ] = window
        else {
            continue;
        };
        if name == "compile_error" {
            let text: syn::LitStr = syn::parse2(message.stream()).unwrap();
            writeln!(found, "  {}", place(name.span(), message.span())).unwrap();
            for line in text.value().lines() {
                writeln!(found, "{}", format!("      {line}").trim_end()).unwrap();
            }
        }
    }
    found
}

fn place(first: Span, last: Span) -> String {
    match (first.source_text(), last.source_text()) {
        (Some(first), Some(last)) if first == last => format!("`{first}`"),
        (Some(first), Some(last)) => format!("`{first}` to `{last}`"),
        _ => "the attribute".to_owned(),
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}
