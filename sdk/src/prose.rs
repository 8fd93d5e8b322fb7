//! Texts that others wrote, in the middle of texts for people.

/// Cuts `text` down to about `limit` bytes: its beginning and its end, since both tend to say what it is.
pub(crate) fn shorten(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let head = text.floor_char_boundary(limit / 4 * 3);
    let tail = text.ceil_char_boundary(text.len() - limit / 4);
    format!(
        "{} … ({} bytes left out) … {}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

/// `text` with each line but the first moved to the right.
pub(crate) fn indent(text: &str, by: usize) -> String {
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', by));
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{indent, shorten};

    #[test]
    fn empty_lines_stay_empty() {
        assert_eq!(indent("a\n\nb\n c", 2), "a\n\n  b\n   c");
    }

    #[test]
    fn both_ends_stay_and_characters_are_not_cut() {
        assert_eq!(shorten("short".into(), 5), "short");
        let text = format!("head{}tail", "ü".repeat(100));
        assert_eq!(shorten(text, 16), "headüüüü … (192 bytes left out) … tail");
        for limit in 0..40 {
            let _ = shorten("aü€😀".repeat(5), limit);
        }
    }
}
