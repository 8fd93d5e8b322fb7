//! The rules, indexed by what the check meets: paths, methods, types.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::rules::hash_order::{HASHED, ORDERED};
use super::rules::{Denied, Kind, Rule, rules};

/// A call that is denied, and by which rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) rule: &'static Rule,
    pub(super) denied: &'static Denied,
}

struct Table {
    /// By the path before the name.
    by_place: HashMap<&'static str, Vec<Entry>>,
    /// Every last segment.
    names: HashSet<&'static str>,
    methods: HashMap<&'static str, Vec<Entry>>,
    /// Types that matter when something is called on them.
    types: HashSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table {
        by_place: HashMap::new(),
        names: HashSet::new(),
        methods: HashMap::new(),
        types: HASHED.iter().chain(ORDERED).copied().collect(),
    };
    for rule in rules() {
        for denied in rule.denied {
            let entry = Entry { rule, denied };
            table.by_place.entry(denied.of).or_default().push(entry);
            table.names.extend(denied.names);
            if denied.kind == Kind::Method {
                table.types.insert(denied.of);
            }
            if matches!(denied.kind, Kind::Method | Kind::TraitMethod) {
                for name in denied.names {
                    table.methods.entry(name).or_default().push(entry);
                }
            }
        }
    }
    table
});

/// Other paths to the same: what begins with the first is meant where the second is written below.
const ALIASES: &[(&str, &str)] = &[
    ("alloc::", "std::"),
    ("async_std::channel::", "async_channel::"),
    ("chrono::offset::", "chrono::"),
    ("chrono::prelude::", "chrono::"),
    ("core::", "std::"),
    ("crossbeam::channel::", "crossbeam_channel::"),
    ("crossbeam::thread::", "crossbeam_utils::thread::"),
    ("futures::channel::", "futures_channel::"),
    ("futures::executor::", "futures_executor::"),
    ("futures_lite::block_on", "futures_lite::future::block_on"),
    ("hashbrown::hash_map::HashMap", "hashbrown::HashMap"),
    ("hashbrown::hash_set::HashSet", "hashbrown::HashSet"),
    ("parking_lot::lock_api::", "parking_lot::"),
    ("rand::prelude::SmallRng", "rand::rngs::SmallRng"),
    ("rand::prelude::StdRng", "rand::rngs::StdRng"),
    ("rand::prelude::ThreadRng", "rand::rngs::ThreadRng"),
    ("rand::prelude::", "rand::"),
    ("rand_core::SeedableRng", "rand::SeedableRng"),
    (
        "rayon::prelude::ParallelSlice",
        "rayon::slice::ParallelSlice",
    ),
    ("rayon::prelude::", "rayon::iter::"),
    ("reqwest::blocking::client::", "reqwest::blocking::"),
    ("smol::Timer", "async_io::Timer"),
    ("smol::channel::", "async_channel::"),
    ("smol::fs::", "async_fs::"),
    ("smol::future::", "futures_lite::future::"),
    ("smol::net::", "async_net::"),
    ("smol::process::", "async_process::"),
    (
        "std::collections::btree_map::BTreeMap",
        "std::collections::BTreeMap",
    ),
    (
        "std::collections::btree_set::BTreeSet",
        "std::collections::BTreeSet",
    ),
    (
        "std::collections::hash_map::HashMap",
        "std::collections::HashMap",
    ),
    (
        "std::collections::hash_map::RandomState",
        "std::hash::RandomState",
    ),
    (
        "std::collections::hash_set::HashSet",
        "std::collections::HashSet",
    ),
    ("std::path::PathBuf", "std::path::Path"),
    ("time::ext::", "time::"),
    ("uuid::timestamp::Timestamp", "uuid::Timestamp"),
];

/// Two last segments that mean the same everywhere.
const DISTINCTIVE: &[(&str, &str)] = &[
    ("Local::now", "chrono::Local::now"),
    (
        "OffsetDateTime::now_local",
        "time::OffsetDateTime::now_local",
    ),
    ("OffsetDateTime::now_utc", "time::OffsetDateTime::now_utc"),
    ("SystemTime::now", "std::time::SystemTime::now"),
    ("Utc::now", "chrono::Utc::now"),
    ("Uuid::new_v4", "uuid::Uuid::new_v4"),
    ("Uuid::now_v1", "uuid::Uuid::now_v1"),
    ("Uuid::now_v6", "uuid::Uuid::now_v6"),
    ("Uuid::now_v7", "uuid::Uuid::now_v7"),
];

/// Likewise, where nothing is known of the file.
const LIKELY: &[(&str, &str)] = &[
    ("File::create", "std::fs::File::create"),
    ("File::open", "std::fs::File::open"),
    ("Instant::now", "std::time::Instant::now"),
    ("env::args", "std::env::args"),
    ("env::var", "std::env::var"),
    ("fs::read", "std::fs::read"),
    ("fs::read_to_string", "std::fs::read_to_string"),
    ("fs::write", "std::fs::write"),
    ("process::exit", "std::process::exit"),
    ("thread::sleep", "std::thread::sleep"),
    ("thread::spawn", "std::thread::spawn"),
];

/// The last segment of types that are hardly ever anything else.
const DISTINCTIVE_TYPES: &[(&str, &str)] = &[
    ("BTreeMap", "std::collections::BTreeMap"),
    ("BTreeSet", "std::collections::BTreeSet"),
    ("HashMap", "std::collections::HashMap"),
    ("HashSet", "std::collections::HashSet"),
    ("PathBuf", "std::path::Path"),
    ("SystemTime", "std::time::SystemTime"),
];

/// Likewise, where nothing is known of the file.
const LIKELY_TYPES: &[(&str, &str)] = &[
    ("Instant", "std::time::Instant"),
    ("Path", "std::path::Path"),
];

/// The path under which the rules know it.
fn canonical(path: &str) -> Cow<'_, str> {
    let mut path = Cow::Borrowed(path);
    // An alias may lead to another: `core::path::PathBuf`.
    for _ in 0..2 {
        let Some((alias, meant)) = ALIASES.iter().find(|(alias, _)| {
            path.strip_prefix(alias).is_some_and(|rest| {
                alias.ends_with("::") || rest.is_empty() || rest.starts_with("::")
            })
        }) else {
            break;
        };
        path = Cow::Owned(format!("{meant}{}", &path[alias.len()..]));
    }
    path
}

/// Whether any rule has a name like this: most do not, and need not be looked up.
pub(super) fn has_name(last: &str) -> bool {
    TABLE.names.contains(last)
}

/// The entry of a function, a method or a unit value by its full path.
pub(super) fn function(path: &str) -> Option<Entry> {
    find(path, |kind| kind != Kind::Macro)
}

/// The entry of a macro by its full path, without `!`.
pub(super) fn a_macro(path: &str) -> Option<Entry> {
    find(path, |kind| kind == Kind::Macro)
}

fn find(path: &str, of_kind: impl Fn(Kind) -> bool) -> Option<Entry> {
    let path = canonical(path);
    let (place, name) = path.rsplit_once("::")?;
    let entries = TABLE.by_place.get(place)?;
    entries
        .iter()
        .find(|entry| of_kind(entry.denied.kind) && entry.denied.names.contains(&name))
        .copied()
}

/// What a path means whose beginning is not known, by its last two segments.
pub(super) fn by_suffix(path: &str, file_is_known: bool) -> Option<Entry> {
    let before_last = path.rfind("::")?;
    let suffix = match path[..before_last].rfind("::") {
        Some(start) => &path[start + 2..],
        None => path,
    };
    let likely = if file_is_known { &[] } else { LIKELY };
    let (_, full) = DISTINCTIVE
        .iter()
        .chain(likely)
        .find(|(known, _)| *known == suffix)?;
    function(full)
}

/// The methods of this name that are denied, each on some type.
pub(super) fn methods(name: &str) -> &'static [Entry] {
    TABLE.methods.get(name).map_or(&[], Vec::as_slice)
}

/// The type of this full path, if it matters.
pub(super) fn a_type(path: &str) -> Option<&'static str> {
    TABLE.types.get(&*canonical(path)).copied()
}

/// What a type means whose beginning is not known.
pub(super) fn type_by_name(path: &str, file_is_known: bool) -> Option<&'static str> {
    let last = path.rsplit("::").next()?;
    let likely = if file_is_known { &[] } else { LIKELY_TYPES };
    DISTINCTIVE_TYPES
        .iter()
        .chain(likely)
        .find(|(known, _)| *known == last)
        .and_then(|(_, full)| a_type(full))
}
