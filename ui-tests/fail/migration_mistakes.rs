//! What a migration returns is what the new run's workflow takes, and its signature is prescribed.

use perennial::prelude::*;

#[workflow]
async fn order(_cx: &Cx, id: String) -> Result<(), Error> {
    let _ = id;
    Ok(())
}

#[workflow]
async fn order_v2(_cx: &Cx, id: String, cents: u64) -> Result<(), Error> {
    let _ = (id, cents);
    Ok(())
}

#[migration(from = order, to = order_v2)]
fn another_input(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = order, to = order_v2)]
fn another_error(old: &OldRun) -> Result<(String, u64), String> {
    let _ = old;
    Ok((String::new(), 1))
}

#[migration]
fn from_nowhere(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = "order")]
fn to_nowhere(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = order)]
async fn waiting(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = order)]
fn without() -> Result<String, Refuse> {
    Ok(String::new())
}

#[migration(from = order)]
fn of_a_copy(old: OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = order)]
fn of_two(old: &OldRun, cents: u64) -> Result<String, Refuse> {
    let _ = cents;
    old.input()
}

#[migration(from = order)]
fn of_nothing(old: &OldRun) {
    let _ = old;
}

#[migration(form = order, to = order)]
fn misspelt(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

fn register<X, F: perennial::MigrationFn<X>>(_: F) {}

fn main() {
    register(another_input);
    register(order);
}
