//! The packages of a workspace, as its manifests say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// Where a command looks.
#[derive(Debug)]
pub(crate) struct Folders {
    /// The folders of packages, in the order of their paths.
    pub(crate) packages: Vec<PathBuf>,
    /// They are those of a workspace.
    pub(crate) is_workspace: bool,
}

/// The package in a folder, or all packages of the workspace whose root it is.
///
/// Members are what `members` lists, `*` included, without what `exclude` lists, and the packages below the root on
/// which one of them depends by path.
pub(crate) fn folders(folder: &Path) -> Result<Folders, String> {
    let manifest = manifest(folder)?;
    let Some(workspace) = manifest.get("workspace").and_then(Value::as_table) else {
        return Ok(Folders {
            packages: vec![folder.to_owned()],
            is_workspace: false,
        });
    };
    let texts = |key: &str| -> Vec<&str> {
        let list = workspace.get(key).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    };
    let excluded: Vec<PathBuf> = texts("exclude")
        .iter()
        .map(|path| folder.join(path))
        .collect();
    let mut found = BTreeSet::new();
    let mut next = Vec::new();
    if manifest.contains_key("package") {
        next.push(folder.to_owned());
    }
    for member in texts("members") {
        next.extend(matching(folder, member));
    }
    while let Some(package) = next.pop() {
        let package = normal(&package);
        let is_out = excluded.iter().any(|path| package.starts_with(path));
        if is_out || found.contains(&package) || !package.join("Cargo.toml").is_file() {
            continue;
        }
        let manifest = self::manifest(&package)?;
        let inside = dependencies(&manifest, &package);
        next.extend(inside.into_iter().filter(|path| path.starts_with(folder)));
        if manifest.contains_key("package") {
            found.insert(package);
        }
    }
    Ok(Folders {
        packages: found.into_iter().collect(),
        is_workspace: true,
    })
}

fn manifest(folder: &Path) -> Result<Table, String> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| {
        if path.exists() {
            format!("{}: it cannot be read: {error}", path.display())
        } else {
            format!(
                "{}: there is no Cargo.toml\n\nhelp: name the folder of a package or of a workspace",
                folder.display()
            )
        }
    })?;
    toml::from_str(&text).map_err(|error| {
        format!(
            "{}: it is no manifest\n\n{}",
            path.display(),
            error.to_string().trim_end()
        )
    })
}

/// The folders that a pattern as `crates/*` means.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in pattern.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if !part.contains(['*', '?']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let entries = found
            .iter()
            .flat_map(|path| fs::read_dir(path).into_iter().flatten().flatten());
        let fits = entries.filter(|entry| {
            entry.path().is_dir() && fits(part.as_bytes(), entry.file_name().as_encoded_bytes())
        });
        found = fits.map(|entry| entry.path()).collect();
    }
    found
}

/// Whether a name is what a pattern with `*` and `?` means.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        ([b'?', pattern @ ..], [_, name @ ..]) => fits(pattern, name),
        ([a, pattern @ ..], [b, name @ ..]) => a == b && fits(pattern, name),
        _ => false,
    }
}

/// The folders of what a package depends on by path.
fn dependencies(manifest: &Table, package: &Path) -> Vec<PathBuf> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets
        .into_iter()
        .flat_map(|targets| targets.values().filter_map(Value::as_table))
        .chain([manifest]);
    tables
        .flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()))
        .flat_map(|dependencies| dependencies.values())
        .filter_map(|dependency| dependency.get("path")?.as_str())
        .map(|path| normal(&package.join(path)))
        .collect()
}

/// Without `..` in it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir
                if normal.file_name().is_some_and(|last| last != "..") =>
            {
                normal.pop();
            }
            std::path::Component::CurDir if !normal.as_os_str().is_empty() => {}
            other => normal.push(other),
        }
    }
    normal
}
