//! A source, a target and a store, and the program that is run on them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sha2::{Digest as _, Sha256};

pub(crate) const MIRROR: &str = env!("CARGO_BIN_EXE_mirror");

/// A folder with all of it.
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
        let world = Self { root };
        fs::create_dir(world.source()).unwrap();
        world
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join(path)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.path("target")
    }

    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes a file of the source.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.source().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The arguments that all runs have.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let store = self.path("store");
        let log = self.path("log");
        let arguments: [&Path; 6] = [
            &self.source(),
            &self.target(),
            "--store".as_ref(),
            &store,
            "--log".as_ref(),
            &log,
        ];
        arguments.map(OsString::from).into()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(MIRROR);
        command
            .current_dir(self.root.path())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn mirror(&self, more: &[&str]) -> Said {
        self.said(self.command().args(self.arguments()).args(more))
    }

    pub(crate) fn said(&self, command: &mut Command) -> Said {
        let output = command.output().unwrap();
        Said {
            code: output.status.code(),
            out: self.redact(&output.stdout),
            err: self.redact(&output.stderr),
        }
    }

    /// Starts it with a line for each step. What is not read holds it up.
    pub(crate) fn start(&self) -> Running {
        let mut command = self.command();
        command
            .args(self.arguments())
            .arg("--verbose")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipe = child.stderr.take().unwrap();
        // So that the program is never far ahead of what was read.
        rustix::pipe::fcntl_setpipe_size(&pipe, 4_096).unwrap();
        let lines = BufReader::with_capacity(1_024, pipe);
        Running { child, lines }
    }

    /// Takes out what differs from run to run.
    pub(crate) fn redact(&self, text: &[u8]) -> String {
        let root = self
            .path("")
            .to_str()
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        let text = String::from_utf8(text.to_vec())
            .unwrap()
            .replace(&root, "[root]");
        let words = |word: &str| {
            let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
            match word.trim_end_matches([':', ',', '\n']) {
                digest if digest.len() == 64 && hex(digest) => word.replace(digest, "[digest]"),
                time if time.len() == 24 && time.ends_with('Z') && time.contains('T') => {
                    word.replace(time, "[time]")
                }
                run if run
                    .strip_prefix("mirror-")
                    .is_some_and(|digest| digest.len() == 16 && hex(digest)) =>
                {
                    word.replace(run, "mirror-[digest]")
                }
                _ => word.to_owned(),
            }
        };
        text.split_inclusive([' ', '\n'])
            .map(|word| {
                let (bare, space) = word.split_at(word.trim_end_matches([' ', '\n']).len());
                words(bare) + space
            })
            .collect()
    }
}

/// The program at work.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStderr>,
}

impl Running {
    /// The next line; `None`: it has ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.lines.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads on until a line begins with `start`.
    pub(crate) fn until(&mut self, start: &str) -> String {
        loop {
            let line = self
                .line()
                .unwrap_or_else(|| panic!("it ended before it said `{start}`"));
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Pulls the plug, and says whether it was still running.
    pub(crate) fn kill(mut self) -> bool {
        use std::os::unix::process::ExitStatusExt as _;
        self.child.kill().unwrap();
        self.child.wait().unwrap().signal() == Some(9)
    }

    pub(crate) fn interrupt(&self) {
        let kill = format!("kill -INT {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Reads all that it still says, and gives that and its exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

/// What is in a folder: kind, mode, time of change and content of each entry, without the mirror's own.
pub(crate) fn tree(root: &Path) -> BTreeMap<Vec<u8>, String> {
    let mut entries = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap();
            if below == Path::new(".mirror") {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            let about = format!(
                "{:o} {}.{}",
                metadata.mode() & 0o777,
                metadata.mtime(),
                metadata.mtime_nsec()
            );
            let what = if metadata.is_dir() {
                open.push(path.clone());
                format!("folder {about}")
            } else if metadata.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else {
                format!("file {about} {}", digest(&fs::read(&path).unwrap()))
            };
            entries.insert(below.as_os_str().as_bytes().to_vec(), what);
        }
    }
    entries
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
