//! Colours: for who reads a terminal, and nobody else.

use std::borrow::Cow;
use std::env;
use std::fmt;
use std::io::{self, IsTerminal as _};

use perennial::Incompatible;
use perennial::value::Value;

/// Whether what goes to stdout is to have colours.
pub(super) fn are_wanted() -> bool {
    decide(
        io::stdout().is_terminal(),
        env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    )
}

fn decide(is_terminal: bool, no_color: bool) -> bool {
    is_terminal && !no_color
}

/// The text of an error; with colours, where its fields are given and are those of a history that does not fit.
pub(super) fn inked<'a>(error: &'a str, details: Option<&Value>) -> Cow<'a, str> {
    let fields = details.and_then(Incompatible::from_details);
    // Other software may have said it otherwise: what is recorded counts.
    match fields.filter(|fields| fields.to_string() == error) {
        Some(fields) => fields.coloured().to_string().into(),
        None => error.into(),
    }
}

/// What `write` writes.
pub(super) fn text_of(write: impl Fn(&mut fmt::Formatter<'_>) -> fmt::Result) -> String {
    fmt::from_fn(write).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_has_colours_and_only_where_nobody_turns_them_off() {
        assert!(decide(true, false));
        assert!(!decide(true, true));
        assert!(!decide(false, false) && !decide(false, true));
    }
}
