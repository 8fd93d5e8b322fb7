#![allow(clippy::unwrap_used)]

mod breaking;
mod files;
mod harmless;
mod imports;
mod listening;
mod markers;
mod modules;
mod moved;
mod sets;
mod stubs;
mod updates;

use std::fmt::Write;
use std::path::PathBuf;

use super::{Finding, Level, Lock, Package};

/// A workflow with a bit of everything, and a helper.
const BASE: &str = r#"
use perennial::prelude::*;

#[activity(idempotent, name = "charge-card")]
async fn charge(acx: &ActivityCx, order: Order, cents: u64) -> Result<Receipt, Failure> { bank() }

#[workflow]
pub async fn fulfil(cx: &Cx, order: Order, limit: u64) -> Result<Shipped, Error> {
    let receipt = charge(cx, order.clone(), order.total).await?;
    if order.total > limit {
        review(cx, order.id).await?;
    }
    cx.sleep(days(1)).await?;
    let (label, invoice) = join!(print_label(cx, order.id), async { bill(cx, &receipt).await });
    let label = label?;
    for item in &order.items {
        match item.kind {
            Kind::Parcel => ship(cx, item.clone()).await?,
            Kind::Download => {}
            Kind::Letter => post(cx, item.clone()).await?,
        }
    }
    let code = cx.random::<u32>();
    let day = cx.record("day", || "monday".to_owned());
    loop {
        let answer = select! {
            answer = ask(cx, code) => answer?,
            _ = cx.sleep(hours(1)) => Answer::None,
        };
        match answer {
            Answer::Yes => break,
            Answer::No => {
                refund(cx, receipt.clone()).await?;
                return Err(Error::new("no"));
            }
            Answer::None => cx.sleep(minutes(5)).await?,
        }
    }
    let all = join_all(order.items.iter().map(|item| track(cx, item.id))).await;
    archive(cx, &order, invoice).await
}

#[durable]
async fn archive(cx: &Cx, order: &Order, invoice: Invoice) -> Result<Shipped, Error> {
    let stored = store(cx, order.clone()).await?;
    Ok(confirm(cx, stored).await?)
}
"#;

fn package(text: &str) -> Package {
    Package::of_sources(&[(PathBuf::from("src/lib.rs"), text.to_owned())]).unwrap()
}

/// The lock of a first release.
fn released(text: &str) -> Lock {
    let update = package(text).update(&Lock::default());
    assert!(!update.is_refused());
    update.lock
}

/// What is found in `text` where `old` is released. Notes are not.
fn found(old: &str, text: &str) -> Vec<Finding> {
    let mut found = package(text).compare(&released(old));
    found.retain(|finding| finding.level != Level::Note);
    found
}

fn shown(findings: &[Finding]) -> String {
    findings.iter().fold(String::new(), |mut text, finding| {
        writeln!(text, "{finding}").unwrap();
        text
    })
}

/// `BASE` with each `from` replaced by its `to`, which has to be there.
fn changed(edits: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "`{from}` is not in the workflow");
        text = text.replace(from, to);
    }
    text
}
