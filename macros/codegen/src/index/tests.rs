use std::path::Path;

use super::{Called, Index};

#[test]
fn what_a_file_had_when_it_was_read_before_is_forgotten() {
    let file = Path::new("src/lib.rs");
    let text = |activity: &str, workflow: &str| {
        format!(
            "#[cfg(test)] mod {activity};
            #[activity(pure, name = \"{activity}\")] fn send(acx: &ActivityCx) {{}}
            #[workflow] fn {workflow}(cx: &Cx) {{}}"
        )
    };
    let mut index = Index::default();
    index.add(
        Path::new("src/other.rs"),
        "#[workflow] fn other(cx: &Cx) {}",
    );
    index.add(file, &text("mail", "order"));
    index.add(file, &text("email", "orders"));
    let paths = ["send".to_owned()];
    let email = Called::Activity("email".to_owned());
    assert_eq!(index.called(&paths, None), Some(&email));
    assert!(index.meaning("send").is_some());
    let workflows = ["order", "orders", "other"].map(|name| index.has_workflow(name));
    assert_eq!(workflows, [false, true, true]);
    let tests = ["mail", "email"].map(|name| index.is_test(Path::new(&format!("src/{name}.rs"))));
    assert_eq!(tests, [false, true]);
}

/// Whether `path` is a stub in `src/flow.rs`, which begins with these imports, of a package with these other files.
fn is_stub(path: &str, imports: &str, others: &[(&str, &str)]) -> bool {
    let mut index = Index {
        sources: Some("src".into()),
        ..Index::default()
    };
    let flow = Path::new("src/flow.rs");
    index.add(flow, imports);
    for (file, text) in others {
        index.add(Path::new(file), text);
    }
    index.is_stub(path, &index.names_at(flow, 1), 1, Some(flow))
}

const STUB: &str = "#[stub] pub async fn talk(cx: &Cx) -> String;";

#[test]
fn a_stub_is_known_wherever_it_is_imported_from() {
    let package = [
        (
            "src/lib.rs",
            "mod desk; mod flow; pub use desk::names::talk; pub use self::talk as said;",
        ),
        ("src/desk/mod.rs", "pub mod names; pub use names::*;"),
        ("src/desk/names.rs", STUB),
    ];
    for (path, imports) in [
        ("talk", "use super::talk;"),
        ("talk", "use crate::desk::talk;"),
        ("talk", "use super::*;"),
        ("talk", "use perennial::prelude::*; use super::*;"),
        ("heard", "use super::talk as heard;"),
        ("super::talk", ""),
        ("crate::desk::names::talk", ""),
        ("desk::talk", "use super::desk;"),
    ] {
        assert!(is_stub(path, imports, &package), "{imports} {path}");
    }
}

/// What is taken for one and is none does not compile.
#[test]
fn what_may_be_something_else_is_not_taken_for_a_stub() {
    let durable = "#[durable] pub async fn talk(cx: &Cx) -> R<String> { }";
    for (path, imports, others) in [
        ("talk", "use other::talk;", &[("src/names.rs", STUB)][..]),
        ("talk", "use other::*;", &[("src/names.rs", STUB)]),
        ("other::talk", "", &[("src/names.rs", STUB)]),
        ("talk", "use super::talk;", &[("src/names.rs", durable)]),
        (
            "talk",
            "use super::talk;",
            &[("src/names.rs", STUB), ("src/helpers.rs", durable)],
        ),
        (
            "talk",
            "use super::talk;",
            &[
                ("src/names.rs", STUB),
                ("src/lib.rs", "pub use other::talk;"),
            ],
        ),
        ("talk", "use super::talk;", &[]),
        // One of a type.
        (
            "Desk::talk",
            "struct Desk; impl Desk { pub async fn talk(cx: &Cx) {} }",
            &[("src/names.rs", STUB)],
        ),
        (
            "Desk::talk",
            "use crate::desk::Desk;",
            &[
                ("src/names.rs", STUB),
                (
                    "src/desk.rs",
                    "pub struct Desk; impl Desk { pub async fn talk(cx: &Cx) {} }",
                ),
            ],
        ),
        (
            "Talks::talk",
            "pub trait Talks { async fn talk(cx: &Cx); }",
            &[("src/names.rs", STUB)],
        ),
        // Out of another glob, of this file or of the one that is named.
        (
            "talk",
            "use other::*; use super::*;",
            &[("src/names.rs", STUB)],
        ),
        (
            "talk",
            "use super::talk;",
            &[("src/names.rs", STUB), ("src/lib.rs", "pub use other::*;")],
        ),
    ] {
        assert!(!is_stub(path, imports, others), "{imports} {path}");
    }
}

/// What a test program declares beside the file of the macro was not read.
#[test]
fn outside_of_the_sources_nothing_is_taken_for_a_stub() {
    let mut index = Index::default();
    let main = Path::new("tests/main.rs");
    index.sources = Some("src".into());
    index.add(Path::new("src/names.rs"), STUB);
    index.add(main, "mod helper;");
    let names = index.names_at(main, 1);
    assert!(!index.is_stub("helper::talk", &names, 1, Some(main)));
}

#[test]
fn names_of_workflows_are_read_with_their_escapes() {
    let mut index = Index::default();
    let text = r##"
        #[workflow(name = "a \"b\" \u{e9}")] fn a(cx: &Cx) {}
        #[workflow(name = r#"c "d""#)] fn b(cx: &Cx) {}
    "##;
    index.add(Path::new("src/lib.rs"), text);
    assert!(index.has_workflow("a \"b\" \u{e9}"));
    assert!(index.has_workflow("c \"d\""));
}

/// Sources are read while they are typed, and each token may be where it should not be.
#[test]
fn no_source_is_too_odd_to_be_read() {
    let text = r####"#![cfg(test)] #[a(name = "x\"")] impl<T: Fn(u8) -> u8> A for B<T> where T: X { fn f<'a>(cx: &'a Cx) -> R { g::<fn() -> u8>(&cx, 'x', b'"', r#"y"#); cx.version("m", 0..=1_0u32); m! { #[workflow] fn h() {} } } } macro_rules! n { ($x:ident) => { mod $x; } } mod k; use a::{self, b as c, d::*}; /* /* */ // "é"####;
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    for from in &cuts {
        for to in cuts.iter().filter(|to| *to >= from).step_by(7) {
            let mut index = Index::default();
            index.add(Path::new("src/lib.rs"), &text[*from..*to]);
            index.add(Path::new(""), &text[*from..*to].replace(' ', ""));
            index
                .names_at(Path::new("src/lib.rs"), 1)
                .imported("c::x", 1);
        }
    }
}
