//! `perennial send` and `perennial signal`.

use std::io::{Read as _, Write};
use std::path::Path;

use perennial::history::Channel;
use perennial::value::{MAX_VALUE_BYTES, Value};
use perennial_runtime::control::{
    Answer, AskError, ListRuns, Refused, Request, Runs, Tell, Whereabouts,
};

use super::{About, NotDone, Of, Unusable, json, mistaken, open, other, remark, said};
use crate::{AnyError, Outcome};

/// Sends a message to a run, which keeps it until it takes it
///
/// A program that has the store open takes it through its control socket. Where none has, it is put into the run's
/// queue, and the next program that is started tells it to the run. It is durable when the command ends with 0.
/// Exit code 4: it is not known whether the run has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Send {
    #[command(flatten)]
    of: Of,
    /// The name of the message
    name: String,
    /// What it says, as JSON; `-`: what comes from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    payload: String,
    /// What you call this message, so that it is not stored twice when you send it again
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Sends a signal to a run, which reaches the waits for it that the run has when its turn comes
///
/// It reaches nobody where there are none. A program that has the store open takes it through its control socket.
/// Where none has, it is put into the run's queue. Exit code 4: it is not known whether the run has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Signal {
    #[command(flatten)]
    of: Of,
    /// The name of the signal
    name: String,
    /// What it says, as JSON; `-`: what comes from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    payload: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Send {
    pub(crate) fn run(&self, errors: &mut dyn Write) -> Result<(String, Outcome), AnyError> {
        let tell = tell(&self.of, Channel::Message, &self.name, &self.payload)?;
        let key = self.key.clone();
        let tell = Tell { key, ..tell };
        send(&self.of.store, tell, &self.payload, self.json, errors)
    }
}

impl Signal {
    pub(crate) fn run(&self, errors: &mut dyn Write) -> Result<(String, Outcome), AnyError> {
        let tell = tell(&self.of, Channel::Signal, &self.name, &self.payload)?;
        send(&self.of.store, tell, &self.payload, self.json, errors)
    }
}

/// What was sent is instead, where it is known under that name as something else.
fn instead(runs: &mut Runs, store: &Path, tell: &Tell, payload: &str) -> Option<String> {
    let run = tell.run.clone();
    match runs.ask(Request::Show { run }) {
        Ok(Answer::Run(details)) => mistaken::instead(store, &details, tell, payload),
        // What was asked for is answered as it is.
        _ => None,
    }
}

/// A run that has more messages, or calls of stubs, than so many is not looked at just to find out whether a name was mistaken.
const LOOK: u64 = 100;

/// Whether a look at the run is worth its while: it does not wait now for what was sent.
fn is_doubtful(runs: &mut Runs, tell: &Tell) -> bool {
    let list = ListRuns {
        namespace: tell.run.namespace.clone(),
        prefix: tell.run.id.to_string(),
        limit: 1,
        ..ListRuns::default()
    };
    let Ok(Answer::Runs(page)) = runs.ask(Request::List(list)) else {
        return false;
    };
    let mut found = page.runs.iter().filter(|info| info.run == tell.run);
    found.any(|info| {
        let awaits = &info.awaits;
        awaits.not_taken <= LOOK
            && awaits.stubs <= LOOK
            && !mistaken::waits_now(awaits, tell.channel, &tell.name)
    })
}

fn tell(of: &Of, channel: Channel, name: &str, payload: &str) -> Result<Tell, AnyError> {
    Ok(Tell {
        run: of.run()?,
        channel,
        name: name.to_owned(),
        payload: value(payload, "nothing was sent")?,
        key: None,
        first: None,
    })
}

/// A value as it is given. `nothing`: what was not done where it is none.
pub(super) fn value(text: &str, nothing: &str) -> Result<Value, AnyError> {
    let mut read = String::new();
    let text = if text == "-" {
        // One byte more is enough to know that it is too much.
        let most = MAX_VALUE_BYTES as u64 + 1;
        std::io::stdin().take(most).read_to_string(&mut read)?;
        &read
    } else {
        text
    };
    Value::from_json(text).map_err(|error| {
        let error = error.to_string();
        let error = error.split("\n\n").next().unwrap_or_default();
        let help = if text.len() > MAX_VALUE_BYTES {
            "store the data elsewhere and send its address or digest"
        } else {
            "a text is JSON in double quotes, which a shell takes away unless they are quoted too: '\"yes\"'"
        };
        Unusable(format!("{nothing}: {error}\n\nhelp: {help}")).into()
    })
}

/// `payload`: as it was given.
fn send(
    store: &Path,
    tell: Tell,
    payload: &str,
    as_json: bool,
    errors: &mut dyn Write,
) -> Result<(String, Outcome), AnyError> {
    let (run, name, channel) = (&tell.run, &tell.name, tell.channel);
    let mut runs = open(store)?;
    let mut answer = runs.ask(Request::Send(tell.clone()));
    if let Err(AskError::Refused(refused)) = &mut answer
        && refused.code == Refused::NO_SUCH_MESSAGE
        && let Some(instead) = instead(&mut runs, store, &tell, payload)
    {
        refused.help = Some(instead);
        return Err(refused.to_string().into());
    }
    let answer = answer.map_err(|error| NotDone::new(About::run(store, run), error))?;
    let Answer::Sent(receipt) = answer else {
        return Err(other(&answer));
    };
    // It may be waited for where nobody knows of.
    if !receipt.duplicate
        && is_doubtful(&mut runs, &tell)
        && let Some(instead) = instead(&mut runs, store, &tell, payload)
    {
        remark(errors, &format!("is that what was meant? {instead}"));
    }
    let whereabouts = runs.whereabouts();
    runs.close()?;
    if as_json {
        return json(&receipt);
    }
    let (number, at) = (receipt.number, receipt.at);
    if receipt.duplicate {
        return Ok(said(format!(
            "run {run} has it already, under this key: message \"{name}\" is number {number} of what it was sent, \
             {at}\n"
        )));
    }
    let kind = match channel {
        Channel::Message => "message",
        Channel::Signal => "signal",
    };
    let mut text =
        format!("sent: {kind} \"{name}\" is number {number} of what run {run} was sent, {at}\n");
    if whereabouts == Whereabouts::Stopped {
        text += "no program has the store open: the next one that is started tells it to the run\n";
    }
    Ok(said(text))
}
