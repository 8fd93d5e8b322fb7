//! Changes that a test asks of its runs (S27).
//!
//! It does what a runtime does: the run is told all that it is to be told before, its validator is asked, and what that
//! accepts is a unit.

use std::fmt;

use super::attempts::settle;
use super::drive::{drive, or_fail};
use super::driver::Shared;
use super::failure::TestFailure;
use super::run::Run;
use super::suggest::closest;
use crate::history::{Decision, Observation};
use crate::machine::Verdict;
use crate::value::Value;
use crate::{Data, Update, Workflow};

/// The test asks for a change that the run neither accepts nor refuses. Outside of a test its sender gets an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// The name of the update.
    pub update: String,
    /// Why not.
    pub why: NotTakenWhy,
}

/// Why a run takes no notice of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotTakenWhy {
    /// The run has ended.
    Ended,
    /// The run does not handle it now.
    NotHandled {
        /// The names of those that it handles.
        handled: Vec<String>,
    },
    /// What is asked is not of the type that the run takes.
    Undecodable {
        /// That type.
        expected: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// It is refused, and why cannot be stored.
    Unstorable {
        /// What is wrong.
        problem: String,
    },
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            update,
            why,
        } = self;
        write!(
            f,
            "the test asks for the update \"{}\", ",
            update.escape_debug()
        )?;
        let of = format!("(run {run}, workflow `{workflow}`)");
        match why {
            NotTakenWhy::Ended => write!(
                f,
                "and the run has ended {of}\n\n\
                 help: outside of a test the sender gets an error; where either may come first, ask `run.is_finished()`"
            ),
            NotTakenWhy::NotHandled { handled } => {
                write!(f, "which the run does not handle now {of}")?;
                let names = handled.iter().map(String::as_str);
                match (closest(update, names), handled.is_empty()) {
                    (Some(meant), _) => write!(f, "\n\nhelp: it handles \"{meant}\""),
                    (None, false) => write!(f, "\n\nhelp: it handles \"{}\"", handled.join("\", \"")),
                    (None, true) => f.write_str(
                        "\n\nhelp: `cx.handle(..)` comes before whatever the workflow waits for when the update comes",
                    ),
                }
            }
            NotTakenWhy::Undecodable { expected, problem } => write!(
                f,
                "and what it asks is no `{expected}`: {problem} {of}\n\nhelp: outside of a test the sender gets an error"
            ),
            NotTakenWhy::Unstorable { problem } => {
                write!(
                    f,
                    "and why the run refuses it cannot be stored: {problem} {of}"
                )
            }
        }
    }
}

impl<W: Workflow> Run<W> {
    /// Asks the run for a change, and lets it go as far as it goes without time passing, before and after. Gives the
    /// run's answer, or why it refuses, which changes nothing (S27).
    ///
    /// ```
    /// # use std::cell::Cell;
    /// # use std::rc::Rc;
    /// # use perennial::prelude::*;
    /// const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
    ///
    /// #[workflow]
    /// async fn budget(cx: &Cx, limit: u64) -> Result<u64, Error> {
    ///     let limit = Rc::new(Cell::new(limit));
    ///     let set = Rc::clone(&limit);
    ///     cx.handle(
    ///         SET_LIMIT,
    ///         |new: &u64| if *new < 10 { Err("at least 10".to_owned()) } else { Ok(()) },
    ///         move |new: u64| set.replace(new),
    ///     );
    ///     cx.until(|| limit.get() >= 500).await;
    ///     Ok(limit.get())
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(budget, 100);
    /// assert_eq!(run.update(SET_LIMIT, 5), Err("at least 10".to_owned()));
    /// assert_eq!(run.update(SET_LIMIT, 500), Ok(100));
    /// assert_eq!(run.result().unwrap(), 500);
    /// # }); }
    /// ```
    ///
    /// # Panics
    ///
    /// When the run has ended or does not handle it ([`TestFailure::NotTaken`]), when the validator panics
    /// ([`TestFailure::Blocked`]), and as all that lets workflows run.
    #[track_caller]
    pub fn update<In: Data, Out: Data, Refused: Data>(
        &self,
        update: Update<In, Out, Refused>,
        input: In,
    ) -> Result<Out, Refused> {
        let name = update.name();
        let refused = |error: &dyn fmt::Display| TestFailure::Refused {
            reason: format!("update \"{}\": {error}", name.escape_debug()),
        };
        let input = input.to_value().map_err(|error| refused(&error));
        let answer = input.and_then(|input| self.asked(name, input));
        let answer = answer.and_then(|answer| match answer {
            Ok(answer) => Out::from_value(&answer)
                .map(Ok)
                .map_err(|error| refused(&error)),
            Err(why) => Refused::from_value(&why)
                .map(Err)
                .map_err(|error| refused(&error)),
        });
        or_fail(&self.shared, answer)
    }

    /// As [`update`](Self::update), by name and with any JSON, and with JSON for an answer: what a sender in another
    /// language may do, or one that was built with another type.
    ///
    /// # Panics
    ///
    /// When the text is not JSON ([`TestFailure::Refused`]), and as [`update`](Self::update).
    #[track_caller]
    pub fn update_json(&self, name: &str, json: &str) -> Result<Value, Value> {
        let input = Value::from_json(json).map_err(|error| TestFailure::Refused {
            reason: format!("update \"{}\": {error}", name.escape_debug()),
        });
        let answer = input.and_then(|input| self.asked(name, input));
        or_fail(&self.shared, answer)
    }

    fn asked(&self, name: &str, input: Value) -> Result<Result<Value, Value>, TestFailure> {
        drive(&self.shared, |shared| {
            settle(shared)?;
            // What nothing has waited for comes before it all the same (S2).
            shared.borrow_mut().runs[self.index].is_asked = true;
            settle(shared)?;
            let verdict = judge(shared, self.index, name, &input)?;
            if let Err(why) = verdict {
                return Ok(Err(why));
            }
            let units = {
                let driver = &mut *shared.borrow_mut();
                let at = driver.now;
                let run = &mut driver.runs[self.index];
                let accepted = Observation::UpdateAccepted {
                    name: name.to_owned(),
                    input,
                    key: None,
                };
                run.arrive(at, accepted);
                run.recording.units.len()
            };
            settle(shared)?;
            let driver = shared.borrow();
            let unit = driver.runs[self.index].recording.units.get(units);
            match unit.and_then(|unit| unit.decisions.first()) {
                Some(Decision::UpdateAnswered { value, .. }) => Ok(Ok(value.clone())),
                _ => unreachable!("an update that was accepted is answered with the next unit"),
            }
        })
    }
}

/// What the run says of an update; `Err`: it refuses.
fn judge(
    shared: &Shared,
    index: usize,
    name: &str,
    input: &Value,
) -> Result<Result<(), Value>, TestFailure> {
    let run = &mut shared.borrow_mut().runs[index];
    run.is_asked = false;
    let why = match run.validate(name, input).transpose()? {
        Some(Verdict::Accepted) => return Ok(Ok(())),
        Some(Verdict::Refused(why)) => return Ok(Err(why)),
        Some(Verdict::Unstorable(error)) => NotTakenWhy::Unstorable {
            problem: error.to_string(),
        },
        Some(Verdict::Undecodable { expected, error }) => NotTakenWhy::Undecodable {
            expected,
            problem: error.to_string(),
        },
        Some(Verdict::NotHandled { handled }) => NotTakenWhy::NotHandled {
            handled: handled.into_iter().map(str::to_owned).collect(),
        },
        None => NotTakenWhy::Ended,
    };
    Err(TestFailure::NotTaken(Box::new(NotTaken {
        run: run.recording.run.clone(),
        workflow: run.recording.definition.name.to_owned(),
        update: name.to_owned(),
        why,
    })))
}
