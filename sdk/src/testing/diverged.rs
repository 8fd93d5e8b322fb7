//! A workflow that did not decide the same when it was replayed.

use std::fmt;

use super::failure::{calls, place, short};
use super::report::Changed;
use super::sandbox::Touched;
use crate::prose::indent;
use crate::value::Difference;
use crate::{Blocked, Side};

/// The workflow did not decide the same when it was replayed (S40).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diverged {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// The number of the first event that differs.
    pub event: u64,
    /// What the workflow had been told before it, as `event 3 (completed ~1)`.
    pub after: String,
    /// What the first execution decided there; `None`: nothing more.
    pub first: Option<Side>,
    /// What the replay decided there; `None`: nothing more.
    pub second: Option<Side>,
    /// Where their values differ.
    pub difference: Option<Difference>,
    /// Where the replay stopped for another reason, as by a panic.
    pub blocked: Option<Blocked>,
    /// What was different in the replay.
    pub changed: Changed,
    /// Whether the thread had replayed the run before, when it was still the same.
    pub on_a_used_thread: bool,
    /// What the code asked of the operating system, the first time or in the replay, after the event that is
    /// named by [`touched_after`](Self::touched_after).
    pub touched: Vec<Touched>,
    /// The number of the last event up to there after which it asked for anything.
    pub touched_after: u64,
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "the workflow `{}` does not decide the same when it is replayed (run {})\n\n  event {}, after {}",
            self.workflow, self.run, self.event, self.after
        )?;
        if self.first.is_some() || self.second.is_some() {
            side(f, "first", self.first.as_ref())?;
            side(f, "replayed", self.second.as_ref())?;
        }
        if let Some(difference) = &self.difference {
            writeln!(f, "      differs    {difference}")?;
        }
        if let Some(blocked) = &self.blocked {
            writeln!(f, "      replayed   {}", indent(&blocked.to_string(), 6))?;
        }
        let thread = if self.on_a_used_thread {
            "a second time on one thread"
        } else {
            "on a fresh thread"
        };
        writeln!(f, "\nIt was replayed {thread}, with {}.", self.changed)?;
        if !self.touched.is_empty() {
            let event = self.touched_after;
            writeln!(f, "After event {event} the workflow's code asked for\n")?;
            calls(f, &self.touched)?;
        }
        f.write_str("\nhelp: look before this place for what is not the same twice:\n")?;
        let answer = Side::answered().what;
        if [&self.first, &self.second]
            .iter()
            .any(|side| side.as_ref().is_some_and(|side| side.what == answer))
        {
            f.write_str(
                "  what the validator of an update changes, which is not run again: let the handler change it\n",
            )?;
        }
        let remembers = "  what a `thread_local!` (D114) or a static (D113) remembers: use variables of the workflow\n";
        // Hash maps have other keys the second time, and it is later: it may be these all the same.
        if self.on_a_used_thread {
            f.write_str(remembers)?;
        }
        f.write_str(
            "  the order of a `HashMap` or `HashSet` (D111): use a `BTreeMap`, or sort\n  \
             a clock (D101): use `cx.now()`; random numbers (D102): use `cx.random()` or `cx.uuid()`\n",
        )?;
        if !self.on_a_used_thread {
            f.write_str(remembers)?;
        }
        f.write_str(
            "  an address or a thread's id (D112): use a number of your own\n  \
             anything else: use `cx.record(..)` or an activity",
        )?;
        if self.changed == Changed::HashKeys {
            f.write_str(
                "\nhelp: with `use perennial_sandbox as _;` the clock and random bytes are changed too, and what the \
                 code asks the operating system for is told",
            )?;
        }
        Ok(())
    }
}

fn side(f: &mut fmt::Formatter<'_>, who: &str, side: Option<&Side>) -> fmt::Result {
    let (text, site) = match side {
        None => ("nothing, it waits".to_owned(), None),
        Some(side) => {
            let operation = side.operation.map(|n| format!(" ~{n}")).unwrap_or_default();
            let value = side.value.as_ref();
            let value = value
                .map(|value| format!(" {}", short(value)))
                .unwrap_or_default();
            (
                format!("{}{operation}{value}", side.what),
                side.site.as_ref(),
            )
        }
    };
    let text = match site {
        Some(site) => format!("{text:<36}  {}", place(site)),
        None => text,
    };
    writeln!(f, "      {who:<10} {text}")
}
