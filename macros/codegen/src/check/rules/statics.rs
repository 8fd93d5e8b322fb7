use super::Rule;

pub(super) const RULE: Rule = Rule {
    code: "D113",
    category: Some("statics"),
    title: "statics that change",
    because: "holds what other runs and earlier replays left in it",
    denied: &[],
};

/// Parts of a type that let a static change.
const CHANGES: &[&str] = &[
    "Cell",
    "DashMap",
    "DashSet",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "RefCell",
    "RwLock",
    "SegQueue",
    "UnsafeCell",
];

/// Whether a static of a type with this word in it can change.
pub(crate) fn changes(word: &str) -> bool {
    word.starts_with("Atomic") || CHANGES.contains(&word)
}

/// Methods that only atomics have.
pub(crate) const ATOMIC: &[&str] = &[
    "compare_and_swap",
    "compare_exchange",
    "compare_exchange_weak",
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_nand",
    "fetch_or",
    "fetch_sub",
    "fetch_update",
    "fetch_xor",
];
