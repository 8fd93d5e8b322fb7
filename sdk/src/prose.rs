//! Texts that others wrote, in the middle of texts for people.

use std::borrow::Cow;

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

/// `text` without what a terminal or a log would take for more than letters: controls, line ends among them, and
/// marks that turn the direction of writing.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for a text of several lines.
pub(crate) fn safe_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

fn escaped(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    let turns = |c| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let unsafe_ = |c: char| (c.is_control() || turns(c)) && !allowed(c);
    if !text.contains(unsafe_) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if unsafe_(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{indent, safe, safe_lines, shorten};

    #[test]
    fn nothing_of_a_text_reaches_a_terminal_as_a_command() {
        assert_eq!(
            safe("ü \u{1b}[2J\r\n\t\u{9b}"),
            "ü \\u{1b}[2J\\r\\n\\t\\u{9b}"
        );
        assert_eq!(safe_lines("a\nb\u{202e}\u{7}"), "a\nb\\u{202e}\\u{7}");
        assert_eq!(safe("charge_card"), "charge_card");
    }

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
