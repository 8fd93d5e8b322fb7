//! The text of a lock, and which functions of which files are in it.

use std::fmt::Write;
use std::path::PathBuf;

use super::{BASE, Level, package, released, shown};
use crate::lock::{Kind, Lock, Package};

#[test]
fn a_lock_is_read_as_it_was_written() {
    let lock = released(BASE);
    let text = lock.to_string();
    assert_eq!(Lock::parse(&text).unwrap(), lock);
    assert_eq!(Lock::parse(&text).unwrap().to_string(), text);
    let from_windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(Lock::parse(&from_windows).unwrap(), lock);
    assert_eq!(
        Lock::parse(&Lock::default().to_string()).unwrap(),
        Lock::default()
    );
}

#[test]
fn odd_names_are_read_as_they_were_written() {
    let text = r#"
        #[workflow(name = "a \"b\"\n  c")]
        async fn order(cx: &Cx) -> R { if cx.patched("x \" 1\n") { send(cx).await } else { r#match(cx).await } }
        #[activity(pure, name = "flow 1\n")]
        async fn send(acx: &ActivityCx) {}
    "#;
    let lock = released(text);
    assert_eq!(Lock::parse(&lock.to_string()).unwrap(), lock, "{lock}");
    assert!(package(text).compare(&lock).is_empty());
}

#[test]
fn each_line_that_is_none_is_named() {
    let whole = |body: &str| format!("format 1\n\n{body}");
    let cases = [
        String::new(),
        "workflow order\n  ship\n".to_owned(),
        "format 7\n\nworkflow order\n".to_owned(),
        whole("workflow\n"),
        whole("order\n  ship\n"),
        whole("workflow order\n  ship\nworkflow order\n  ship\n"),
        whole("workflow order\n   ship\n"),
        whole("workflow order\n  if\n      ship\n"),
        whole("workflow order\n    ship\n"),
        whole("workflow order\n  \tship\n"),
        whole("  ship\n"),
        whole("workflow order\n  flow xyz\n"),
        whole("workflow order\n  retired fraud 1\n"),
        whole("workflow order\n<<<<<<< HEAD\n  ship\n=======\n  post\n>>>>>>> theirs\n"),
    ];
    let mut report = String::new();
    for case in cases {
        let error = Lock::parse(&case).unwrap_err();
        writeln!(report, "{case:?}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn whatever_a_lock_holds_reading_it_ends() {
    let text = released(BASE).to_string();
    for (at, _) in text.char_indices() {
        let _ = Lock::parse(&text[..at]);
        let _ = Lock::parse(&text[at..]);
        let _ = Lock::parse(&format!("{}\u{0}{}", &text[..at], &text[at..]));
    }
}

#[test]
fn what_a_file_holds_does_not_reach_a_terminal_raw() {
    for text in [
        "format \u{1b}[31m".to_owned(),
        format!("format 1\n\u{1b}]0;x\u{7}{}\n", "y".repeat(10_000)),
        "format 1\n\nworkflow order\n  flow \u{1b}[1m\n".to_owned(),
    ] {
        let said = Lock::parse(&text).unwrap_err().to_string();
        assert!(
            !said.replace('\n', "").contains(char::is_control),
            "{said:?}"
        );
        assert!(said.len() < 500, "{said}");
    }
    let text = BASE.replace(
        "charge(cx, order.clone(), ",
        "charge(cx, /* \u{1b}[31m\u{202e} */ ",
    );
    let changed = text.replace("name = \"charge-card\"", "name = \"charge\"");
    let findings = package(&changed).compare(&released(&text));
    let said = shown(&findings);
    assert!(said.contains("\u{fffd}[31m\u{fffd}"), "{said}");
    assert!(
        !said.replace('\n', "").contains(char::is_control),
        "{said:?}"
    );
}

#[test]
fn the_ends_of_lines_do_not_matter() {
    let text = BASE.replace(
        "order.total > limit",
        "order.note == \"a\nb\" || order.total > limit",
    );
    let lock = released(&text);
    assert_eq!(released(&text.replace('\n', "\r\n")), lock);
    assert!(
        package(&format!("\u{feff}{text}"))
            .compare(&lock)
            .is_empty()
    );
}

fn keys(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
        .collect();
    let package = Package::of_sources(&files).unwrap();
    package
        .functions()
        .iter()
        .map(|function| function.key.to_string())
        .collect()
}

#[test]
fn functions_are_known_by_their_names_and_paths() {
    let keys = keys(&[
        (
            "src/lib.rs",
            "
            #[perennial::workflow(name = \"fulfil-order\", version = 3)] async fn order(cx: &Cx) -> R { a(cx).await }
            #[workflow] async fn r#loop(cx: &Cx) -> R { a(cx).await }
            mod inner {
                #[durable] pub async fn helper(cx: &Cx) { a(cx).await }
                impl<T> Shop<T> where T: X { #[durable] async fn restock(&self, cx: &Cx) { a(cx).await } }
                impl Sells for Shop<u8> { #[durable] async fn sell(&self, cx: &Cx) { a(cx).await } }
                trait Sells { #[durable] async fn sell(&self, cx: &Cx) { a(cx).await } #[durable] async fn only(&self, cx: &Cx); }
                fn outer() { #[durable] async fn nested(cx: &Cx) { a(cx).await } }
            }
            #[durable] fn pure(n: u64) -> u64 { n }
            #[durable] fn draws(cx: &Cx) -> u64 { cx.random() }
            #[workflow(lock = false)] async fn draft(cx: &Cx) -> R { a(cx).await }
            #[durable(lock = false)] async fn rough(cx: &Cx) { a(cx).await }
            fn ordinary() {}
            ",
        ),
        ("src/shop/orders.rs", "#[durable] async fn helper(context: Cx) { a(&context).await }"),
    ]);
    insta::assert_snapshot!(keys.join("\n"), @"
    workflow fulfil-order
    workflow loop
    durable src/lib.rs::inner::helper
    durable src/lib.rs::inner::Shop<T>::restock
    durable src/lib.rs::inner::<Shop<u8> as Sells>::sell
    durable src/lib.rs::inner::Sells::sell
    durable src/lib.rs::inner::outer::nested
    durable src/lib.rs::draws
    durable src/shop/orders.rs::helper
    ");
}

#[test]
fn what_only_tests_have_is_not_released() {
    let one = "#[workflow] async fn order(cx: &Cx) -> R { a(cx).await }";
    let keys = keys(&[
        (
            "src/lib.rs",
            &format!(
                "{one}\n#[cfg(test)] mod tests {{\n{one}\nmod deeper {{\n{one}\n}} }}\n#[cfg(test)] mod more; mod shop;"
            ),
        ),
        (
            "src/more.rs",
            "#[workflow] async fn a(cx: &Cx) -> R { a(cx).await } mod further;",
        ),
        (
            "src/more/further.rs",
            "#[workflow] async fn b(cx: &Cx) -> R { a(cx).await }",
        ),
        (
            "src/shop.rs",
            "#[cfg(test)] mod tests; #[cfg(not(test))] mod real { #[workflow] async fn real(cx: &Cx) -> R { a(cx).await } }",
        ),
        (
            "src/shop/tests.rs",
            "#[workflow] async fn c(cx: &Cx) -> R { a(cx).await }",
        ),
        (
            "src/marked.rs",
            "#![cfg(test)] #[workflow] async fn d(cx: &Cx) -> R { a(cx).await }",
        ),
        (
            "src/one.rs",
            "#[cfg(test)] #[workflow] async fn e(cx: &Cx) -> R { a(cx).await }",
        ),
    ]);
    assert_eq!(keys, ["workflow order", "workflow real"]);
}

#[test]
fn two_functions_of_one_key_are_refused_unless_they_are_the_same() {
    let text = |second: &str| {
        format!(
            "#[cfg(unix)]\n#[workflow]\nasync fn order(cx: &Cx) -> R {{ a(cx).await }}\n\
             #[cfg(windows)]\n#[workflow]\nasync fn order(context: &Cx) -> R {{ {second}(context).await }}\n"
        )
    };
    let same = package(&text("a"));
    assert_eq!(same.functions().len(), 1);
    let update = package(&text("b")).update(&Lock::default());
    assert!(update.is_refused());
    insta::assert_snapshot!(shown(
        &update
            .findings
            .into_iter()
            .filter(|finding| finding.level == Level::Error)
            .collect::<Vec<_>>()
    ));
}

#[test]
fn workflows_that_macros_write_are_noted() {
    let text = "
        macro_rules! make { ($name:ident) => {
            #[workflow] async fn $name(cx: &Cx) -> R { a(cx).await }
        } }
        cfg_if! { if #[cfg(x)] { #[workflow] async fn order(cx: &Cx) -> R { a(cx).await } } }
    ";
    let package = package(text);
    assert!(package.functions().is_empty());
    let found = package.compare(&Lock::default());
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|finding| finding.level == Level::Note));
    insta::assert_snapshot!(found[0]);
}

#[test]
fn a_source_that_is_no_rust_is_an_error_with_its_place() {
    for (text, place) in [
        ("fn a() {\n  let = 3;\n}", "src/lib.rs:2:7: "),
        ("fn a() {\n", "src/lib.rs:"),
        (&"{".repeat(100_000), "src/lib.rs:"),
        (
            &format!("fn a() {{ {}{} }}", "(".repeat(3_000), ")".repeat(3_000)),
            "src/lib.rs:1:",
        ),
    ] {
        let error =
            Package::of_sources(&[(PathBuf::from("src/lib.rs"), text.to_owned())]).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
    }
}

#[test]
fn a_durable_function_is_locked_under_its_own_name() {
    let lock = released(BASE);
    let kinds: Vec<_> = lock.functions.keys().map(|key| key.kind).collect();
    assert_eq!(kinds, [Kind::Workflow, Kind::Durable]);
}
