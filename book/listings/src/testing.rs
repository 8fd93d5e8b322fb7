//! *Testing workflows* and *Snapshot-testing histories*.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

#[path = "testing/changed/testing.rs"]
pub mod changed;

// ANCHOR: workflow
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Customer {
    pub name: String,
    pub card: String,
}

/// Thirty days for nothing, then the card is charged. The receipt; `None`: the customer is gone.
#[workflow]
pub async fn trial(cx: &Cx, customer: Customer) -> Result<Option<String>, Error> {
    send_mail(cx, customer.name.clone(), "welcome".into()).await?;
    cx.sleep(days(30)).await?;
    let cents = price(cx, "basic".into()).await?;
    match charge(cx, customer.card, cents).await {
        Ok(receipt) => Ok(Some(receipt)),
        Err(ActivityError::Rejected(Declined)) => {
            send_mail(cx, customer.name, "goodbye".into()).await?;
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}
// ANCHOR_END: workflow

// ANCHOR: activities
/// The mail service drops a second mail with the same key.
#[activity(idempotent)]
pub async fn send_mail(acx: &ActivityCx, to: String, text: String) -> Result<(), Failure> {
    acx.state::<Outbox>()
        .send(acx.idempotency_key(), to, text)?;
    Ok(())
}

/// The price of a plan in cents.
#[activity(pure)]
pub async fn price(_acx: &ActivityCx, plan: String) -> Result<u64, Failure> {
    match plan.as_str() {
        "basic" => Ok(900),
        _ => Ok(2_900),
    }
}

/// The receipt.
#[activity(idempotent, retry(attempts = 4, initial = "1m"))]
pub async fn charge(
    acx: &ActivityCx,
    card: String,
    cents: u64,
) -> Result<String, Failure<Declined>> {
    // ANCHOR_END: activities
    if card.is_empty() {
        return Err(Failure::reject(Declined));
    }
    Ok(format!("{} for {cents}", acx.idempotency_key()))
}

/// The bank's final "no".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the card was declined")
    }
}

impl std::error::Error for Declined {}

/// A mail service for the tests.
#[derive(Debug, Default)]
pub struct Outbox(Mutex<Vec<(String, String, String)>>);

impl Outbox {
    fn send(&self, key: String, to: String, text: String) -> Result<(), Failure> {
        let mut sent = self
            .0
            .lock()
            .map_err(|_| Failure::transient("the outbox is gone"))?;
        if !sent.iter().any(|(other, ..)| *other == key) {
            sent.push((key, to, text));
        }
        Ok(())
    }

    /// How many mails there are.
    pub fn len(&self) -> usize {
        self.0.lock().map_or(0, |sent| sent.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// ANCHOR: hash_order
/// An ordinary function. Nothing at compile time looks into it.
fn countries(customers: &[(String, String)]) -> Vec<String> {
    let countries: HashSet<String> = customers.iter().map(|(_, c)| c.clone()).collect();
    countries.into_iter().collect() // another order in each process
}

#[workflow]
pub async fn invoices(cx: &Cx, customers: Vec<(String, String)>) -> Result<(), Error> {
    for country in countries(&customers) {
        send_mail(cx, "accounting".into(), country).await?;
    }
    Ok(())
}
// ANCHOR_END: hash_order

// ANCHOR: clock
/// Ordinary code again, with a clock in it.
#[derive(Debug)]
pub struct Patience(Instant, Duration);

impl Patience {
    pub fn of(duration: Duration) -> Self {
        Self(Instant::now(), duration)
    }

    pub fn is_over(&self) -> bool {
        self.0.elapsed() > self.1
    }
}

#[workflow]
pub async fn confirm(cx: &Cx, name: String) -> Result<(), Error> {
    let patience = Patience::of(minutes(1));
    send_mail(cx, name, "please confirm".into()).await?;
    if patience.is_over() {
        send_mail(cx, "support".into(), "the mail service is slow".into()).await?;
    }
    Ok(())
}
// ANCHOR_END: clock

// ANCHOR: environment
fn sender() -> String {
    std::env::var("SENDER").unwrap_or_else(|_| "shop@example.com".into())
}

#[workflow]
pub async fn greet(cx: &Cx, name: String) -> Result<(), Error> {
    send_mail(cx, name, format!("hello from {}", sender())).await?;
    Ok(())
}
// ANCHOR_END: environment

// ANCHOR: approval
/// Who says yes or no.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub by: String,
    pub yes: bool,
}

pub const APPROVAL: Message<Answer> = Message::new("approval");

/// Who has approved of a purchase; `None`: nobody did within a week.
#[workflow]
pub async fn purchase(cx: &Cx, cents: u64) -> Result<Option<String>, Error> {
    send_mail(cx, "boss".into(), format!("may I spend {cents}?")).await?;
    loop {
        match cx.receive(APPROVAL).timeout(days(7)).await {
            Ok(Some(answer)) => return Ok(answer.yes.then_some(answer.by)),
            Ok(None) => return Ok(None),
            // Not an answer: ask again.
            Err(ReceiveError::Invalid { problem, .. }) => {
                send_mail(cx, "boss".into(), problem).await?;
            }
            Err(cancelled) => return Err(cancelled.into()),
        }
    }
}
// ANCHOR_END: approval
