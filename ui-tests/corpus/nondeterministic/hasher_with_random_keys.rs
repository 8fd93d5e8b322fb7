//! A bucket by a hasher whose keys are random.
//! Found by: perturbed run

use std::hash::{BuildHasher, RandomState};

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn key(id: &str) -> u64 {
    RandomState::new().hash_one(id)
}

#[workflow]
pub async fn hasher_with_random_keys(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, format!("{:x}", key(&order.id))).await?)
}
