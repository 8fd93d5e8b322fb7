// ANCHOR: all
use std::io::Write as _;

use perennial::prelude::*;
use perennial_runtime::Runtime;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Trip {
    traveller: String,
    destination: String,
    nights: u32,
}

// ANCHOR: functions
/// Asks the person at the terminal. Asking again does no harm, so it is `pure`.
#[activity(pure, blocking)]
fn ask(_acx: &ActivityCx, question: String) -> Result<String, Failure> {
    print!("{question}\n> ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if answer.trim().is_empty() {
        return Err(Failure::transient("there was no answer")); // it is tried again
    }
    Ok(answer.trim().to_owned())
}

#[workflow]
async fn plan_trip(cx: &Cx) -> Result<Trip, Error> {
    let traveller = ask(cx, "What is your name?".into()).await?;
    let destination = ask(cx, format!("Where do you want to go, {traveller}?")).await?;
    let nights = loop {
        let answer = ask(cx, format!("How many nights in {destination}?")).await?;
        if let Ok(nights) = answer.parse() {
            break nights;
        }
    };
    Ok(Trip {
        traveller,
        destination,
        nights,
    })
}
// ANCHOR_END: functions

// ANCHOR: main
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder("trip.store")
        .workflow(plan_trip)
        .activity(ask)
        .start()
        .await?;
    let run = runtime.client().start(plan_trip, "my-trip", ()).await?;
    println!("{:?}", run.result().await?);
    print!("{}", run.history().await?.history.text());
    Ok(())
}
// ANCHOR_END: main
// ANCHOR_END: all
