//! *From the shell*.

use std::path::Path;

use perennial::prelude::*;
use perennial_runtime::control::{Answer, AskError, Follow, ListRuns, Request, Runs};
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

// ANCHOR: article
pub const STATUS: View<String> = View::new("status");
pub const LOG: Stream<String> = Stream::new("log");

/// An editor says yes or no.
#[stub]
pub async fn edit(cx: &Cx, title: String) -> bool;

#[workflow]
pub async fn article(cx: &Cx, title: String) -> Result<bool, Error> {
    cx.emit(LOG, format!("{title}: handed in"));
    cx.set(STATUS, "with the editor".to_owned());
    let accepted = edit(cx, title.clone()).timeout(days(7)).await?;
    cx.set(STATUS, "decided".to_owned());
    match accepted {
        Some(true) => cx.emit(LOG, format!("{title}: accepted")),
        _ => cx.emit(LOG, format!("{title}: not accepted")),
    }
    Ok(accepted == Some(true))
}
// ANCHOR_END: article

// ANCHOR: program
pub async fn start(folder: &Path) -> Result<Runtime, StartupError> {
    Runtime::builder(folder)
        .workflow(purchase)
        .workflow(article)
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

// ANCHOR: follow
/// Prints what a run says in its log, as it says it, until it has ended.
pub fn follow(
    store: &Path,
    run: &str,
    mut print: impl FnMut(&str),
) -> Result<(), Box<dyn std::error::Error>> {
    let log = Follow::Stream {
        run: run.parse()?,
        stream: LOG.name().to_owned(),
        after: 0,
    };
    Runs::at(store)?.follow(log, |answer| {
        if let Answer::Items(page) = answer {
            for item in page.items {
                print(item.value.as_json());
            }
        }
        // Until there is no more.
        true
    })?;
    Ok(())
}
// ANCHOR_END: follow
