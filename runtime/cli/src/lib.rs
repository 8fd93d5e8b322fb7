//! The command `perennial`, as a function: what can be done from outside of the program whose runs are kept. See
//! *From the shell*, *Backup and upkeep*, *Determinism* and *The lock* in the book.

#![warn(missing_docs)]

mod clippy;
mod lock;
mod replace;
mod runs;
mod store;
mod workspace;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;

use clap::{Parser, Subcommand};

/// Talks to runs, looks after what Perennial keeps, and after programs that use it.
///
/// Exit codes: 0 done, 1 not done or something is wrong, 2 wrong arguments, 3 done but for what was lost, 4 it is
/// not known whether it was done.
#[derive(Debug, Parser)]
#[command(name = "perennial", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Send(runs::Send),
    Signal(runs::Signal),
    Pause(runs::Pause),
    Resume(runs::Resume),
    Fork(runs::Fork),
    Update(runs::Update),
    List(runs::List),
    Show(runs::Show),
    History(runs::History),
    Messages(runs::Messages),
    Waiting(runs::Waiting),
    Fulfil(runs::Fulfil),
    View(runs::View),
    Stream(runs::Stream),
    /// Checks, measures, exports and repairs stores in folders
    #[command(subcommand)]
    Store(store::Command),
    Clippy(clippy::Command),
    Lock(lock::Command),
}

type AnyError = Box<dyn Error>;

/// How a command ended that could be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Something is wrong with what was looked at.
    Wrong,
    /// It is done but for what was lost.
    Lossy,
    /// The arguments cannot be used.
    Unusable,
    /// It may be done or not.
    Unknown,
}

impl Outcome {
    /// Its exit code.
    fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Wrong => 1,
            Self::Unusable => 2,
            Self::Lossy => 3,
            Self::Unknown => 4,
        }
    }
}

/// Does what the arguments say, of which the first is the name of the command. What it found is written to
/// `out`, and why it was not done to `errors`. Gives the exit code.
pub fn call(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    // Nobody may be reading; the exit code says it too.
    let told = |to: &mut dyn Write, text: &str| drop(to.write_all(text.as_bytes()));
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        Err(error) => {
            let text = error.render().to_string();
            told(if error.use_stderr() { errors } else { out }, &text);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match command {
        Command::Send(command) => command.run(errors),
        Command::Signal(command) => command.run(errors),
        Command::Pause(command) => command.run(),
        Command::Resume(command) => command.run(),
        Command::Fork(command) => command.run(),
        Command::Update(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::History(command) => command.run(),
        Command::Messages(command) => command.run(),
        Command::Waiting(command) => command.run(),
        Command::Fulfil(command) => command.run(),
        Command::View(command) => command.run(out, errors),
        Command::Stream(command) => command.run(out, errors),
        Command::Store(command) => command.run(),
        Command::Clippy(command) => command.run(),
        Command::Lock(command) => command.run(),
    };
    match result {
        Ok((text, outcome)) => {
            told(out, &text);
            outcome.code()
        }
        Err(error) => {
            told(errors, &runs::inert(&format!("error: {error}\n")));
            let may_be_done = error.downcast_ref().map(runs::NotDone::may_be_done);
            match may_be_done {
                Some(true) => Outcome::Unknown.code(),
                _ if error.is::<runs::Unusable>() => Outcome::Unusable.code(),
                _ => Outcome::Wrong.code(),
            }
        }
    }
}
