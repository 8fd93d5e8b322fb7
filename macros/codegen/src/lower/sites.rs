//! The places in the source where a workflow asks for something.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;

use super::respanned;

/// The call sites of one function, in evaluation order.
#[derive(Debug, Default)]
pub(super) struct Sites {
    found: Vec<Site>,
    of_label: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Site {
    /// The label, and from the second of the same label on its number: `ship`, `ship#2`. Another
    /// await between them does not change it.
    id: String,
    span: Span,
}

impl Sites {
    /// Adds a site and returns its index.
    pub(super) fn add(&mut self, label: String, span: Span) -> usize {
        let count = self.of_label.entry(label.clone()).or_default();
        *count += 1;
        let id = if *count == 1 {
            label
        } else {
            format!("{label}#{count}")
        };
        self.found.push(Site { id, span });
        self.found.len() - 1
    }

    /// `static __SITES`, whose places the compiler computes from the span of the await: that is
    /// right under every tool, also where spans have no lines yet. A call each, and not the macros
    /// `file!()`, `line!()` and `column!()`: expanding those is what takes the time.
    pub(super) fn into_static(self, krate: &Path, function: &str) -> TokenStream {
        if self.found.is_empty() {
            return TokenStream::new();
        }
        let count = self.found.len();
        let entries = self.found.into_iter().map(|Site { id, span }| {
            let krate = respanned(krate, span);
            quote_spanned!(span=> #krate::__private::Site::here(#id, #function))
        });
        quote!(static __SITES: [#krate::__private::Site; #count] = [#(#entries),*];)
    }
}
