//! Mounts that nobody else sees, and that are gone whatever happens: a test that mounts something runs once
//! more in a process with namespaces of its own. When that process ends, the system ends all that it has
//! started, stopped ones too, takes the mounts away, and lets go of their loop devices.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Names the folder of the test, in the other process.
const FOLDER: &str = "PERENNIAL_TEST_MOUNTS";
const NAMESPACES: [&str; 4] = ["--mount", "--pid", "--fork", "--mount-proc"];

/// A program of the system, found also where only those for its administration are.
pub(super) fn program(name: &str) -> Command {
    let mut program = Command::new(name);
    let path = std::env::var("PATH").unwrap_or_default();
    program.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    program
}

/// Runs it to its end.
pub(super) fn run(program: &mut Command) -> Result<(), String> {
    let name = program.get_program().display().to_string();
    let ended = program
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    match ended.status {
        status if status.success() => Ok(()),
        status => Err(format!("{name}: {status}: {}", said.trim())),
    }
}

/// Why nothing can be mounted here.
fn refusal() -> Option<String> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let image = folder.path().join("image");
    std::fs::File::create(&image)
        .and_then(|image| image.set_len(8 << 20))
        .unwrap();
    let script = "mkfs.ext4 -q -F \"$1\" && mount -o loop \"$1\" \"$2\"";
    run(program("unshare")
        .args(NAMESPACES)
        .args(["sh", "-c", script, "sh"])
        .args([&image, folder.path()]))
    .err()
}

/// Runs `body` with mounts of its own, and gives it a folder. `test` is the whole name of the test that calls
/// this. Where that is not permitted it says so, and `body` does not run.
pub(super) fn with_own_mounts(test: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = folder() {
        return body(&folder);
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if let Some((status, has_passed)) = run_apart(test, folder.path()) {
        assert!(status.success(), "with mounts of its own: {status}");
        assert!(has_passed, "{test} is no test");
    }
}

/// The folder that the other process is given; `None`: this is not it.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(FOLDER)?;
    std::thread::spawn(end_with_the_other);
    Some(folder.into())
}

/// Runs the test in the other process, shows what it prints, and gives whether it has passed. `None`: nothing
/// can be mounted here, and it says so.
pub(super) fn run_apart(test: &str, folder: &Path) -> Option<(ExitStatus, bool)> {
    if let Some(reason) = refusal() {
        eprintln!("passed over: no file system can be mounted here ({reason})");
        return None;
    }
    let mut process = program("unshare")
        .args(NAMESPACES)
        // The first process of a namespace does not end by signals, so the test is not the first.
        .args(["sh", "-c", "\"$@\" 2>&1; exit $?", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Open as long as this process is there.
    let _ours = process.stdin.take();
    let mut has_passed = false;
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        has_passed |= line.starts_with("test result: ok. 1 passed");
        println!("    {line}");
    }
    Some((process.wait().unwrap(), has_passed))
}

/// The process that has started this one may be killed.
fn end_with_the_other() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(101);
}

/// The loop devices whose files are below `folder`.
pub(super) fn attached_below(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.canonicalize().unwrap();
    let devices = std::fs::read_dir("/sys/block").unwrap();
    let mut devices: Vec<_> = devices.map(|device| device.unwrap().path()).collect();
    devices.retain(|device| {
        let file = std::fs::read_to_string(device.join("loop/backing_file"));
        file.is_ok_and(|file| Path::new(&file).starts_with(&folder))
    });
    devices
}
