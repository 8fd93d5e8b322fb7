//! Words as a shell takes them.

use std::borrow::Cow;

/// A word that a shell hands on as it is. One with characters that cannot be shown has them escaped.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    // A tilde is one of a folder only where it begins something.
    let plain = |(at, c): (usize, char)| {
        c.is_ascii_alphanumeric()
            || "_./:=@%+,-".contains(c)
            || c == '~' && word[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    if !word.is_empty() && word.char_indices().all(plain) {
        return Cow::Borrowed(word);
    }
    // Within single quotes everything is itself, but for the quote.
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// A command line of these words.
pub(super) fn command(options: &[&str], words: &[&str]) -> String {
    let mut line = "perennial".to_owned();
    for option in options {
        line.push(' ');
        line += &quoted(option);
    }
    // Otherwise it would be taken for an option.
    if words.iter().any(|word| word.starts_with('-')) {
        line += " --";
    }
    for word in words {
        line.push(' ');
        line += &quoted(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_for_something_else() {
        assert_eq!(quoted("./data"), "./data");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("my data"), "'my data'");
        assert_eq!(quoted("~/data"), "'~/data'");
        assert_eq!(quoted("a:~"), "'a:~'");
        assert_eq!(quoted("shop/order-42~7"), "shop/order-42~7");
        assert_eq!(quoted(r#"{"it":"isn't $5"}"#), r#"'{"it":"isn'\''t $5"}'"#);
        assert_eq!(quoted("a;rm -rf *"), "'a;rm -rf *'");
    }

    #[test]
    fn what_begins_as_an_option_is_no_option() {
        assert_eq!(
            command(&["send", "--namespace", "shop"], &["d", "r", "n", "-1"]),
            "perennial send --namespace shop -- d r n -1"
        );
    }
}
