//! `perennial show`.

use std::path::Path;

use perennial::history::Channel;
use perennial::{Namespace, RunKey};
use perennial_runtime::control::{Answer, Request, RunDetails, Runs, Whereabouts};
use perennial_runtime::{RunState, TypeManifest};

use super::inert::{inert, line};
use super::list::state;
use super::open::Open;
use super::operation::{NotThere, Operation};
use super::reference::{OfAny, ask_about, reference};
use super::sample::sample;
use super::text::{count, long, table, time, value};
use super::timeline::{Timeline, timeline};
use super::{About, history, json, open, other, said, shell};
use crate::{AnyError, Outcome};

/// Shows a run as a timeline: what it did, what it was told, what it waits for and how to answer it
///
/// Of an operation, `order-42~7`, it shows how that stands, and the events that are about it.
///
/// Of a program that has the store open it is asked through its control socket. Where none has, the store is opened.
/// Times are in UTC.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    of: OfAny,
    /// Print JSON: how the run stands, and what is kept beside its history
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let store = &*self.of.store;
        let (mut run, operation) = self.of.what()?;
        let mut runs = open(store)?;
        let details = details(&mut runs, store, &mut run)?;
        if self.json && operation.is_none() {
            runs.close()?;
            return json(&details);
        }
        let mut units = Vec::new();
        // Of a purged run there is none.
        if details.info.purged.is_none() {
            let history = history::read(&mut runs, store, &mut run)?;
            if history.generation != details.info.generation {
                return Err(history::begun_anew(&run));
            }
            units = history.units;
            // What has happened since is not in the details.
            units.retain(|unit| unit.last() <= details.info.events);
        }
        let at_work = runs.whereabouts() == Whereabouts::Program;
        runs.close()?;
        let timeline = timeline(&units, &details);
        let Some(number) = operation else {
            return Ok(said(text(store, &details, &timeline, at_work)));
        };
        let operation = Operation::find(&units, &details, &timeline, number)
            .map_err(|not| not_there(store, &details, number, &not))?;
        if self.json {
            return json(&operation);
        }
        let mut text = operation.text(&details, &timeline, number);
        if operation.is_open()
            && !is_on_its_way(&details, number)
            && let Some(open) = timeline.open.get(&number)
        {
            text += &answer(store, &details, open).unwrap_or_default();
        }
        Ok(said(text))
    }
}

/// That the history has no such operation.
fn not_there(store: &Path, details: &RunDetails, number: u64, not: &NotThere) -> String {
    let (run, reference) = (&details.info.run, reference(&details.info.run, number));
    if let Some(at) = details.info.purged {
        return format!("run {run} was purged at {at}, and {reference} with it");
    }
    match not.numbers {
        None => format!("run {run} has no operations, so there is no {reference}"),
        Some((first, last)) => format!(
            "there is no {reference} in the history of run {run}, generation {}\n\n\
             help: that has operations from {} to {}; {} tells what they are",
            details.info.generation,
            self::reference(run, first),
            self::reference(run, last),
            About::run(store, run).command("show")
        ),
    }
}

/// How a run stands.
pub(super) fn details(
    runs: &mut Runs,
    store: &Path,
    run: &mut RunKey,
) -> Result<RunDetails, AnyError> {
    match ask_about(runs, store, run, |run| Request::Show { run })? {
        Answer::Run(details) => Ok(*details),
        answer => Err(other(&answer)),
    }
}

/// `at_work`: a program has the store open.
fn text(store: &Path, details: &RunDetails, timeline: &Timeline, at_work: bool) -> String {
    let info = &details.info;
    let mut text = format!(
        "{} · {} · {}\n",
        info.run,
        line(&info.workflow),
        head(details, timeline)
    );
    let rows: Vec<_> = timeline
        .lines
        .iter()
        .map(|line| {
            vec![
                format!("  {}", time(line.at)),
                line.what.clone(),
                line.said.clone(),
            ]
        })
        .collect();
    text += &table(&rows);
    if let RunState::Blocked { errors } = &info.state {
        for error in errors {
            let by = match &*error.artifact {
                "" => String::new(),
                artifact => format!(" in program {}", line(artifact)),
            };
            text += &format!("\nblocked{by}, {}:\n", time(error.at));
            for line in inert(&error.text).lines() {
                text += format!("  {line}").trim_end();
                text.push('\n');
            }
        }
    }
    text += &publications(details);
    if let Some(since) = info.paused {
        text += &format!("paused since {}: nothing is told to it\n", time(since));
        text += &resume(store, &info.run);
    }
    if info.finished.is_none() {
        text += &answers(store, details, timeline);
    }
    // Whether it may be, the code of the workflow says, which only a program has.
    let takes_changes =
        matches!(info.state, RunState::Running) && info.paused.is_none() && info.events > 0;
    if at_work && takes_changes {
        text += &changes(store, details);
    }
    text
}

/// How it stands, after its name.
fn head(details: &RunDetails, timeline: &Timeline) -> String {
    let info = &details.info;
    if let Some(finished) = info.finished {
        return format!(
            "{} {}, after {}",
            state(info),
            time(finished),
            long(finished.since(info.created))
        );
    }
    if info.events == 0 {
        return "not begun yet".to_owned();
    }
    // Since when it has waited nobody knows, but how long ago the last thing came that it was told, or is to be told.
    let came = details.queue.iter().map(|row| row.at).max();
    let last = came.map_or(timeline.last, |came| came.max(timeline.last));
    let quiet = match details.more_queue {
        0 => format!("nothing new for {}", long(details.at.since(last))),
        // The newest of it is not here.
        more => format!("has {more} more to be told"),
    };
    let is_coming = |number: &u64| is_on_its_way(details, *number);
    let comes = timeline.open.keys().any(is_coming);
    let open = timeline.open.iter();
    let open = open.filter(|(number, _)| !is_coming(number));
    let open: Vec<_> = open.map(|(_, open)| open.name()).collect();
    let waiting = match &*open {
        [] if comes => format!("waiting to be told what has come, {quiet}"),
        // Nothing that its history knows is open. So it waits for what is in none: `cx.until`.
        [] if matches!(info.state, RunState::Running) => {
            format!("waiting for a condition, {quiet}")
        }
        [] => quiet,
        open if comes => format!(
            "waiting for {}, and to be told what has come, {quiet}",
            open.join(", ")
        ),
        open => format!("waiting for {}, {quiet}", open.join(", ")),
    };
    match info.state {
        RunState::Blocked { .. } => format!("{}, {waiting}", state(info)),
        _ if info.paused.is_some() => format!("paused, {waiting}"),
        _ => waiting,
    }
}

/// The command line that lets it go on.
fn resume(store: &Path, run: &RunKey) -> String {
    match shell::about("resume", store, run) {
        Ok(command) => format!("let it go on: {command}\n"),
        Err(why) => format!("let it go on: {why}\n"),
    }
}

/// What it shows and gives out.
fn publications(details: &RunDetails) -> String {
    let mut text = String::new();
    let stale = match details.info.state {
        RunState::Blocked { .. } => ", from before it was blocked",
        _ => "",
    };
    for view in &details.views {
        let (name, at) = (line(&view.name), time(view.at));
        text += &format!(
            "shows \"{name}\", as of {at}{stale}: {}\n",
            value(&view.value)
        );
    }
    for stream in &details.streams {
        let name = line(&stream.name);
        text += &match stream.last {
            last if stream.first > last => {
                format!(
                    "gives out \"{name}\": {}, all purged\n",
                    count(last, "item")
                )
            }
            last => format!("gives out \"{name}\": items {} to {last}\n", stream.first),
        };
    }
    text
}

/// Whether the run has the result of the operation in its queue, and was not told yet.
fn is_on_its_way(details: &RunDetails, number: u64) -> bool {
    let mut queue = details.queue.iter();
    queue.any(|row| row.observation.operation() == Some(number))
}

/// So many command lines are shown.
const ANSWERS: usize = 10;

/// Command lines for what it waits to be told.
fn answers(store: &Path, details: &RunDetails, timeline: &Timeline) -> String {
    let mut lines = Vec::new();
    let mut told = Vec::new();
    for (number, open) in &timeline.open {
        if is_on_its_way(details, *number) {
            continue;
        }
        if let Open::Receive { channel, name } = open {
            if told.contains(&(*channel, name)) {
                continue;
            }
            told.push((*channel, name));
        }
        lines.extend(answer(store, details, open));
    }
    let more = lines.len().saturating_sub(ANSWERS);
    lines.truncate(ANSWERS);
    let mut text = lines.concat();
    if more > 0 {
        text += &format!(
            "and {} that can be answered\n",
            count(more as u64, "more wait")
        );
    }
    text
}

/// The command line for one of them; `None`: it is nothing that somebody is asked for.
fn answer(store: &Path, details: &RunDetails, open: &Open) -> Option<String> {
    let run = &details.info.run;
    // A reference says itself of which namespace it is.
    let said = Namespace::default();
    let (kind, namespace, words, data) = match open {
        Open::Receive { channel, name } => {
            let mut receives = details.receives.iter();
            let known = receives.find(|known| known.channel == *channel && known.name == *name);
            let kind = match channel {
                Channel::Message => "send",
                Channel::Signal => "signal",
            };
            let data = known.and_then(|known| known.data.as_ref());
            (kind, &run.namespace, [run.id.as_str(), name], data)
        }
        Open::Stub { name, reference } => {
            let mut stubs = details.stubs.iter();
            let known = stubs.find(|known| known.name == *name);
            let data = known.and_then(|known| known.result.as_ref());
            ("fulfil", &said, [reference.as_str(), name], data)
        }
        Open::Activity { .. } | Open::Timer { .. } | Open::Send { .. } | Open::Fulfil { .. } => {
            return None;
        }
    };
    Some(giving("answer it", kind, store, namespace, words, data))
}

/// Command lines for the changes that it can be asked for.
fn changes(store: &Path, details: &RunDetails) -> String {
    let run = &details.info.run;
    let updates = details.updates.iter().map(|update| {
        let words = [run.id.as_str(), &update.name];
        let data = update.input.as_ref();
        giving("ask it", "update", store, &run.namespace, words, data)
    });
    let mut lines: Vec<_> = updates.collect();
    let more = lines.len().saturating_sub(ANSWERS);
    lines.truncate(ANSWERS);
    if more > 0 {
        lines.push(format!("and {more} more that it can be asked for\n"));
    }
    lines.concat()
}

/// The command line that gives something of that type, after what it is for.
fn giving(
    what_for: &str,
    kind: &str,
    store: &Path,
    namespace: &Namespace,
    [of, name]: [&str; 2],
    data: Option<&TypeManifest>,
) -> String {
    let sample = data.and_then(sample);
    let words = [of, name, sample.as_deref().unwrap_or("JSON")];
    let command = match shell::within(kind, store, namespace, &words) {
        Ok(command) => command,
        Err(why) => return format!("{what_for}: {why}\n"),
    };
    match (sample, data) {
        (None, Some(data)) => {
            let below = " ".repeat(what_for.len() + 2);
            let name = line(&data.name);
            format!("{what_for}: {command}\n{below}where JSON is of the type {name}\n")
        }
        _ => format!("{what_for}: {command}\n"),
    }
}
