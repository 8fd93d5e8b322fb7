//! `perennial waiting`.

use std::path::PathBuf;

use perennial::{Namespace, OperationId};
use perennial_runtime::control::{Answer, ListWaiting, Request};
use perennial_runtime::{OfferInfo, OfferPage};

use super::inert::line;
use super::reference::reference;
use super::text::{table, time, value};
use super::{Unusable, ask, json, other, said};
use crate::{AnyError, Outcome};

/// Lists what the runs of a namespace wait for from people: the calls of stubs that nobody has answered
///
/// `perennial fulfil` answers one. A program that has the store open is asked through its control socket. Where none
/// has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct Waiting {
    /// The folder of the store, or an export
    store: PathBuf,
    /// The namespace
    #[arg(long, value_name = "NAME", default_value_t = Namespace::default())]
    namespace: Namespace,
    /// How many to list: 1 to 10,000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: u64,
    /// Only what comes after this one: what stands below the page before
    #[arg(long, value_name = "REFERENCE")]
    after: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Waiting {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let list = ListWaiting {
            namespace: self.namespace.clone(),
            after: self.after.as_deref().map(after).transpose()?,
            limit: usize::try_from(self.limit).unwrap_or(usize::MAX),
        };
        let answer = ask(&self.store, Request::Waiting(list))?;
        let Answer::Offers(page) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&page);
        }
        Ok(said(self.text(&page)))
    }

    fn text(&self, page: &OfferPage) -> String {
        if page.offers.is_empty() {
            let after = match &self.after {
                Some(after) => format!(" after {}", line(after)),
                None => String::new(),
            };
            return format!(
                "no run in the namespace {} has an open call of a stub{after}\n",
                self.namespace
            );
        }
        let head = ["REFERENCE", "STUB", "SINCE", "UNTIL", "SAYS"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(page.offers.iter().map(row));
        let mut text = table(&rows);
        if let Some(last) = page.offers.last().filter(|_| page.more) {
            text += &format!("\nthere are more: `--after {}`\n", last.reference);
        }
        text
    }
}

/// As it stands in the list, so with its namespace or without.
fn after(text: &str) -> Result<OperationId, AnyError> {
    let reference = text
        .split_once('/')
        .map_or(text, |(_, reference)| reference);
    let reference = reference.parse::<OperationId>();
    reference.map_err(|error| Unusable(error.to_string()).into())
}

fn row(offer: &OfferInfo) -> Vec<String> {
    vec![
        reference(&offer.run, offer.reference.number),
        line(&offer.stub),
        time(offer.since),
        offer.deadline.map(time).unwrap_or_default(),
        match &offer.input {
            Some(input) => value(input),
            None => "(its history cannot be read)".to_owned(),
        },
    ]
}
