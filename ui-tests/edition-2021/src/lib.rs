//! What works in the newest edition, in an older one: see `tests/`.
