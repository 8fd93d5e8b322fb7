//! How models are asked and answer: the chat completions of OpenAI, which many others have too.

use serde::{Deserialize, Serialize};

use super::{Line, Prompt, Who};

/// What stands for the user where a model goes on by itself: many take no messages that end with one of theirs.
pub(super) const GO_ON: &str = "Go on.";

/// A request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// Who is to answer.
    pub(super) model: String,
    /// All that was said.
    pub(super) messages: Vec<Message>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who has said it: `system`, `user` or `assistant`.
    pub role: String,
    /// What.
    pub content: String,
}

impl Message {
    fn new(role: &str, content: impl Into<String>) -> Self {
        Self {
            role: role.to_owned(),
            content: content.into(),
        }
    }
}

impl Request {
    /// What a model is sent. User and assistant take turns, as some models want it.
    pub(super) fn new(model: &str, prompt: &Prompt) -> Self {
        let mut messages = vec![Message::new("system", &prompt.instructions)];
        for Line { who, text } in &prompt.lines {
            let role = match who {
                Who::User => "user",
                Who::Assistant => "assistant",
            };
            match messages.last_mut() {
                Some(last) if last.role == role => {
                    last.content.push_str("\n\n");
                    last.content.push_str(text);
                }
                _ => messages.push(Message::new(role, text)),
            }
        }
        if messages.last().is_none_or(|last| last.role != "user") {
            messages.push(Message::new("user", GO_ON));
        }
        Self {
            model: model.to_owned(),
            messages,
        }
    }
}

/// A response. What else there is in it is left alone.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Response {
    /// The answers; the first one counts.
    pub(super) choices: Vec<Choice>,
    /// What it has cost.
    #[serde(default)]
    pub(super) usage: Option<Usage>,
}

/// One answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Choice {
    /// What was said.
    pub(super) message: Reply,
}

/// What a model has said.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    /// Always `assistant`.
    #[serde(default)]
    pub(super) role: String,
    /// The text. Models that call tools have none; this one was given no tools.
    pub(super) content: Option<String>,
}

/// What an answer has cost.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Usage {
    /// How many tokens.
    #[serde(default)]
    pub(super) total_tokens: u64,
}

impl Response {
    /// One with that text.
    pub(super) fn of(text: &str) -> Self {
        let words = text.split_whitespace().count() as u64;
        Self {
            choices: vec![Choice {
                message: Reply {
                    role: "assistant".to_owned(),
                    content: Some(text.to_owned()),
                },
            }],
            usage: Some(Usage {
                total_tokens: words,
            }),
        }
    }
}

/// What comes with a status that is not 200.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Problem {
    /// What is wrong.
    pub(super) error: ProblemText,
}

/// What is wrong.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ProblemText {
    /// In words.
    #[serde(default)]
    pub(super) message: String,
    /// In a word.
    #[serde(default)]
    pub(super) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lines: &[(Who, &str)]) -> Vec<(String, String)> {
        let lines = lines.iter().map(|(who, text)| Line {
            who: *who,
            text: (*text).to_owned(),
        });
        let prompt = Prompt {
            instructions: "be kind".to_owned(),
            lines: lines.collect(),
        };
        let messages = Request::new("m", &prompt).messages;
        messages.into_iter().map(|m| (m.role, m.content)).collect()
    }

    #[test]
    fn user_and_assistant_take_turns() {
        let turns = request(&[
            (Who::User, "a"),
            (Who::User, "b"),
            (Who::Assistant, "c"),
            (Who::User, "d"),
        ]);
        let said: Vec<_> = turns
            .iter()
            .map(|(r, c)| (r.as_str(), c.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                ("system", "be kind"),
                ("user", "a\n\nb"),
                ("assistant", "c"),
                ("user", "d")
            ]
        );
    }

    #[test]
    fn a_model_that_goes_on_is_asked_to() {
        let turns = request(&[(Who::User, "a"), (Who::Assistant, "b")]);
        assert_eq!(turns[3], ("user".to_owned(), GO_ON.to_owned()));
    }
}
