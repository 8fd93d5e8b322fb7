//! `perennial clippy`: the entries of Perennial come into a `clippy.toml`, and nothing of the user's goes.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use perennial_codegen::clippy;

/// A folder with files in it, and the command called for it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(name: &str, text: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path().join(name), text).unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The exit code and what was said, with another name for the folder.
    fn call(&self, arguments: &[&str]) -> String {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let folder = self.path().to_str().unwrap();
        let arguments = ["perennial", "clippy"].iter().chain(arguments);
        let code = perennial_cli::call(arguments.chain([&folder]), &mut out, &mut errors);
        out.append(&mut errors);
        let said = String::from_utf8(out).unwrap().replace(folder, "[folder]");
        let said = said.replace(
            &format!("{} entries", clippy::paths().count()),
            "[n] entries",
        );
        format!("exit code {code}\n{said}")
    }
}

/// The text without the lines of the entries, of which there are many.
fn without_entries(text: &str) -> String {
    let is_entry = |line: &&str| line.contains("allow-invalid");
    let mut lines: Vec<_> = text.lines().filter(|line| !is_entry(line)).collect();
    if let Some(begin) = lines.iter().position(|line| line.contains(clippy::BEGIN)) {
        lines.insert(begin + 1, "    [entries]");
    }
    lines.join("\n")
}

#[test]
fn a_file_is_made_where_there_is_none() {
    let folder = Folder::with("Cargo.toml", "[package]\nname = \"shop\"\n");
    insta::assert_snapshot!(folder.call(&["--check"]));
    assert!(
        !folder.path().join("clippy.toml").exists(),
        "a check writes nothing"
    );
    insta::assert_snapshot!(folder.call(&[]));
    insta::assert_snapshot!(without_entries(&folder.read("clippy.toml")));
    insta::assert_snapshot!(folder.call(&["--check"]));
}

#[test]
fn the_users_entries_comments_and_tables_stay() {
    let folder = Folder::with(
        "clippy.toml",
        r#"# Ours.
msrv = "1.95"
disallowed-methods = [ "std::env::set_var", # it is not safe
    { path = "std::time::SystemTime::now", reason = "ours \"[\" ]" },
]   # until here

[[disallowed-names-of-ours-that-clippy-does-not-know]]
name = "foo"
"#,
    );
    folder.call(&[]);
    let text = folder.read("clippy.toml");
    insta::assert_snapshot!(without_entries(&text));
    // The last one of a path is the one that clippy takes.
    assert!(text.rfind("SystemTime::now").unwrap() > text.find(clippy::END).unwrap());
    let again = folder.call(&[]);
    insta::assert_snapshot!(again);
    assert_eq!(folder.read("clippy.toml"), text);
}

#[test]
fn the_key_is_put_before_the_first_table() {
    let folder = Folder::with(
        ".clippy.toml",
        "too-many-lines-threshold = 200 # [here]\n[[standard-macro-braces]]\nname = \"json\"\nbrace = \"{\"\n",
    );
    folder.call(&[]);
    insta::assert_snapshot!(without_entries(&folder.read(".clippy.toml")));
}

#[test]
fn entries_that_are_not_current_are_named_and_replaced() {
    let old: Vec<_> = clippy::block()
        .lines()
        .filter(|line| !line.contains("chrono::"))
        .map(|line| format!("\t{}\n", line.trim()))
        .collect();
    let mut old = old.concat();
    let end = old.find(clippy::END).unwrap();
    old.insert_str(end, "\t{ path = \"old::call\", reason = \"\" },\n");
    let folder = Folder::with("clippy.toml", &format!("disallowed-methods = [\n{old}]\n"));
    insta::assert_snapshot!(folder.call(&["--check"]));
    folder.call(&[]);
    assert_eq!(
        folder.read("clippy.toml"),
        format!("disallowed-methods = [\n{}]\n", clippy::block())
    );

    let reworded = folder
        .read("clippy.toml")
        .replacen("[D101] it", "[D101] this", 1);
    let folder = Folder::with("clippy.toml", &reworded);
    insta::assert_snapshot!(folder.call(&["--check"]));
}

#[test]
fn indentation_does_not_matter() {
    let block = clippy::block().replace("    {", "{").replace("{ ", "{");
    let folder = Folder::with(
        "clippy.toml",
        &format!("disallowed-methods = [{block}]\n").replace("[    #", "[\n#"),
    );
    insta::assert_snapshot!(folder.call(&["--check"]));
}

#[test]
fn entries_outside_of_the_array_come_into_it() {
    let commented: String = clippy::block()
        .lines()
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let text = format!("other = [\n{commented}]\ndisallowed-methods = [\"a::b\"]\n");
    let folder = Folder::with("clippy.toml", &text);
    insta::assert_snapshot!(folder.call(&["--check"]));
    folder.call(&[]);
    let block = clippy::block();
    let expected = format!("other = [\n]\ndisallowed-methods = [\n{block}    \"a::b\"]\n");
    assert_eq!(folder.read("clippy.toml"), expected);
}

#[test]
fn what_cannot_be_kept_is_left_alone() {
    let half = format!(
        "disallowed-methods = [\n    {}\n    \"a::b\",\n]\n",
        clippy::BEGIN
    );
    let texts = [
        "disallowed-methods = [\"a::b\"",
        "disallowed-methods = 1",
        "[[disallowed-methods]]\npath = \"a::b\"\n",
        &half,
    ];
    let mut said = String::new();
    for text in texts {
        let folder = Folder::with("clippy.toml", text);
        said.push_str(&folder.call(&[]));
        assert_eq!(folder.read("clippy.toml"), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn the_lints_of_the_manifest_are_not_asked_for_twice() {
    let manifest = "[workspace.lints.clippy]\ndisallowed_methods = \"allow\"\n";
    let folder = Folder::with("Cargo.toml", manifest);
    insta::assert_snapshot!(folder.call(&[]));
}

#[test]
fn in_a_workspace_the_lints_are_those_of_the_workspace() {
    let inherits = "[package]\nname = \"shop\"\n\n[lints]\nworkspace = true\n";
    let root = Folder::with("Cargo.toml", "[workspace]\nmembers = [\"shop\"]\n");
    let member = root.path().join("shop");
    fs::create_dir(&member).unwrap();
    fs::write(member.join("Cargo.toml"), inherits).unwrap();
    insta::assert_snapshot!(root.call(&[]));

    let says = "[workspace]\nmembers = [\"shop\"]\n\n[workspace.lints.clippy]\ndisallowed_methods = \"allow\"\n";
    fs::write(root.path().join("Cargo.toml"), says).unwrap();
    let member = member.to_str().unwrap();
    let mut out = Vec::new();
    perennial_cli::call(["perennial", "clippy", member], &mut out, &mut Vec::new());
    let said = String::from_utf8(out).unwrap();
    assert!(!said.contains("Cargo.toml"), "{said}");
}

#[test]
fn lines_end_as_the_others_of_the_file() {
    let texts = [
        "msrv = \"1.95\"\r\n",
        "disallowed-methods = [\r\n    \"a::b\", # ours\r\n]\r\n",
    ];
    for text in texts {
        let folder = Folder::with("clippy.toml", text);
        folder.call(&[]);
        let new = folder.read("clippy.toml");
        assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
        let said = folder.call(&["--check"]);
        assert!(said.contains("up to date"), "{said}");
    }
}

#[test]
fn brackets_and_commas_of_short_lists_stay() {
    let block = clippy::block();
    for (old, rest) in [
        ("disallowed-methods = []\n", "]\n"),
        ("disallowed-methods = [ ]", "]"),
        ("disallowed-methods = [\"a::b\"]\n", "    \"a::b\"]\n"),
    ] {
        let folder = Folder::with("clippy.toml", old);
        folder.call(&[]);
        let expected = format!("disallowed-methods = [\n{block}{rest}");
        assert_eq!(folder.read("clippy.toml"), expected);
    }
}

#[test]
fn a_folder_that_is_not_there_becomes_no_file() {
    let folder = Folder::with("Cargo.toml", "");
    let mistyped = folder.path().join("shpo");
    let mut errors = Vec::new();
    let arguments = ["perennial", "clippy", mistyped.to_str().unwrap()];
    let code = perennial_cli::call(arguments, &mut Vec::new(), &mut errors);
    let said = String::from_utf8(errors).unwrap();
    let said = said.replace(folder.path().to_str().unwrap(), "[folder]");
    insta::assert_snapshot!(format!("exit code {code}\n{said}"));
    assert!(!mistyped.exists());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let shared = Folder::with("shared.toml", "msrv = \"1.95\"\n");
    let target = shared.path().join("shared.toml");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let folder = Folder::with("Cargo.toml", "");
    symlink(&target, folder.path().join("clippy.toml")).unwrap();
    folder.call(&[]);
    assert!(folder.path().join("clippy.toml").is_symlink());
    assert_eq!(clippy::is_current(&shared.read("shared.toml")), Ok(()));
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// The file that people read, in the repository, is kept by the command itself:
/// `cargo run -p perennial-cli -- clippy macros/clippy/perennial.clippy.toml`.
#[test]
fn the_shipped_file_is_current() {
    let shipped = include_str!("../../../macros/clippy/perennial.clippy.toml");
    assert_eq!(clippy::is_current(shipped), Ok(()));
}

#[test]
fn the_command_says_what_it_does() {
    let mut out = Vec::new();
    let code = perennial_cli::call(["perennial", "clippy", "--help"], &mut out, &mut Vec::new());
    assert_eq!(code, 0);
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}
