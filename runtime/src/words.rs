//! Counts in texts.

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// What goes with a count: `is` or `are`, `it` or `them`.
pub(crate) fn verb<T>(count: u64, one: T, many: T) -> T {
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let told = |count| format!("{} {}", counted(count, "run"), verb(count, "is", "are"));
        assert_eq!(
            [0, 1, 2].map(told),
            ["0 runs are", "1 run is", "2 runs are"]
        );
    }
}
