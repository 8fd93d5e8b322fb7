//! *Running it*, blocked runs.

use std::fmt::Write as _;

use perennial::RunId;
use perennial_runtime::{Client, ReadError, RunState, UnblockError};

// ANCHOR: look
/// What to look at after a deploy.
pub async fn look(client: &Client) -> Result<String, ReadError> {
    let count = client.count_blocked().await?;
    let mut report = format!("blocked runs: {}\n", count.total);
    for (workflow, codes) in count.workflows {
        for (code, runs) in codes {
            let _ = writeln!(report, "  {workflow}: {runs} with {code}");
        }
    }
    // The first page of them, each with an error for each program that has tried.
    let page = client.list().blocked(true).limit(50).page().await?;
    for info in page.runs {
        let RunState::Blocked { errors } = info.state else {
            continue;
        };
        for error in errors {
            let _ = writeln!(report, "\n{} in program {}", info.run, error.artifact);
            if let Some(misfit) = error.incompatible() {
                let _ = writeln!(report, "  {}, event {}", misfit.kind.name(), misfit.event);
            }
            let _ = writeln!(report, "{}", error.text);
        }
    }
    Ok(report)
}
// ANCHOR_END: look

// ANCHOR: unblock
/// The address of the bank was wrong in the settings, and is right now.
pub async fn try_again(client: &Client, run: &RunId) -> String {
    match client.unblock(run).await {
        Ok(unblocked) => format!("{} goes on", unblocked.run),
        Err(UnblockError::StillBlocked { run, code, .. }) => {
            format!("{run} was tried again, and is still blocked: {code}")
        }
        Err(other) => other.to_string(),
    }
}
// ANCHOR_END: unblock
