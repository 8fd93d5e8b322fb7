//! What is in the mirror.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use perennial_examples::mirror::StoredPath;

use crate::world::{World, digest, tree};

/// A source with one of everything.
fn one_of_everything(world: &World) {
    world.write("a/b/c/d/deep.txt", "deep");
    world.write("a/empty.txt", "");
    world.write("a/big.bin", pattern(3 << 20));
    world.write("100%.txt", "percent");
    world.write("größe 日本 🦀/x", "unicode");
    world.write("new\nline", "newline");
    world.write(OsStr::from_bytes(b"not utf-8 \xff\xfe"), "bytes");
    world.write("-rf", "no option");
    world.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(
        world.source().join("run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    world.write("locked/file", "read only");
    fs::set_permissions(
        world.source().join("locked/file"),
        fs::Permissions::from_mode(0o400),
    )
    .unwrap();
    fs::set_permissions(
        world.source().join("locked"),
        fs::Permissions::from_mode(0o500),
    )
    .unwrap();
    fs::create_dir_all(world.source().join("no files/at all")).unwrap();
    symlink("a/big.bin", world.source().join("link")).unwrap();
    symlink("/nowhere/to be found", world.source().join("a/dangling")).unwrap();
    symlink(".", world.source().join("a/round")).unwrap();
}

fn pattern(length: u32) -> Vec<u8> {
    (0..length)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect()
}

#[test]
fn all_of_it_is_in_the_mirror_and_in_the_manifest() {
    let world = World::new();
    one_of_everything(&world);
    let said = world.mirror(&[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    insta::assert_snapshot!("mirrored", said.out + "---\n" + &said.err);
    assert_eq!(tree(&world.source()), tree(&world.target()));

    let manifest = fs::read(world.target().join(".mirror/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_array().unwrap();
    assert_eq!(files.len(), 10);
    for file in files {
        let path: StoredPath = serde_json::from_value(file["path"].clone()).unwrap();
        let content = fs::read(path.under(&world.source())).unwrap();
        assert_eq!(file["size"], content.len());
        assert_eq!(file["sha256"], digest(&content));
    }
    let names: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"not utf-8 %FF%FE") && names.contains(&"100%25.txt"),
        "{names:?}"
    );
    assert!(names.is_sorted());
    assert_eq!(manifest["links"].as_array().unwrap().len(), 3);
    assert_eq!(manifest["skipped"].as_array().unwrap().len(), 0);
    let mut own: Vec<_> = fs::read_dir(world.target().join(".mirror"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    own.sort();
    assert_eq!(own, ["manifest.json", "source"], "the notes are gone");
}

#[test]
fn a_finished_run_says_so_and_can_begin_anew() {
    let world = World::new();
    one_of_everything(&world);
    assert_eq!(world.mirror(&[]).code, Some(0));
    let before = world.log();
    let second = world.mirror(&[]);
    assert_eq!(second.code, Some(0));
    assert_eq!(world.log(), before, "nothing was copied");
    insta::assert_snapshot!(
        "finished_before",
        took_redacted(&second.out) + "---\n" + &second.err
    );

    world.write("a/empty.txt", "not any more");
    world.write("new.txt", "new");
    fs::remove_file(world.source().join("-rf")).unwrap();
    // The same content under another time and mode.
    world.write("100%.txt", "percent");
    fs::set_permissions(
        world.source().join("run.sh"),
        fs::Permissions::from_mode(0o711),
    )
    .unwrap();
    let again = world.mirror(&["--again"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    insta::assert_snapshot!("again", again.out + "---\n" + &again.err);
    assert_eq!(
        world.log()[before.len()..],
        ["copied a/empty.txt", "copied new.txt"]
    );
    let mut mirrored = tree(&world.target());
    assert!(
        mirrored.remove(b"-rf".as_slice()).is_some(),
        "a mirror deletes nothing"
    );
    let source = tree(&world.source());
    // What was deleted from the root is the only difference; the root itself is not compared.
    assert_eq!(source, mirrored);
}

fn took_redacted(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(", after ") {
        Some((before, _)) => format!("{before}, after [a while]"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_mirror_of_a_mirror_leaves_the_first_ones_own_things_out() {
    let world = World::new();
    world.write("file", "content");
    assert_eq!(world.mirror(&[]).code, Some(0));
    let second = world.path("second");
    let mut command = world.command();
    command
        .args([&world.target(), &second])
        .arg("--store")
        .arg(world.path("store"));
    let said = world.said(&mut command);
    assert_eq!(said.code, Some(3));
    insta::assert_snapshot!("mirror_of_a_mirror", said.out);
    assert_eq!(tree(&world.target()), tree(&second));
}

#[test]
fn a_folder_of_thousands_takes_several_pages() {
    let world = World::new();
    for n in 0..1_234 {
        world.write(format!("many/{n}"), n.to_string());
    }
    let said = world.mirror(&[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(tree(&world.source()), tree(&world.target()));
    assert!(said.out.contains("1,234 files"), "{}", said.out);
}

#[test]
fn what_differs_in_the_target_is_replaced() {
    let world = World::new();
    world.write("text", "the source's");
    world.write("link", "a file");
    fs::create_dir(world.target()).unwrap();
    fs::write(world.target().join("text"), "the target's").unwrap();
    let elsewhere = world.path("elsewhere");
    fs::write(&elsewhere, "not to be touched").unwrap();
    symlink(&elsewhere, world.target().join("link")).unwrap();
    let said = world.mirror(&["--adopt"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(tree(&world.source()), tree(&world.target()));
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "not to be touched");
}
