//! What it says when it cannot do what it is asked.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use perennial_runtime::store::{SledStore, Store as _};

use crate::world::{MIRROR, Said, World, tree};

fn snapshot(name: &str, said: &Said) {
    insta::assert_snapshot!(
        name,
        format!(
            "exit code {:?}\n{}{}",
            said.code.unwrap(),
            said.out,
            said.err
        )
    );
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_made() {
    let world = World::new();
    world.write("sub/file", "content");
    fs::write(world.path("plain"), "").unwrap();
    fs::create_dir(world.path("full")).unwrap();
    fs::write(world.path("full/mine.txt"), "mine").unwrap();
    symlink(world.source(), world.path("link")).unwrap();
    let before = tree(&world.path(""));
    let cases = [
        ("source_missing", ["missing", "target", "store"]),
        ("source_is_a_file", ["plain", "target", "store"]),
        ("target_is_a_file", ["source", "plain", "store"]),
        ("target_below_a_file", ["source", "plain/target", "store"]),
        ("same_folder", ["source", "link", "store"]),
        ("target_in_source", ["source", "link/new/target", "store"]),
        ("source_in_target", ["source/sub", "link", "store"]),
        ("store_in_source", ["source", "target", "source/store"]),
        ("store_in_target", ["source", "target", "target/store"]),
        ("target_has_files", ["source", "full", "store"]),
    ];
    for (name, [source, target, store]) in cases {
        let said = world.said(world.command().args([source, target, "--store", store]));
        assert_eq!(said.code, Some(1), "{name}");
        snapshot(name, &said);
    }
    assert_eq!(tree(&world.path("")), before, "nothing was made");
    let said = world.said(world.command().args([
        "source",
        "target",
        "--store",
        "store",
        "--log",
        "missing/log",
    ]));
    snapshot("log_cannot_be_opened", &said);
}

#[test]
fn the_target_of_another_source_is_refused() {
    let world = World::new();
    world.write("file", "content");
    assert_eq!(world.mirror(&[]).code, Some(0));
    fs::create_dir(world.path("other")).unwrap();
    let mut command = world.command();
    command
        .arg("other")
        .arg(world.target())
        .arg("--store")
        .arg(world.path("store"));
    snapshot("target_of_another", &world.said(&mut command));
}

#[test]
fn a_store_that_another_process_has_is_left_to_it() {
    let world = World::new();
    world.write("file", "content");
    let store = SledStore::open(world.path("store")).unwrap();
    let mut said = world.mirror(&[]);
    said.err = said
        .err
        .replace(&format!("process {}", std::process::id()), "process [id]");
    snapshot("store_held", &said);
    store.close().unwrap();
}

#[test]
fn what_is_in_the_way_is_left_alone() {
    let world = World::new();
    world.write("folder/file", "content");
    world.write("name", "content");
    symlink("anywhere", world.source().join("link")).unwrap();
    let clear = |name: &str, make: &dyn Fn(&Path)| {
        let _ = fs::remove_dir_all(world.target());
        fs::create_dir(world.target()).unwrap();
        make(&world.target());
        snapshot(name, &world.mirror(&["--adopt", "--again"]));
    };
    clear("file_for_a_folder", &|target| {
        fs::write(target.join("folder"), "in the way").unwrap()
    });
    // Through it the mirror would be written to wherever it points.
    clear("link_for_a_folder", &|target| {
        symlink(world.path("outside"), target.join("folder")).unwrap()
    });
    clear("folder_for_a_file", &|target| {
        fs::create_dir(target.join("name")).unwrap()
    });
    clear("folder_for_a_link", &|target| {
        fs::create_dir(target.join("link")).unwrap()
    });
    clear("file_for_its_own", &|target| {
        fs::write(target.join(".mirror"), "in the way").unwrap()
    });
    assert!(!world.path("outside").exists());
    clear("nothing_in_the_way", &|_| {});
    assert_eq!(tree(&world.source()), tree(&world.target()));
}

#[test]
fn a_failed_run_says_so_when_it_is_started_again() {
    let world = World::new();
    world.write("name", "content");
    fs::create_dir_all(world.target().join("name")).unwrap();
    assert_eq!(world.mirror(&["--adopt"]).code, Some(1));
    fs::remove_dir(world.target().join("name")).unwrap();
    snapshot("failed_before", &world.mirror(&[]));
    assert_eq!(world.mirror(&["--again"]).code, Some(0));
    assert_eq!(tree(&world.source()), tree(&world.target()));
}

#[test]
fn special_files_are_skipped() {
    let world = World::new();
    world.write("file", "content");
    assert!(
        Command::new("mkfifo")
            .arg(world.source().join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let _socket = std::os::unix::net::UnixListener::bind(world.source().join("socket"));
    snapshot("special_files", &world.mirror(&[]));
}

/// A file system of its own that is too small, in a namespace that goes with the process.
#[test]
fn a_full_target_names_the_file_and_goes_on_after_room_was_made() {
    let user: &[&str] = &["--mount", "--map-root-user"];
    let allowed = |options: &&&[&str]| {
        let mount = "mount -t tmpfs -o size=1m none /mnt";
        Command::new("unshare")
            .args(**options)
            .args(["sh", "-c", mount])
            .status()
            .is_ok_and(|status| status.success())
    };
    let Some(unshare) = [&["--mount"], user].iter().find(allowed).copied() else {
        eprintln!("skipped: nothing can be mounted here");
        return;
    };
    let world = World::new();
    world.write("a-small", "fits");
    world.write("b-large", vec![7; 3 << 20]);
    fs::create_dir(world.target()).unwrap();
    let script = r#"
        target=$1; shift
        mount -t tmpfs -o size=1m none "$target" || exit 99
        echo '$ mirror'; "$@" 2>&1
        echo '$ ls'; ls "$target"
        echo '$ mirror'; "$@" 2>&1
        mount -o remount,size=8m "$target"
        echo '$ mirror --again'; "$@" --again 2>&1
        cmp "$target/b-large" source/b-large
    "#;
    let mut command = Command::new("unshare");
    command
        .args(unshare)
        .args(["sh", "-c", script, "sh"])
        .arg(world.target())
        .arg(MIRROR);
    command.args(world.arguments()).current_dir(world.path(""));
    let said = world.said(&mut command);
    let free = |line: &str| match line.trim_start().split_once("free  ") {
        Some(("", _)) => "  free    [bytes]".to_owned(),
        _ => line.to_owned(),
    };
    let out: Vec<String> = said.out.lines().map(free).collect();
    insta::assert_snapshot!("target_full", out.join("\n"));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

/// Where the test is run by root, who may read everything, the program is run by nobody.
#[test]
fn what_may_not_be_read_is_skipped() {
    const NOBODY: u32 = 65_534;
    let world = World::new();
    world.write("file", "content");
    world.write("secret", "content");
    world.write("closed/file", "content");
    let command = || {
        let mut command = world.command();
        if rustix::process::getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if rustix::process::getuid().is_root() {
        for path in [
            "",
            "source",
            "source/file",
            "source/secret",
            "source/closed",
            "source/closed/file",
        ] {
            chown(world.path(path), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    if !command()
        .arg("--help")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("skipped: nobody may not run the program here");
        return;
    }
    let mode = |path: &str, mode| {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).unwrap()
    };
    mode("source/secret", 0o000);
    mode("source/closed", 0o000);
    let said = world.said(command().args(world.arguments()));
    mode("source/closed", 0o700);
    snapshot("not_to_be_read", &said);
    fs::create_dir(world.path("read only")).unwrap();
    mode("read only", 0o555);
    let mut into = command();
    into.args(["source", "read only/target", "--store", "store"]);
    snapshot("not_to_be_written", &world.said(&mut into));
}
