//! Words as a shell takes them.

use std::borrow::Cow;
use std::path::Path;

use perennial::{Namespace, RunKey};

use super::inert::{inert, line};

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

/// The command line that does something with a run. An error says why there is none that can be shown.
pub(super) fn about(kind: &str, store: &Path, run: &RunKey) -> Result<String, String> {
    with(kind, store, run, &[])
}

/// The same with more words behind the run.
pub(super) fn with(
    kind: &str,
    store: &Path,
    run: &RunKey,
    more: &[&str],
) -> Result<String, String> {
    let words = [&[run.id.as_str()], more].concat();
    within(kind, store, &run.namespace, &words)
}

/// The command line that does something with what is in a namespace.
pub(super) fn within(
    kind: &str,
    store: &Path,
    namespace: &Namespace,
    words: &[&str],
) -> Result<String, String> {
    let Some(store) = store.to_str() else {
        let why = "the path of the store has characters that no command line can be shown with";
        return Err(why.to_owned());
    };
    let options = [kind, "--namespace", namespace.as_str()];
    let options = match *namespace == Namespace::default() {
        true => &options[..1],
        false => &options[..],
    };
    let whole = command(options, &[&[store], words].concat());
    if inert(&whole) == whole {
        return Ok(whole);
    }
    // What is shown would not be what a shell takes.
    Err(format!(
        "perennial {kind}, with characters that cannot be shown: {}",
        line(&whole)
    ))
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
