//! A folder, and the program that is run in it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct World {
    root: tempfile::TempDir,
}

/// What the program said, without what differs from run to run.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        // The store wants a file system that can promise that what is written stays, which temporary
        // folders need not have.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { root }
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(path)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_approval"));
        command.current_dir(self.root.path()).stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn approval(&self, arguments: &[&str]) -> Said {
        let output = self.command().args(arguments).output().unwrap();
        Said {
            code: output.status.code(),
            out: redact(&String::from_utf8(output.stdout).unwrap()),
            err: redact(&String::from_utf8(output.stderr).unwrap()),
        }
    }

    /// A command that is done: what it says.
    #[track_caller]
    pub(crate) fn done(&self, command: &str) -> String {
        let arguments: Vec<_> = command.split(' ').collect();
        let said = self.approval(&arguments);
        assert_eq!(
            (said.code, said.err.as_str()),
            (Some(0), ""),
            "{}",
            said.out
        );
        said.out
    }

    /// A command that is not done: what it says.
    #[track_caller]
    pub(crate) fn not_done(&self, command: &str) -> String {
        let arguments: Vec<_> = command.split(' ').collect();
        let said = self.approval(&arguments);
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(1), ""),
            "{}",
            said.err
        );
        said.err
    }

    /// Starts it without a command: it reads them.
    pub(crate) fn start(&self) -> Running {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let typed = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Running {
            child,
            typed,
            lines,
        }
    }

    /// Makes it impossible to write letters, until that is undone.
    pub(crate) fn lose_letters(&self) {
        fs::create_dir_all(self.path("target/approval")).unwrap();
        fs::write(self.path("target/approval/letters"), "no folder").unwrap();
    }

    pub(crate) fn find_letters(&self) {
        fs::remove_file(self.path("target/approval/letters")).unwrap();
    }

    /// What is ordered.
    pub(crate) fn orders(&self) -> Vec<String> {
        let Ok(orders) = fs::read_dir(self.path("target/approval/orders")) else {
            return Vec::new();
        };
        orders
            .map(|order| fs::read_to_string(order.unwrap().path()).unwrap())
            .collect()
    }
}

/// Takes out the times.
fn redact(text: &str) -> String {
    let words = |word: &str| {
        let time = word.trim_end_matches('\n');
        if time.len() == 24 && time.ends_with('Z') && time.contains('T') {
            word.replace(time, "[time]")
        } else {
            word.to_owned()
        }
    };
    text.split_inclusive([' ', '\n'])
        .map(|word| {
            let (bare, space) = word.split_at(word.trim_end_matches([' ', '\n']).len());
            words(bare) + space
        })
        .collect()
}

/// The program at work.
pub(crate) struct Running {
    child: Child,
    typed: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.typed.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads on until a line has that in it.
    #[track_caller]
    pub(crate) fn until(&mut self, part: &str) -> String {
        let mut said = String::new();
        loop {
            let before = said.len();
            assert_ne!(
                self.lines.read_line(&mut said).unwrap(),
                0,
                "it ended before it said `{part}`:\n{said}"
            );
            if said[before..].contains(part) {
                return redact(&said[before..]);
            }
        }
    }

    /// Types nothing more, and waits for its end.
    pub(crate) fn end(mut self) {
        drop(self.typed.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Pulls the plug.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A test that fails leaves no program behind.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
