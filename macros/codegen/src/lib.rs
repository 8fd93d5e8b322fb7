//! What the attributes of Perennial do, as an ordinary library over `proc_macro2`.
//!
//! The proc-macro crate is a shell around these functions, so everything here can be
//! tested without a compiler. A function goes through four steps:
//!
//! | step   | what happens                                                    | where |
//! |--------|-----------------------------------------------------------------|-------|
//! | parse  | options, attributes, signature and body, the body tolerantly     | `options`, `parse` |
//! | check  | is the signature one that a history can feed?                     | `signature`, `inputs` |
//! |        | is what the body does the same at each replay?                    | `check` |
//! | lower  | awaits get a type check and a call site; callees are collected   | `lower` |
//! | expand | the items are put together                                       | `expand` |
//!
//! All findings go into one sink (`errors`) and the item is emitted whatever was found, so
//! one mistake gives one error and no "cannot find function" follows from it.

#![warn(missing_docs)]

mod attributes;
mod broken;
mod callees;
mod check;
pub mod clippy;
mod errors;
mod expand;
mod index;
mod inputs;
mod listening;
pub mod lock;
mod lower;
mod manifest;
mod markers;
mod names;
mod options;
mod parse;
mod shape;
mod signature;
mod source;
mod states;
mod suggest;

use proc_macro2::TokenStream;

pub use self::check::{Denied, Kind, Rule, rules};

/// Expands `#[workflow]`: `attr` is what stands in its parentheses, `item` the function below it.
pub fn workflow(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::workflow(attr, item)
}

/// Expands `#[activity(..)]`: `attr` is what stands in its parentheses, `item` the function below it.
pub fn activity(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::activity(attr, item)
}

/// Expands `#[stub]`: `attr` is what stands in its parentheses, `item` the signature below it.
pub fn stub(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::stub(attr, item)
}

/// Expands `#[durable]`: `attr` is what stands in its parentheses, `item` the function below it.
pub fn durable(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::durable(attr, item)
}

/// Expands `#[migration(..)]`: `attr` is what stands in its parentheses, `item` the function below it.
pub fn migration(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::migration(attr, item)
}

/// Expands `#[perennial::test]`: `attr` is what stands in its parentheses, `item` the function below it.
pub fn test(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(attr, item)
}

/// Expands `#[allow_nondeterminism(..)]` where it has no meaning: inside of a function with `#[workflow]`
/// or `#[durable]` it is gone before it would be expanded.
pub fn allow_nondeterminism(_attr: TokenStream, item: TokenStream) -> TokenStream {
    check::outside_of_a_function(item)
}
