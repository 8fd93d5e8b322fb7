//! The commands that a program has for those who run it: is it ready to be deployed, and would it go on with the
//! runs that are open?
//!
//! Workflows are code of yours, so no foreign command can replay them: your program has these commands itself.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use perennial::prelude::*;
//! use perennial_runtime::{Builder, Runtime, cli};
//!
//! #[workflow]
//! async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
//!     Ok(cents)
//! }
//!
//! fn program() -> Builder {
//!     Runtime::builder("./data").workflow(order)
//! }
//!
//! fn main() -> ExitCode {
//!     if cli::asked() {
//!         return cli::run(program());
//!     }
//!     // .. what it does otherwise, with `program().start()`
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! Then `my-shop perennial plan backup.jsonl` plans, and `my-shop perennial --help` lists the commands. A binary of
//! its own, whose `main` is `cli::run(program())` and nothing else, takes them without the word `perennial`. Prefer
//! the main binary: the name of a program in histories is by default a digest of its executable
//! ([`Builder::artifact`](crate::Builder::artifact)), so what another binary says of itself is not what is deployed.
//!
//! None of the commands starts the runtime or an activity. `manifest`, `check` and `plan` write nothing into a store
//! and make none. `blocked`, `unblock` and `migrate` open the store that they are told to list or to change.
//!
//! Exit codes: 0 done, 1 not done or something is wrong, 2 wrong arguments.

mod blocked;
mod check;
mod colours;
mod judge;
mod migrate;
mod place;
mod plan;
mod source;
mod stopped;
mod unblock;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use perennial::{RunId, RunKey};

use crate::Builder;
use crate::words::counted;

pub use blocked::{BlockedError, BlockedListError, BlockedOptions, BlockedRuns, blocked};
pub use check::{Check, CheckOptions, CheckState, Checked, check};
pub use migrate::{MoveError, Moved};
pub use plan::{Because, Part, Plan, PlanOptions, Recorded, Server, Uncovered, plan};
pub use source::SourceError;

/// The first word by which a program is asked for these commands.
const WORD: &str = "perennial";

/// The thread on which runs are replayed.
const THREAD: &str = "perennial-replay";

/// Tells whether a program is ready to be deployed, and whether it would go on with the runs that are open.
///
/// Nothing is started, and no activity runs. Exit codes: 0 done, 1 not done or something is wrong, 2 wrong
/// arguments.
#[derive(Debug, Parser)]
#[command(
    name = "perennial",
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints what this program can run, as JSON
    Manifest,
    Check(CheckArguments),
    Plan(PlanArguments),
    Blocked(BlockedArguments),
    Unblock(UnblockArguments),
    Migrate(MigrateArguments),
}

/// Replays all open runs, and tells which of them this program would go on with
///
/// Nothing is written where the runs are. A store is copied first, and must not be in use: a program that is at
/// work exports its runs with `runtime.export(..)`. Exit code 1 when an open run is not covered: when this program
/// does not decide what its history has, or what waits for it brings an error.
#[derive(Debug, clap::Args)]
struct PlanArguments {
    /// An export, the folder of a store that is stopped, or a folder of histories [default: the program's store]
    path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How many runs to name with each error
    #[arg(long, value_name = "N", default_value_t = 5)]
    ids: usize,
    /// Look at what is recorded alone, and not at what waits for a run
    #[arg(long)]
    recorded_only: bool,
    /// Where to copy a store to [default: the system's folder for what is temporary]
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
}

/// Checks all that can be known of this program without a store
///
/// `lock`: released functions are as perennial.lock has them. `clippy`: clippy.toml has the calls that workflows may
/// not make. `histories`: stored histories fit. `manifest`: no activity and no state is missing. Exit code 1 when
/// something is wrong.
#[derive(Debug, clap::Args)]
struct CheckArguments {
    /// The folder of Cargo.toml
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// The folder of stored histories, counted from that one [default: tests/histories, if it is there]
    #[arg(long, value_name = "FOLDER")]
    histories: Option<PathBuf>,
}

/// Lists the runs that are blocked, with their errors
///
/// The store must not be in use: a program that is at work has `client.list().blocked(true)`. Nothing is changed.
/// Runs with the same error in the same program are one entry.
#[derive(Debug, clap::Args)]
struct BlockedArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How many runs to name with each error
    #[arg(long, value_name = "N", default_value_t = BlockedOptions::default().ids)]
    ids: usize,
    /// The folder of the store [default: the program's store]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

/// Clears what is recorded of a run that is blocked, so that the next program tries it
///
/// The store must not be in use: a program that is at work has `client.unblock(..)`. The run itself stays as it is.
#[derive(Debug, clap::Args)]
struct UnblockArguments {
    /// The run: `order-42`, or `namespace/order-42` outside the default namespace
    run: RunKey,
    /// The folder of the store [default: the program's store]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

/// Moves a run to a new one, by a migration of this program
///
/// The store must not be in use: a program that is at work has `client.migrate(..)`. The run ends, and the next
/// program that is started on the store goes on with the new one.
#[derive(Debug, clap::Args)]
struct MigrateArguments {
    /// The run: `order-42`, or `namespace/order-42` outside the default namespace
    run: RunKey,
    /// The name of the migration, as the builder got it: `.migration(to_v2)`
    migration: String,
    /// The id of the new run, in the same namespace
    to: RunId,
    /// The folder of the store [default: the program's store]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

type AnyError = Box<dyn std::error::Error>;

/// How a command ended that could be carried out: its text, and whether all is well.
type Outcome = (String, bool);

/// Whether the program was asked for these commands: its first argument is `perennial`.
#[must_use]
pub fn asked() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == WORD)
}

/// Does what the arguments of the process say, of which the first may be `perennial`. What it says has colours where
/// stdout is a terminal and the variable `NO_COLOR` is not set.
///
/// Call it before anything else is begun. It may be called within tokio's runtime, and holds the thread.
pub fn run(builder: Builder) -> ExitCode {
    quiet_replays();
    let (mut out, mut errors) = (io::stdout(), io::stderr());
    let arguments = std::env::args_os().collect();
    let colours = colours::are_wanted();
    carry_out(&builder, arguments, colours, &mut out, &mut errors).into()
}

/// Does what the arguments say: the first is the name of the program, the second may be `perennial`. What it found
/// is written to `out`, and why it was not done to `errors`, both without colours. Gives the exit code.
pub fn call(
    builder: Builder,
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    let arguments = arguments.into_iter().map(Into::into).collect();
    carry_out(&builder, arguments, false, out, errors)
}

fn carry_out(
    builder: &Builder,
    arguments: Vec<OsString>,
    colours: bool,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    // Nobody may be reading; the exit code says it too.
    let told = |to: &mut dyn Write, text: &str| drop(to.write_all(text.as_bytes()));
    let command = match parse(arguments) {
        Ok(command) => command,
        Err(error) => {
            let text = error.render().to_string();
            told(if error.use_stderr() { errors } else { out }, &text);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match command.run(builder, colours) {
        Ok((text, is_well)) => {
            told(out, &text);
            u8::from(!is_well)
        }
        Err(error) => {
            told(errors, &format!("error: {error}\n"));
            1
        }
    }
}

fn parse(mut arguments: Vec<OsString>) -> Result<Command, clap::Error> {
    let program = arguments.first().map_or(OsStr::new(WORD), |name| name);
    let program = Path::new(program).file_stem().unwrap_or(program);
    let mut name = program.to_string_lossy().into_owned();
    if arguments.get(1).is_some_and(|word| word == WORD) {
        arguments.remove(1);
        name = format!("{name} {WORD}");
    }
    let command = Arguments::command().bin_name(name);
    let matches = command.try_get_matches_from(arguments)?;
    Ok(Arguments::from_arg_matches(&matches)?.command)
}

impl Command {
    fn run(self, builder: &Builder, colours: bool) -> Result<Outcome, AnyError> {
        match self {
            Self::Manifest => Ok((builder.manifest().to_json(), true)),
            Self::Check(arguments) => Ok(arguments.run(builder)),
            Self::Plan(arguments) => arguments.run(builder, colours),
            Self::Blocked(arguments) => arguments.run(builder, colours),
            Self::Unblock(UnblockArguments { run, store }) => {
                let unblocked = unblock::unblock(builder, store, run)?;
                Ok((format!("{unblocked}\n"), true))
            }
            Self::Migrate(MigrateArguments {
                run,
                migration,
                to,
                store,
            }) => {
                let moved = migrate::migrate(builder, store, run, &migration, to)?;
                Ok((format!("{moved}\n"), true))
            }
        }
    }
}

impl CheckArguments {
    fn run(self, builder: &Builder) -> Outcome {
        let Self { folder, histories } = self;
        match check(builder, &CheckOptions { folder, histories }) {
            Ok(checked) => (format!("{checked}\n"), true),
            Err(checked) => (format!("{checked}\n"), false),
        }
    }
}

impl PlanArguments {
    fn run(self, builder: &Builder, colours: bool) -> Result<Outcome, AnyError> {
        let mut options = PlanOptions {
            ids: self.ids,
            recorded_only: self.recorded_only,
            ..PlanOptions::default()
        };
        if let Some(scratch) = self.scratch {
            options.scratch = scratch;
        }
        let plan = match self.path {
            Some(path) => plan(builder, path, &options)?,
            None => plan::plan_own(builder, &options)?,
        };
        let text = match (self.json, colours) {
            (true, _) => plan.to_json(),
            (false, true) => format!("{}\n", plan.coloured()),
            (false, false) => format!("{plan}\n"),
        };
        Ok((text, plan.covers_all()))
    }
}

impl BlockedArguments {
    fn run(self, builder: &Builder, colours: bool) -> Result<Outcome, AnyError> {
        let Self { json, ids, store } = self;
        let blocked = blocked(builder, &BlockedOptions { store, ids })?;
        let text = match (json, colours) {
            (true, _) => blocked.to_json(),
            (false, true) => format!("{}\n", blocked.coloured()),
            (false, false) => format!("{blocked}\n"),
        };
        Ok((text, true))
    }
}

/// Runs `code` on a thread of its own, whose name says what it does: there may be tokio's runtime around, and what
/// panics there is told as a run's error.
fn apart<T: Send>(code: impl FnOnce() -> Result<T, SourceError> + Send) -> Result<T, SourceError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(THREAD.to_owned());
        let thread = thread
            .spawn_scoped(scope, code)
            .map_err(|error| SourceError::Io {
                what: "starting a thread".to_owned(),
                error: error.to_string(),
            })?;
        match thread.join() {
            Ok(result) => result,
            Err(payload) => std::panic::resume_unwind(payload),
        }
    })
}

/// So many runs, of which these are the first.
fn named(count: u64, first: &[String]) -> String {
    let more = count.saturating_sub(first.len() as u64);
    match (&*first.join(", "), more) {
        ("", _) => counted(count, "run"),
        (runs, 0) => runs.to_owned(),
        (runs, more) => format!("{runs} and {more} more"),
    }
}

/// What a workflow says when it panics in a replay is in the error, once for all runs that it happens to.
fn quiet_replays() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(THREAD) {
            others(panic);
        }
    }));
}
