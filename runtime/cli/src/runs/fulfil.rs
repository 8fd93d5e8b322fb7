//! `perennial fulfil`.

use perennial::{Namespace, OperationId, RunKey};
use perennial_runtime::control::{self, Answer, AskError, Request, Whereabouts};

use super::reference::{OfCall, reference};
use super::text::short;
use super::{About, NotDone, json, open, other, said, send};
use crate::{AnyError, Outcome};

/// Answers what a run waits for from people: gives a call of a stub its value
///
/// `perennial waiting` lists them, with their references. A program that has the store open takes the value through its
/// control socket, and refuses one that is not of the stub's type. Where none has, it is put into the run's queue, and
/// the next program that is started tells it to the run. It is durable when the command ends with 0. The same value
/// again does no harm. Exit code 4: it is not known whether the run has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Fulfil {
    #[command(flatten)]
    of: OfCall,
    /// The name of the stub
    stub: String,
    /// The value, as JSON; `-`: what comes from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    value: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Fulfil {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let store = &*self.of.store;
        let (run, operation) = self.of.operation()?;
        let reference = reference(&run, operation);
        let fulfil = control::Fulfil {
            run: run.clone(),
            operation,
            stub: self.stub.clone(),
            value: send::value(&self.value, "nothing was completed")?,
        };
        let mut runs = open(store)?;
        let answer = runs.ask(Request::Fulfil(fulfil)).map_err(|error| {
            let about = About::run(store, &run);
            NotDone::fulfilling(about, named(error, &run, operation))
        })?;
        let whereabouts = runs.whereabouts();
        runs.close()?;
        let Answer::Fulfilled(receipt) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&receipt);
        }
        let (number, at, stub) = (receipt.number, receipt.at, short(&self.stub, 80));
        if receipt.duplicate {
            return Ok(said(format!(
                "{reference} ({stub}) has this value already: it is number {number} of what its run was sent, {at}\n"
            )));
        }
        let mut text = format!(
            "completed: {reference} ({stub}) has its value, number {number} of what its run was sent, {at}\n"
        );
        if whereabouts == Whereabouts::Stopped {
            text +=
                "no program has the store open: the next one that is started tells it to the run\n";
        }
        Ok(said(text))
    }
}

/// An error that calls the operation as it can be given back: a program calls it by its name within the namespace.
fn named(mut error: AskError, run: &RunKey, operation: u64) -> AskError {
    if run.namespace != Namespace::default()
        && let AskError::Refused(refused) = &mut error
    {
        let within = OperationId {
            run: run.id.clone(),
            number: operation,
        };
        let whole = reference(run, operation);
        refused.text = refused.text.replacen(&within.to_string(), &whole, 1);
    }
    error
}
