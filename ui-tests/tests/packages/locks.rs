//! What the compiler says of code that is not as it was released.
//!
//! `lock/released.rs` is released, and each case is this file with a change: a package with the lock of the first
//! and the code of the second. What the compiler says stands in `lock/<case>.stderr`, which `UPDATE_LOCK=1` writes.
//! The library that reads sources says the same.

use std::path::{Path, PathBuf};

use perennial_codegen::lock::{FILE, Lock, Package};

use crate::project::{Project, repository};

/// A change of the released file, in pairs of what was there and what is.
struct Case {
    name: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// Changes of the lock.
    lock: &'static [(&'static str, &'static str)],
}

const fn case(name: &'static str, edits: &'static [(&'static str, &'static str)]) -> Case {
    Case {
        name,
        edits,
        lock: &[],
    }
}

const CASES: &[Case] = &[
    case(
        "l301_inserted",
        &[(
            "    for item in items {",
            "    if !review(cx, total).await? {\n        return Ok(0);\n    }\n    for item in items {",
        )],
    ),
    case(
        "l302_removed",
        &[(
            "    if total > 100 {\n        cx.sleep(days(1)).await?;\n    }\n",
            "",
        )],
    ),
    case(
        "l303_reordered",
        &[
            ("    let paid = charge(cx, total).await?;\n", ""),
            (
                "    for item in items {",
                "    let paid = charge(cx, total).await?;\n    for item in items {",
            ),
        ],
    ),
    case(
        "l304_changed",
        &[(
            "    if total > 100 {\n        cx.sleep(days(1)).await?;\n    }\n",
            "    cx.sleep(days(1)).await?;\n",
        )],
    ),
    case(
        "l304_in_a_method",
        &[
            (
                "        ship(cx, item).await?;\n        Ok(())",
                "        charge(cx, item).await?;\n        Ok(())",
            ),
            ("cx.random()", "u64::from(cx.uuid().is_nil())"),
        ],
    ),
    case(
        "l305_edited",
        &[(
            "        Shelf.restock(cx, cents).await?;",
            "        charge(cx, cents).await?;\n        Shelf.restock(cx, cents).await?;",
        )],
    ),
    case(
        "l306_marker_gone",
        &[(
            "    if cx.patched(\"shelf-first\") {\n        Shelf.restock(cx, cents).await?;\n    }\n",
            "    Shelf.restock(cx, cents).await?;\n",
        )],
    ),
    case(
        "l306_marker_moved",
        &[
            (
                "    if cx.patched(\"shelf-first\") {\n        Shelf.restock(cx, cents).await?;\n    }\n",
                "    Shelf.restock(cx, cents).await?;\n",
            ),
            (
                "        ship(cx, item).await?;\n        Ok(())",
                "        if cx.patched(\"shelf-first\") {\n            charge(cx, item).await?;\n        }\n        ship(cx, item).await?;\n        Ok(())",
            ),
        ],
    ),
    Case {
        name: "l307_retired_again",
        edits: &[(
            "    for item in items {",
            "    if cx.patched(\"review\") {\n        review(cx, total).await?;\n    }\n    for item in items {",
        )],
        lock: &[("  charge-card?", "  retired \"review\" 1\n  charge-card?")],
    },
    case(
        "l307_in_a_helper",
        &[(
            "        ship(cx, item).await?;\n        Ok(())",
            "        if cx.patched(\"shelf-first\") {\n            charge(cx, item).await?;\n        }\n        ship(cx, item).await?;\n        Ok(())",
        )],
    ),
    Case {
        name: "l309_unreadable",
        edits: &[],
        lock: &[("  charge-card?", "<<<<<<< ours\n  charge-card?")],
    },
    // Helpers alone say it too.
    Case {
        name: "l309_in_helpers",
        edits: &[
            ("#[workflow]", "#[workflow(lock = false)]"),
            (
                "(name = \"take-back\")",
                "(name = \"take-back\", lock = false)",
            ),
        ],
        lock: &[("  charge-card?", "<<<<<<< ours\n  charge-card?")],
    },
    case(
        "l308_gone",
        &[("(name = \"take-back\")", "(name = \"return\")")],
    ),
    case("l310_condition", &[("total > 100", "total > 50")]),
    case(
        "by_a_macro",
        &[(
            "/// Fulfils an order.\n#[workflow]\npub async fn fulfil",
            "macro_rules! written {\n    ($name:ident) => {\n        /// Written by a macro.\n        #[workflow]\n        pub async fn $name(cx: &Cx) -> Result<(), Error> {\n            cx.sleep(days(1)).await?;\n            Ok(())\n        }\n    };\n}\n\nwritten!(daily);\n\n/// Fulfils an order.\n#[workflow]\npub async fn fulfil",
        )],
    ),
    // These compile without a word.
    case("nothing", &[]),
    case(
        "refactored",
        &[
            ("cx: &Cx", "context: &Cx"),
            ("(cx, ", "(context, "),
            ("cx.", "context."),
            ("days(1)", "days(2)"),
            (
                "let paid = charge(context, total).await?",
                "let call = charge(context, total).retry(Retry::new());\n    context.log(\"charging\");\n    let paid: u64 = call.await?",
            ),
        ],
    ),
    // A workflow knows what it and the durable functions that it calls have retired.
    Case {
        name: "retired_is_known",
        edits: &[(
            "#[cfg(test)]",
            "const _: () = {\n    let (own, called) = (fulfil::GRAPH.retired, r#return::GRAPH.retired);\n    assert!(own.len() == 1 && own[0].version == 1);\n    assert!(called.len() == 1 && called[0].version == 2);\n    assert!(!fulfil::GRAPH.structure.is_empty());\n};\n\n#[cfg(test)]",
        )],
        lock: &[
            ("  charge-card?", "  retired \"old\" 1\n  charge-card?"),
            (
                "Shelf::restock\n",
                "Shelf::restock\n  retired \"older\" 2\n",
            ),
        ],
    },
    case(
        "not_locked",
        &[
            (
                "#[workflow]\npub async fn fulfil",
                "#[workflow(lock = false)]\npub async fn fulfil",
            ),
            (
                "    let paid = charge(cx, total).await?;",
                "    let paid = 3;",
            ),
            (
                "    #[durable]\n    pub async fn restock",
                "    #[durable(lock = false)]\n    pub async fn restock",
            ),
            (
                "        ship(cx, item).await?;\n        Ok(())",
                "        charge(cx, item).await?;\n        Ok(())",
            ),
        ],
    ),
];

fn folder() -> PathBuf {
    repository().join("ui-tests/lock")
}

fn released() -> String {
    std::fs::read_to_string(folder().join("released.rs")).unwrap()
}

fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not there");
        text.replace(from, to)
    })
}

fn package(text: &str) -> Package {
    Package::of_sources(&[(PathBuf::from("src/lib.rs"), text.to_owned())]).unwrap()
}

#[test]
fn the_compiler_says_what_is_not_as_it_was_released() {
    let lock = package(&released()).update(&Lock::default()).lock;
    let mut project = Project::new("locks");
    for Case {
        name,
        edits,
        lock: broken,
    } in CASES
    {
        let files = [
            ("src/lib.rs".to_owned(), edited(&released(), edits)),
            (FILE.to_owned(), edited(&lock.to_string(), broken)),
        ];
        project.package(name, "2024", &files);
    }
    let rendered = project.rendered(&["check", "--all-targets"]);
    let updating = std::env::var_os("UPDATE_LOCK").is_some();
    let mut wrong = String::new();
    for Case { name, .. } in CASES {
        let said: Vec<&str> = rendered
            .iter()
            .filter(|(package, _)| package == name)
            .map(|(_, text)| text.as_str())
            .collect();
        // One target says it, or both.
        let mut once: Vec<&str> = Vec::new();
        for text in said {
            if !once.contains(&text) {
                once.push(text);
            }
        }
        let said = once.concat();
        let path = folder().join(name).with_extension("stderr");
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if updating && said.is_empty() {
            let _ = std::fs::remove_file(&path);
        } else if updating {
            std::fs::write(&path, &said).unwrap();
        } else if said != expected {
            wrong += &format!("# {name}\nexpected:\n{expected}\nfound:\n{said}\n");
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}`UPDATE_LOCK=1` writes what the compiler says now"
    );
}

/// Where the library that reads sources finds something, the compiler has said the same.
#[test]
fn who_reads_the_sources_finds_the_same() {
    let lock = package(&released()).update(&Lock::default()).lock;
    for Case {
        name,
        edits,
        lock: broken,
    } in CASES
    {
        if !broken.is_empty() {
            continue;
        }
        let path = folder().join(name).with_extension("stderr");
        let said = std::fs::read_to_string(path).unwrap_or_default();
        for finding in package(&edited(&released(), edits)).compare(&lock) {
            // What is gone the compiler says elsewhere, and what is left out it does not say.
            if matches!(finding.code, None | Some("L308")) {
                continue;
            }
            let place = format!("src/lib.rs:{}:{}", finding.line, finding.column);
            assert!(said.contains(&place), "{name}: {finding}");
            for line in finding.text.lines() {
                assert!(said.contains(line), "{name}: `{line}` of\n{finding}");
            }
        }
    }
}

#[test]
fn each_answer_of_the_compiler_belongs_to_a_case() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = Path::new(path.file_stem().unwrap());
        assert!(
            name == Path::new("released") || CASES.iter().any(|case| Path::new(case.name) == name),
            "{}",
            path.display()
        );
    }
}
