//! The compiler's errors that the book shows are those of the ui tests, word for word. Those about the lock are made
//! of packages that have one.

use std::fs;

use crate::pages::pages;
use crate::texts::{listings, root, updating};

/// One error: from its headline to the next.
fn errors(stderr: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = ["error", "warning"]
        .into_iter()
        .flat_map(|word| stderr.match_indices(word))
        .filter(|(at, _)| *at == 0 || stderr[..*at].ends_with("\n\n"))
        .map(|(at, _)| at)
        .collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).copied().chain([stderr.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(from, to)| stderr[*from..to].trim_end())
        .collect()
}

/// `<name of the ui test>--<what>.txt` holds one of the errors of that test.
#[test]
fn compile_errors_are_those_of_the_ui_tests() {
    let folder = listings().join("texts/compile");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let test = name.split("--").next().unwrap();
        let stderr = ["ui-tests/fail", "ui-tests/lock"]
            .map(|folder| root().join(folder).join(test).with_extension("stderr"))
            .into_iter()
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("there is no ui test {test}"));
        let stderr = fs::read_to_string(&stderr).unwrap();
        let shown = fs::read_to_string(&path).unwrap();
        let headline = shown.lines().next().unwrap();
        let errors = errors(&stderr);
        if updating() {
            let new = errors
                .iter()
                .find(|error| error.lines().next() == Some(headline));
            let new = new.unwrap_or_else(|| panic!("{name}: no error begins with `{headline}`"));
            fs::write(&path, format!("{new}\n")).unwrap();
        } else {
            assert!(
                errors.contains(&shown.trim_end()),
                "{name} is not an error of the ui test; `UPDATE_BOOK=1 cargo test -p perennial-book` writes it anew"
            );
        }
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn each_compile_error_is_shown() {
    let pages = pages();
    for entry in fs::read_dir(listings().join("texts/compile")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The README shows it.
        let shown = name == "twenty_at_once--clock.txt"
            || pages.iter().any(|(_, text)| text.contains(&name));
        assert!(shown, "no page shows {name}");
    }
}
