//! The text of a history, as snapshots and people read it: an event a line, decisions indented under the
//! observation that led to them. Without options it is stable: no times, no ids, no lines of source.

use std::fmt::Write as _;

use super::event::{ActivityFailure, Decision, Observation, RecordSource, Unit};

/// What the text of a history shows.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Render {
    /// The stamp of each unit.
    pub times: bool,
    /// `file:line:column` in place of the file alone.
    pub lines: bool,
}

/// The column at which call sites begin, where the text before is not longer.
const SITE_COLUMN: usize = 64;
/// Values longer than this are cut in the text.
const MAX_VALUE: usize = 200;

/// The text of `units`.
#[must_use]
pub fn render(units: &[Unit], options: Render) -> String {
    let width = units.last().map_or(1, Unit::last).to_string().len().max(2);
    // Names of operations, since completions show what completed.
    let mut names = std::collections::HashMap::new();
    let mut first_operation = 1;
    let mut out = String::new();
    for unit in units {
        if let Observation::Started(started) = &unit.observation {
            first_operation = started.first_operation;
        }
        let number = |operation: u64| operation.saturating_sub(first_operation).saturating_add(1);
        let name = |operation: u64, names: &std::collections::HashMap<u64, String>| {
            names.get(&operation).cloned().unwrap_or_else(|| "?".into())
        };
        let text = match &unit.observation {
            Observation::Started(started) => {
                format!(
                    "started      {} {}",
                    started.workflow,
                    short(started.input.as_json())
                )
            }
            Observation::ActivityCompleted { operation, result } => format!(
                "completed    ~{} {} {}",
                number(*operation),
                name(*operation, &names),
                short(result.as_json())
            ),
            Observation::ActivityFailed { operation, failure } => format!(
                "failed       ~{} {} {}",
                number(*operation),
                name(*operation, &names),
                failure_text(failure)
            ),
            Observation::TimerFired { operation } => {
                format!("fired        ~{} sleep", number(*operation))
            }
        };
        let times = if options.times {
            format!("   {}", unit.at)
        } else {
            String::new()
        };
        let _ = writeln!(out, "{:>width$} {text}{times}", unit.number);
        for (at, decision) in unit.decisions.iter().enumerate() {
            let text = match decision {
                Decision::ActivityScheduled {
                    operation,
                    name,
                    input,
                    ..
                } => {
                    names.insert(*operation, name.to_string());
                    format!(
                        "  activity   ~{} {name} {}",
                        number(*operation),
                        short(input.as_json())
                    )
                }
                Decision::TimerStarted { operation, .. } => {
                    names.insert(*operation, "sleep".into());
                    format!("  sleep      ~{}", number(*operation))
                }
                Decision::Recorded { source, value, .. } => match source {
                    // Not the same twice, so not in a text that is.
                    RecordSource::Random => "  random".to_owned(),
                    RecordSource::Uuid => "  uuid".to_owned(),
                    RecordSource::Named(name) => {
                        format!("  recorded   {name} {}", short(value.as_json()))
                    }
                },
                Decision::Dropped { operation } => {
                    format!(
                        "  dropped    ~{} {}",
                        number(*operation),
                        name(*operation, &names)
                    )
                }
                Decision::Completed { value, open } => {
                    format!(
                        "completed    {}{}",
                        short(value.as_json()),
                        left(open, number)
                    )
                }
                Decision::Failed { error, open } => {
                    format!(
                        "failed       {}{}",
                        short(error.as_json()),
                        left(open, number)
                    )
                }
            };
            let line = format!(
                "{:>width$} {text}",
                unit.number.saturating_add(1 + at as u64)
            );
            match decision.site() {
                None => out.push_str(&line),
                Some(site) => {
                    let place = if options.lines {
                        site.to_string()
                    } else {
                        site.file
                            .rsplit(['/', '\\'])
                            .next()
                            .unwrap_or_default()
                            .to_owned()
                    };
                    let _ = write!(out, "{line:<SITE_COLUMN$} {place} {}", site.function);
                    out.truncate(out.trim_end().len());
                }
            }
            out.push('\n');
        }
    }
    out
}

fn failure_text(failure: &ActivityFailure) -> String {
    match failure {
        ActivityFailure::Rejected { value } => format!("rejected {}", short(value.as_json())),
        ActivityFailure::RetriesExhausted { last, attempts } => {
            format!(
                "retries exhausted after {attempts}: {}",
                short(&last.escape_debug().to_string())
            )
        }
        ActivityFailure::TimedOut => "timed out".into(),
        ActivityFailure::Cancelled => "cancelled".into(),
        ActivityFailure::TooLarge { size, limit } => {
            format!("too large: {size} bytes of at most {limit}")
        }
    }
}

fn left(open: &[super::OpenOperation], number: impl Fn(u64) -> u64) -> String {
    if open.is_empty() {
        return String::new();
    }
    let list: Vec<_> = open
        .iter()
        .map(|left| format!("~{} {}", number(left.operation), left.name))
        .collect();
    format!("   left open: {}", list.join(", "))
}

/// Long values are cut; their length says that something is missing.
fn short(text: &str) -> String {
    if text.chars().count() <= MAX_VALUE {
        return text.to_owned();
    }
    let head: String = text.chars().take(MAX_VALUE).collect();
    format!("{head}… ({} bytes)", text.len())
}
