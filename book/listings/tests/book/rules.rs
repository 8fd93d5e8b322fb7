//! Each rule has a page, and whoever names a rule leads to its page.

use std::collections::BTreeSet;
use std::fs;

use perennial_codegen::rules;

use crate::pages::links;
use crate::texts::{book, root};

fn codes() -> BTreeSet<&'static str> {
    rules().iter().map(|rule| rule.code).collect()
}

fn page(code: &str) -> String {
    let path = book().join("src/rules").join(code).with_extension("md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The codes in a text that follow `before`.
fn codes_after<'a>(text: &'a str, before: &str) -> BTreeSet<&'a str> {
    let rest = text.split(before).skip(1);
    rest.map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap()
    })
    .collect()
}

#[test]
fn each_rule_has_a_page_and_each_page_a_rule() {
    for code in codes() {
        let page = page(code);
        let headline = page.lines().next().unwrap();
        assert!(
            headline.starts_with(&format!("# {code}: ")),
            "{code}: {headline}"
        );
    }
    for entry in fs::read_dir(book().join("src/rules")).unwrap() {
        let path = entry.unwrap().path();
        let code = path.file_stem().unwrap().to_str().unwrap();
        assert!(codes().contains(code), "there is no rule {code}");
    }
}

/// A page shows its own error, and how to opt out of its rule where that can be.
#[test]
fn each_page_shows_the_error_and_the_opt_out_of_its_rule() {
    for rule in rules() {
        let (code, page) = (rule.code, page(rule.code));
        let shown = page.lines().filter_map(|line| {
            let file = line.strip_prefix("{{#include ../../")?.strip_suffix("}}")?;
            fs::read_to_string(book().join(file)).ok()
        });
        let headline = format!("[{code}]");
        let own = shown.filter(|text| text.contains(&headline)).count();
        assert!(own > 0, "{code}: no error with this code is shown");
        let form = rule
            .category
            .map(|category| format!("#[allow_nondeterminism({category}, reason = \"..\")]"));
        match form {
            Some(form) => assert!(page.contains(&form), "{code}: `{form}` is not shown"),
            None => assert!(
                page.contains("## Opting out\n\nThere is none."),
                "{code}: it has no opt-out, and the page does not say so"
            ),
        }
    }
}

#[test]
fn the_table_of_the_rules_is_whole() {
    let text = fs::read_to_string(book().join("src/determinism.md")).unwrap();
    let mut listed = BTreeSet::new();
    for row in text.lines().filter(|line| line.starts_with("| [D")) {
        let first = row.split('|').nth(1).unwrap();
        for link in links(first) {
            let code = link
                .strip_prefix("rules/")
                .and_then(|link| link.strip_suffix(".md"))
                .unwrap_or_else(|| panic!("{row}: {link}"));
            assert!(first.contains(&format!("[{code}]({link})")), "{row}");
            listed.insert(code.to_owned());
        }
    }
    assert_eq!(listed, codes().into_iter().map(str::to_owned).collect());
    for rule in rules() {
        if let Some(category) = rule.category {
            assert!(text.contains(&format!("`{category}`")), "{category}");
        }
    }
}

#[test]
fn what_an_error_refers_to_is_there() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("ui-tests/fail")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "stderr")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for code in codes_after(&text, "see: rules/") {
            assert!(codes().contains(code), "{}: {code}", path.display());
            count += 1;
        }
        for code in codes_after(&text, "error: [") {
            // What is not nondeterminism has a place in a chapter: `see: changing#l320 in the book`.
            let place = format!("#{} in the book", code.to_lowercase());
            let chapter = text.lines().find_map(|line| {
                let line = line.trim().strip_prefix("see: ")?;
                line.strip_suffix(place.as_str())
            });
            let seen = match chapter {
                Some(chapter) => {
                    let chapter = book().join("src").join(chapter).with_extension("md");
                    let chapter = fs::read_to_string(chapter).unwrap();
                    chapter.lines().any(|line| line == format!("### {code}"))
                }
                None => text.contains(&format!("see: rules/{code}")),
            };
            assert!(
                seen,
                "{}: [{code}] has no place in the book",
                path.display()
            );
        }
    }
    assert!(count > 20, "{count} references only");
}
