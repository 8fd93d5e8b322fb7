//! *Activities*.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

// ANCHOR: types
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub reference: String,
}

/// The bank's final "no".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declined {
    pub why: String,
}
// ANCHOR_END: types

// ANCHOR: display
impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the card was declined: {}", self.why)
    }
}
// ANCHOR_END: display

impl std::error::Error for Declined {}

/// A bank for the tests: it does the work once for each key, and is out of order as often as it is told.
#[derive(Debug, Default)]
pub struct Bank {
    charges: Mutex<BTreeMap<String, u64>>,
    pub outages: Mutex<u32>,
}

#[derive(Debug)]
pub struct OutOfOrder;

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bank is out of order")
    }
}

impl std::error::Error for OutOfOrder {}

#[derive(Debug)]
pub enum Charge {
    Done(Receipt),
    Declined(String),
}

impl Bank {
    /// How often, and how much, was charged.
    pub fn charges(&self) -> Vec<u64> {
        self.charges.lock().map_or_else(
            |_| Vec::new(),
            |charges| charges.values().copied().collect(),
        )
    }

    async fn charge(&self, order: &Order, key: String) -> Result<Charge, OutOfOrder> {
        let mut outages = self.outages.lock().map_err(|_| OutOfOrder)?;
        if *outages > 0 {
            *outages -= 1;
            return Err(OutOfOrder);
        }
        if order.cents > 1_000_000 {
            return Ok(Charge::Declined("too much".to_owned()));
        }
        let mut charges = self.charges.lock().map_err(|_| OutOfOrder)?;
        charges.entry(key.clone()).or_insert(order.cents);
        Ok(Charge::Done(Receipt { reference: key }))
    }
}

// ANCHOR: idempotent
/// Charges the card. The bank does the work once for each key.
#[activity(
    idempotent,
    attempt = "30s",
    timeout = "1h",
    retry(attempts = 5, initial = "200ms", cap = "1m")
)]
pub async fn charge_card(acx: &ActivityCx, order: Order) -> Result<Receipt, Failure<Declined>> {
    let bank = acx.state::<Bank>();
    match bank.charge(&order, acx.idempotency_key()).await? {
        Charge::Done(receipt) => Ok(receipt),
        Charge::Declined(why) => Err(Failure::reject(Declined { why })),
    }
}
// ANCHOR_END: idempotent

// ANCHOR: pure
/// Computes, and holds its thread while it does.
#[activity(pure, blocking)]
pub fn count_primes(_acx: &ActivityCx, below: u32) -> Result<usize, Failure> {
    let is_prime = |n: &u32| {
        (2..)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    Ok((2..below).filter(is_prime).count())
}
// ANCHOR_END: pure

// ANCHOR: plain
/// Every `Err` of a plain `Result` is final.
#[activity(pure)]
pub async fn check_amount(_acx: &ActivityCx, order: Order) -> Result<(), String> {
    if order.cents == 0 {
        return Err(format!("order {} is empty", order.id));
    }
    Ok(())
}
// ANCHOR_END: plain

// ANCHOR: ends
#[workflow]
pub async fn pay(cx: &Cx, order: Order) -> Result<String, Error> {
    check_amount(cx, order.clone()).await?;
    match charge_card(cx, order).await {
        Ok(receipt) => Ok(format!("paid, {}", receipt.reference)),
        Err(ActivityError::Rejected(Declined { why })) => Ok(format!("not paid: {why}")),
        // Out of attempts, out of time, cancelled, too large: the run fails with that as its error.
        Err(other) => Err(other.into()),
    }
}
// ANCHOR_END: ends

// ANCHOR: overrides
#[workflow]
pub async fn pay_now_or_never(cx: &Cx, order: Order) -> Result<Receipt, Error> {
    let receipt = charge_card(cx, order)
        .retry(Retry::never())
        .attempt(seconds(5))
        .await?;
    Ok(receipt)
}
// ANCHOR_END: overrides

// ANCHOR: own_error
/// Why nothing was sold. Who started the run can match it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NotSold {
    Declined(String),
    Failed(String),
    Cancelled,
}

impl fmt::Display for NotSold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined(why) => write!(f, "not sold, {why}"),
            Self::Failed(what) => write!(f, "not sold: {what}"),
            Self::Cancelled => f.write_str("not sold, since the run was cancelled"),
        }
    }
}

// For `?` on `charge_card(..).await`.
impl From<ActivityError<Declined>> for NotSold {
    fn from(error: ActivityError<Declined>) -> Self {
        match error {
            ActivityError::Rejected(Declined { why }) => Self::Declined(why),
            ActivityError::Cancelled => Self::Cancelled,
            other => Self::Failed(other.to_string()),
        }
    }
}

// For `?` on `cx.sleep(..).await`.
impl From<SleepError> for NotSold {
    fn from(error: SleepError) -> Self {
        match error {
            SleepError::Cancelled => Self::Cancelled,
            too_long => Self::Failed(too_long.to_string()),
        }
    }
}

#[workflow]
pub async fn sell(cx: &Cx, order: Order) -> Result<Receipt, NotSold> {
    cx.sleep(millis(5)).await?; // time to change one's mind
    Ok(charge_card(cx, order).await?)
}
// ANCHOR_END: own_error
