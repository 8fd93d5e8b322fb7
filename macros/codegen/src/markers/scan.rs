//! Markers in a source that is read as plain text: those of `#[durable]` functions that a workflow calls.

use super::{Marker, form};
use crate::source::{Token, unescaped};

/// The markers that `tokens` ask for through `context`, each call of one. What is not written as literals is left
/// out: where it stands, it is an error.
pub(crate) fn scan(context: &str, tokens: &[Token<'_>]) -> Vec<Marker> {
    let mut markers = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if *token != Token::Word(context) {
            continue;
        }
        let [
            Token::Sign('.'),
            Token::Word(method),
            Token::Sign('('),
            Token::Text(id),
            rest @ ..,
        ] = &tokens[at + 1..]
        else {
            continue;
        };
        let Some((is_patched, each)) = form(method) else {
            continue;
        };
        let range = match rest {
            _ if is_patched => Some((0, 1)),
            [
                Token::Sign(','),
                Token::Word(lowest),
                Token::Sign('.'),
                Token::Sign('.'),
                Token::Sign('='),
                Token::Word(highest),
                ..,
            ] => number(lowest).zip(number(highest)),
            _ => None,
        };
        if let Some((lowest, highest)) = range {
            markers.push(Marker {
                id: unescaped(id),
                lowest,
                highest,
                each,
            });
        }
    }
    markers
}

/// `1_000u32`
fn number(word: &str) -> Option<u32> {
    let literal: syn::LitInt = syn::parse_str(word).ok()?;
    literal.base10_parse().ok()
}
