//! What was said so far, and whose turn it is.

use serde::{Deserialize, Serialize};

use super::{Doing, Standing};

/// How many bytes of what was said a model is shown: the newest.
pub const CONTEXT: usize = 24 * 1024;
/// How many bytes the user may say at once.
pub const LONGEST_WORD: usize = 8 * 1024;
/// What a model ends a message with that is not the last one.
const MORE: &str = "CONTINUE";

/// Who has said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// By whom.
    pub who: Who,
    /// What.
    pub text: String,
}

/// What the user wants with what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// That the agent knows of it.
    Say,
    /// That the agent ends the step that it is at.
    Stop,
    /// That the session ends.
    Quit,
}

impl Word {
    /// `/stop` and `/quit` are commands, anything else is for the model.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.trim() {
            "/stop" => Self::Stop,
            "/quit" => Self::Quit,
            _ => Self::Say,
        }
    }
}

/// A session's memory. It follows from what the run was told, so it is the same in each replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// The newest of what was said.
    lines: Vec<Line>,
    /// What the user has said since the step began: the model learns of it with the next one.
    meanwhile: Vec<String>,
    /// Whether there is something to be done.
    open: bool,
    /// How many steps there were since the user has said something.
    alone: u32,
    heard: u64,
    steps: u64,
    tokens: u64,
}

impl Talk {
    /// Something has come from the user.
    pub fn counts(&mut self) {
        self.heard += 1;
    }

    /// The user has said something that is for the model.
    pub fn hears(&mut self, text: String) {
        self.meanwhile.push(text);
        self.open = true;
        self.alone = 0;
    }

    /// Whether the agent has to take a step now, of which it may take that many without a word of the user.
    #[must_use]
    pub fn goes_on(&self, most: u32) -> bool {
        self.open && self.alone < most
    }

    /// Whether the agent would go on, and may not.
    #[must_use]
    pub fn has_enough(&self, most: u32) -> bool {
        self.open && self.alone >= most
    }

    /// How much has happened: words of the user, and steps.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.heard + self.steps
    }

    /// A step begins: its number, and what the model is shown.
    pub fn step(&mut self) -> (u64, Vec<Line>) {
        self.take_over();
        self.open = false;
        self.steps += 1;
        self.alone = self.alone.saturating_add(1);
        (self.steps, self.lines.clone())
    }

    /// The step ends with what the model has said. What it means to be seen is returned.
    pub fn answered(&mut self, text: &str, tokens: u64) -> String {
        let (text, more) = said(text);
        self.tokens = self.tokens.saturating_add(tokens);
        self.lines.push(Line {
            who: Who::Assistant,
            text: text.clone(),
        });
        self.open = more || !self.meanwhile.is_empty();
        self.take_over();
        text
    }

    /// The step has no answer. It is not taken again by itself, unless the user has said something meanwhile.
    pub fn failed(&mut self) {
        self.open = !self.meanwhile.is_empty();
        self.take_over();
    }

    /// The step is over, since the user has said so.
    pub fn stopped(&mut self) {
        self.take_over();
        self.open = false;
    }

    /// What the user has said meanwhile stands after what it did not know of.
    fn take_over(&mut self) {
        let meanwhile = self.meanwhile.drain(..);
        self.lines.extend(meanwhile.map(|text| Line {
            who: Who::User,
            text,
        }));
        let mut left = CONTEXT;
        let fits = self.lines.iter().rev().take_while(|line| {
            let room = left.checked_sub(line.text.len());
            left = room.unwrap_or_default();
            room.is_some()
        });
        let first = self.lines.len() - fits.count().max(1).min(self.lines.len());
        self.lines.drain(..first);
    }

    /// What a view shows of it.
    #[must_use]
    pub fn standing(&self, doing: Doing) -> Standing {
        Standing {
            doing,
            heard: self.heard,
            steps: self.steps,
            tokens: self.tokens,
        }
    }
}

/// What a model means to be seen, and whether it has more to do.
fn said(text: &str) -> (String, bool) {
    let text = text.trim();
    let more = text.lines().next_back().map(str::trim) == Some(MORE);
    let seen = if more {
        text[..text.len() - MORE.len()].trim_end()
    } else {
        text
    };
    (seen.to_owned(), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn what_is_said_during_a_step_stands_after_its_answer() {
        let mut talk = Talk::default();
        talk.hears("sort them".into());
        let (step, shown) = talk.step();
        assert_eq!((step, texts(&shown)), (1, vec!["sort them"]));
        talk.hears("by size".into());
        assert_eq!(talk.answered("sorted", 7), "sorted");
        assert!(talk.goes_on(1), "the user has said something");
        let (_, shown) = talk.step();
        assert_eq!(texts(&shown), ["sort them", "sorted", "by size"]);
    }

    #[test]
    fn a_model_goes_on_only_where_it_says_so_and_only_so_far() {
        for (text, seen, more) in [
            ("done", "done", false),
            ("first\nCONTINUE\n", "first", true),
            ("CONTINUE", "", true),
            ("I could CONTINUE", "I could CONTINUE", false),
            ("no CONTINUE\nyet", "no CONTINUE\nyet", false),
        ] {
            assert_eq!(said(text), (seen.to_owned(), more), "{text}");
        }
        let mut talk = Talk::default();
        talk.hears("work".into());
        for _ in 0..2 {
            assert!(talk.goes_on(2));
            talk.step();
            talk.answered("more\nCONTINUE", 0);
        }
        assert!(!talk.goes_on(2) && talk.has_enough(2));
        talk.hears("go on".into());
        assert!(talk.goes_on(2));
    }

    #[test]
    fn a_step_without_an_answer_is_not_taken_again_by_itself() {
        let mut talk = Talk::default();
        talk.hears("work".into());
        talk.step();
        talk.failed();
        assert!(!talk.goes_on(8) && !talk.has_enough(8));
        talk.hears("again".into());
        talk.step();
        talk.hears("or not".into());
        talk.stopped();
        assert!(
            !talk.goes_on(8),
            "what was said before the stop is over too"
        );
        talk.hears("yes".into());
        talk.step();
        talk.hears("quickly".into());
        talk.failed();
        assert!(talk.goes_on(8), "the user has said something");
        let shown = talk.step().1;
        assert_eq!(texts(&shown), ["work", "again", "or not", "yes", "quickly"]);
    }

    #[test]
    fn a_model_is_shown_the_newest_and_at_least_the_last() {
        let mut talk = Talk::default();
        for n in 0..6 {
            talk.hears(format!("{n}").repeat(CONTEXT / 4));
        }
        let shown = talk.step().1;
        let first: Vec<_> = shown.iter().map(|line| &line.text[..1]).collect();
        assert_eq!(first, ["2", "3", "4", "5"]);
        talk.answered(&"a".repeat(CONTEXT + 1), 0);
        talk.hears(String::new());
        assert_eq!(talk.step().1.len(), 1, "the empty word");
        talk.answered(&"a".repeat(CONTEXT + 1), 0);
        assert_eq!(talk.step().1.len(), 1, "the long one");
    }
}
