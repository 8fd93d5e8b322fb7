//! Paths are put together and taken apart; no folder is looked at.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn paths_joined(cx: &Cx, order: Order) -> Result<String, Error> {
    let invoice = Path::new("invoices").join(&order.customer).join("1.pdf");
    let mut copy = PathBuf::from("archive");
    copy.push(invoice.file_name().unwrap_or(OsStr::new("none")));
    if copy.starts_with("archive") && copy.extension() == Some(OsStr::new("pdf")) {
        mail(cx, copy.display().to_string()).await?;
    }
    Ok(invoice.to_string_lossy().into_owned())
}
