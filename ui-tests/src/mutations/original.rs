//! The files of the originals: a workflow, the runs of it that are recorded, and its mutations.
//!
//! ```text
//! // # Answers
//! //
//! // quote: {"cents": 88}
//! //
//! // # Before: without the audit
//! //
//! // - audit(cx).await?;
//! // +
//! //
//! // # Runs
//! //
//! // paid late: {"id": "o-1"}
//! //     charge#1 rejects "NoCover"
//! //     ship takes 2h
//! //     after 1h is sent approval true
//! //     after 2h is signalled refresh 1
//! //     after 3h is answered review true
//! //
//! // # Mutations
//! //
//! // insert: an audit before the charge = lock L301; replay H203
//! // - charge(cx, cents)
//! // + audit(cx).await?; charge(cx, cents)
//! ```
//!
//! The source stands above. What it was before has the runs too: whole, and begun before and then gone on with.
//!
//! Of a mutation the first word says of which kind it is; the code after `-` has to be in the source once, whatever
//! its spaces and lines, and the code after `+` comes in its place. Several pairs are done together. What is expected
//! stands after ` = `: who finds it under which codes, or `harmless`; `at 3` says which event differs first in each
//! run, where the mutant by itself cannot tell. A mutation of the kind `retire` is accepted by the lock, and its
//! markers are retired.

use std::collections::BTreeMap;
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::edit::replaced;
use super::expected::Expected;
use super::protocol::{Answer, Does, How, Recordings, Run, Told};
use crate::AnyError;

/// A workflow that is mutated, in a file of its name.
#[derive(Clone, Debug)]
pub(super) struct Original {
    pub(super) name: String,
    pub(super) source: String,
    /// What it was before, and what that was.
    pub(super) before: Vec<(String, String)>,
    pub(super) recordings: Recordings,
    pub(super) mutations: Vec<Mutation>,
}

/// A change of an original, written by hand.
#[derive(Clone, Debug)]
pub(super) struct Mutation {
    /// Of which kind, such as `insert`.
    pub(super) kind: String,
    /// What is done.
    pub(super) title: String,
    /// The source with it.
    pub(super) source: String,
    pub(super) expected: Expected,
}

/// The folder of all that this is about.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mutations")
}

/// All originals, by name.
pub(super) fn all() -> Result<Vec<Original>, AnyError> {
    let mut originals = Vec::new();
    for entry in fs::read_dir(folder().join("originals"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let original = read(&name, &text);
        originals
            .push(original.map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))?);
    }
    originals.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(originals)
}

/// The line, and what is wrong with it.
type Wrong = (usize, String);

#[derive(Clone, Copy)]
enum Part {
    Source,
    Before,
    Answers,
    Runs,
    Mutations,
}

fn read(name: &str, text: &str) -> Result<Original, Wrong> {
    let mut original = Original {
        name: name.to_owned(),
        source: String::new(),
        before: Vec::new(),
        recordings: Recordings {
            workflow: name.to_owned(),
            answers: BTreeMap::new(),
            runs: Vec::new(),
        },
        mutations: Vec::new(),
    };
    let mut part = Part::Source;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let wrong = |why: String| (at + 1, why);
        part = match line {
            "// # Answers" => Part::Answers,
            "// # Runs" => Part::Runs,
            _ if line.starts_with("// # Before: ") => {
                while lines.next_if(|(_, line)| *line == "//").is_some() {}
                let source = replaced(&original.source, &pairs(&mut lines)).map_err(wrong)?;
                let name = line.trim_start_matches("// # Before: ").to_owned();
                original.before.push((name, source));
                Part::Before
            }
            "// # Mutations" => Part::Mutations,
            _ => {
                let said = line.strip_prefix("//").unwrap_or_default().trim_end();
                match part {
                    Part::Source => {
                        original.source.push_str(line);
                        original.source.push('\n');
                    }
                    _ if said.is_empty() => {}
                    Part::Before => return Err(wrong("it is no `-` or `+`".to_owned())),
                    Part::Answers => {
                        let (activity, value) = pair(said).map_err(wrong)?;
                        original.recordings.answers.insert(activity, value);
                    }
                    Part::Runs if said.starts_with("     ") => {
                        let run = original.recordings.runs.last_mut();
                        let run = run.ok_or_else(|| wrong("there is no run yet".to_owned()))?;
                        match said.trim().strip_prefix("after ") {
                            Some(what) => run.told.push(told(what).map_err(wrong)?),
                            None => run.answers.push(answer(said).map_err(wrong)?),
                        }
                    }
                    Part::Runs => {
                        let (name, input) = pair(said).map_err(wrong)?;
                        original.recordings.runs.push(Run {
                            name,
                            input,
                            answers: Vec::new(),
                            told: Vec::new(),
                        });
                    }
                    Part::Mutations => {
                        let pairs = pairs(&mut lines);
                        let mutation = mutation(said, &pairs, &original.source);
                        original.mutations.push(mutation.map_err(wrong)?);
                    }
                }
                part
            }
        };
    }
    Ok(original)
}

/// The pairs of old and new code that come next.
fn pairs<'a>(
    lines: &mut Peekable<impl Iterator<Item = (usize, &'a str)>>,
) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    while let Some((_, line)) =
        lines.next_if(|(_, line)| line.starts_with("// -") || line.starts_with("// +"))
    {
        note(&mut pairs, line.starts_with("// -"), &line["// -".len()..]);
    }
    pairs
}

/// Adds a line to the pairs of old and new code.
fn note(pairs: &mut Vec<(String, String)>, is_old: bool, code: &str) {
    let code = code.strip_prefix(' ').unwrap_or(code);
    let begins = is_old && pairs.last().is_none_or(|(_, new)| !new.is_empty());
    if begins {
        pairs.push((String::new(), String::new()));
    }
    if let Some((old, new)) = pairs.last_mut() {
        let side = if is_old { old } else { new };
        side.push_str(code);
        side.push('\n');
    }
}

/// `name: {"json": true}`
fn pair(said: &str) -> Result<(String, Value), String> {
    let (name, value) = said
        .split_once(':')
        .ok_or("it is no name with a value: `name: {..}`")?;
    let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
    Ok((name.trim().to_owned(), value))
}

/// `2h is sent approval true`
fn told(said: &str) -> Result<Told, String> {
    let mut words = said.splitn(5, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (after, is, verb) = (word(), word(), word());
    let how = match (is, verb) {
        ("is", "sent") => How::Message,
        ("is", "signalled") => How::Signal,
        ("is", "answered") => How::Value,
        _ => {
            let text = "after a while it `is sent`, `is signalled` or `is answered` something";
            return Err(text.to_owned());
        }
    };
    let (name, payload) = (word().to_owned(), word());
    Ok(Told {
        after: millis(after)?,
        how,
        name,
        payload: serde_json::from_str(payload).map_err(|error| error.to_string())?,
    })
}

fn millis(text: &str) -> Result<u64, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    Ok(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// `charge#2 rejects "NoCover"`
fn answer(said: &str) -> Result<Answer, String> {
    let said = said.trim();
    let (who, does) = said.split_once(' ').unwrap_or((said, ""));
    let (activity, call) = match who.split_once('#') {
        Some((activity, call)) => (activity, Some(call.parse().map_err(|_| "which call?")?)),
        None => (who, None),
    };
    let (verb, what) = does.split_once(' ').unwrap_or((does, ""));
    let value = || serde_json::from_str(what).map_err(|error| error.to_string());
    let does = match verb {
        "answers" => Does::Answers(value()?),
        "rejects" => Does::Rejects(value()?),
        "fails" => Does::Fails(serde_json::from_str(what).map_err(|error| error.to_string())?),
        "times" => Does::TimesOut,
        "takes" => Does::Takes(millis(what)?),
        _ => return Err("it answers, rejects, fails, times out or takes a while".to_owned()),
    };
    Ok(Answer {
        activity: activity.to_owned(),
        call,
        does,
    })
}

/// `insert: an audit before the charge = lock L301; replay H203`
fn mutation(said: &str, pairs: &[(String, String)], source: &str) -> Result<Mutation, String> {
    let (what, expected) = said
        .rsplit_once(" = ")
        .ok_or("it does not say what is expected: ` = lock L301; replay H203`, ` = harmless`")?;
    let (kind, title) = what
        .split_once(": ")
        .ok_or("it does not say of which kind it is: `insert: ..`")?;
    if pairs.is_empty() {
        return Err("it has no code: `- before` and `+ after`".to_owned());
    }
    Ok(Mutation {
        kind: kind.trim().to_owned(),
        title: title.trim().to_owned(),
        source: replaced(source, pairs)?,
        expected: expected.parse()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
fn a() {
    one();
    two();
}

// # Answers
//
// quote: 5
//
// # Runs
//
// paid late: {\"id\": 1}
//     charge#2 takes 2h
//     charge rejects \"no\"
//     after 1h is sent approval {\"by\": \"a b\"}
//     after 2h is signalled refresh null
//     after 3h is answered review true
//
// # Mutations
//
// swap: one and two = lock L303; replay H203 H205
// - one();
// - two();
// + two();
// + one();
// - fn a()
// + fn b()
";

    #[test]
    fn a_file_is_read() {
        let original = read("a", TEXT).expect("it can be read");
        assert_eq!(
            original.source.trim(),
            "fn a() {\n    one();\n    two();\n}"
        );
        assert_eq!(original.recordings.answers["quote"], 5);
        let [run] = &original.recordings.runs[..] else {
            panic!("{original:?}");
        };
        assert_eq!(run.name, "paid late");
        assert_eq!(run.input["id"], 1);
        assert_eq!(run.answers[0].call, Some(2));
        assert_eq!(run.answers[0].does, Does::Takes(7_200_000));
        assert_eq!(run.answers[1].does, Does::Rejects("no".into()));
        let told = |after, how, name: &str, payload| Told {
            after,
            how,
            name: name.to_owned(),
            payload,
        };
        let approval = told(
            3_600_000,
            How::Message,
            "approval",
            serde_json::json!({"by": "a b"}),
        );
        let refresh = told(7_200_000, How::Signal, "refresh", Value::Null);
        let review = told(10_800_000, How::Value, "review", true.into());
        assert_eq!(run.told, [approval, refresh, review]);
        let [mutation] = &original.mutations[..] else {
            panic!("{original:?}");
        };
        assert_eq!((&*mutation.kind, &*mutation.title), ("swap", "one and two"));
        assert_eq!(
            mutation.source.trim(),
            "fn b() {\n    two();\none();\n}",
            "all pairs are done"
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |from: &str, to: &str| read("a", &TEXT.replace(from, to)).expect_err("wrong");
        assert_eq!(wrong("charge#2 takes", "charge#2 bakes").0, 13);
        assert_eq!(wrong("{\"id\": 1}", "{id}").0, 12);
        assert_eq!(wrong("is sent", "is told").0, 15);
        assert_eq!(wrong(" = lock L303; replay H203 H205", "").0, 21);
        let (line, why) = wrong("// - one();", "// - three();");
        assert_eq!(line, 21);
        assert!(why.contains("three();"), "{why}");
    }
}
