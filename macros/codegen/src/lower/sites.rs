//! The places in the source where a workflow asks for something.
//!
//! Each knows what stands where: an error of a history that does not fit looks at the sites after the one at which
//! it arose, since what the code asks for after its next wait is known from the source alone.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;

use super::respanned;
use crate::index::{Index, Meaning};

/// The call sites of one function, in evaluation order.
#[derive(Debug, Default)]
pub(super) struct Sites {
    found: Vec<Site>,
    of_label: BTreeMap<String, usize>,
    /// What encloses the place that is being looked at.
    scope: Vec<String>,
    scopes: usize,
}

#[derive(Debug)]
struct Site {
    /// The label, and from the second of the same label on its number: `ship`, `ship#2`. Another
    /// await between them does not change it.
    id: String,
    asks: Asks,
    /// The branches, loops and blocks that it stands in, from the outermost on.
    scope: String,
    span: Span,
}

/// What is asked for at a site, as far as the source tells.
#[derive(Debug)]
pub(super) enum Asks {
    /// For this, as errors call it.
    For(String),
    /// For what the function of this name is, called with the context.
    Call(String),
    /// For nothing by itself, or for what cannot be seen from here.
    Unknown,
}

/// What encloses a site. The letters are known to `perennial::machine`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// One of several branches, of which one is taken.
    Branch(usize),
    /// A loop that may be passed without being entered.
    Loop,
    /// A loop that is entered in any case.
    Endless,
    /// A closure, which may be called or not.
    Closure,
    /// A block that goes on beside others.
    Async,
}

impl Sites {
    /// Adds a site and returns its index.
    pub(super) fn add(&mut self, label: String, asks: Asks, span: Span) -> usize {
        let count = self.of_label.entry(label.clone()).or_default();
        *count += 1;
        let id = if *count == 1 {
            label
        } else {
            format!("{label}#{count}")
        };
        let scope = self.scope.join(" ");
        self.found.push(Site {
            id,
            asks,
            scope,
            span,
        });
        self.found.len() - 1
    }

    /// A number for something that encloses sites.
    pub(super) fn group(&mut self) -> usize {
        self.scopes += 1;
        self.scopes
    }

    /// What follows stands in it, until [`leave`](Self::leave).
    pub(super) fn enter(&mut self, group: usize, scope: Scope) {
        self.scope.push(match scope {
            Scope::Branch(arm) => format!("{group}.{arm}"),
            Scope::Loop => format!("{group}*"),
            Scope::Endless => format!("{group}@"),
            Scope::Closure => format!("{group}?"),
            Scope::Async => format!("{group}&"),
        });
    }

    pub(super) fn leave(&mut self) {
        self.scope.pop();
    }

    /// `static __SITES`, whose places the compiler computes from the span of the await: that is
    /// right under every tool, also where spans have no lines yet. A call each, and not the macros
    /// `file!()`, `line!()` and `column!()`: expanding those is what takes the time.
    pub(super) fn into_static(self, krate: &Path, function: &str) -> TokenStream {
        let Some(first) = self.found.first() else {
            return TokenStream::new();
        };
        let (count, place) = (self.found.len(), first.span);
        let entries = Index::with(place, |index| {
            let entries = self.found.into_iter().enumerate();
            let entries = entries.map(|(at, site)| {
                let Site {
                    id,
                    asks,
                    scope,
                    span,
                } = site;
                let krate = respanned(krate, span);
                let asks = asks.text(index);
                quote_spanned!(span=> #krate::__private::Site::here(#id, #function, #asks, #scope, #at, &__SITES))
            });
            entries.collect::<Vec<_>>()
        });
        quote!(static __SITES: [#krate::__private::Site; #count] = [#(#entries),*];)
    }
}

impl Asks {
    /// As errors call it; with a `?` behind it where that is a guess, empty where it is not known.
    fn text(self, index: &Index) -> String {
        match self {
            Self::For(what) => what,
            Self::Call(function) => {
                let mut asks = Vec::new();
                call(index, &function, true, &mut asks);
                asks.join("\n")
            }
            Self::Unknown => String::new(),
        }
    }
}

/// The most activities that are told of a durable function.
const MOST_OF_A_FUNCTION: usize = 8;

/// What a call of `function` asks for. A durable function asks for what it calls, in this order if at all.
fn call(index: &Index, function: &str, sure: bool, asks: &mut Vec<String>) {
    let guess = if sure { "" } else { "?" };
    match index.meaning(function) {
        Some(Meaning::Activity(name)) => asks.push(format!("activity {name}{guess}")),
        Some(Meaning::Stub(name)) => asks.push(format!("stub {name}{guess}")),
        Some(Meaning::Durable(calls, ..)) => {
            for called in calls {
                // One that calls itself comes to an end here too.
                if asks.len() < MOST_OF_A_FUNCTION && called != function {
                    call(index, called, false, asks);
                }
            }
        }
        // From another crate, say.
        Some(Meaning::Other) | None => asks.push(format!("activity {function}?")),
    }
}
