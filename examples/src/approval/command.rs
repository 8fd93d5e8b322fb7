//! What can be typed, in a shell or into the running program.

use std::time::Duration;

use clap::{Parser, Subcommand};
use perennial::{MAX_SLEEP, RunId};

/// A line that is typed into the running program.
#[derive(Debug, Parser)]
#[command(
    name = "",
    override_usage = "COMMAND",
    no_binary_name = true,
    disable_version_flag = true,
    help_template = "{subcommands}"
)]
pub struct Line {
    /// What it asks for.
    #[command(subcommand)]
    pub command: Command,
}

impl Line {
    /// Reads a line. What it says is divided by spaces; there are no quotes.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or the help that it asks for.
    pub fn read(line: &str) -> Result<Command, clap::Error> {
        Self::try_parse_from(line.split_whitespace()).map(|line| line.command)
    }
}

/// What can be asked for.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Command {
    /// Ask for a purchase. The same words are the same purchase
    Buy {
        /// What the purchase is called, such as desk-42
        id: RunId,
        /// For how much
        price: u64,
        /// What
        #[arg(required = true)]
        item: Vec<String>,
        /// How long an answer is waited for, such as 90s, 2h or 7d
        #[arg(long, value_name = "TIME", default_value = "7d", value_parser = limit)]
        within: Duration,
        /// Who has approved of it before it is asked for
        #[arg(long, value_name = "NAME")]
        approved_by: Option<String>,
    },
    /// Say yes to a purchase
    Approve {
        /// What the purchase is called
        id: RunId,
        /// Who says so
        #[arg(long, value_name = "NAME")]
        by: String,
    },
    /// Say no to a purchase
    Refuse {
        /// What the purchase is called
        id: RunId,
        /// Who says so
        #[arg(long, value_name = "NAME")]
        by: String,
        /// Why
        reason: Vec<String>,
    },
    /// Send any JSON as an answer, as a program in another language may do
    Send {
        /// What the purchase is called
        id: RunId,
        /// The JSON, such as {"by": "Grace", "yes": true}
        #[arg(required = true)]
        json: Vec<String>,
    },
    /// List the purchases
    List,
    /// Show how a purchase stands, and all answers to it
    Show {
        /// What the purchase is called
        id: RunId,
    },
}

/// How long an answer is waited for, which has its bound.
fn limit(text: &str) -> Result<Duration, String> {
    let limit = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if limit > MAX_SLEEP {
        return Err("nobody waits for more than a hundred years".to_owned());
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn words_need_no_quotes() {
        let Command::Buy { item, within, .. } =
            Line::read("buy desk-42 300 a standing desk --within 90s").unwrap()
        else {
            panic!("it is a purchase");
        };
        assert_eq!(
            (item.join(" ").as_str(), within.as_secs()),
            ("a standing desk", 90)
        );
        let Command::Send { json, .. } = Line::read(r#"send desk-42 {"yes": true}"#).unwrap()
        else {
            panic!("it is an answer");
        };
        assert_eq!(json.join(" "), r#"{"yes": true}"#);
        let wrong = Line::read("approve desk 42 --by Grace").unwrap_err();
        assert!(
            wrong.to_string().contains("unexpected argument '42'"),
            "{wrong}"
        );
        for (within, problem) in [("101y", "a hundred years"), ("soon", "number")] {
            let wrong = Line::read(&format!("buy desk-42 300 a desk --within {within}"));
            let wrong = wrong.unwrap_err().to_string();
            assert!(wrong.contains(problem), "{wrong}");
        }
    }
}
