//! Sessions with an agent that works in steps. See [`perennial_examples::agent_session`].

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use perennial::RunId;
use perennial_examples::agent_session::{
    Chat, Command, Desk, Event, Look, Model, PATIENCE, Refused, StandIn, answer, session,
};
use perennial_runtime::store::OpenError;
use perennial_runtime::{Builder, Item, Items, Runtime, StartupError, StreamError, cli};
use tokio::sync::mpsc;

/// Talks with an agent that works in steps.
///
/// What is said while the agent works steers it. A session goes on where it was whenever the program runs. The model
/// is any that has the chat completions of OpenAI: OPENAI_BASE_URL says where it is, if it is not OpenAI's,
/// OPENAI_API_KEY has the key, if it wants one, OPENAI_MODEL its name, OPENAI_TIMEOUT how long an answer may take
/// (default: 60s). Exit codes: 0 done, 1 not done, 2 wrong arguments.
#[derive(Debug, Parser)]
#[command(name = "agent_session", max_term_width = 100)]
struct Arguments {
    /// Where the sessions are recorded
    #[arg(long, global = true, value_name = "DIR", default_value = FOLDER)]
    folder: PathBuf,
    /// Let the program itself stand in for a model: no account is needed
    #[arg(long, global = true)]
    stand_in: bool,
    /// How long the stand-in takes for an answer
    #[arg(long, global = true, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    pace: Duration,
    /// Let the command `perennial` ask this program while it runs
    #[arg(long, global = true)]
    socket: bool,
    #[command(subcommand)]
    command: Command,
}

/// Where everything is, if nothing else is said.
const FOLDER: &str = "target/agent_session";
/// Where in it the sessions are.
const STORE: &str = "store";
/// How long calls that are under way may take to end before the program ends.
const DRAIN: Duration = Duration::from_secs(5);

type AnyError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    if cli::asked() {
        // None of the commands asks it.
        return match Model::new("http://127.0.0.1:1", "none".to_owned(), None, PATIENCE) {
            Ok(model) => cli::run(program(Path::new(FOLDER), model)),
            Err(error) => failed(&error),
        };
    }
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// All that the program can run.
fn program(folder: &Path, model: Model) -> Builder {
    Runtime::builder(folder.join(STORE))
        .workflow(session)
        .activity(answer)
        .state(model)
}

async fn run(arguments: Arguments) -> Result<(), AnyError> {
    let Arguments {
        folder,
        stand_in,
        pace,
        socket,
        command,
    } = arguments;
    // Who only looks asks no model, and no session goes on because of it.
    match command {
        Command::StandIn { port } => return serve(port, pace).await,
        Command::List => return list(&folder),
        Command::Follow {
            session,
            after,
            no_wait: true,
        } => return show(&folder, &session, after),
        Command::Chat(_) | Command::Say { .. } | Command::Follow { .. } => {}
    }
    let (stand_in, model) = if stand_in {
        let stand_in = StandIn::start(0, pace).await?;
        let model = Model::new(&stand_in.address(), "stand-in".to_owned(), None, PATIENCE)?;
        (Some(stand_in), model)
    } else {
        (
            None,
            Model::from_variables(|name| std::env::var(name).ok())?,
        )
    };
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut builder = program(&folder, model);
    if socket {
        builder = builder.control_socket();
    }
    let runtime = match builder.start().await {
        Err(StartupError::Open(error @ OpenError::Held { .. })) => {
            let instead = "or type it into the program that runs";
            return Err(format!("{error}, {instead}").into());
        }
        started => started?,
    };
    let done = execute(&Desk::new(runtime.client()), command).await;
    // A call that does not end in time is made again by the next program.
    let _ = runtime.drain(DRAIN).await;
    drop(stand_in);
    done.map_err(|refused| refused.to_string().into())
}

async fn execute(desk: &Desk, command: Command) -> Result<(), Refused> {
    match command {
        Command::Chat(with) => chat(desk, with).await,
        Command::Say {
            session,
            text,
            reference,
        } => {
            let last = desk.last(&session).await;
            let reference = desk.say(&session, &text.join(" "), reference).await?;
            say(&format!("said as {reference}"));
            let mut output = Output::after(desk, &session, last?).await?;
            settle(desk, &session, &mut output).await
        }
        Command::Follow { session, after, .. } => {
            let mut output = Output::after(desk, &session, after).await?;
            while output.next().await? {}
            Ok(())
        }
        Command::List | Command::StandIn { .. } => Ok(()),
    }
}

/// Lists the sessions.
fn list(folder: &Path) -> Result<(), AnyError> {
    let sessions = Look::at(&folder.join(STORE)).and_then(|mut look| look.list());
    let sessions = sessions.map_err(|refused| refused.to_string())?;
    if sessions.is_empty() {
        say("there are no sessions");
    }
    for (id, standing) in sessions {
        match standing {
            Some(standing) => say(&format!("{id}: {standing}")),
            None => say(&format!("{id}: begins")),
        }
    }
    Ok(())
}

/// Shows what has happened in a session.
fn show(folder: &Path, id: &RunId, after: u64) -> Result<(), AnyError> {
    let output = Look::at(&folder.join(STORE)).and_then(|mut look| look.output(id, after));
    for (number, event) in output.map_err(|refused| refused.to_string())? {
        say(&shown(number, event));
    }
    Ok(())
}

/// Says what is typed, and shows what happens, until the session ends or nothing more is typed.
async fn chat(desk: &Desk, with: Chat) -> Result<(), Refused> {
    let id = &with.session;
    let is_new = desk.open(id, with.settings()).await?;
    if io::stdin().is_terminal() {
        let found = if is_new { "begins" } else { "goes on" };
        say(&format!(
            "{id} {found}; `/stop` ends a step, `/quit` the session, Ctrl-D the program"
        ));
    }
    let mut output = Output::after(desk, id, with.after).await?;
    let mut lines = lines();
    loop {
        tokio::select! {
            more = output.next() => if !more? {
                return Ok(());
            },
            line = lines.recv() => match line {
                None => return settle(desk, id, &mut output).await,
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match desk.say(id, &line, None).await {
                    Ok(_) => {}
                    Err(error @ Refused::TooLong { .. }) => complain(&error.to_string()),
                    Err(error) => return Err(error),
                },
            },
        }
    }
}

/// Shows what happens until the session waits for the user again, or has ended.
async fn settle(desk: &Desk, id: &RunId, output: &mut Output) -> Result<(), Refused> {
    let mut settled = pin!(desk.settled(id));
    loop {
        tokio::select! {
            more = output.next() => if !more? {
                return Ok(());
            },
            end = &mut settled => break end?,
        }
    }
    // What was given out before that, and has not been shown.
    let last = desk.last(id).await?;
    while output.shown < last && output.next().await? {}
    Ok(())
}

/// What happens in a session, as it is shown.
struct Output {
    items: Items<Event>,
    /// The number of the last item that was shown.
    shown: u64,
}

impl Output {
    async fn after(desk: &Desk, id: &RunId, shown: u64) -> Result<Self, Refused> {
        let items = desk.follow(id, shown).await?;
        Ok(Self { items, shown })
    }

    /// Shows the next item; false: there are no more. To drop the future of it loses nothing.
    async fn next(&mut self) -> Result<bool, StreamError> {
        let Some(item) = self.items.next().await else {
            return Ok(false);
        };
        let Item { number, value, .. } = item?;
        say(&shown(number, value));
        self.shown = number;
        Ok(true)
    }
}

/// Stands in for a model until somebody stops it.
async fn serve(port: u16, pace: Duration) -> Result<(), AnyError> {
    let stand_in = StandIn::start(port, pace).await;
    let stand_in = stand_in.map_err(|error| format!("127.0.0.1:{port}: {error}"))?;
    say(&format!(
        "OPENAI_BASE_URL={} OPENAI_MODEL=stand-in",
        stand_in.address()
    ));
    let (mut count, mut seen) = (stand_in.count(), 0);
    while count.changed().await.is_ok() {
        let calls = stand_in.calls();
        for (number, call) in (1..).zip(&calls).skip(seen) {
            let key = call.key.as_deref().unwrap_or("without a key");
            let made = if call.made {
                ""
            } else {
                ", for which there is an answer"
            };
            say(&format!("call {number}: {key}{made}"));
        }
        seen = calls.len();
    }
    Ok(())
}

fn shown(number: u64, event: Event) -> String {
    format!("{number} {}", plain(&text(event)))
}

fn text(event: Event) -> String {
    match event {
        Event::UserSaid { text } => format!("you: {text}"),
        Event::NotHeard { problem } => format!("(not heard: {problem})"),
        Event::StepBegan { step } => format!("(step {step})"),
        Event::AssistantSaid { text, .. } => format!("agent: {text}"),
        Event::Stopped { step } => format!("(step {step} is stopped)"),
        Event::StepFailed { step, problem } => format!("(step {step} failed: {problem})"),
        Event::Enough { steps } => {
            format!("(it has taken {steps} steps without a word of yours, and waits)")
        }
        Event::Ended { why } => format!("(the session has ended: {why})"),
    }
}

/// What a model says is shown and does nothing else to a terminal. Lines after the first one are indented, so that
/// none looks like another item.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        line.chars().map(shown).collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n    ")
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

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    complain(&error.to_string());
    ExitCode::FAILURE
}
