//! What is done with a session from outside: it is begun, told something, and followed.

use std::error::Error;
use std::fmt;

use perennial::{OperationId, RunId};
use perennial_runtime::{
    Client, FulfilError, Items, ReadError, RunHandle, RunInfo, ViewError, Viewed,
};

use super::talk::LONGEST_WORD;
use super::{Doing, Event, OUTPUT, STANDING, Settings, Standing, hear, session};

/// The sessions of a runtime.
#[derive(Clone, Debug)]
pub struct Desk {
    client: Client,
}

/// Why something was not done.
#[derive(Debug)]
pub enum Refused {
    /// There is no such session.
    NoSession {
        /// What it is called.
        id: RunId,
    },
    /// The session has ended.
    Late {
        /// What it is called.
        id: RunId,
        /// How it stands.
        standing: Option<Standing>,
    },
    /// Something else was said there.
    Otherwise {
        /// Where.
        reference: OperationId,
    },
    /// Nothing can be said there: it is no reference of the session's, or it is not waited for any more.
    Elsewhere {
        /// What the session is called.
        id: RunId,
        /// Where it was to be said.
        reference: OperationId,
    },
    /// A program has the sessions, and cannot be asked.
    Held {
        /// The number of its process, where it can be read.
        process: Option<u32>,
    },
    /// It is longer than what may be said at once.
    TooLong {
        /// How many bytes it has.
        size: usize,
    },
    /// The session was begun by another program, and this one cannot go on with it.
    Blocked {
        /// What it is called.
        id: RunId,
    },
    /// Anything else.
    Other(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession { id } => write!(
                f,
                "there is no session {id}\n\n\
                 help: `list` shows those that there are; `chat {id}` begins one"
            ),
            Self::Late { id, standing } => {
                write!(f, "too late: {id} ")?;
                match standing {
                    Some(standing) => write!(f, "{standing}")?,
                    None => f.write_str("has ended")?,
                }
                write!(
                    f,
                    "\n\nhelp: `follow {id}` shows what was said; begin another session"
                )
            }
            Self::Otherwise { reference } => write!(
                f,
                "something else was said as {reference}, and that stands\n\n\
                 help: without `--as` it is said as something new"
            ),
            Self::Elsewhere { id, reference } => write!(
                f,
                "nothing can be said as {reference} in {id}\n\n\
                 help: `--as` takes a reference under which something was said in {id} before, as `say` has shown it; \
                 without `--as` it is said as something new"
            ),
            Self::Held { process } => {
                f.write_str("a program has the sessions")?;
                if let Some(process) = process {
                    write!(f, " (process {process})")?;
                }
                f.write_str(", and cannot be asked\n\nhelp: start it with `--socket`, or stop it")
            }
            Self::TooLong { size } => write!(
                f,
                "it has {size} bytes, and may have {LONGEST_WORD}\n\nhelp: say it in parts"
            ),
            Self::Blocked { id } => write!(
                f,
                "this program cannot go on with {id}; it was not changed\n\n\
                 help: `agent_session perennial blocked` shows why"
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
    /// A desk for the sessions of a runtime.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// Begins a session, or finds it: then it goes on with the settings that it was begun with. Whether it is new.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn open(&self, id: &RunId, settings: Settings) -> Result<bool, Refused> {
        if self.info(id).await.is_ok() {
            return Ok(false);
        }
        self.client.start(session, id.clone(), settings).await?;
        Ok(true)
    }

    /// Says something, and gives the reference under which it was said. When this returns it is durable, and it is
    /// heard once.
    ///
    /// Whoever does not know whether it was said says it again under the same reference. Under none it is said as
    /// something new, as soon as the session has taken what was said before.
    ///
    /// # Errors
    ///
    /// [`Refused`]: it was not said.
    pub async fn say(
        &self,
        id: &RunId,
        text: &str,
        reference: Option<OperationId>,
    ) -> Result<OperationId, Refused> {
        if text.len() > LONGEST_WORD {
            return Err(Refused::TooLong { size: text.len() });
        }
        self.info(id).await?;
        let run = self.client.run(session, id.clone())?;
        let text = text.to_owned();
        if let Some(reference) = reference {
            return match run.fulfil(&reference, hear, &text).await {
                Ok(_) => Ok(reference),
                Err(FulfilError::Conflict { .. }) => Err(Refused::Otherwise { reference }),
                Err(
                    FulfilError::OtherRun { .. }
                    | FulfilError::NoSuchOperation { .. }
                    | FulfilError::NotAStub { .. }
                    | FulfilError::OtherStub { .. }
                    | FulfilError::Closed { ended: None, .. },
                ) => {
                    let id = id.clone();
                    Err(Refused::Elsewhere { id, reference })
                }
                Err(error) => Err(self.not_said(id, error).await),
            };
        }
        let mut standing = run.watch(STANDING);
        loop {
            let Some(reference) = offer(&run).await? else {
                // What was said last is on its way; the next offer opens when it is heard.
                match standing.next().await {
                    Some(viewed) => self.goes_on(id, &viewed?)?,
                    None => return Err(self.late(id).await),
                }
                continue;
            };
            match run.fulfil(&reference, hear, &text).await {
                Ok(_) => return Ok(reference),
                // Somebody else was first. There is another offer, or there will be.
                Err(FulfilError::Conflict { .. } | FulfilError::Closed { ended: None, .. }) => {}
                Err(error) => return Err(self.not_said(id, error).await),
            }
        }
    }

    /// Waits until the session waits for the user, and has heard all that was said, or has ended.
    ///
    /// # Errors
    ///
    /// [`Refused::Blocked`]: that will not come.
    pub async fn settled(&self, id: &RunId) -> Result<(), Refused> {
        let run = self.client.run(session, id.clone())?;
        let mut standing = run.watch(STANDING);
        while let Some(viewed) = standing.next().await {
            self.goes_on(id, &viewed?)?;
            // In this order: an offer is opened by the step that hears what was said, and that shows what it does.
            let has_heard = offer(&run).await?.is_some();
            let shown = run.view(STANDING).await?;
            let waits = |shown: &Viewed<Standing>| matches!(shown.value.doing, Doing::Waits { .. });
            if has_heard && shown.as_ref().is_some_and(waits) {
                break;
            }
        }
        Ok(())
    }

    /// What happens in a session, after the item of that number, until it has ended.
    ///
    /// # Errors
    ///
    /// [`Refused::NoSession`].
    pub async fn follow(&self, id: &RunId, after: u64) -> Result<Items<Event>, Refused> {
        self.info(id).await?;
        Ok(self.client.stream(id, OUTPUT).after(after))
    }

    /// The number of the last item that there is; 0 where there is none.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub async fn last(&self, id: &RunId) -> Result<u64, Refused> {
        let streams = self.client.streams(id).await?;
        let output = streams.iter().find(|stream| stream.name == OUTPUT.name());
        Ok(output.map_or(0, |output| output.last))
    }

    async fn standing(&self, id: &RunId) -> Result<Option<Standing>, ViewError> {
        let viewed = self.client.view(id, STANDING).await?;
        Ok(viewed.map(|viewed| viewed.value))
    }

    async fn info(&self, id: &RunId) -> Result<RunInfo, Refused> {
        match self.client.status(id).await {
            Ok(info) => Ok(info),
            Err(ReadError::NotFound { .. }) => Err(Refused::NoSession { id: id.clone() }),
            Err(error) => Err(error.into()),
        }
    }

    fn goes_on(&self, id: &RunId, viewed: &Viewed<Standing>) -> Result<(), Refused> {
        if viewed.stale {
            return Err(Refused::Blocked { id: id.clone() });
        }
        Ok(())
    }

    async fn not_said(&self, id: &RunId, error: FulfilError) -> Refused {
        match error {
            FulfilError::Closed { ended: Some(_), .. } => self.late(id).await,
            error => error.into(),
        }
    }

    async fn late(&self, id: &RunId) -> Refused {
        match self.standing(id).await {
            Ok(standing) => Refused::Late {
                id: id.clone(),
                standing,
            },
            Err(error) => error.into(),
        }
    }
}

/// The one open offer of a session, if what was said last is heard already.
async fn offer(run: &RunHandle<session>) -> Result<Option<OperationId>, ReadError> {
    let open = run.offers().open().page().await?.offers;
    Ok(open.into_iter().next().map(|offer| offer.reference))
}
