//! What becomes of a command: something is sent, or looked at.

use std::error::Error;
use std::fmt;
use std::fmt::Write as _;

use perennial::value::Value;
use perennial::{Message, RunId};
use perennial_runtime::store::AttemptOutcome;
use perennial_runtime::{
    Client, MessageInfo, MessageState, ReadError, Receipt, RunInfo, RunState, SendError, StartError,
};

use super::{APPROVAL, Answer, Command, Order, purchase};

/// The same messages, to be sent by who knows nothing of their type.
const ANY: Message<Value> = Message::new(APPROVAL.name());

/// Does what commands ask for.
#[derive(Clone, Debug)]
pub struct Desk {
    client: Client,
}

/// What a command has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What there is to say.
    pub text: String,
    /// The purchase that goes on now, and how many letters it is going to write.
    pub follows: Option<(RunId, usize)>,
}

/// Why a command was not done.
#[derive(Debug)]
pub enum Refused {
    /// There is no such purchase.
    NoPurchase {
        /// What it is called.
        id: RunId,
    },
    /// There is one of that name, of something else.
    Exists {
        /// What it is called.
        id: RunId,
    },
    /// The purchase has ended.
    Late {
        /// What it is called.
        id: RunId,
        /// How it ended.
        ended: String,
    },
    /// The same person has given another answer.
    Otherwise {
        /// What the purchase is called.
        id: RunId,
        /// Who.
        by: String,
    },
    /// Anything else.
    Other(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPurchase { id } => write!(
                f,
                "there is no purchase {id}\n\nhelp: `list` shows those that there are"
            ),
            Self::Exists { id } => write!(
                f,
                "there is a purchase {id} already, and it is another one; nothing was changed\n\n\
                 help: `show {id}` shows it; call this one something else"
            ),
            Self::Late { id, ended } => write!(f, "too late: {id} was {ended}"),
            Self::Otherwise { id, by } => write!(
                f,
                "{by} has given another answer to {id} before, and that one stands\n\n\
                 help: `show {id}` shows it"
            ),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl Desk {
    /// A desk for the purchases of a runtime.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// Does what a command asks for. What it has sent is durable then.
    ///
    /// # Errors
    ///
    /// [`Refused`]: nothing was sent.
    pub async fn execute(&self, command: Command) -> Result<Reply, Refused> {
        match command {
            Command::Buy {
                id,
                price,
                item,
                within,
                approved_by,
            } => {
                let item = item.join(" ");
                let order = Order {
                    item,
                    price,
                    within,
                };
                self.buy(id, order, approved_by).await
            }
            Command::Approve { id, by } => self.answer(id, Answer::yes(by)).await,
            Command::Refuse { id, by, reason } => {
                let because = Some(reason.join(" ")).filter(|reason| !reason.is_empty());
                self.answer(id, Answer::no(by, because)).await
            }
            Command::Send { id, json } => {
                let json = Value::from_json(json.join(" "))?;
                match self.client.send(&id, ANY, &json).await {
                    Ok(receipt) => Ok(sent(id, receipt)),
                    Err(error) => Err(self.refused(id, "", error).await),
                }
            }
            Command::List => self.list().await,
            Command::Show { id } => self.show(id).await,
        }
    }

    async fn buy(
        &self,
        id: RunId,
        order: Order,
        approved_by: Option<String>,
    ) -> Result<Reply, Refused> {
        if let Some(info) = self.find(&id).await? {
            // To begin it again begins nothing, and shows whether it is the same.
            let again = self.client.start(purchase, id, order).await;
            again.map_err(not_begun)?;
            return Ok(self.stands(&info).await?.into());
        }
        let text =
            format!("{id}: asked for\n  `approve {id} --by NAME` or `refuse {id} --by NAME`");
        let mut start = self.client.start(purchase, id.clone(), order);
        // The question, and then how it ends.
        let mut letters = 1;
        if let Some(by) = approved_by {
            // Either the purchase and its answer are there, or neither is.
            start = start.send_with_key(APPROVAL, &Answer::yes(&by), &by);
            letters += 1;
        }
        start.await.map_err(not_begun)?;
        let follows = Some((id, letters));
        Ok(Reply { text, follows })
    }

    async fn answer(&self, id: RunId, answer: Answer) -> Result<Reply, Refused> {
        // Each person has one answer: what is sent again, by a second click or after a crash, is the same message.
        let sending = self
            .client
            .send(&id, APPROVAL, &answer)
            .idempotency_key(&answer.by);
        match sending.await {
            Ok(receipt) if receipt.duplicate => {
                let Answer { by, .. } = answer;
                Ok(format!("{id}: {by} has said so before, at {}", receipt.at).into())
            }
            Ok(receipt) => Ok(sent(id, receipt)),
            Err(error) => Err(self.refused(id, &answer.by, error).await),
        }
    }

    async fn refused(&self, id: RunId, by: &str, error: SendError) -> Refused {
        match error {
            SendError::RunNotFound { .. } => Refused::NoPurchase { id },
            SendError::RunFinished { .. } => match self.ended(&id).await {
                Ok(ended) => Refused::Late { id, ended },
                Err(error) => error,
            },
            SendError::IdempotencyConflict { .. } => Refused::Otherwise {
                id,
                by: by.to_owned(),
            },
            error => error.into(),
        }
    }

    async fn list(&self) -> Result<Reply, Refused> {
        let list = self.client.list().workflow("purchase");
        let mut page = list.page().await?;
        let mut text = String::new();
        loop {
            for info in &page.runs {
                let _ = writeln!(text, "{}", self.stands(info).await?);
            }
            let Some(next) = page.next else { break };
            page = list.clone().after(next).page().await?;
        }
        if text.is_empty() {
            text.push_str("there are no purchases");
        }
        Ok(text.into())
    }

    async fn show(&self, id: RunId) -> Result<Reply, Refused> {
        let Some(info) = self.find(&id).await? else {
            return Err(Refused::NoPurchase { id });
        };
        let mut text = self.stands(&info).await?;
        let answers = self.client.list_messages(&id);
        let mut page = answers.page().await?;
        loop {
            for message in &page.messages {
                let _ = write!(text, "\n  {}", about(message));
            }
            let last = page.messages.last().filter(|_| page.more);
            let Some(last) = last.map(|message| message.number) else {
                break;
            };
            page = answers.clone().after(last).page().await?;
        }
        if info.state == RunState::Running {
            let attempts = self.client.history(&id).await?.attempts;
            if let Some(AttemptOutcome::Failed { error }) =
                attempts.last().map(|last| &last.outcome)
            {
                let _ = write!(
                    text,
                    "\n  failed attempts: {}, the last: {error}",
                    attempts.len()
                );
            }
        }
        Ok(text.into())
    }

    async fn find(&self, id: &RunId) -> Result<Option<RunInfo>, Refused> {
        match self.client.status(id).await {
            Ok(info) => Ok(Some(info)),
            Err(ReadError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// How a purchase stands, in a line.
    async fn stands(&self, info: &RunInfo) -> Result<String, Refused> {
        let id = &info.run.id;
        Ok(match &info.state {
            RunState::Running => format!("{id}: asked for at {}", info.created),
            RunState::Blocked { .. } => format!("{id}: this program cannot go on with it"),
            _ => format!("{id}: {}", self.ended(id).await?),
        })
    }

    /// How a purchase has ended.
    async fn ended(&self, id: &RunId) -> Result<String, Refused> {
        let run = self.client.run(purchase, id.clone())?;
        match run.result().await {
            Ok(outcome) => Ok(outcome.to_string()),
            Err(error) => Ok(error.to_string()),
        }
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self {
            text,
            follows: None,
        }
    }
}

fn not_begun(error: StartError) -> Refused {
    match error {
        StartError::Conflict { run, .. } => Refused::Exists { id: run.id },
        error => error.into(),
    }
}

fn sent(id: RunId, receipt: Receipt) -> Reply {
    Reply {
        text: format!("{id}: answer {} is stored", receipt.number),
        follows: Some((id, 1)),
    }
}

/// A line on an answer, and what has become of it.
fn about(message: &MessageInfo) -> String {
    let state = match &message.state {
        MessageState::Consumed { invalid: None, .. } => "taken",
        MessageState::Consumed {
            invalid: Some(problem),
            ..
        } => &format!("taken, but {problem}"),
        MessageState::Unread => "came too late",
        _ => "not taken yet",
    };
    format!(
        "answer {}: {}\n    {state}",
        message.number, message.payload
    )
}
