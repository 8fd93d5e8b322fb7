//! Code in the place of other code.

use std::ops::Range;

/// `text` with `new` in the place of `old`, which has to be there once. Spaces and lines are all the same.
pub(super) fn replaced(text: &str, old: &str, new: &str) -> Result<String, String> {
    let old = old.trim();
    let mut places = text
        .char_indices()
        .filter_map(|(at, _)| found(text, at, old));
    match (places.next(), places.next()) {
        (Some(Range { start, end }), None) => {
            Ok(format!("{}{}{}", &text[..start], new.trim(), &text[end..]))
        }
        (None, _) => Err(format!("the source has no `{old}`")),
        (Some(_), Some(_)) => Err(format!(
            "the source has `{old}` more than once; add of what stands around it"
        )),
    }
}

/// Where `code` is that begins at that place.
fn found(text: &str, begin: usize, code: &str) -> Option<Range<usize>> {
    let mut words = code.split_whitespace();
    let mut rest = text[begin..].strip_prefix(words.next()?)?;
    for word in words {
        let next = rest.trim_start();
        // Where the one has a space, so does the other.
        if next.len() == rest.len() {
            return None;
        }
        rest = next.strip_prefix(word)?;
    }
    Some(begin..text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_all_the_same() {
        let text = "a(b,\n    c);\nd();";
        assert_eq!(replaced(text, "a(b, c);", "e();"), Ok("e();\nd();".into()));
        assert_eq!(
            replaced(text, "c);\nd", "c); e(); d").unwrap_or_default(),
            "a(b,\n    c); e(); d();"
        );
    }

    #[test]
    fn code_is_there_once() {
        assert!(replaced("a a", "b", "c").is_err());
        assert!(replaced("a a", "a", "c").is_err());
    }
}
