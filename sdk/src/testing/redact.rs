//! Redactions: what of a history's values is not shown, since it is not the same each time or is nobody's
//! business.
//!
//! A selector is a path into the history: the name of an activity, of the workflow or of a recorded value;
//! then `input`, `result`, `error` or `value`; then the way into that value.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde_json::Value as Json;

use super::suggest::closest;
use crate::history::{ActivityFailure, Decision, Observation, RecordSource, Unit};
use crate::value::Value;

/// One step of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A name, or the member of an object.
    Name(String),
    /// `[3]`: an item of a list.
    Item(usize),
    /// `*`: each of them.
    Each,
    /// `**`: any number of steps.
    Deep,
}

/// What is replaced, and what is shown in its place.
#[derive(Clone, Debug)]
pub(super) struct Redaction {
    pub(super) selector: String,
    pub(super) shown: String,
}

/// A redaction that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedactionError {
    /// The selector is not of the form `name.input.member[0]`.
    Malformed {
        /// The selector.
        selector: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The history has nothing there.
    Unused {
        /// The selector.
        selector: String,
        /// The run.
        run: String,
        /// How far the history has what the selector asks for; empty: not even its first name.
        reached: String,
        /// What there is instead of the next name.
        instead: Vec<String>,
        /// The name of those that is most like it.
        closest: Option<String>,
    },
    /// The run drew no uuid whose value could be replaced.
    NoUuid {
        /// The run.
        run: String,
    },
}

impl fmt::Display for RedactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { selector, problem } => write!(
                f,
                "the redaction `{selector}` cannot be read: {problem}\n\n\
                 help: write it like `charge_card.input.card.number`, `*.input.lines[0].sku` or `**.token`"
            ),
            Self::Unused {
                selector,
                run,
                reached,
                instead,
                closest,
            } => {
                writeln!(
                    f,
                    "the redaction `{selector}` matches nothing in the history of run {run}"
                )?;
                let names: Vec<_> = instead.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                match (&reached[..], &names[..]) {
                    ("", "") => {}
                    ("", names) => writeln!(f, "\n      it has values of {names}")?,
                    (reached, "") => writeln!(f, "\n      `{reached}` has nothing in it")?,
                    (reached, names) => writeln!(f, "\n      `{reached}` has {names}")?,
                }
                match closest {
                    Some(closest) => write!(f, "\nhelp: did you mean `{closest}`?"),
                    None => f.write_str(
                        "\nhelp: take it out, so that nobody takes it for hidden what is not",
                    ),
                }
            }
            Self::NoUuid { run } => write!(
                f,
                "the history of run {run} has no uuid that could be replaced\n\n\
                 help: take `.uuids()` out"
            ),
        }
    }
}

impl std::error::Error for RedactionError {}

impl Redaction {
    /// Replaces what the selector matches in `units`.
    pub(super) fn apply(
        &self,
        units: &mut [Unit],
        run: &dyn fmt::Display,
    ) -> Result<(), RedactionError> {
        let steps = parse(&self.selector).map_err(|problem| RedactionError::Malformed {
            selector: self.selector.clone(),
            problem,
        })?;
        let mut search = Search {
            shown: &self.shown,
            matched: false,
            deep: steps.contains(&Step::Deep),
            way: Vec::new(),
            missed: None,
        };
        each_value(units, &mut |name, part, json| {
            search.name(&steps, name, part, json);
        });
        if search.matched {
            return Ok(());
        }
        let Missed {
            mut reached,
            wanted,
            mut instead,
        } = search.missed.unwrap_or_default();
        let closest = closest(&wanted, instead.iter().map(String::as_str)).map(str::to_owned);
        if search.deep {
            reached.clear();
            instead.clear();
        }
        Err(RedactionError::Unused {
            selector: self.selector.clone(),
            run: run.to_string(),
            reached: reached.concat().trim_start_matches('.').to_owned(),
            closest,
            instead: instead.into_iter().collect(),
        })
    }
}

/// Shows each uuid that was drawn as `[uuid 1]` and so on, wherever it stands in a value.
pub(super) fn uuids(units: &mut [Unit], run: &dyn fmt::Display) -> Result<(), RedactionError> {
    let drawn: Vec<uuid::Uuid> = units
        .iter()
        .flat_map(|unit| &unit.decisions)
        .filter_map(|decision| match decision {
            Decision::Recorded {
                source: RecordSource::Uuid,
                value,
                ..
            } => value.decode().ok(),
            _ => None,
        })
        .collect();
    if drawn.is_empty() {
        return Err(RedactionError::NoUuid {
            run: run.to_string(),
        });
    }
    each_value(units, &mut |_, _, json| {
        let mut text = json.to_string();
        for (number, uuid) in (1..).zip(&drawn) {
            for written in [uuid.hyphenated().to_string(), uuid.simple().to_string()] {
                text = text.replace(&written, &format!("[uuid {number}]"));
            }
        }
        // Neither has a character that means something in JSON.
        *json = serde_json::from_str(&text).unwrap_or(Json::String(text));
    });
    Ok(())
}

/// Shows `visit` each value of a history: whose it is, what it is to them, itself.
fn each_value(units: &mut [Unit], visit: &mut dyn FnMut(&str, &str, &mut Json)) {
    let mut workflow = String::new();
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut value = |name: &str, part: &str, value: &mut Value| {
        let Ok(mut json) = serde_json::from_str::<Json>(value.as_json()) else {
            return;
        };
        let before = json.clone();
        visit(name, part, &mut json);
        if json != before {
            *value = Value::trusted(&json.to_string());
        }
    };
    for unit in units {
        let mut updated = String::new();
        let of = |operation: &u64| names.get(operation).map_or("?", |name| name);
        match &mut unit.observation {
            Observation::Started(started) => {
                workflow.clone_from(&started.workflow);
                value(&workflow, "input", &mut started.input);
            }
            Observation::ActivityCompleted { operation, result } => {
                value(of(operation), "result", result);
            }
            Observation::ActivityFailed { operation, failure } => match failure {
                ActivityFailure::Rejected { value: error } => value(of(operation), "error", error),
                ActivityFailure::RetriesExhausted { last, .. } => {
                    let mut text = Value::trusted(&Json::from(&**last).to_string());
                    value(of(operation), "error", &mut text);
                    *last = text.decode().unwrap_or_default();
                }
                ActivityFailure::TimedOut
                | ActivityFailure::Cancelled
                | ActivityFailure::TooLarge { .. } => {}
            },
            Observation::TimerFired { .. } | Observation::SlotFilled { .. } => {}
            Observation::MessageArrived(told) | Observation::SignalArrived(told) => {
                value(&told.name, "payload", &mut told.payload);
            }
            Observation::StubFulfilled {
                operation,
                value: answer,
                ..
            } => value(of(operation), "result", answer),
            Observation::UpdateAccepted { name, input, .. } => {
                updated.clone_from(name);
                value(name, "input", input);
            }
            Observation::Migrated(migrated) => {
                if let Some(started) = &mut migrated.unstarted {
                    value(&started.workflow, "input", &mut started.input);
                }
            }
        }
        for decision in &mut unit.decisions {
            match decision {
                Decision::ActivityScheduled {
                    operation,
                    name,
                    input,
                    ..
                }
                | Decision::StubOffered {
                    operation,
                    name,
                    input,
                    ..
                } => {
                    names.insert(*operation, name.to_string());
                    value(name, "input", input);
                }
                Decision::Recorded {
                    source: RecordSource::Named(name),
                    value: made,
                    ..
                } => value(name, "value", made),
                Decision::Emitted {
                    stream,
                    value: item,
                    ..
                } => value(stream, "item", item),
                Decision::UpdateAnswered { value: answer, .. } => value(&updated, "answer", answer),
                Decision::SendRequested { name, payload, .. } => value(name, "payload", payload),
                Decision::FulfilRequested {
                    stub, value: given, ..
                } => value(stub, "value", given),
                Decision::Completed { value: result, .. } => value(&workflow, "result", result),
                Decision::Failed { error, .. } => value(&workflow, "error", error),
                Decision::Recorded { .. }
                | Decision::TimerStarted { .. }
                | Decision::ReceiveStarted { .. }
                | Decision::Received { .. }
                | Decision::StubInvalid { .. }
                | Decision::SetClosed { .. }
                | Decision::Marker { .. }
                | Decision::Dropped { .. } => {}
            }
        }
    }
}

/// A search for what a selector matches. Where it matches nothing it knows how far it came.
struct Search<'a> {
    shown: &'a str,
    matched: bool,
    /// The selector has a `**`.
    deep: bool,
    /// Where the search is.
    way: Vec<String>,
    /// The place that is farthest along the selector.
    missed: Option<Missed>,
}

/// A place that lacks what the selector asks for next.
#[derive(Default)]
struct Missed {
    reached: Vec<String>,
    wanted: String,
    instead: BTreeSet<String>,
}

impl Search<'_> {
    fn name(&mut self, steps: &[Step], name: &str, part: &str, json: &mut Json) {
        self.level(steps, name, &mut |search, steps| {
            search.level(steps, part, &mut |search, steps| search.inside(steps, json));
        });
    }

    /// One of the two names that stand before a value.
    fn level(&mut self, steps: &[Step], name: &str, then: &mut dyn FnMut(&mut Self, &[Step])) {
        match steps.split_first() {
            // A selector may end here: all values of that name.
            None => then(self, steps),
            Some((Step::Deep, rest)) => {
                self.level(rest, name, then);
                self.step(format!(".{name}"), |search| then(search, steps));
            }
            Some((Step::Each, rest)) => self.step(format!(".{name}"), |search| then(search, rest)),
            Some((Step::Name(wanted), rest)) if wanted == name => {
                self.step(format!(".{name}"), |search| then(search, rest));
            }
            Some((step, _)) => self.missed(step, [name]),
        }
    }

    fn inside(&mut self, steps: &[Step], json: &mut Json) {
        let Some((step, rest)) = steps.split_first() else {
            *json = Json::String(self.shown.to_owned());
            self.matched = true;
            return;
        };
        let next = match step {
            Step::Deep => {
                self.inside(rest, json);
                steps
            }
            _ => rest,
        };
        let mut met = false;
        match json {
            Json::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if matches!(step, Step::Each | Step::Deep)
                        || matches!(step, Step::Name(wanted) if wanted == name)
                    {
                        met = true;
                        self.step(format!(".{name}"), |search| search.inside(next, member));
                    }
                }
                if !met {
                    self.missed(step, members.keys().map(String::as_str));
                }
            }
            Json::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    if matches!(step, Step::Each | Step::Deep) || *step == Step::Item(at) {
                        met = true;
                        self.step(format!("[{at}]"), |search| search.inside(next, item));
                    }
                }
                if !met {
                    let names = match items.len() {
                        0 => None,
                        1 => Some("[0]".to_owned()),
                        count => Some(format!("[0]..[{}]", count - 1)),
                    };
                    self.missed(step, names.as_deref());
                }
            }
            _ => self.missed(step, []),
        }
    }

    fn step(&mut self, step: String, then: impl FnOnce(&mut Self)) {
        self.way.push(step);
        then(self);
        self.way.pop();
    }

    /// There is no such thing here, but `there`. Of all places the one that is farthest along the selector
    /// is told.
    fn missed<'n>(&mut self, step: &Step, there: impl IntoIterator<Item = &'n str>) {
        // Behind `**` each place is as good as the other.
        let nearer = self.missed.as_ref().is_some_and(|missed| {
            self.deep || missed.reached == self.way || missed.reached.len() > self.way.len()
        });
        if !nearer {
            self.missed = Some(Missed {
                reached: self.way.clone(),
                ..Missed::default()
            });
        }
        let Some(missed) = &mut self.missed else {
            return;
        };
        if self.deep || missed.reached == self.way {
            missed.instead.extend(there.into_iter().map(str::to_owned));
            if let Step::Name(wanted) = step {
                missed.wanted.clone_from(wanted);
            }
        }
    }
}

fn parse(selector: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = selector;
    while !rest.is_empty() || steps.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = bracket(inner)?;
            steps.push(step);
            rest = after;
            continue;
        }
        let name = match rest.strip_prefix('.') {
            Some(name) if !steps.is_empty() => name,
            None if steps.is_empty() => rest,
            _ => return Err(format!("`{rest}` stands where `.` or `[` belongs")),
        };
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        steps.push(match name {
            "" => return Err("a name is missing".to_owned()),
            "*" => Step::Each,
            "**" => Step::Deep,
            name => Step::Name(name.to_owned()),
        });
        rest = after;
    }
    Ok(steps)
}

/// `3]`, `*]` or `"a.b"]`, and what follows.
fn bracket(inner: &str) -> Result<(Step, &str), String> {
    let open = || format!("`[{inner}` has no `]`");
    if inner.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let name = match strings.next() {
            Some(Ok(name)) => name,
            _ => return Err(format!("`[{inner}` has no name in quotes")),
        };
        let after = &inner[strings.byte_offset()..];
        return Ok((Step::Name(name), after.strip_prefix(']').ok_or_else(open)?));
    }
    let (item, after) = inner.split_once(']').ok_or_else(open)?;
    let step =
        match item {
            "*" => Step::Each,
            item => Step::Item(item.parse().map_err(|_| {
                format!("`[{item}]` is neither a number, `[*]` nor a name in quotes")
            })?),
        };
    Ok((step, after))
}
