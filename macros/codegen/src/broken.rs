//! Half-typed code that no compiler accepts.
//!
//! rustc parses a function before it asks an attribute, reports what it cannot read, repairs it if it can, and
//! then asks. What we say of the same place would be a second error. But what syn cannot read rustc might: then
//! ours must be there, since nothing in such a body is checked. So here are the forms that rustc reports
//! whatever else stands around them. Where in doubt, code is not broken.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Whether this code, the inside of braces, is broken for sure.
pub(crate) fn is_broken(code: TokenStream) -> bool {
    is_broken_in(code, true)
}

fn is_broken_in(code: TokenStream, has_statements: bool) -> bool {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    if has_statements {
        let mut statements = tokens.split(|token| is_punct(token, ';'));
        if statements.any(breaks_off) {
            return true;
        }
    }
    let mut statement = has_statements;
    for (at, token) in tokens.iter().enumerate() {
        let rest = &tokens[at + 1..];
        match token {
            TokenTree::Punct(dot) if dot.as_char() == '.' => {
                let is_range = at > 0 && is_punct(&tokens[at - 1], '.');
                let names = match rest.first() {
                    Some(TokenTree::Punct(next)) => next.as_char() == '.' || next.as_char() == '$',
                    next => next.is_some(),
                };
                if !is_range && !names {
                    return true;
                }
            }
            // Without a semicolon the statement goes on to the end.
            TokenTree::Ident(keyword)
                if statement
                    && keyword == "let"
                    && !rest.iter().any(|token| is_punct(token, ';')) =>
            {
                return true;
            }
            TokenTree::Group(group) if !is_quoted(&tokens[..at]) => {
                let has_statements = group.delimiter() == Delimiter::Brace;
                if is_broken_in(group.stream(), has_statements) {
                    return true;
                }
            }
            _ => {}
        }
        statement = has_statements && ends_statement(token);
    }
    false
}

/// Operators that something follows.
const OPERATORS: &str = "=&*/^%<:|-+@";

/// Keywords that something follows, and that are no names.
const KEYWORDS: [&str; 14] = [
    "as", "async", "dyn", "else", "for", "if", "impl", "in", "loop", "match", "mut", "ref",
    "unsafe", "while",
];

/// A statement that ends where an operand or a block should be.
fn breaks_off(statement: &[TokenTree]) -> bool {
    match statement.last() {
        Some(TokenTree::Punct(last)) if last.as_char() == '>' => {
            // It may close the arguments of a type.
            !statement.iter().any(|token| is_punct(token, '<'))
        }
        Some(TokenTree::Punct(last)) => OPERATORS.contains(last.as_char()),
        Some(TokenTree::Ident(last)) => KEYWORDS.iter().any(|keyword| last == keyword),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => false,
    }
}

/// After this a statement may begin.
fn ends_statement(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';'),
    }
}

/// Behind `name!`, `macro_rules! name`, `#` and `#!` stand tokens that mean anything.
fn is_quoted(before: &[TokenTree]) -> bool {
    match before {
        [.., last] if is_punct(last, '!') || is_punct(last, '#') => true,
        [.., bang, TokenTree::Ident(_)] => is_punct(bang, '!'),
        _ => false,
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::is_broken;

    #[test]
    fn code_that_is_being_typed_is_broken() {
        for code in [
            "let s = String::new(); s.",
            "cx.; Ok(())",
            "if n > 1 { cx. } Ok(())",
            "f(order., 1)",
            "let",
            "a(); let Ok(x)",
            "if a { b() } let x = 1",
            "let text = String::",
            "let x = n +; x",
            "if n >",
            "a(); if n == ",
            "match x { A => { b = } }",
            "let x = y as; if",
        ] {
            assert!(is_broken(code.parse().unwrap()), "{code}");
        }
    }

    #[test]
    fn code_that_may_be_read_is_not() {
        for code in [
            "",
            "let a = 0..; let b = ..=1; let c = a..b; [..]",
            "let x = 1.; x.0.1; x.await; match x { a.. => {} }",
            "let Some(x) = y else { return }; x",
            "if let Some(x) = y && let Some(z) = x { z }",
            "mac!(a. let); mac! { let x } vec![x.]",
            "#[doc(a.)] fn f() {}",
            "macro_rules! m { (let) => { x. } }",
            "Struct { x, ..y }",
            "x as Vec<u8>; x as Vec<Vec<u8>>",
            "return; a..; b?; let c = [1]; r#if",
        ] {
            assert!(!is_broken(code.parse().unwrap()), "{code}");
        }
    }
}
