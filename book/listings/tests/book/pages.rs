//! The pages: all code is included, all links lead somewhere, every page is in the summary.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::texts::{book, root};

/// The pages, those in folders below too.
pub(crate) fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![book().join("src")];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let text = fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    pages.sort();
    pages
}

/// The file and the anchor of an `{{#include file:anchor}}`.
fn include(line: &str) -> Option<(&str, Option<&str>)> {
    let inner = line
        .trim()
        .strip_prefix("{{#include ")?
        .strip_suffix("}}")?;
    Some(match inner.split_once(':') {
        None => (inner, None),
        Some((file, anchor)) => (file, Some(anchor)),
    })
}

/// That the file is there, and the anchor in it.
fn check_include(place: &str, page: &Path, line: &str) {
    let Some((file, anchor)) = include(line) else {
        panic!("{place}: `{line}` is no `{{{{#include ..}}}}`");
    };
    let code = fs::read_to_string(page.with_file_name(file))
        .unwrap_or_else(|error| panic!("{place}: {file}: {error}"));
    if let Some(anchor) = anchor {
        let marker = |word: &str| {
            let marker = format!("{word}: {anchor}");
            code.lines().any(|line| line.trim_end().ends_with(&marker))
        };
        let there = marker("ANCHOR") && marker("ANCHOR_END");
        assert!(there, "{place}: {file} has no anchor `{anchor}`");
    }
}

#[test]
fn every_code_block_is_included_from_a_file_that_is_tested() {
    let mut blocks = 0;
    for (path, text) in pages() {
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            match line.trim_start().strip_prefix("```") {
                Some(language) => {
                    inside = !inside;
                    blocks += usize::from(inside);
                    let said = language.is_empty() != inside;
                    assert!(said, "{place}: a block says its language where it begins");
                }
                None if inside || line.contains("{{#") => check_include(&place, &path, line),
                None => {}
            }
        }
        assert!(!inside, "{}: a block does not end", path.display());
    }
    assert!(blocks > 30, "the test found {blocks} blocks only");
}

/// The id that mdBook gives to a heading.
fn id(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '_' | '-') => Some(c.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

fn ids(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| id(line.trim_start_matches('#')))
        .collect()
}

/// What `[..](here)` leads to, code blocks left out.
pub(crate) fn links(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code
    });
    lines
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

fn check_links(path: &Path, text: &str) {
    for link in links(text) {
        if link.contains("://") {
            continue;
        }
        let (file, anchor) = link
            .split_once('#')
            .map_or((link, None), |(f, a)| (f, Some(a)));
        let target = if file.is_empty() {
            path.to_owned()
        } else {
            path.with_file_name(file)
        };
        assert!(
            target.exists(),
            "{}: the link `{link}` leads nowhere",
            path.display()
        );
        if let Some(anchor) = anchor {
            let there = ids(&fs::read_to_string(&target).unwrap()).contains(anchor);
            assert!(
                there,
                "{}: no heading for the link `{link}`",
                path.display()
            );
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    for (path, text) in pages() {
        check_links(&path, &text);
    }
    for name in ["README.md", "CHANGELOG.md"] {
        let path = root().join(name);
        check_links(&path, &fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let src = book().join("src");
    let summary = fs::read_to_string(src.join("SUMMARY.md")).unwrap();
    let listed = links(&summary);
    for (path, _) in pages() {
        let name = path.strip_prefix(&src).unwrap().to_str().unwrap();
        let there = name == "SUMMARY.md" || listed.contains(&name);
        assert!(there, "{name} is not in SUMMARY.md");
    }
}

/// A figure in a sentence is never measured again (O68): each stands in a file that says which command made it.
#[test]
fn figures_stand_beside_the_command_that_measured_them() {
    let units = [
        "commits/s",
        "steps/s",
        "events/s",
        "runs/s",
        "workflows/s",
        "µs",
        "MB/s",
    ];
    let tells = |line: &str| {
        let mut words = line.split_whitespace().peekable();
        let mut found = None;
        while let Some(word) = words.next() {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let unit = |word: &str| {
                units.iter().any(|unit| {
                    word.trim_matches(|c: char| ".,;)".contains(c))
                        .ends_with(unit)
                })
            };
            if is_number && (unit(word) || words.peek().is_some_and(|next| unit(next))) {
                found = Some(word.to_owned());
            }
        }
        found
    };
    assert_eq!(
        tells("it makes 5,000 steps/s there").as_deref(),
        Some("5,000")
    );
    assert_eq!(tells("measured in steps/s, 3 times"), None);
    let readme = root().join("README.md");
    let text = fs::read_to_string(&readme).unwrap();
    for (path, text) in pages().into_iter().chain([(readme, text)]) {
        for (number, line) in text.lines().enumerate() {
            let told = tells(line);
            assert_eq!(
                told,
                None,
                "{}:{}: a figure that no benchmark made",
                path.display(),
                number + 1
            );
        }
    }
    for entry in fs::read_dir(book().join("listings/figures")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("`cargo bench "),
            "{}: made by which command?",
            path.display()
        );
    }
}
