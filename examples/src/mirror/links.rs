//! The symbolic links of the target.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use perennial::prelude::*;

use super::disk::{look, part_of, remove_left_over, sync_folders};
use super::manifest::{Record, put_records};
use super::{Link, Plan, Problem, StoredPath};

/// Makes symbolic links in the target that say what those of the source say, and notes them for the
/// manifest. They are not followed, so what one points to need not exist.
///
/// `idempotent`: each is made under a name of its own and renamed into place; one that is there is left.
#[activity(idempotent, blocking)]
pub fn make_links(acx: &ActivityCx, plan: Plan, links: Vec<Link>) -> Result<(), Problem> {
    let target = plan.target.to_path();
    let mut changed = BTreeSet::new();
    for link in &links {
        let path = link.path.under(&target);
        make(&path, &link.to.to_path(), &acx.idempotency_key())?;
        changed.extend(path.parent().map(Path::to_owned));
    }
    sync_folders(&changed)?;
    put_records(
        acx,
        &plan,
        &links.into_iter().map(Record::Link).collect::<Vec<_>>(),
    )
}

fn make(path: &Path, to: &Path, key: &str) -> Result<(), Problem> {
    let part = part_of(path, key);
    let put = || {
        match look(path)? {
            Some(there) if there.is_dir() => return Ok(false),
            Some(there) if there.is_symlink() && fs::read_link(path)? == to => return Ok(true),
            _ => {}
        }
        remove_left_over(&part)?;
        std::os::unix::fs::symlink(to, &part)?;
        fs::rename(&part, path)?;
        Ok(true)
    };
    match put() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Problem::InTheWay {
            path: StoredPath::of(path),
            found: "folder".into(),
            wanted: "symbolic link".into(),
        }),
        Err(error) => Err(Problem::writing("making the link", path, None, &error)),
    }
}
