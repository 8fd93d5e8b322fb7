//! The application state an activity asks for: `acx.state::<Bank>()`.
//!
//! Found by tokens, so that calls inside of any macro count too. The runtime checks at start
//! that all of it was given to it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;
use syn::visit::Visit;

/// The types named in `context.state::<T>()`, each once, in order.
pub(crate) fn of(context: &Ident, body: TokenStream, declared: &[Type]) -> Vec<Type> {
    let mut found = declared.to_vec();
    search(context, body, &mut found);
    let mut seen = Vec::new();
    found.retain(|ty| {
        let text = ty.to_token_stream().to_string();
        let new = !seen.contains(&text);
        seen.push(text);
        new
    });
    found
}

fn search(context: &Ident, tokens: TokenStream, found: &mut Vec<Type>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_condition(&tokens[at..]) {
            // Whether this code exists is not known here. What it asks for is found when it asks.
            at += conditional_length(&tokens[at..]);
            continue;
        }
        if let TokenTree::Group(group) = &tokens[at] {
            search(context, group.stream(), found);
        } else if let Some(ty) = state_type(context, &tokens[at..]) {
            found.push(ty);
        }
        at += 1;
    }
}

/// `context . state :: < T > (`
fn state_type(context: &Ident, tokens: &[TokenTree]) -> Option<Type> {
    let [
        TokenTree::Ident(receiver),
        TokenTree::Punct(dot),
        TokenTree::Ident(method),
        rest @ ..,
    ] = tokens
    else {
        return None;
    };
    let is_call = receiver == context && dot.as_char() == '.' && method == "state";
    let is_turbofish = rest
        .iter()
        .take(3)
        .zip("::<".chars())
        .filter(|(token, wanted)| punct(token, *wanted))
        .count()
        == 3;
    if !is_call || !is_turbofish {
        return None;
    }
    let rest = &rest[3..];
    let ty: TokenStream = rest[..closing_angle(rest)?].iter().cloned().collect();
    syn::parse2(ty).ok().filter(is_nameable)
}

/// Where the angle bracket that is already open closes.
fn closing_angle(tokens: &[TokenTree]) -> Option<usize> {
    let mut depth = 1;
    for (index, token) in tokens.iter().enumerate() {
        if punct(token, '<') {
            depth += 1;
        } else if punct(token, '>') && !(index > 0 && punct(&tokens[index - 1], '-')) {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// `_` and lifetimes mean something only where they stand.
fn is_nameable(ty: &Type) -> bool {
    struct Local(bool);
    impl Visit<'_> for Local {
        fn visit_type_infer(&mut self, _: &syn::TypeInfer) {
            self.0 = true;
        }
        fn visit_lifetime(&mut self, lifetime: &syn::Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
    }
    let mut local = Local(false);
    local.visit_type(ty);
    !local.0
}

fn is_condition(tokens: &[TokenTree]) -> bool {
    let [hash, TokenTree::Group(attribute), ..] = tokens else {
        return false;
    };
    punct(hash, '#')
        && attribute
            .stream()
            .into_iter()
            .next()
            .is_some_and(|first| matches!(first, TokenTree::Ident(name) if name == "cfg"))
}

/// A conditional statement ends at its semicolon or its block.
fn conditional_length(tokens: &[TokenTree]) -> usize {
    let end = tokens.iter().position(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
        _ => false,
    });
    end.map_or(tokens.len(), |end| end + 1)
}

fn punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
