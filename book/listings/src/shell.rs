//! *From the shell*.

use std::path::Path;

use perennial::prelude::*;
use perennial_runtime::control::{Answer, AskError, ListRuns, Request, Runs};
use perennial_runtime::{Runtime, StartupError, Status};

pub const APPROVAL: Message<bool> = Message::new("approval");

#[activity(pure)]
pub async fn quote(_acx: &ActivityCx, item: String) -> Result<u64, Failure> {
    Ok(100 * item.len() as u64)
}

#[workflow]
pub async fn purchase(cx: &Cx, item: String) -> Result<u64, Error> {
    let cents = quote(cx, item).await?;
    match cx.receive(APPROVAL).timeout(days(7)).await? {
        Some(true) => Ok(cents),
        Some(false) => Err(Error::new("refused")),
        None => Err(Error::new("nobody has answered for a week")),
    }
}

// ANCHOR: program
pub async fn start(folder: &Path) -> Result<Runtime, StartupError> {
    Runtime::builder(folder)
        .workflow(purchase)
        .activity(quote)
        .control_socket()
        .start()
        .await
}
// ANCHOR_END: program

// ANCHOR: ask
/// How many runs of a workflow have not ended.
pub fn open(store: &Path, workflow: &str) -> Result<usize, AskError> {
    let mut runs = Runs::at(store)?;
    let mut count = 0;
    let mut after = None;
    loop {
        let list = ListRuns {
            workflow: Some(workflow.to_owned()),
            status: Some(Status::Running),
            after,
            ..ListRuns::default()
        };
        let Answer::Runs(page) = runs.ask(Request::List(list))? else {
            return Ok(count);
        };
        count += page.runs.len();
        after = page.next;
        if after.is_none() {
            return Ok(count);
        }
    }
}
// ANCHOR_END: ask
