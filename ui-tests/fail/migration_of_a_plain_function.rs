//! Runs are moved from a workflow to a workflow.

use perennial::prelude::*;

#[workflow]
async fn order(_cx: &Cx, id: String) -> Result<(), Error> {
    let _ = id;
    Ok(())
}

async fn plain(_cx: &Cx) {}

#[migration(from = plain, to = order)]
fn of_a_plain_function(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

#[migration(from = order, to = plain)]
fn to_a_plain_function(old: &OldRun) -> Result<String, Refuse> {
    old.input()
}

fn main() {}
