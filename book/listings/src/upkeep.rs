//! *Backup and upkeep*.

use std::path::{Path, PathBuf};

use perennial::prelude::*;
use perennial_runtime::Client;
use perennial_runtime::store::export::{self, Contents, ExportError, Unreadable};

// ANCHOR: backup
/// For a timer of your own, once a day.
pub async fn back_up(client: &Client, folder: &Path, day: &str) -> Result<PathBuf, ExportError> {
    let path = folder.join(format!("{day}.jsonl"));
    let exported = client.export(&path).await?;
    println!("{} runs in {}", exported.counts.runs, path.display());
    Ok(path)
}

/// A backup that cannot be read is none.
pub fn check(path: &Path) -> Result<u64, Unreadable> {
    let contents = Contents::read(export::open(path)?)?;
    Ok(contents.census.all.total())
}
// ANCHOR_END: backup

/// A run that waits for long.
#[workflow]
pub async fn remind(cx: &Cx) -> Result<(), Error> {
    cx.sleep(days(30)).await?;
    Ok(())
}
