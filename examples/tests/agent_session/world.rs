//! A folder, the program that is run in it, and the stand-in that it asks.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use perennial_examples::agent_session::{Call, Reply, StandIn};

/// What is sent in place of a password.
pub(crate) const KEY: &str = "sk-never-shown-8d41";

pub(crate) struct World {
    root: tempfile::TempDir,
    tokio: tokio::runtime::Runtime,
    stand_in: StandIn,
}

/// What the program said.
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
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let stand_in = tokio.block_on(StandIn::start(0, Duration::ZERO)).unwrap();
        Self {
            root,
            tokio,
            stand_in,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent_session"));
        command
            .current_dir(self.root.path())
            .stdin(Stdio::null())
            .env("OPENAI_BASE_URL", self.stand_in.address())
            .env("OPENAI_MODEL", "stand-in")
            .env("OPENAI_API_KEY", KEY)
            .env("OPENAI_TIMEOUT", "2m");
        command
    }

    /// Runs it to its end, with nothing to read.
    pub(crate) fn agent_session(&self, arguments: &[&str]) -> Said {
        said(self.command().args(arguments))
    }

    /// A command that is done: what it says.
    #[track_caller]
    pub(crate) fn done(&self, command: &str) -> String {
        let said = self.agent_session(&command.split(' ').collect::<Vec<_>>());
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
        let said = self.agent_session(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(1), ""),
            "{}",
            said.err
        );
        said.err
    }

    /// All that was given out in a session.
    pub(crate) fn output(&self, session: &str) -> Vec<String> {
        let said = self.done(&format!("follow {session} --no-wait"));
        said.lines().map(str::to_owned).collect()
    }

    /// Begins a session or goes on with it: what is typed is said in it.
    pub(crate) fn chat(&self, arguments: &str) -> Chat {
        let mut command = self.command();
        command.arg("chat").args(arguments.split(' '));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let typed = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Chat {
            child,
            typed,
            lines,
        }
    }

    /// The next calls are treated like that.
    pub(crate) fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.stand_in.script(replies);
    }

    /// Whether answers wait.
    pub(crate) fn hold(&self, held: bool) {
        self.stand_in.hold(held);
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.stand_in.calls()
    }

    /// Waits until so many calls have come. The limit is for a test that has failed.
    #[track_caller]
    pub(crate) fn until_calls(&self, calls: usize) {
        let mut count = self.stand_in.count();
        let enough = count.wait_for(|count| *count >= calls);
        let limit = Duration::from_secs(120);
        let came = self
            .tokio
            .block_on(async { tokio::time::timeout(limit, enough).await.is_ok() });
        assert!(came, "{:?}", self.calls());
    }
}

/// Runs a command to its end.
pub(crate) fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What the user has said in a call, the newest last.
pub(crate) fn words(call: &Call) -> Vec<&str> {
    let words = call.messages.iter().filter(|said| said.role == "user");
    words.map(|said| said.content.as_str()).collect()
}

/// The program at work.
pub(crate) struct Chat {
    child: Child,
    typed: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Chat {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.typed.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads on until a line has that in it.
    #[track_caller]
    pub(crate) fn until(&mut self, part: &str) {
        let mut said = String::new();
        loop {
            let before = said.len();
            assert_ne!(
                self.lines.read_line(&mut said).unwrap(),
                0,
                "it ended before it said `{part}`:\n{said}"
            );
            if said[before..].contains(part) {
                return;
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
impl Drop for Chat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
