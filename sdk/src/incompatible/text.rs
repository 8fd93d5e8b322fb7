//! An incompatibility as people read it.

use std::fmt;

use super::window::{self, Row};
use super::{Incompatible, IncompatibleKind, Side};
use crate::prose::{indent, safe, safe_lines};

/// The text with colours, for a terminal ([`Incompatible::coloured`]).
#[derive(Clone, Copy, Debug)]
pub struct Coloured<'a>(&'a Incompatible);

impl<'a> Coloured<'a> {
    pub(super) fn of(error: &'a Incompatible) -> Self {
        Self(error)
    }
}

impl fmt::Display for Coloured<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text {
            error: self.0,
            colours: true,
        }
        .write(f)
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text {
            error: self,
            colours: false,
        }
        .write(f)
    }
}

#[derive(Clone, Copy)]
enum Ink {
    Red,
    Green,
    Bold,
    Dim,
}

struct Text<'a> {
    error: &'a Incompatible,
    colours: bool,
}

/// Columns of the window: the history's side is so wide where it is not wider by itself.
const NARROWEST: usize = 24;
const WIDEST: usize = 48;

impl Text<'_> {
    fn ink(&self, ink: Ink, text: &str) -> String {
        if !self.colours || text.trim().is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Red => "31",
            Ink::Green => "32",
            Ink::Bold => "1",
            Ink::Dim => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error;
        let run = format!("run {} ({})", safe(&error.run), safe(&error.workflow));
        let code = format!("[{} {}]", error.kind.code(), error.kind.name());
        writeln!(
            f,
            "{} is blocked: {} {}",
            self.ink(Ink::Bold, &run),
            error.kind.summary(),
            self.ink(Ink::Red, &code)
        )?;
        let operation = error.operation();
        let operation = operation
            .map(|n| format!(", operation ~{n}"))
            .unwrap_or_default();
        writeln!(f, "\n  event {}{operation}", error.event)?;
        self.sides(f)?;
        if let Some(difference) = &error.difference {
            writeln!(f, "      differs     {}", safe(&difference.to_string()))?;
        }
        if let Some(detail) = &error.detail {
            writeln!(f, "      {}", indent(&safe_lines(detail), 6))?;
        }
        self.window(f)?;
        self.remedies(f)
    }

    /// The two sides, and the programs.
    fn sides(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error;
        let programs = [
            program("begun by ", &error.started_by, error.started_version),
            program("", &error.artifact, error.version),
        ];
        let both = error.recorded.is_some() || error.asked.is_some();
        if !both {
            let [began, this] = programs;
            let programs = match (began.is_empty(), this.is_empty()) {
                (true, true) => return Ok(()),
                (true, false) => format!("this is {this}"),
                (false, true) => began,
                (false, false) => format!("{began}, this is {this}"),
            };
            return writeln!(f, "      {}", self.ink(Ink::Dim, &programs));
        }
        let nothing = match error.kind {
            IncompatibleKind::LeftOver => "nothing, it has ended",
            _ => "nothing, it waits",
        };
        let whats = [(&error.recorded, "nothing more"), (&error.asked, nothing)]
            .map(|(side, nothing)| side.as_ref().map_or_else(|| nothing.to_owned(), what));
        let places = [&error.recorded, &error.asked].map(place);
        let [wide_what, wide_place] = [&whats, &places].map(|texts| {
            texts
                .iter()
                .map(|text| width(text))
                .max()
                .unwrap_or(0)
                .min(WIDEST)
        });
        let who = ["recorded", "this code"];
        for at in 0..2 {
            let ink = [Ink::Green, Ink::Red][at];
            let (place, program) = (&places[at], &programs[at]);
            // Nothing stands behind the last word of a line, coloured or not.
            let what = match (place.is_empty(), program.is_empty()) {
                (true, true) => whats[at].clone(),
                _ => padded(&whats[at], wide_what),
            };
            let place = match program.is_empty() {
                true => place.clone(),
                false => padded(place, wide_place),
            };
            let line = format!(
                "      {:<11} {}  {place}  {}",
                who[at],
                self.ink(ink, &what),
                self.ink(Ink::Dim, program),
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// What comes next on either side, where that is more than the difference itself.
    fn window(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error;
        let (recorded, asked) = (&error.recorded_next, &error.asked_next);
        if recorded.len() < 2 && asked.len() < 2 {
            return Ok(());
        }
        let rows = window::rows(error.kind, recorded, asked);
        let events = recorded.iter().filter_map(|side| side.event);
        let digits = events.max().map_or(0, |event| event.to_string().len());
        let texts = |text: &dyn Fn(&Row<'_>) -> Option<String>| -> Vec<String> {
            rows.iter()
                .map(|row| text(row).unwrap_or_default())
                .collect()
        };
        let left = texts(&|row| row.recorded.map(|side| numbered(side, digits)));
        let right = texts(&|row| row.asked.map(|side| safe(&side.what).into_owned()));
        let wide = left.iter().map(|text| width(text)).max().unwrap_or(0);
        let wide = wide.clamp(NARROWEST, WIDEST);
        let wide_right = right
            .iter()
            .map(|text| width(text))
            .max()
            .unwrap_or(0)
            .min(WIDEST);
        writeln!(
            f,
            "\n  {}     this code asks for",
            padded("recorded next", wide + 4)
        )?;
        let mut first = true;
        for (row, (left, right)) in rows.iter().zip(left.iter().zip(&right)) {
            let both = row.recorded.is_some() && row.asked.is_some();
            let sign = if row.differs && both { "≠" } else { " " };
            let mark = match row.differs && first {
                true => format!("   ← {}", error.kind.name()),
                false => String::new(),
            };
            first &= !row.differs;
            let right = match mark.is_empty() {
                true => right.clone(),
                false => padded(right, wide_right),
            };
            let left = match right.is_empty() {
                true => left.clone(),
                false => padded(left, wide),
            };
            let (left, right) = match row.differs {
                true => (self.ink(Ink::Green, &left), self.ink(Ink::Red, &right)),
                false => (left, right),
            };
            let line = format!(
                "      {left}  {}  {right}{}",
                sign,
                self.ink(Ink::Bold, &mark)
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn remedies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedies = &self.error.remedies;
        match &remedies[..] {
            [] => write!(
                f,
                "\nNothing was changed. The run goes on when a program is started that fits."
            ),
            [one] => write!(
                f,
                "\nNothing was changed. The run goes on after this:\n  · {one}"
            ),
            several => {
                write!(
                    f,
                    "\nNothing was changed. The run goes on after any of these:"
                )?;
                several
                    .iter()
                    .try_for_each(|remedy| write!(f, "\n  · {remedy}"))
            }
        }
    }
}

/// A side and its operation's number.
fn what(side: &Side) -> String {
    let operation = side.operation.map(|n| format!(" ~{n}")).unwrap_or_default();
    format!("{}{operation}", safe(&side.what))
}

/// A side of the history, with the number of its event.
fn numbered(side: &Side, digits: usize) -> String {
    let event = side
        .event
        .map(|event| event.to_string())
        .unwrap_or_default();
    format!("{event:>digits$} {}", safe(&side.what))
}

fn place(side: &Option<Side>) -> String {
    let site = side.as_ref().and_then(|side| side.site.as_ref());
    site.map(|site| safe(&site.to_string()).into_owned())
        .unwrap_or_default()
}

fn program(role: &str, artifact: &str, version: Option<u32>) -> String {
    if artifact.is_empty() {
        return String::new();
    }
    let version = version
        .map(|version| format!(", version {version}"))
        .unwrap_or_default();
    format!("{role}artifact {}{version}", short(&safe(artifact)))
}

/// Digests are told apart by their beginning.
fn short(artifact: &str) -> String {
    let is_digest = artifact.len() >= 32 && artifact.bytes().all(|b| b.is_ascii_hexdigit());
    match is_digest {
        true => format!("{}…", &artifact[..12]),
        false => artifact.to_owned(),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, wide: usize) -> String {
    let fill = wide.saturating_sub(width(text));
    format!("{text}{:fill$}", "")
}
