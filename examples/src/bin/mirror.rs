//! Mirrors a directory tree, and goes on where it was after every kill. See [`perennial_examples::mirror`].

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use indicatif::HumanCount;
use perennial_examples::mirror::{
    MirrorError, Mode, Pace, Plan, Progress, copy_files, finished_before, hash_files, list_page,
    make_folders, make_links, mirror, note_skipped, place, prepare, settle_folders, this_process,
    tidy, write_manifest,
};
use perennial_runtime::store::Status;
use perennial_runtime::{Builder, ReadError, Reuse, RunError, RunHandle, RunState, Runtime, cli};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Mirrors a folder with all that is in it, and goes on where it was after every kill.
///
/// The same arguments are the same run: start it again after a crash and nothing that is recorded is copied
/// again. Nothing is ever deleted from TARGET. Exit codes: 0 done, 1 not done, 2 wrong arguments, 3 done but
/// for what was skipped, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "mirror", max_term_width = 100)]
struct Arguments {
    /// The folder to mirror
    #[arg(default_value = "book")]
    source: PathBuf,
    /// The folder that becomes its mirror; it is made if it is not there
    #[arg(default_value = "target/mirror")]
    target: PathBuf,
    /// Where the run is recorded
    #[arg(long, value_name = "DIR", default_value = DEFAULT_STORE)]
    store: PathBuf,
    /// Begin anew if the run has ended: what has changed since is copied, what is in place is not
    #[arg(long)]
    again: bool,
    /// Mirror into a folder that has other files; those of the same name are replaced
    #[arg(long)]
    adopt: bool,
    /// Show lines instead of a bar, on a terminal too
    #[arg(long)]
    plain: bool,
    /// Show a line for each step
    #[arg(short, long)]
    verbose: bool,
    /// Copy one file after the other, with TIME between them, such as 50ms
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = humantime::parse_duration)]
    pace: Duration,
    /// Append a line to FILE for each file that is copied
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Where runs are recorded, if nothing else is said.
const DEFAULT_STORE: &str = "target/mirror.store";

/// How long attempts that are under way may take to end after an interruption.
const DRAIN: Duration = Duration::from_secs(10);

type AnyError = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    if cli::asked() {
        return match commands() {
            Ok(builder) => cli::run(builder),
            Err(error) => failed(&error.to_string()),
        };
    }
    let arguments = Arguments::parse();
    let tokio = match tokio::runtime::Runtime::new() {
        Ok(tokio) => tokio,
        Err(error) => return failed(&format!("no threads can be started: {error}")),
    };
    let code = tokio
        .block_on(run(arguments))
        .unwrap_or_else(|error| failed(&error.to_string()));
    // An attempt that did not end in time holds its thread. The next process does its work again.
    tokio.shutdown_background();
    code
}

fn failed(error: &str) -> ExitCode {
    // Nobody may be reading; the exit code says it too.
    let _ = writeln!(io::stderr().lock(), "error: {error}");
    ExitCode::FAILURE
}

async fn run(arguments: Arguments) -> Result<ExitCode, AnyError> {
    let plan = place(
        &arguments.source,
        &arguments.target,
        &arguments.store,
        arguments.adopt,
    )?;
    let progress = Arc::new(progress(&arguments, &plan)?);
    show_events(&progress);
    let mut stops = [
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    ];
    let store = arguments.store.clone();
    let runtime = program(store, Arc::clone(&progress), arguments.pace)
        .start()
        .await?;
    let ended = follow(&runtime, &plan, &progress, arguments.again, &mut stops).await;
    progress.finish();
    if let Ok(Ended::Interrupted) = ended {
        progress.line(
            "interrupted: what is under way is ended and recorded; once more to stop at once",
        );
        tokio::select! {
            drained = runtime.drain(DRAIN) => if drained.unfinished > 0 {
                progress.line(&format!("{} attempts did not end in time; they are done again", drained.unfinished));
            },
            () = any(&mut stops) => {}
        }
        progress.line("start the same command again to go on where it was");
        return Ok(ExitCode::from(130));
    }
    let drained = runtime.drain(DRAIN).await;
    match ended? {
        Ended::Done { text, skipped } => {
            debug_assert_eq!(
                drained.unfinished, 0,
                "the workflow waits for all that it begins"
            );
            let _ = writeln!(io::stdout().lock(), "{text}");
            Ok(if skipped {
                ExitCode::from(3)
            } else {
                ExitCode::SUCCESS
            })
        }
        Ended::Interrupted => Ok(ExitCode::from(130)),
    }
}

/// All that the program can run.
fn program(store: PathBuf, progress: Arc<Progress>, pace: Duration) -> Builder {
    Runtime::builder(store)
        .workflow(mirror)
        .activities((list_page, hash_files, copy_files, make_links))
        .activities((prepare, make_folders, settle_folders))
        .activities((note_skipped, write_manifest, tidy))
        .state(progress)
        .state(Pace::new(pace))
}

/// The program as its commands see it: nobody follows a run.
fn commands() -> Result<Builder, AnyError> {
    let progress = Progress::new("nobody".parse()?, Mode::Lines, None)?;
    Ok(program(
        DEFAULT_STORE.into(),
        Arc::new(progress),
        Duration::ZERO,
    ))
}

fn progress(arguments: &Arguments, plan: &Plan) -> Result<Progress, AnyError> {
    let mode = match arguments {
        Arguments { verbose: true, .. } => Mode::Steps,
        Arguments { plain: false, .. } if io::stderr().is_terminal() => Mode::Bar,
        _ => Mode::Lines,
    };
    let run = plan.run_id()?;
    Progress::new(run, mode, arguments.log.as_deref()).map_err(|error| {
        let log = arguments.log.as_deref().unwrap_or(std::path::Path::new(""));
        format!("the log {} cannot be opened: {error}", log.display()).into()
    })
}

enum Ended {
    Done { text: String, skipped: bool },
    Interrupted,
}

/// Starts the run or goes on with it, and shows how far it is until it has ended.
async fn follow(
    runtime: &Runtime,
    plan: &Plan,
    progress: &Progress,
    again: bool,
    stops: &mut [Signal; 2],
) -> Result<Ended, AnyError> {
    let client = runtime.client();
    let id = plan.run_id()?;
    let before = match client.status(&id).await {
        Ok(info) => Some(info),
        Err(ReadError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let finished = before.as_ref().and_then(|info| info.finished);
    let reuse = if again {
        Reuse::AfterFinish
    } else {
        Reuse::Never
    };
    let run = client
        .start(mirror, id.clone(), plan.clone())
        .reuse(reuse)
        .await?;
    if let (Some(finished), false) = (finished, again) {
        return ended_before(plan, &run, finished).await;
    }
    if before.is_some() && finished.is_none() {
        progress.add_history(&run.history().await?.history);
        let done = HumanCount(progress.counts().before.files);
        let instead = if again {
            " instead of beginning anew"
        } else {
            ""
        };
        progress.line(&format!(
            "run {id} goes on{instead}; {done} files are recorded as copied"
        ));
    } else {
        progress.line(&format!("run {id}: {} to {}", plan.source, plan.target));
    }
    let others = client.list().status(Status::Running).page().await?;
    for other in others.runs.iter().filter(|other| other.run.id != id) {
        let stands = match other.state {
            RunState::Blocked { .. } => "is blocked",
            _ => "goes on beside it",
        };
        progress.line(&format!("run {} of the same store {stands}", other.run.id));
    }
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    let result = run.result();
    tokio::pin!(result);
    let report = loop {
        tokio::select! {
            result = &mut result => break result.map_err(explain)?,
            () = any(stops) => return Ok(Ended::Interrupted),
            _ = ticks.tick() => progress.show(),
        }
    };
    let text = this_process(plan, &report, &progress.counts());
    Ok(Ended::Done {
        text,
        skipped: report.skipped > 0,
    })
}

/// What the runtime says of a run that this program cannot go on with, and what a user can do who has no
/// other program.
fn explain(error: RunError<MirrorError>) -> AnyError {
    match error {
        RunError::Blocked { text, .. } => format!(
            "{text}\n\nhelp: to mirror with this program all the same, begin a run of its own with another \
             `--store`; what is in place is not copied again"
        )
        .into(),
        error => error.into(),
    }
}

/// Tells of a run that had ended before this process began.
async fn ended_before(
    plan: &Plan,
    run: &RunHandle<mirror>,
    finished: perennial::Timestamp,
) -> Result<Ended, AnyError> {
    match run.result().await {
        Ok(report) => {
            let text = finished_before(plan, &report, finished);
            Ok(Ended::Done {
                text,
                skipped: report.skipped > 0,
            })
        }
        Err(error) => Err(format!("the run failed at {finished}: {error}").into()),
    }
}

/// Waits for Ctrl-C or a request to terminate.
async fn any([interrupt, terminate]: &mut [Signal; 2]) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Shows what the runtime has to say: errors and warnings, or what `RUST_LOG` asks for.
fn show_events(progress: &Arc<Progress>) {
    let asked = std::env::var("RUST_LOG")
        .ok()
        .and_then(|text| text.parse::<Targets>().ok());
    let filter = asked.unwrap_or_else(|| {
        // Its errors reach the user as the run's.
        let blocked = "perennial::blocked";
        Targets::new()
            .with_default(Level::WARN)
            .with_target(blocked, LevelFilter::OFF)
    });
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Above(Arc::clone(progress)));
    // It fails only where there is one already, which then shows them.
    let _ = tracing_subscriber::registry()
        .with(filter)
        .with(layer)
        .try_init();
}

/// Writes above the progress bar.
struct Above(Arc<Progress>);

impl<'a> MakeWriter<'a> for Above {
    type Writer = &'a Above;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl io::Write for &Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.line(String::from_utf8_lossy(bytes).trim_end());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
