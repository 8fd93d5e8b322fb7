//! How a file is written.

use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Writes the file beside its place, and puts it there in one step.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // One that is a link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = fs::File::create(&new)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&path) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    fs::rename(new, path)
}
