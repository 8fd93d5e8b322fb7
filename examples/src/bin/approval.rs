//! Purchases that a person has to approve. See [`perennial_examples::approval`].

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use perennial::RunId;
use perennial_examples::approval::{
    Command, Desk, Letter, Line, Office, place_order, purchase, tell,
};
use perennial_runtime::store::OpenError;
use perennial_runtime::{Builder, Runtime, StartupError, cli};
use tokio::sync::mpsc;

/// Buys what a person approves of.
///
/// With a command it does that one. Without it asks for commands, one a line, and purchases go on meanwhile. Answers
/// that come while the program does not run are not lost: the next one takes them. Exit codes: 0 done, 1 not done,
/// 2 wrong arguments.
#[derive(Debug, Parser)]
#[command(name = "approval", max_term_width = 100)]
struct Arguments {
    /// Where the purchases are recorded, and letters and orders are written
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    folder: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Where everything is, if nothing else is said.
const FOLDER: &str = "target/approval";
/// How long purchases may take to go on before the program ends. Those that have not are no less safe.
const PATIENCE: Duration = Duration::from_secs(30);

type AnyError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    if cli::asked() {
        let (office, _) = Office::new(FOLDER);
        return cli::run(program(Path::new(FOLDER), office));
    }
    match run(Arguments::parse()).await {
        Ok(code) => code,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// All that the program can run.
fn program(folder: &Path, office: Office) -> Builder {
    Runtime::builder(folder.join("store"))
        .workflow(purchase)
        .activities((tell, place_order))
        .state(office)
}

async fn run(arguments: Arguments) -> Result<ExitCode, AnyError> {
    let Arguments { folder, command } = arguments;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (office, letters) = Office::new(&folder);
    let runtime = match program(&folder, office).start().await {
        Err(StartupError::Open(error @ OpenError::Held { .. })) => {
            let instead = "or type the command into the program that runs";
            return Err(format!("{error}, {instead}").into());
        }
        started => started?,
    };
    let mut session = Session {
        desk: Desk::new(runtime.client()),
        letters,
        follows: BTreeMap::new(),
    };
    let done = match command {
        Some(command) => session.execute(command).await,
        None => {
            session.commands().await;
            true
        }
    };
    session.settle().await;
    let drained = runtime.drain(PATIENCE).await;
    if drained.unfinished > 0 {
        say(
            "what is under way did not end in time; it is done again when the program is started again",
        );
    }
    Ok(if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// From the first command to the last.
struct Session {
    desk: Desk,
    letters: mpsc::UnboundedReceiver<Letter>,
    /// How many letters the purchases are still going to write that something was done to.
    follows: BTreeMap<RunId, usize>,
}

impl Session {
    /// Reads commands until there are no more, and shows letters meanwhile.
    async fn commands(&mut self) {
        if io::stdin().is_terminal() {
            say("`help` shows what can be typed, Ctrl-D ends the program");
        }
        let mut lines = lines();
        loop {
            tokio::select! {
                line = lines.recv() => match line {
                    None => return,
                    Some(line) if line.trim().is_empty() => {}
                    Some(line) => match Line::read(&line) {
                        Ok(command) => {
                            self.execute(command).await;
                        }
                        Err(error) => say(error.to_string().trim_end()),
                    },
                },
                Some(letter) = self.letters.recv() => self.show(&letter),
            }
        }
    }

    /// Does what a command asks for, and says whether it was done.
    async fn execute(&mut self, command: Command) -> bool {
        match self.desk.execute(command).await {
            Ok(reply) => {
                say(reply.text.trim_end());
                if let Some((run, letters)) = reply.follows {
                    *self.follows.entry(run).or_default() += letters;
                }
                true
            }
            Err(refused) => {
                complain(&refused.to_string());
                false
            }
        }
    }

    fn show(&mut self, letter: &Letter) {
        let Letter { run, to, text } = letter;
        say(&format!("{run}: letter to the {to}: {text}"));
        if let Some(left) = self.follows.get_mut(run) {
            *left -= 1;
            if *left == 0 {
                self.follows.remove(run);
            }
        }
    }

    /// Lets the purchases go on until they wait again, or have ended.
    async fn settle(&mut self) {
        let all = async {
            while !self.follows.is_empty() {
                match self.letters.recv().await {
                    Some(letter) => self.show(&letter),
                    None => return,
                }
            }
        };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            for run in self.follows.keys() {
                say(&format!("{run}: goes on when the program is started again"));
            }
        }
    }
}

/// The lines that are typed. Reading them holds a thread, which ends with the process.
fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// Nobody may be reading.
fn say(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

fn complain(error: &str) {
    let _ = writeln!(io::stderr().lock(), "error: {error}");
}
