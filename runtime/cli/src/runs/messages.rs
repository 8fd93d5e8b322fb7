//! `perennial messages`.

use perennial::RunKey;
use perennial_runtime::control::{Answer, ListMessages, Request};
use perennial_runtime::{MessageInfo, MessagePage, MessageState};

use super::reference::ask_about;
use super::text::{table, time, value};
use super::{Of, json, open, other, said};
use crate::{AnyError, Outcome};

/// Lists the messages that a run was sent: which wait, and what has become of the others
///
/// Of a program that has the store open it is asked through its control socket. Where none has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct Messages {
    #[command(flatten)]
    of: Of,
    /// Only messages of this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How many messages to list: 1 to 10,000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: u64,
    /// Only messages with greater numbers
    #[arg(long, value_name = "NUMBER", conflicts_with = "before")]
    after: Option<u64>,
    /// Only messages with smaller numbers, the last of them
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Messages {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let mut run = self.of.run()?;
        let mut runs = open(&self.of.store)?;
        let answer = ask_about(&mut runs, &self.of.store, &mut run, |run| {
            Request::Messages(ListMessages {
                run,
                after: self.after,
                before: self.before,
                limit: usize::try_from(self.limit).unwrap_or(usize::MAX),
                named: self.name.clone(),
            })
        })?;
        runs.close()?;
        let Answer::Messages(page) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&page);
        }
        if page.messages.is_empty() {
            return Ok(said(self.none(&run)));
        }
        Ok(said(self.text(&page)))
    }

    /// That there are none of those that were asked for.
    fn none(&self, run: &RunKey) -> String {
        let named = |name: &String| format!(" \"{}\"", super::text::short(name, 128));
        let name = self.name.as_ref().map(named).unwrap_or_default();
        let beyond = match (self.after, self.before) {
            (Some(number), _) => format!(" after number {number}"),
            (None, Some(number)) => format!(" before number {number}"),
            (None, None) => String::new(),
        };
        format!("run {run} was sent no message{name}{beyond}\n")
    }

    fn text(&self, page: &MessagePage) -> String {
        let head = ["NUMBER", "NAME", "CAME", "STATE", "SAYS", "KEY"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(page.messages.iter().map(row));
        let mut text = table(&rows);
        let next = match (page.more, self.before) {
            (false, _) => None,
            (true, Some(_)) => page.messages.first().map(|first| ("before", first.number)),
            (true, None) => page.messages.last().map(|last| ("after", last.number)),
        };
        if let Some((direction, number)) = next {
            text += &format!("\nthere are more: `--{direction} {number}`\n");
        }
        text
    }
}

fn row(message: &MessageInfo) -> Vec<String> {
    let key = message.key.as_deref().unwrap_or_default();
    vec![
        message.number.to_string(),
        super::inert::line(&message.name),
        time(message.at),
        state(&message.state),
        value(&message.payload),
        super::text::short(key, 64),
    ]
}

fn state(state: &MessageState) -> String {
    match state {
        MessageState::Pending => "pending".to_owned(),
        MessageState::Unread => "unread".to_owned(),
        MessageState::Consumed { event, invalid, .. } => match invalid {
            None => format!("taken, event {event}"),
            Some(_) => format!("taken, event {event}, not of its type"),
        },
        // Newer software may say more.
        other => format!("{other:?}").to_lowercase(),
    }
}
