//! Code in the place of other code.

use std::ops::Range;

/// `text` with the second of each pair in the place of the first one, which has to be there once. Spaces and lines
/// are all the same.
pub(super) fn replaced(text: &str, pairs: &[(String, String)]) -> Result<String, String> {
    let mut edits = Vec::new();
    for (old, new) in pairs {
        edits.push((place(text, old.trim())?, new.trim()));
    }
    edits.sort_by_key(|(place, _)| place.start);
    let (mut edited, mut done) = (String::new(), 0);
    for (place, new) in edits {
        let before = text.get(done..place.start);
        edited.push_str(before.ok_or("two of its pairs are about the same code")?);
        edited.push_str(new);
        done = place.end;
    }
    Ok(edited + &text[done..])
}

fn place(text: &str, code: &str) -> Result<Range<usize>, String> {
    let places = text.char_indices();
    let mut places = places.filter_map(|(at, _)| found(text, at, code));
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => Err(format!("the source has no `{code}`")),
        (Some(_), Some(_)) => Err(format!(
            "the source has `{code}` more than once; add of what stands around it"
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

    fn one(text: &str, old: &str, new: &str) -> Result<String, String> {
        replaced(text, &[(old.to_owned(), new.to_owned())])
    }

    #[test]
    fn spaces_are_all_the_same() {
        let text = "a(b,\n    c);\nd();";
        assert_eq!(one(text, "a(b, c);", "e();"), Ok("e();\nd();".into()));
        assert_eq!(
            one(text, "c);\nd", "c); e(); d"),
            Ok("a(b,\n    c); e(); d();".into())
        );
    }

    #[test]
    fn code_is_there_once() {
        assert!(one("a a", "b", "c").is_err());
        assert!(one("a a", "a", "c").is_err());
    }

    #[test]
    fn pairs_are_about_the_text_as_it_was() {
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        let swapped = replaced("a b", &[pair("b", "a"), pair("a", "b")]);
        assert_eq!(swapped, Ok("b a".into()));
        assert!(replaced("a b c", &[pair("a b", "d"), pair("b c", "e")]).is_err());
    }
}
