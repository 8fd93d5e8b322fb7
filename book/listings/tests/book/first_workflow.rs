//! *First workflow*, done by the book: a crate outside this workspace, killed in the middle.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cargo::{at_home, essential, succeed};
use crate::texts::{assert_text, listings, root};

#[allow(dead_code)]
#[path = "../../first-workflow/main.rs"]
mod compiled_here_so_that_clippy_and_fmt_see_it;

fn listing(name: &str) -> String {
    fs::read_to_string(listings().join("first-workflow").join(name)).unwrap()
}

/// Takes what was built of the crate away again: its folder, and so its name there, is another each time.
fn clean_up(target: &Path) {
    for folder in ["deps", "incremental", ".fingerprint"] {
        let folder = target.join("debug").join(folder);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("trip-") {
                let path = entry.path();
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            }
        }
    }
}

/// The program at a terminal of text files: what it prints must be what the file has, and where the file
/// has something after `> `, that is typed.
struct Terminal {
    program: Child,
}

impl Terminal {
    fn start(program: &Path, folder: &Path) -> Self {
        let program = Command::new(program)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { program }
    }

    #[track_caller]
    fn expect(&mut self, text: &str) {
        let mut found = vec![0; text.len()];
        let output = self.program.stdout.as_mut().unwrap();
        let mut length = 0;
        while length < found.len() {
            match output.read(&mut found[length..]).unwrap() {
                0 => break,
                more => length += more,
            }
        }
        assert_eq!(String::from_utf8_lossy(&found[..length]), text);
    }

    #[track_caller]
    fn play(&mut self, session: &str) {
        for line in session.lines() {
            match line.strip_prefix('>') {
                None if line == "Killed" => self.program.kill().unwrap(),
                None => self.expect(&format!("{line}\n")),
                Some(typed) => {
                    self.expect("> ");
                    if !typed.is_empty() {
                        let input = self.program.stdin.as_mut().unwrap();
                        writeln!(input, "{}", typed.trim_start()).unwrap();
                    }
                }
            }
        }
    }

    /// What it prints until it ends.
    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.program
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        rest
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// On Linux only: elsewhere the embedded store does not promise to survive a power cut, so that
/// `Runtime::builder(folder)` refuses to start.
#[test]
#[cfg(target_os = "linux")]
fn the_first_workflow_is_killed_in_the_middle_and_goes_on() {
    // The crate: outside this workspace.
    let outside = tempfile::tempdir().unwrap();
    let setup = listing("setup.sh").replace("../perennial", root().to_str().unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euc", &setup]).current_dir(&outside);
    succeed(at_home(&mut bash));
    let trip = outside.path().join("trip");
    let manifest = fs::read_to_string(trip.join("Cargo.toml")).unwrap();
    assert_eq!(essential(&manifest), essential(&listing("Cargo.toml.txt")));
    fs::write(trip.join("src/main.rs"), listing("main.rs")).unwrap();
    fs::copy(root().join("Cargo.lock"), trip.join("Cargo.lock")).unwrap();

    let mut build = Command::new(env!("CARGO"));
    build.arg("build").current_dir(&trip);
    succeed(at_home(&mut build));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let program = target.join("debug/trip");

    // It runs beside the target folder, on the disk: not every system has its temporary folder there.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut terminal = Terminal::start(&program, folder.path());
    terminal.play(&listing("session-1.txt"));
    assert!(!terminal.program.wait().unwrap().success());
    drop(terminal);

    let mut terminal = Terminal::start(&program, folder.path());
    terminal.play(&listing("session-2.txt"));
    let rest = terminal.rest();
    assert!(terminal.program.wait().unwrap().success());
    let (result, history) = rest.split_once('\n').unwrap();
    assert_text("first-workflow/result.txt", result);
    assert_text("first-workflow/history.txt", history);

    // Once more: the run has ended, so there is nothing to ask.
    let mut terminal = Terminal::start(&program, folder.path());
    assert_eq!(terminal.rest(), rest);
    clean_up(target);
}
