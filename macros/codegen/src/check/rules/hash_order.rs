use super::Rule;

pub(crate) const RULE: Rule = Rule {
    code: "D111",
    category: Some("hash_order"),
    title: "iterating over a hash map or a hash set",
    because: "goes in another order in each process, and a replay would take other steps",
    // Looking things up is free, so it is not the types that are denied: the check knows what
    // iterates, and clippy has `iter_over_hash_type`.
    denied: &[],
};

/// The types whose order is another each time.
pub(crate) const HASHED: &[&str] = &[
    "std::collections::HashMap",
    "std::collections::HashSet",
    "hashbrown::HashMap",
    "hashbrown::HashSet",
    "ahash::AHashMap",
    "ahash::AHashSet",
    "ahash::HashMap",
    "ahash::HashSet",
    "dashmap::DashMap",
    "dashmap::DashSet",
];

/// Collections in which the order of what is put in does not show.
pub(crate) const ORDERED: &[&str] = &[
    "std::collections::BTreeMap",
    "std::collections::BTreeSet",
    "std::collections::BinaryHeap",
];

/// Methods of the hashed types that iterate.
pub(crate) const ITERATES: &[&str] = &[
    "difference",
    "drain",
    "extract_if",
    "intersection",
    "into_iter",
    "into_keys",
    "into_values",
    "iter",
    "iter_mut",
    "keys",
    "retain",
    "symmetric_difference",
    "union",
    "values",
    "values_mut",
];

/// What an iterator may pass through on its way to one of `ORDER_FREE`.
pub(crate) const PASSES: &[&str] = &[
    "chain",
    "cloned",
    "copied",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "into_iter",
    "map",
    "iter",
];

/// What gives the same, whatever the order is.
pub(crate) const ORDER_FREE: &[&str] = &[
    "all",
    "any",
    "count",
    "is_empty",
    "len",
    "max",
    "min",
    "sorted",
    "sorted_by",
    "sorted_by_cached_key",
    "sorted_by_key",
    "sorted_unstable",
    "sorted_unstable_by",
    "sorted_unstable_by_key",
];

/// Methods that only look at a value, in a closure that decides of each element for itself.
pub(crate) const LOOKS: &[&str] = &[
    "as_str",
    "contains",
    "contains_key",
    "ends_with",
    "get",
    "is_empty",
    "is_none",
    "is_some",
    "len",
    "starts_with",
];

/// What puts a list in order.
pub(crate) const SORTS: &[&str] = &[
    "sort",
    "sort_by",
    "sort_by_cached_key",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
];
