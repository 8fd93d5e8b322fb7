//! "Did you mean": the closest of a few known words.

use strsim::levenshtein;

/// The word that is at most two edits (a third of its length) away from what was written.
pub(crate) fn closest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|word| (levenshtein(written, word), *word))
        .filter(|(distance, word)| *distance <= (word.len() / 3).clamp(1, 2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["idempotent", "pure", "timeout"];
        assert_eq!(closest("idempotant", &known), Some("idempotent"));
        assert_eq!(closest("timeuot", &known), Some("timeout"));
        assert_eq!(closest("version", &known), None);
        assert_eq!(closest("", &known), None);
    }
}
