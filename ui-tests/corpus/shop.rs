//! What the workflows of the corpus have in common: an order, and what a shop does with it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use perennial::prelude::*;

/// The input of each workflow of the corpus.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Order {
    pub id: String,
    pub customer: String,
    pub placed: Timestamp,
    pub lines: Vec<Line>,
    /// Words that the customer put on the order, with how much each weighs.
    pub tags: HashMap<String, u32>,
    /// Where a generator of numbers begins.
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Line {
    pub sku: String,
    pub count: u32,
    pub cents: u64,
}

impl Order {
    /// An order of twelve lines.
    pub fn example() -> Self {
        let line = |n: u32| Line {
            sku: format!("sku-{n}"),
            count: n % 3 + 1,
            cents: u64::from(n) * 125 + 99,
        };
        Self {
            id: "order-42".to_owned(),
            customer: "Ada".to_owned(),
            placed: Timestamp::from_millis(1_700_000_000_000),
            lines: (1..=12).map(line).collect(),
            tags: (1..=12).map(|n| (format!("tag-{n}"), n)).collect(),
            seed: 7,
        }
    }

    /// What all of it costs.
    pub fn cents(&self) -> u64 {
        self.lines
            .iter()
            .map(|line| line.cents * u64::from(line.count))
            .sum()
    }

    /// When it was placed, as the system tells times.
    pub fn placed_at(&self) -> SystemTime {
        self.placed.into()
    }

    /// Where its invoice is put.
    pub fn invoice(&self) -> PathBuf {
        PathBuf::from("invoices").join(&self.id)
    }

    /// Where its lines lie.
    pub fn shelves(&self) -> Shelves {
        let mut of = HashMap::<_, Vec<_>>::new();
        for line in &self.lines {
            of.entry(line.cents % 5).or_default().push(line.sku.clone());
        }
        Shelves { of }
    }
}

/// What lies on which shelf.
pub struct Shelves {
    pub of: HashMap<u64, Vec<String>>,
}

/// What this program uses everywhere, under names of its own.
pub mod everyday {
    pub use std::env::var as setting;
    pub use std::thread as beside;
    pub use std::time::SystemTime as Moment;

    pub use fastrand::u64 as number;

    pub type Stopwatch = std::time::Instant;
}

/// Charges, and gives the number of the receipt.
#[activity(idempotent)]
pub async fn charge(acx: &ActivityCx, cents: u64) -> Result<String, Failure> {
    Ok(format!("{}-{cents}", acx.idempotency_key()))
}

/// Ships, and gives the number of the parcel.
#[activity(idempotent)]
pub async fn ship(acx: &ActivityCx, sku: String) -> Result<String, Failure> {
    Ok(format!("{}-{sku}", acx.idempotency_key()))
}

/// Writes to the customer.
#[activity(idempotent)]
pub async fn mail(_acx: &ActivityCx, _text: String) -> Result<(), Failure> {
    Ok(())
}

/// Asks what one piece costs today.
#[activity(pure)]
pub async fn price(_acx: &ActivityCx, sku: String) -> Result<u64, Failure> {
    Ok(sku.len() as u64 * 100)
}

/// Asks how many pieces there are.
#[activity(pure)]
pub async fn stock(_acx: &ActivityCx, skus: Vec<String>) -> Result<HashMap<String, u32>, Failure> {
    Ok((1..).zip(skus).map(|(count, sku)| (sku, count)).collect())
}
