//! What a comparison found, with its place.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Key;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is wrong: something is not released yet, or cannot be locked.
    Note,
    /// Runs in flight may go another way (L310).
    Warning,
    /// Runs in flight would not replay, or it cannot be told.
    Error,
}

/// Something that a comparison of sources with a lock found.
///
/// `Display` shows it as a compiler would: the text, the place, and the line with what is meant underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// `L301`; `None` for notes, and where two functions have one key.
    pub code: Option<&'static str>,
    /// How much it matters.
    pub level: Level,
    /// The function.
    pub key: Option<Key>,
    /// The file, from the folder of `Cargo.toml` on.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// So many characters are meant, within the line.
    pub width: usize,
    /// The text of the line; empty where only the file is meant.
    pub source: String,
    /// What was found and what to do.
    pub text: String,
}

impl Finding {
    /// The same, with its file below `folder`.
    #[must_use]
    pub fn under(mut self, folder: &Path) -> Self {
        self.file = folder.join(&self.file);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        // As the compiler sets off the lines of a text.
        let indent = " ".repeat(word.len() + 2);
        write!(f, "{word}: ")?;
        for (index, line) in self.text.lines().enumerate() {
            match (index, line.is_empty()) {
                (0, _) => writeln!(f, "{line}")?,
                (_, true) => writeln!(f)?,
                _ => writeln!(f, "{indent}{line}")?,
            }
        }
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let file = self.file.display();
        writeln!(f, "{margin}--> {file}:{}:{}", self.line, self.column)?;
        if self.source.is_empty() {
            return Ok(());
        }
        let before: String = self
            .source
            .chars()
            .take(self.column - 1)
            .map(|character| if character == '\t' { '\t' } else { ' ' })
            .collect();
        let carets = "^".repeat(self.width.max(1));
        writeln!(f, "{margin} |")?;
        let source = printable(&self.source);
        writeln!(f, "{number} | {source}")?;
        writeln!(f, "{margin} | {before}{carets}")
    }
}

/// A text without what a terminal would take for more than letters. Tabs stay, and so do columns.
pub(super) fn printable(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| match c {
            '\t' => c,
            c if c.is_control() || turns(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}
