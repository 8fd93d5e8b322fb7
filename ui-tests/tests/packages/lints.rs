//! RW-39: no lint fires that would not fire on the same plain functions, and each that does fires at the same
//! token, once. RW-33 point 2.

use std::collections::BTreeSet;

use crate::project::{Finding, Form, Project, lines, source};

/// What plain functions are told and these are not, because the attributes prescribe what it is about.
const PRESCRIBED: [(&str, &str); 6] = [
    (
        "clippy::future_not_send",
        "a workflow stays on one thread; an activity that cannot move is an error",
    ),
    (
        "clippy::missing_errors_doc",
        "the function returns a call, which has errors when it is awaited",
    ),
    ("clippy::missing_panics_doc", "the call does not panic"),
    (
        "clippy::needless_pass_by_value",
        "inputs are read back from the history, so they are owned",
    ),
    ("clippy::unnecessary_wraps", "a `Result` is prescribed"),
    ("clippy::unused_async", "`async` is prescribed"),
];

const HEAD: &str = "//! Linted.
#![warn(
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    single_use_lifetimes,
    trivial_casts,
    unit_bindings,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![forbid(unsafe_code)]

pub mod careless;
pub mod prescribed;
pub mod sdk;
pub mod shop;
";

#[test]
fn rw39_the_same_lints_fire_at_the_same_tokens() {
    let mut project = Project::new("lints");
    let editions = ["2021", "2024"];
    for edition in editions {
        for form in [Form::Annotated, Form::Plain] {
            let of = |path: &str| form.of(&source(path));
            project.package(
                &format!("{}-{edition}", form.name()),
                edition,
                &[
                    ("src/lib.rs".to_owned(), HEAD.to_owned()),
                    (
                        "src/sdk.rs".to_owned(),
                        source(&format!("{}.rs", form.name())),
                    ),
                    ("src/shop.rs".to_owned(), of("lints/shop.rs")),
                    ("src/careless.rs".to_owned(), of("lints/careless.rs")),
                    ("src/prescribed.rs".to_owned(), of("lints/prescribed.rs")),
                ],
            );
        }
    }
    let said = project.findings(&["clippy"]);
    for edition in editions {
        let of = |form: Form| -> Vec<&Finding> {
            let package = format!("{}-{edition}", form.name());
            let of_package = said.iter().filter(|(of, _, _)| *of == package);
            let mut findings: Vec<_> = of_package.map(|(_, _, finding)| finding).collect();
            findings.sort();
            findings
        };
        let (annotated, plain) = (of(Form::Annotated), of(Form::Plain));

        let added = without(&annotated, &plain);
        assert!(
            added.is_empty(),
            "edition {edition}: the attributes cause\n{}",
            lines(&added)
        );
        let lost = without(&plain, &annotated);
        let (prescribed, lost): (Vec<_>, Vec<_>) = lost
            .into_iter()
            .partition(|finding| PRESCRIBED.iter().any(|(code, _)| finding.code == *code));
        assert!(
            lost.is_empty(),
            "edition {edition}: the attributes hide\n{}",
            lines(&lost)
        );

        // Each exception is one that is needed.
        let hidden: BTreeSet<_> = prescribed
            .iter()
            .map(|finding| finding.code.as_str())
            .collect();
        assert_eq!(hidden, PRESCRIBED.map(|(code, _)| code).into());
        let mut clean = annotated.clone();
        clean.retain(|finding| finding.file == "shop.rs");
        assert!(
            clean.is_empty(),
            "the shop is as clean as code can be\n{}",
            lines(&clean)
        );
        let codes: BTreeSet<_> = annotated.iter().map(|finding| &finding.code).collect();
        assert!(codes.len() > 25, "there is something to compare: {codes:?}");
    }
}

/// Where a name comes from the user and the attribute from a `macro_rules!`, what is generated is no foreign code to
/// the compiler.
const BY_MACRO: &str = "//! Written by macros.

use perennial::prelude::*;

macro_rules! shop {
    ($charge:ident, $helper:ident, $order:ident, $change:ident) => {
        #[activity(pure)]
        pub(crate) async fn $charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
            Ok(cents)
        }

        #[durable]
        pub(crate) async fn $helper(cx: &Cx, cents: u64) -> Result<u64, Error> {
            Ok($charge(cx, cents).await?)
        }

        #[workflow]
        pub(crate) async fn $order(cx: &Cx, cents: u64, times: u64) -> Result<u64, Error> {
            if cx.patched(\"twice\") {
                $helper(cx, cents).await?;
            }
            Ok($helper(cx, cents).await? * times)
        }

        #[migration(from = \"orders\", to = $order)]
        pub(crate) fn $change(_old: &OldRun) -> Result<(u64, u64), Refuse> {
            Ok((1, 1))
        }
    };
}

shop!(charge, helper, order, change);

/// What is used.
pub fn used(cx: &Cx) -> bool {
    let _ = (order(cx, 1, 1), change);
    true
}

fn not_used() {}
";

#[test]
fn what_macro_rules_write_has_no_warnings() {
    let mut project = Project::new("lints-by-macro");
    for edition in ["2021", "2024"] {
        let lib = ("src/lib.rs".to_owned(), BY_MACRO.to_owned());
        project.package(&format!("by-macro-{edition}"), edition, &[lib]);
    }
    let said = project.findings(&["clippy"]);
    let said: Vec<_> = said.iter().map(|(_, _, finding)| finding).collect();
    // In each edition, so that it is known that something was linted.
    let messages: Vec<_> = said
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let expected = "function `not_used` is never used";
    assert_eq!(messages, [expected; 2], "{}", lines(&said));
}

/// Those of `findings` that `others` has no equal of: the place and the lint, as often as it is there.
fn without<'a>(findings: &[&'a Finding], others: &[&Finding]) -> Vec<&'a Finding> {
    let key = |finding: &Finding| {
        (
            finding.file.clone(),
            finding.line,
            finding.column,
            finding.code.clone(),
        )
    };
    let mut others: Vec<_> = others.iter().map(|finding| key(finding)).collect();
    let mut left = Vec::new();
    for finding in findings {
        match others.iter().position(|other| *other == key(finding)) {
            Some(index) => drop(others.swap_remove(index)),
            None => left.push(*finding),
        }
    }
    left
}
