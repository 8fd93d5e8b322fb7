//! "Did you mean": the closest of a few known names.

use strsim::levenshtein;

/// The name that is most like `name`, where one is like it at all.
pub(super) fn closest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|known| (levenshtein(name, known), known))
        // Two letters that changed places are two edits.
        .filter(|(edits, known)| {
            *edits <= (known.len().max(name.len()) / 3).max(2) && *edits < known.len()
        })
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_mistyped_name_finds_the_one_that_was_meant() {
        let names = ["charge_card", "refund", "ship"];
        assert_eq!(closest("charge_crad", names), Some("charge_card"));
        assert_eq!(closest("refnd", names), Some("refund"));
        assert_eq!(closest("crad", ["card", "email"]), Some("card"));
        assert_eq!(closest("output", ["input", "result"]), None);
        assert_eq!(closest("something_else", names), None);
        assert_eq!(closest("x", []), None);
    }
}
