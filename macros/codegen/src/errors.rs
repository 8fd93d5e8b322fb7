//! The one place where findings go: nothing returns early, so one compile shows all of them.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The findings of one function.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Reports `message` at one token. A message that has a way out ends in `\n\nhelp: ..`.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Reports `message` under all of `tokens`, from the first to the last.
    pub(crate) fn under(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Takes over what syn found.
    pub(crate) fn take(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Takes over what was found elsewhere.
    pub(crate) fn append(&mut self, other: Errors) {
        self.found.extend(other.found);
    }

    /// Where and what they are.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (Span, String)> + '_ {
        self.found
            .iter()
            .map(|error| (error.span(), error.to_string()))
    }

    /// The findings as `compile_error!`s, which can stand wherever an item can.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }
}
