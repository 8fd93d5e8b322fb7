//! Why a test fails that the kit lets fail.

use std::fmt;

use super::diverged::Diverged;
use super::mock::Miscounted;
use super::offers::NotOffered;
use super::sandbox::Touched;
use super::told::what;
use super::updates::NotTaken;
use crate::Blocked;
use crate::history::{CallSite, Channel};
use crate::prose::shorten;
use crate::value::Value;

/// Why the kit lets a test fail. It is told by a panic, with this text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TestFailure {
    /// The workflow called an activity for which the test has no answer.
    NotMocked(Box<NotMocked>),
    /// Mocks were called less or more often than declared.
    Miscounted(Vec<Miscounted>),
    /// The run is blocked: a panic of the workflow's code, a wait that is not durable, and the like.
    Blocked(Blocked),
    /// The workflow did not decide the same when it was replayed.
    Diverged(Box<Diverged>),
    /// In strict mode: the workflow asked the operating system for something.
    Touched(Box<TouchedIn>),
    /// Strict mode needs a sandbox.
    NoSandbox,
    /// The test gives a version to a marker that no run has asked for.
    MarkerNotAsked(Box<MarkerNotAsked>),
    /// The run waits for something that does not come.
    Waiting(Box<Waiting>),
    /// The test tells something to a run that has ended.
    Ended(Box<Ended>),
    /// The test fulfils a stub that cannot be fulfilled.
    NotOffered(Box<NotOffered>),
    /// The test asks for a change that the run neither accepts nor refuses.
    NotTaken(Box<NotTaken>),
    /// An activity fails again and again, and may do so for ever.
    Endless(Box<Endless>),
    /// An activity whose code is run asks for application state that the test does not have.
    NoState {
        /// The activity.
        activity: String,
        /// The state's type.
        state: String,
    },
    /// An activity whose code is run waits for something that nobody brings.
    Stuck {
        /// The activity.
        activity: String,
    },
    /// An activity whose code is run needs tokio's runtime, and the test has given none.
    NoRuntime {
        /// The activity.
        activity: String,
        /// What its panic said.
        said: String,
    },
    /// Something that the test handed over cannot be used: an id, an input, a result.
    Refused {
        /// What it is, and why not.
        reason: String,
    },
}

impl std::error::Error for TestFailure {}

impl From<Blocked> for TestFailure {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(blocked)
    }
}

impl fmt::Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMocked(failure) => failure.fmt(f),
            Self::Miscounted(all) => {
                f.write_str("activities were not called as often as declared\n\n")?;
                for one in all {
                    writeln!(f, "  {one}")?;
                }
                f.write_str(
                    "\nhelp: `.optional()` is for a mock that may go unused, `.times(n)` and `.at_least(n)` say \
                     how often it is called; each attempt counts",
                )
            }
            Self::Blocked(blocked) => blocked.fmt(f),
            Self::Diverged(failure) => failure.fmt(f),
            Self::Touched(failure) => failure.fmt(f),
            Self::NoSandbox => f.write_str(
                "strict mode needs a sandbox, and none is linked\n\n\
                 help: add `perennial-sandbox` to `[dev-dependencies]` in Cargo.toml, and \
                 `use perennial_sandbox as _;` to the test",
            ),
            Self::MarkerNotAsked(failure) => failure.fmt(f),
            Self::Waiting(failure) => failure.fmt(f),
            Self::Ended(failure) => failure.fmt(f),
            Self::NotOffered(failure) => failure.fmt(f),
            Self::NotTaken(failure) => failure.fmt(f),
            Self::Endless(failure) => failure.fmt(f),
            Self::NoState { activity, state } => write!(
                f,
                "the activity `{activity}` asks for the state `{state}`, which the test does not have\n\n\
                 help: give it one with `t.state(..)`, or answer for the activity with `t.mock({activity}, ..)`"
            ),
            Self::Stuck { activity } => write!(
                f,
                "the activity `{activity}` waits for something that will never wake it\n\n\
                 help: where its code needs a runtime such as tokio's, hand its future to one with \
                 `t.block_on_with(..)`, or answer for it with `t.mock({activity}, ..)`"
            ),
            Self::NoRuntime { activity, said } => write!(
                f,
                "the activity `{activity}` needs tokio, and the test runs it without\n\n  it panicked: {said}\n\n\
                 help: hand its future to a runtime with `t.block_on_with(move |work| tokio.block_on(work))`, or \
                 answer for it with `t.mock({activity}, ..)`"
            ),
            Self::Refused { reason } => f.write_str(reason),
        }
    }
}

/// The workflow called an activity for which the test has no answer. The workflow was told nothing, so that
/// it cannot make anything of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NotMocked {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// The activity.
    pub activity: String,
    /// The number of its operation.
    pub operation: u64,
    /// What it was called with.
    pub input: Value,
    /// Where in the source.
    pub site: Option<CallSite>,
}

impl fmt::Display for NotMocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            activity,
            operation,
            input,
            site,
        } = self;
        write!(
            f,
            "the workflow `{workflow}` calls the activity `{activity}`, which is neither mocked nor allowed \
             (run {run})\n\n  activity {activity} ~{operation} {}\n",
            short(input)
        )?;
        if let Some(site) = site {
            writeln!(f, "  {}", place(site))?;
        }
        write!(
            f,
            "\nhelp: answer for it with `t.mock({activity}, |input| Ok(..))`, or run its code with \
             `t.allow({activity})`"
        )
    }
}

/// The test gives a version to a marker, and no run has asked for it since: it would have tested nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerNotAsked {
    /// The marker, as the test names it.
    pub id: String,
    /// The version that it was given.
    pub version: u32,
    /// A marker of the test's workflows whose name is like it.
    pub meant: Option<String>,
}

impl fmt::Display for MarkerNotAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, version, meant } = self;
        write!(
            f,
            "the test gives the marker \"{}\" version {version}, and no run has decided on it since\n\nhelp: ",
            id.escape_debug()
        )?;
        match meant {
            Some(meant) => write!(f, "did you mean \"{}\"?", meant.escape_debug()),
            None => f.write_str(
                "give it before the run comes to the marker; a run keeps its first answer, unless each call \
                 decides anew",
            ),
        }
    }
}

/// In strict mode: the workflow asked the operating system for something while it was polled.
#[derive(Clone, Debug, PartialEq)]
pub struct TouchedIn {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// The number of the event that the workflow was fed.
    pub event: u64,
    /// What it asked for.
    pub touched: Vec<Touched>,
}

impl fmt::Display for TouchedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            event,
            touched,
        } = self;
        writeln!(
            f,
            "the workflow `{workflow}` asked the operating system for something after event {event} (run {run}, \
             strict mode)\n"
        )?;
        calls(f, touched)?;
        f.write_str(
            "\nhelp: the rule's page says what to use instead; where it cannot affect what the workflow does, say \
             so: `#[allow_nondeterminism(.., reason = \"..\")]`",
        )
    }
}

/// Calls of the operating system, with their places.
pub(super) fn calls(f: &mut fmt::Formatter<'_>, touched: &[Touched]) -> fmt::Result {
    for Touched { rule, call, place } in touched {
        writeln!(f, "  [{rule}] {call}")?;
        for line in place.lines() {
            writeln!(f, "      {line}")?;
        }
    }
    Ok(())
}

/// A run waits for something that does not come.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// What it waits for, a line each.
    pub waits_for: Vec<String>,
    /// Messages that it has not taken and signals for which it did not wait, a line each.
    pub in_vain: Vec<String>,
    /// How a test brings the messages, signals and results of stubs that it waits for: `run.send(APPROVAL, ..)`.
    pub answers: Vec<String>,
    /// Whether it waits for something else: a timer, an activity.
    pub others: bool,
    /// Whether the test lets the clock stand still until it advances it.
    pub clock_stands: bool,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            waits_for,
            in_vain,
            answers,
            others,
            clock_stands,
        } = self;
        writeln!(
            f,
            "the workflow `{workflow}` has no result: it waits (run {run})\n"
        )?;
        for line in waits_for {
            writeln!(f, "  {line}")?;
        }
        if !in_vain.is_empty() {
            writeln!(f)?;
        }
        for line in in_vain {
            writeln!(f, "  {line}")?;
        }
        if !answers.is_empty() {
            let answers: Vec<_> = answers.iter().map(|answer| format!("`{answer}`")).collect();
            let answers = answers.join(", ");
            write!(f, "\nhelp: the test says what the run is told: {answers}")?;
        }
        if *clock_stands {
            f.write_str("\nhelp: the clock stands until the test moves it: `t.advance(..)`")?;
        } else if *others || answers.is_empty() {
            f.write_str(
                "\nhelp: no time that passes brings it; a mock answers at once unless `.takes(..)` says otherwise",
            )?;
        }
        Ok(())
    }
}

/// The test sends a message or a signal to a run that has ended. Outside of a test its sender gets an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// Which of them it sends.
    pub channel: Channel,
    /// The name.
    pub name: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            channel,
            name,
        } = self;
        write!(
            f,
            "the test sends the {} to a run that has ended (run {run}, workflow `{workflow}`)\n\n\
             help: outside of a test the sender gets an error; where either may come first, ask `run.is_finished()`",
            what(*channel, name)
        )
    }
}

/// An activity fails again and again, and nothing bounds how often it is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The run.
    pub run: String,
    /// The activity.
    pub activity: String,
    /// How many attempts have failed.
    pub attempts: u32,
    /// What the last one said.
    pub last: String,
}

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            activity,
            attempts,
            last,
        } = self;
        write!(
            f,
            "the activity `{activity}` failed {attempts} times, and nothing says when to give up (run {run})\n\n  \
             the last time: {last}\n\n\
             help: bound it, with `retry(attempts = ..)` or `timeout = \"..\"` in its attribute or at the call, or let \
             the test advance the clock itself: `t.advance(..)`"
        )
    }
}

/// Where a call stands.
pub(super) fn place(site: &CallSite) -> String {
    if site.function.is_empty() {
        format!("at {site}")
    } else {
        format!("in {} at {site}", site.function)
    }
}

/// The longest text of a value in a message, in bytes.
const MAX_VALUE: usize = 400;

pub(super) fn short(value: &Value) -> String {
    shorten(value.as_json().to_owned(), MAX_VALUE)
}
