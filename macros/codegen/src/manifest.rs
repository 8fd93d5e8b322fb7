//! By which name the package knows the crate `perennial`.
//!
//! The paths of generated code begin with `::perennial`, or with the name that the dependency has in
//! `Cargo.toml`. Where the crate is only re-exported by another one, an option says where. The file is looked at
//! as text: where in doubt, or where there is none, it is taken to be known by its own name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

const CRATE: &str = "perennial";

/// How a package knows the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// By its name, or it is not known how.
    Itself,
    /// By another one.
    As(String),
    /// Not at all: it is no dependency.
    Not,
}

/// What was found in each file, and when that was changed.
type Found = HashMap<PathBuf, (Option<SystemTime>, Known)>;

/// How the package that is being compiled knows the crate.
pub(crate) fn known() -> Known {
    // An editor asks for many packages in one process, and while they change.
    static FOUND: Mutex<Option<Found>> = Mutex::new(None);
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") else {
        return Known::Itself;
    };
    let path = Path::new(&folder).join("Cargo.toml");
    let changed = path.metadata().and_then(|file| file.modified()).ok();
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let found = found.get_or_insert_with(HashMap::new);
    match found.get(&path) {
        Some((when, known)) if *when == changed => known.clone(),
        _ => {
            let known =
                std::fs::read_to_string(&path).map_or(Known::Itself, |text| known_in(&text));
            found.insert(path, (changed, known.clone()));
            known
        }
    }
}

fn known_in(manifest: &str) -> Known {
    let mut table = "";
    let mut other_name = None;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.split(']').next().unwrap_or_default();
            if last_key(table) == CRATE {
                return Known::Itself;
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let is_crate = unquoted(value) == CRATE;
        if first_key(key) == CRATE || (table == "package" && key.trim() == "name" && is_crate) {
            return Known::Itself;
        }
        if last_key(key) == "package" && is_crate {
            // `sdk.package = "perennial"`, or in a table of its own.
            let name = if key.contains('.') {
                first_key(key)
            } else {
                last_key(table)
            };
            other_name = Some(name.to_owned());
        } else if value.contains('{') && value.contains(CRATE) {
            if !(value.contains("package") && value.contains(&format!("\"{CRATE}\""))) {
                // A form that is not understood here.
                return Known::Itself;
            }
            other_name = Some(first_key(key).to_owned());
        }
    }
    match other_name {
        Some(name) => Known::As(name.replace('-', "_")),
        None => Known::Not,
    }
}

fn first_key(keys: &str) -> &str {
    unquoted(keys.split('.').next().unwrap_or_default())
}

fn last_key(keys: &str) -> &str {
    unquoted(keys.rsplit('.').next().unwrap_or_default())
}

fn unquoted(text: &str) -> &str {
    let text = text.split('#').next().unwrap_or_default();
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::{Known, known_in};

    #[test]
    fn the_crate_is_known_by_its_name_wherever_that_stands() {
        for manifest in [
            "[dependencies]\nperennial = \"1\"",
            "[dependencies]\n\"perennial\" = { path = \"x\" } # here",
            "[dev-dependencies]\nserde = \"1\"\nperennial.workspace = true",
            "[dependencies.perennial]\nversion = \"1\"",
            "[target.'cfg(unix)'.dependencies.perennial]\nversion = \"1\"",
            "[package]\nname = \"perennial\"",
            "dependencies = { perennial = \"1\" }",
        ] {
            assert_eq!(known_in(manifest), Known::Itself, "{manifest}");
        }
    }

    #[test]
    fn a_renamed_dependency_is_known_by_that_name() {
        for manifest in [
            "[dependencies]\nthe-sdk = { package = \"perennial\", path = \"../perennial/sdk\" }",
            "[dependencies]\nthe-sdk.package = \"perennial\"\nthe-sdk.version = \"1\"",
            "[dependencies.the-sdk]\nversion = \"1\"\npackage = \"perennial\"",
        ] {
            assert_eq!(
                known_in(manifest),
                Known::As("the_sdk".to_owned()),
                "{manifest}"
            );
        }
    }

    #[test]
    fn a_package_without_it_does_not_know_it() {
        for manifest in [
            "",
            "[package]\nname = \"shop\"\n\n[dependencies]\nhouse = { path = \"../house\" }",
            "[dependencies]\nperennial-runtime = \"1\"\nhouse.workspace = true",
        ] {
            assert_eq!(known_in(manifest), Known::Not, "{manifest}");
        }
    }
}
