//! A folder, and the command run there.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store as _, export};

pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Ran {
    /// Everything, for a snapshot, without what is another thing each time.
    pub(crate) fn all(&self) -> String {
        let text = format!("exit code {}\n{}{}", self.code, self.out, self.error);
        redacted(&text)
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, 0, "{}", self.all());
        self.out
    }
}

/// Without points in time of this century's years, and without how long nothing new has come to a run.
fn redacted(text: &str) -> String {
    let mut out = Vec::new();
    for line in text.split('\n') {
        let mut line = line.to_owned();
        while let Some((at, _)) = line
            .match_indices("20")
            .find(|(at, _)| is_time(&line[*at..]))
        {
            let end = line[at..].find('Z').map_or(line.len(), |end| at + end + 1);
            line.replace_range(at..end, "[time]");
        }
        if let Some((before, _)) = line.split_once("nothing new for ")
            && line.contains(" · ")
        {
            line = format!("{before}nothing new for [long]");
        }
        out.push(line);
    }
    out.join("\n")
}

/// `2025-11-24 10:14:58Z` or `2025-11-24T10:14:58.123Z`.
fn is_time(text: &str) -> bool {
    let form = "dddd-dd-dd?dd:dd:dd";
    text.len() > form.len()
        && form
            .bytes()
            .zip(text.bytes())
            .all(|(form, byte)| match form {
                b'd' => byte.is_ascii_digit(),
                b'?' => byte == b' ' || byte == b'T',
                other => byte == other,
            })
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `perennial ..` in the folder. Paths outside it do not occur in what it says.
    pub(crate) fn perennial(&self, arguments: &[&str]) -> Ran {
        self.with_input(arguments, "")
    }

    /// Lets it run, with what it says to be read.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_perennial"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.spawn(arguments);
        // It may have ended without a look at it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(&format!("{}/", folder.display()), "[folder]/")
        };
        Ran {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            error: text(output.stderr),
        }
    }

    /// Opens the store of this name, or makes it.
    pub(crate) fn open(&self, name: &str) -> SledStore {
        let options = SledStore::options().durability(Durability::Os);
        options
            .open(self.path(name))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// An export of the scene's runs, `runs.jsonl`, a day after it all began.
    pub(crate) fn with_export() -> Self {
        let world = Self::new();
        let store = MemoryStore::new();
        crate::scene::play(&store);
        let at = crate::scene::at(86_400);
        export::export_to(&store, world.path("runs.jsonl"), at).unwrap();
        world
    }

    /// A closed store that has the scene's runs.
    pub(crate) fn with_store(name: &str) -> Self {
        let world = Self::new();
        let store = world.open(name);
        crate::scene::play(&store);
        store.close().unwrap();
        world
    }
}
