//! The README's example is the first workflow of the book, and its error is one of the compiler's.

use std::fs;

use crate::texts::{listings, root};

#[test]
fn the_example_of_the_readme_is_the_one_that_runs() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let code = fs::read_to_string(listings().join("first-workflow/main.rs")).unwrap();
    let shown: Vec<&str> = readme
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().trim_end())
        .collect();
    assert!(!shown.is_empty(), "the README shows no code");
    let code: String = code
        .lines()
        .filter(|line| !line.contains("ANCHOR"))
        .flat_map(|line| [line, "\n"])
        .collect();
    for block in shown {
        assert!(
            code.contains(block),
            "the README shows other code than the book:\n{block}"
        );
    }
}

#[test]
fn the_error_of_the_readme_is_the_compilers() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let error = fs::read_to_string(listings().join("texts/compile/twenty_at_once--clock.txt"));
    let shown = readme.split("```text\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    assert_eq!(shown, error.unwrap());
}
