//! The function below the attribute: signature strictly, body tolerantly.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::buffer::Cursor;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{AttrStyle, Attribute, Block, Signature, Visibility};

use crate::broken::is_broken;
use crate::errors::Errors;

/// A function as it was written.
#[derive(Debug)]
pub(crate) struct Function {
    /// Inner attributes of the body (`#![allow(..)]`) have become outer ones, because the
    /// statements may move into a block, where attributes are not stable.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// What follows the signature.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Statements that can be looked into.
    Parsed(Block),
    /// Something syn does not understand, half typed perhaps. It is passed on untouched, so
    /// that an editor still sees the locals and rustc reports the place.
    Opaque(Group, syn::Error),
    /// `fn name();` in a trait.
    Missing,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let body = if input.peek(syn::Token![;]) {
            input.parse::<syn::Token![;]>()?;
            Body::Missing
        } else {
            let too_deep = too_deep(input.cursor());
            let TokenTree::Group(group) = input.parse()? else {
                return Err(input.error("expected the body of the function"));
            };
            match too_deep {
                Some(error) => Body::Opaque(group, error),
                None => body(group, &mut attrs),
            }
        };
        Ok(Function {
            attrs,
            vis,
            sig,
            body,
        })
    }
}

fn body(group: Group, attrs: &mut Vec<Attribute>) -> Body {
    // With the braces, so that an error at the end stands at the closing one.
    let with_braces = |input: ParseStream<'_>| {
        let inside;
        let brace_token = syn::braced!(inside in input);
        let inner = inside.call(Attribute::parse_inner)?;
        Ok((
            inner,
            Block {
                brace_token,
                stmts: inside.call(Block::parse_within)?,
            },
        ))
    };
    let parsed: syn::Result<(Vec<Attribute>, Block)> =
        with_braces.parse2(TokenTree::from(group.clone()).into());
    match parsed {
        Ok((inner, block)) => {
            attrs.extend(inner.into_iter().map(|attr| Attribute {
                style: AttrStyle::Outer,
                ..attr
            }));
            Body::Parsed(block)
        }
        Err(error) => Body::Opaque(group, error),
    }
}

/// So many brackets may stand inside of each other. What looks into expressions calls itself for each, on the
/// stack of the compiler, which ends by a crash.
const DEEPEST: usize = 256;

/// What is wrong with the tokens of a file, if they go too deep. Nothing here calls itself.
pub(crate) fn too_deep_in(tokens: &TokenStream) -> Option<syn::Error> {
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(inner) = open.last_mut() {
        match inner.next() {
            Some(TokenTree::Group(group)) if open.len() > DEEPEST => {
                return Some(goes_too_deep(group.span_open()));
            }
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(_) => {}
            None => {
                open.pop();
            }
        }
    }
    None
}

fn goes_too_deep(at: Span) -> syn::Error {
    syn::Error::new(
        at,
        format!(
            "brackets stand inside of each other more than {DEEPEST} times, and the attribute looks no deeper\n\n\
             help: move what is inside into a function of its own"
        ),
    )
}

/// What is wrong with the body at `cursor`, if it goes too deep.
fn too_deep(cursor: Cursor<'_>) -> Option<syn::Error> {
    let (mut cursor, ..) = cursor.any_group()?;
    let mut outer = Vec::new();
    loop {
        if let Some((inside, _, span, after)) = cursor.any_group() {
            outer.push(after);
            if outer.len() >= DEEPEST {
                return Some(goes_too_deep(span.open()));
            }
            cursor = inside;
        } else if cursor.eof() {
            cursor = outer.pop()?;
        } else {
            (_, cursor) = cursor.token_tree()?;
        }
    }
}

impl Body {
    /// The tokens between the braces.
    pub(crate) fn statements(&self) -> TokenStream {
        match self {
            Body::Parsed(block) => block.stmts.iter().map(ToTokens::to_token_stream).collect(),
            Body::Opaque(group, _) => group.stream(),
            Body::Missing => TokenStream::new(),
        }
    }

    /// Reports what syn could not read, unless the compiler has said it already.
    pub(crate) fn report(&self, errors: &mut Errors) {
        if let Body::Opaque(group, error) = self {
            let in_the_compiler = Span::call_site().local_file().is_some();
            if !(in_the_compiler && is_broken(group.stream())) {
                errors.take(error.clone());
            }
        }
    }

    /// Where its braces stand.
    pub(crate) fn braces(&self) -> Span {
        match self {
            Body::Parsed(block) => block.brace_token.span.join(),
            Body::Opaque(group, _) => group.span(),
            Body::Missing => Span::call_site(),
        }
    }
}

impl ToTokens for Body {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Body::Parsed(block) => block.to_tokens(tokens),
            Body::Opaque(group, _) => group.to_tokens(tokens),
            Body::Missing => Group::new(Delimiter::Brace, TokenStream::new()).to_tokens(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn nested(levels: usize) -> Body {
        let text = format!("fn f() {}{}", "{".repeat(levels), "}".repeat(levels));
        syn::parse_str::<Function>(&text).unwrap().body
    }

    #[test]
    fn a_body_that_goes_too_deep_is_passed_on_with_an_error() {
        let check = || {
            assert!(matches!(nested(DEEPEST), Body::Parsed(_)));
            for levels in [DEEPEST + 1, 4 * DEEPEST] {
                let Body::Opaque(group, error) = nested(levels) else {
                    panic!("it was looked into");
                };
                assert!(error.to_string().contains("inside of each other"));
                assert_eq!(group.to_string().matches('{').count(), levels);
            }
        };
        // As much as the compiler's own thread has.
        let thread = std::thread::Builder::new().stack_size(8 << 20);
        thread.spawn(check).unwrap().join().unwrap();
    }
}
