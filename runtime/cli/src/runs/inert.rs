//! Texts that others wrote, on a terminal.

/// Whether a terminal may take it for more than a letter: controls, and marks that turn the direction of writing.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A text of several lines of which nothing reaches a terminal as a command.
pub(crate) fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) && c != '\n' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The same of a JSON text, which means what it meant: such characters can only be in its texts.
pub(crate) fn inert_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) && !c.is_ascii() {
            // All of them are below 65,536.
            out += &format!("\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// A text of one line.
pub(super) fn line(text: &str) -> String {
    inert(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const BAD: &str = "ü\n\u{1b}[2J\r\u{9b}31m\u{202e}";

    #[test]
    fn nothing_reaches_a_terminal_as_a_command() {
        assert_eq!(inert(BAD), "ü\n\\u{1b}[2J\\r\\u{9b}31m\\u{202e}");
        assert_eq!(line("a\nb"), "a\\nb");
    }

    #[test]
    fn json_means_what_it_meant() {
        let json = serde_json::to_string_pretty(&[BAD]).unwrap();
        let safe = inert_json(&json);
        assert!(!safe.contains(|c| acts(c) && c != '\n'), "{safe:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [BAD]);
    }
}
