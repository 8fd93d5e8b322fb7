//! `File`, by a glob.
//! Found by: macro D106

use std::fs::*;
use std::io::Write as _;

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn file_by_a_glob(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut file = File::create("/tmp/perennial-corpus-orders.csv")?;
    writeln!(file, "{},{}", order.id, order.cents())?;
    Ok(charge(cx, order.cents()).await?)
}
