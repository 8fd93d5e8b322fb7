//! RW-37: the crate under another name, or re-exported by another crate and no dependency at all.

use crate::project::{Project, sdk};

const SHOP: &str = "
use SDK::prelude::*;

/// Charges.
#[SDK::activity(pure, crate = SDK)]
pub async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Fulfils.
#[SDK::workflow(crate = SDK)]
pub async fn fulfil(cx: &Cx, cents: u64, times: u8) -> Result<u64, Error> {
    let mut total = 0;
    for _ in 0..times {
        total += charge(cx, cents).await?;
    }
    let (a, b) = SDK::join!(async { charge(cx, total).await }, twice(cx, total));
    let first = SDK::select! {
        a = charge(cx, 1) => a?,
        _ = cx.sleep(seconds(1)) => 0,
    };
    Ok(a? + b? + first)
}

/// Charges twice.
#[SDK::durable(crate = SDK)]
pub async fn twice(cx: &Cx, cents: u64) -> Result<u64, Error> {
    Ok(charge(cx, cents).await? + charge(cx, cents).await?)
}
";

/// Files of a package in which the crate has this name, `lib.rs` and an example.
fn files(name: &str, lib: &str) -> Vec<(String, String)> {
    let lib = format!("#![deny(warnings)]\n{}", lib.replace("SDK", name));
    let user = |call: &str| format!("fn main() {{\n    {call}\n}}\n");
    vec![
        ("src/lib.rs".to_owned(), lib.clone()),
        (
            "examples/shop.rs".to_owned(),
            format!("{lib}{}", user("assert_eq!(fulfil::NAME, \"fulfil\");")),
        ),
        (
            "tests/shop.rs".to_owned(),
            format!("{lib}\n#[test]\nfn name() {{ assert_eq!(fulfil::NAME, \"fulfil\"); }}\n"),
        ),
    ]
}

#[test]
fn rw37_the_crate_may_have_another_name_or_come_from_another_crate() {
    let mut project = Project::new("names");
    let renamed = format!("sdk2 = {{ package = \"perennial\", path = {:?} }}\n", sdk());
    let of_the_house = "house = { path = \"../house\" }\n";
    project.package(
        "house",
        "2024",
        &[(
            "src/lib.rs".to_owned(),
            "pub use perennial as sdk;

/// A workflow that calls nothing, for those who name none of our crates.
#[macro_export]
macro_rules! empty {
    ($name:ident) => {
        #[$crate::sdk::workflow(crate = $crate::sdk)]
        async fn $name(cx: &$crate::sdk::Cx, n: u8) -> Result<u8, $crate::sdk::Error> {
            cx.sleep($crate::sdk::seconds(1)).await?;
            Ok(n)
        }
    };
}
"
            .to_owned(),
        )],
    );
    project.package_with("renamed", "2021", &renamed, &files("sdk2", SHOP));
    let mut guest = files("house::sdk", SHOP);
    guest[0].1 += "\nhouse::empty!(empty);\n\npub fn name() -> &'static str { empty::NAME }\n";
    project.package_with("guest", "2024", of_the_house, &guest);

    // A dependency with another name is found by it.
    let without = SHOP
        .replace(", crate = SDK", "")
        .replace("(crate = SDK)", "");
    let lib = |name: &str| vec![files(name, &without).remove(0)];
    project.package_with("found", "2024", &renamed, &lib("sdk2"));
    // What is no dependency is not, which is one error for each attribute and says what to write.
    project.package_with("not-found", "2024", of_the_house, &lib("house::sdk"));

    let said = project.findings(&["check", "--all-targets"]);
    let (missing, others): (Vec<_>, Vec<_>) = said
        .into_iter()
        .partition(|(package, _, _)| package == "not-found");
    assert!(others.is_empty(), "{others:#?}");
    let mut missing: Vec<_> = missing.into_iter().map(|(_, _, finding)| finding).collect();
    missing.sort();
    // Once as a library and once with its tests.
    missing.dedup();
    let report: String = missing
        .iter()
        .map(|finding| format!("{}:{}: {}\n", finding.line, finding.column, finding.message))
        .collect();
    insta::assert_snapshot!(report);
}
