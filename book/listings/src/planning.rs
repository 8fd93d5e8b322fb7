//! *Planning a deploy*.

use std::process::ExitCode;

use perennial::prelude::*;
use perennial_runtime::cli;
use perennial_runtime::{Builder, IntoStore, Runtime};

#[activity(idempotent, attempt = "30s")]
pub async fn charge_card(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

#[activity(idempotent, attempt = "30s")]
pub async fn ship(_acx: &ActivityCx, _receipt: u64) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure)]
pub async fn check_address(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

// ANCHOR: released
#[workflow]
pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let receipt = charge_card(cx, cents).await?;
    cx.sleep(days(2)).await?;
    ship(cx, receipt).await?;
    Ok(receipt)
}
// ANCHOR_END: released

// ANCHOR: program
pub fn program(store: impl IntoStore) -> Builder {
    Runtime::builder(store)
        .workflow(order)
        .activities((charge_card, ship))
        .artifact("shop 1")
}
// ANCHOR_END: program

// ANCHOR: main
pub fn main() -> ExitCode {
    if cli::asked() {
        return cli::run(program("./data"));
    }
    serve(program("./data"))
}
// ANCHOR_END: main

fn serve(_: Builder) -> ExitCode {
    ExitCode::SUCCESS
}

/// The next release.
pub mod next {
    use super::*;

    // ANCHOR: next
    #[workflow]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        check_address(cx).await?;
        let receipt = charge_card(cx, cents).await?;
        cx.sleep(days(2)).await?;
        ship(cx, receipt).await?;
        Ok(receipt)
    }
    // ANCHOR_END: next

    pub fn program(store: impl IntoStore) -> Builder {
        Runtime::builder(store)
            .workflow(order)
            .activities((charge_card, ship, check_address))
            .artifact("shop 2")
    }
}

/// The next release, as it should be.
pub mod repaired {
    use super::*;

    // ANCHOR: repaired
    #[workflow]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        let receipt = charge_card(cx, cents).await?;
        cx.sleep(days(2)).await?;
        check_address(cx).await?;
        ship(cx, receipt).await?;
        Ok(receipt)
    }
    // ANCHOR_END: repaired

    pub fn program(store: impl IntoStore) -> Builder {
        Runtime::builder(store)
            .workflow(order)
            .activities((charge_card, ship, check_address))
            .artifact("shop 3")
    }
}

/// Whether a program may take the place of the one that wrote an export.
// ANCHOR: plan
pub fn may_be_deployed(program: &Builder, export: &str) -> Result<bool, cli::SourceError> {
    let plan = cli::plan(program, export, &cli::PlanOptions::default())?;
    println!("{plan}");
    Ok(plan.covers_all())
}
// ANCHOR_END: plan
