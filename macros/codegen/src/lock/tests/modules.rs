//! Which files belong to the crates of a package.

use std::path::PathBuf;

use super::super::files::{SourceFile, reached};

/// The files to which `mod`s lead, of those with these texts.
fn reached_in(files: &[(&str, &str)], manifest: &str) -> Vec<String> {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| SourceFile {
            path: PathBuf::from(path),
            text: Ok((*text).to_owned()),
        })
        .collect();
    let reached = reached(&files, manifest).into_iter();
    let mut paths: Vec<String> = reached
        .map(|file| file.to_string_lossy().replace('\\', "/"))
        .collect();
    paths.sort();
    paths
}

/// That all files are reached but those whose text is `NOT`.
fn all_but(files: &[(&str, &str)]) {
    let mut expected: Vec<&str> = files
        .iter()
        .filter(|(_, text)| *text != NOT)
        .map(|(path, _)| *path)
        .collect();
    expected.sort_unstable();
    assert_eq!(reached_in(files, ""), expected);
}

const NOT: &str = "// not reached";

#[test]
fn modules_are_files_beside_or_in_folders() {
    all_but(&[
        ("src/lib.rs", "pub(crate) mod a; mod b; mod r#type;"),
        ("src/a.rs", "mod c;"),
        ("src/a/c.rs", "mod d;"),
        ("src/a/c/d.rs", ""),
        ("src/b/mod.rs", "mod e;"),
        ("src/b/e.rs", "mod f;"),
        ("src/b/e/f.rs", ""),
        ("src/type.rs", ""),
        ("src/c.rs", NOT),
        ("src/b/f.rs", NOT),
        ("src/b/mod/e.rs", NOT),
        ("src/other.rs", NOT),
        ("src/template/lib.rs", NOT),
    ]);
}

#[test]
fn modules_stand_in_modules_of_the_same_file() {
    all_but(&[
        (
            "src/main.rs",
            "mod x { mod y; mod z { mod w; } fn f() {} } mod x2;",
        ),
        ("src/x/y.rs", ""),
        ("src/x/z/w.rs", ""),
        ("src/x2.rs", "mod in_it { mod deep; }"),
        ("src/x2/in_it/deep.rs", ""),
        ("src/y.rs", NOT),
        ("src/x/x2.rs", NOT),
    ]);
}

#[test]
fn each_binary_begins_a_crate() {
    all_but(&[
        ("src/bin/one.rs", "mod a;"),
        ("src/bin/a.rs", ""),
        ("src/bin/two/main.rs", "mod b;"),
        ("src/bin/two/b.rs", ""),
        ("src/bin/two/c.rs", NOT),
        ("src/bin/one/a.rs", NOT),
        ("src/a.rs", NOT),
    ]);
}

#[test]
fn a_path_is_followed_and_the_modules_of_its_file_are_beside_it() {
    all_but(&[
        (
            "src/lib.rs",
            "#[path = \"odd/name.rs\"] mod a; mod b; #[path = \"folder\"] mod c { mod d; #[path = \"e.rs\"] mod x; }",
        ),
        ("src/odd/name.rs", "mod beside;"),
        ("src/odd/beside.rs", ""),
        (
            "src/b.rs",
            "#[path = \"../src/up.rs\"] mod up; mod in_it { #[path = \"deep.rs\"] mod x; }",
        ),
        ("src/up.rs", ""),
        ("src/b/in_it/deep.rs", ""),
        ("src/folder/d.rs", ""),
        ("src/folder/e.rs", ""),
        ("src/odd/name/beside.rs", NOT),
        ("src/x.rs", NOT),
    ]);
}

#[test]
fn whatever_is_configured_is_followed() {
    all_but(&[
        (
            "src/lib.rs",
            "#[cfg(windows)] mod a; #[cfg_attr(unix, path = \"unix.rs\")] mod os; \
             cfg_if! { if #[cfg(x)] { mod b; } } #[doc = \"mod c;\"] mod d; // mod e;\n\
             include!(\"included.rs\"); macro_rules! m { () => { mod f; } }",
        ),
        ("src/a.rs", ""),
        ("src/os.rs", ""),
        ("src/unix.rs", ""),
        ("src/b.rs", ""),
        ("src/d.rs", ""),
        ("src/f.rs", ""),
        ("src/included.rs", ""),
        ("src/c.rs", NOT),
        ("src/e.rs", NOT),
    ]);
}

#[test]
fn a_crate_may_begin_where_the_manifest_says() {
    let files = [
        ("src/app/start.rs", "mod a;"),
        ("src/app/a.rs", ""),
        ("src/lib.rs", ""),
        ("src/other.rs", ""),
    ];
    assert_eq!(
        reached_in(&files, "[[bin]]\nname = 'x'\npath = './src/app/start.rs'\n"),
        ["src/app/a.rs", "src/app/start.rs", "src/lib.rs"]
    );
    // Nothing can be followed where nothing is known to begin.
    assert_eq!(
        reached_in(&files[..2], ""),
        ["src/app/a.rs", "src/app/start.rs"]
    );
}

#[test]
fn files_that_name_each_other_and_half_typed_ones_end() {
    for text in [
        "#[path = \"lib.rs\"] mod lib; #[path = \"a/../a.rs\"] mod a;",
        "#[path",
        "#[path = \"",
        "mod",
        "mod a",
        "#[path = \"../../../../x.rs\"] mod a {",
        "} } mod a; {",
        "include!(",
    ] {
        let files = [("src/lib.rs", text), ("src/a.rs", text)];
        assert!(reached_in(&files, "").contains(&"src/lib.rs".to_owned()));
    }
}
