//! The text of `perennial.lock`.

use std::collections::BTreeMap;
use std::fmt;

use super::finding::printable;
use super::{Key, Kind, Lock, Retired, Section};

/// What stands at the top of the file.
const HEADER: &str = "\
# What the released workflows of this package wait for and decide, in order.
#
# The build compares the code with it: a change that runs in flight could not follow does not compile.
# It is written by `perennial lock` and is to be committed. See \"The lock\" in the book of Perennial.

format 1
";

/// The formats that are understood.
const FORMAT: &str = "1";

/// A `perennial.lock` that cannot be read (L309).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unreadable { line, what } = self;
        write!(f, "line {line} of `perennial.lock`: {what}")
    }
}

impl std::error::Error for Unreadable {}

impl fmt::Display for Lock {
    /// The text of the file. Equal locks have equal texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        for (key, section) in &self.functions {
            write!(f, "\n{key}\n")?;
            if !section.flow.is_empty() {
                f.write_str("  flow")?;
                for hash in &section.flow {
                    write!(f, " {hash:08x}")?;
                }
                f.write_str("\n")?;
            }
            for Retired { id, version } in &section.retired {
                writeln!(f, "  retired {id:?} {version}")?;
            }
            for line in &section.lines {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

impl Lock {
    /// Reads the text of a `perennial.lock`.
    ///
    /// # Errors
    ///
    /// The first line that is none of such a file.
    pub fn parse(text: &str) -> Result<Lock, Unreadable> {
        let mut reader = Reader::default();
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            reader.line = index + 1;
            reader.read(line.trim_end())?;
        }
        if !reader.has_format {
            reader.line = 1;
            return Err(reader.error("it does not begin with `format 1`"));
        }
        Ok(Lock {
            functions: reader.functions,
        })
    }
}

#[derive(Default)]
struct Reader {
    line: usize,
    has_format: bool,
    functions: BTreeMap<Key, Section>,
    current: Option<Key>,
    /// How deep the line before was, and whether something may stand in it.
    depth: usize,
}

impl Reader {
    fn error(&self, what: impl Into<String>) -> Unreadable {
        Unreadable {
            line: self.line,
            what: what.into(),
        }
    }

    fn read(&mut self, line: &str) -> Result<(), Unreadable> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"]
            .iter()
            .any(|mark| line.starts_with(mark))
        {
            return Err(self.error(
                "two versions of the file were merged and do not agree\n\n\
                 help: keep the released version, and call `perennial lock` when the code is merged",
            ));
        }
        if !self.has_format {
            return match line.strip_prefix("format ") {
                Some(FORMAT) => {
                    self.has_format = true;
                    Ok(())
                }
                Some(other) => Err(self.error(format!(
                    "it is written in format {}, and this version of Perennial reads format {FORMAT}\n\n\
                     help: use the version of Perennial that wrote it, or a newer one",
                    shown(other)
                ))),
                None => Err(self.error("it does not begin with `format 1`")),
            };
        }
        match line.strip_prefix("  ") {
            Some(inside) => self.inside(inside),
            None => self.header(line),
        }
    }

    fn header(&mut self, line: &str) -> Result<(), Unreadable> {
        let key = line.split_once(' ').and_then(|(kind, name)| {
            let kind = match kind {
                "workflow" => Kind::Workflow,
                "durable" => Kind::Durable,
                _ => return None,
            };
            let name = if name.starts_with('"') {
                syn::parse_str::<syn::LitStr>(name).ok()?.value()
            } else {
                name.to_owned()
            };
            (!name.trim().is_empty()).then_some(Key { kind, name })
        });
        let Some(key) = key else {
            return Err(self.error(format!(
                "expected `workflow <name>` or `durable <path>`, and found `{}`",
                shown(line)
            )));
        };
        if self.functions.contains_key(&key) {
            return Err(self.error(format!("`{key}` stands in it twice")));
        }
        let section = Section {
            line: self.line,
            ..Section::default()
        };
        self.functions.insert(key.clone(), section);
        self.current = Some(key);
        self.depth = 0;
        Ok(())
    }

    /// A line below a header, without its first two spaces.
    fn inside(&mut self, line: &str) -> Result<(), Unreadable> {
        let text = line.trim_start_matches(' ');
        let spaces = line.len() - text.len();
        if text.starts_with('\t') {
            return Err(self.error("it is indented by tabs, and two spaces are a step"));
        }
        if spaces % 2 == 1 {
            return Err(self
                .error("two spaces are a step of indentation, and it has an odd number of them"));
        }
        let depth = spaces / 2;
        let is_first = self
            .section()
            .is_some_and(|section| section.lines.is_empty());
        let deepest = if is_first { 0 } else { self.depth + 1 };
        if depth > deepest {
            return Err(
                self.error("it is indented more than one step further than the line before")
            );
        }
        if self.section().is_none() {
            return Err(self.error("it stands below no `workflow <name>` and no `durable <path>`"));
        }
        let entry = if is_first && depth == 0 {
            self.entry(text)?
        } else {
            None
        };
        self.depth = depth;
        if let Some(section) = self.section() {
            match entry {
                Some(Entry::Flow(flow)) => section.flow = flow,
                Some(Entry::Retired(retired)) => section.retired.push(retired),
                None => section.lines.push(line.to_owned()),
            }
        }
        Ok(())
    }

    fn section(&mut self) -> Option<&mut Section> {
        self.functions.get_mut(self.current.as_ref()?)
    }

    /// What stands before the lines of the shape.
    fn entry(&self, text: &str) -> Result<Option<Entry>, Unreadable> {
        if let Some(hashes) = text.strip_prefix("flow ") {
            let flow = hashes.split(' ').map(|hash| u32::from_str_radix(hash, 16));
            return match flow.collect() {
                Ok(flow) => Ok(Some(Entry::Flow(flow))),
                Err(_) => {
                    Err(self.error("expected `flow` and numbers of eight hexadecimal digits"))
                }
            };
        }
        if let Some(rest) = text.strip_prefix("retired ") {
            return match marker(rest) {
                Some((id, version)) => Ok(Some(Entry::Retired(Retired { id, version }))),
                None => Err(self.error("expected `retired \"<id>\" <version>`")),
            };
        }
        Ok(None)
    }
}

/// The beginning of a line, as far as a terminal may see it.
fn shown(line: &str) -> String {
    const LONGEST: usize = 80;
    let mut characters = line.chars();
    let beginning: String = characters.by_ref().take(LONGEST).collect();
    let mut text = printable(&beginning);
    if characters.next().is_some() {
        text.push_str("..");
    }
    text
}

enum Entry {
    Flow(Vec<u32>),
    Retired(Retired),
}

/// `"id" 2`, as a line has it.
pub(super) fn marker(text: &str) -> Option<(String, u32)> {
    let (id, version) = text.rsplit_once(' ')?;
    // Written as a literal, and read as one.
    let id = syn::parse_str::<syn::LitStr>(id).ok()?.value();
    Some((id, version.parse().ok()?))
}

/// The marker and the arm whose header a line is.
pub(super) fn arm(line: &str) -> Option<(String, u32)> {
    let line = line.trim_start();
    let rest = line
        .strip_prefix("version ")
        .or_else(|| line.strip_prefix("version_each "))?;
    marker(rest)
}
