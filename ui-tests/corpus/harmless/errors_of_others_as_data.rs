//! Error types and constants of modules whose functions are denied.

use std::env::{VarError, consts};
use std::sync::mpsc::RecvError;
use std::time::SystemTimeError;

use perennial::prelude::*;
use tokio::time::Duration;

use crate::shop::{Order, mail};

#[derive(Debug)]
enum Wrong {
    Setting(VarError),
    Clock(SystemTimeError),
    Channel(RecvError),
}

fn checked(order: &Order) -> Result<Duration, Wrong> {
    let zero = std::time::SystemTime::from(Timestamp::default());
    match order.lines.len() {
        0 => Err(Wrong::Setting(VarError::NotPresent)),
        1 => Err(Wrong::Channel(RecvError)),
        _ => order.placed_at().duration_since(zero).map_err(Wrong::Clock),
    }
}

#[workflow]
pub async fn errors_of_others_as_data(cx: &Cx, order: Order) -> Result<(), Error> {
    let said = match checked(&order) {
        Ok(age) => age.as_secs().to_string(),
        Err(Wrong::Clock(error)) => error.duration().as_secs().to_string(),
        Err(other) => format!("{other:?}"),
    };
    let separator = std::path::MAIN_SEPARATOR;
    mail(cx, format!("{said}{separator}{}", consts::EXE_SUFFIX.len())).await?;
    Ok(())
}
