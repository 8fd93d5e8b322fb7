//! Texts that the book shows, as files.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the book.
pub(crate) fn book() -> PathBuf {
    listings().parent().unwrap().to_owned()
}

/// The folder of the listings.
pub(crate) fn listings() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    book().parent().unwrap().to_owned()
}

/// Whether texts are to be written anew rather than compared.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_BOOK").is_some()
}

/// Compares `found` with what the book shows.
#[track_caller]
pub(crate) fn assert_text(name: &str, found: &str) {
    let file = listings().join(name);
    let found = format!("{}\n", found.trim_end());
    if updating() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        return fs::write(file, found).unwrap();
    }
    let shown = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        shown, found,
        "the book shows another text in {name}; `UPDATE_BOOK=1 cargo test -p perennial-book` writes it anew"
    );
}

/// Compares `found` with what the book shows, apart from the numbers, which are others each time.
#[track_caller]
pub(crate) fn assert_like(name: &str, found: &str) {
    if updating() {
        return assert_text(name, found);
    }
    let without_numbers = |text: &str| {
        let words = text.split_whitespace().map(|word| {
            let is_digit = |c: char| c.is_ascii_digit();
            word.replace(is_digit, "").replace("KiB", "MiB")
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let shown = fs::read_to_string(listings().join(name)).unwrap_or_default();
    assert_eq!(
        without_numbers(&shown),
        without_numbers(found),
        "the book shows another text in {name}; `UPDATE_BOOK=1 cargo test -p perennial-book` writes it anew"
    );
}
