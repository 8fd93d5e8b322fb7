//! Commands of cargo as the reader gives them.

use std::path::Path;
use std::process::{Command, Stdio};

/// A cargo command or script as the reader gives it, but with the versions and the target folder of this
/// workspace, so that little is built and nothing is fetched.
pub(crate) fn at_home(command: &mut Command) -> &mut Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    command
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target)
        // The workspace's own profile; with another one everything would be built again.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env_remove("CARGO_MANIFEST_DIR")
        .stdin(Stdio::null())
}

#[track_caller]
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The manifest without the numbers of versions, and with the last name of a path only.
pub(crate) fn essential(manifest: &str) -> Vec<String> {
    let own = |line: &&str| !line.trim().is_empty();
    manifest.lines().filter(own).map(without_places).collect()
}

fn without_places(line: &str) -> String {
    // The crate's own version stands alone in its line, and counts.
    let Some((name, table)) = line.split_once(" = {") else {
        return line.to_owned();
    };
    let parts = table.split('"').enumerate().map(|(at, part)| {
        let is_text = at % 2 == 1;
        match part.rsplit_once('/') {
            Some((_, last)) => last,
            None if is_text && part.starts_with(|c: char| c.is_ascii_digit()) => "..",
            None => part,
        }
    });
    format!("{name} = {{{}", parts.collect::<Vec<_>>().join("\""))
}
