//! The attributes of Perennial. No logic lives here; see `perennial-codegen`.

use proc_macro::TokenStream;

/// A workflow.
#[proc_macro_attribute]
pub fn workflow(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::workflow(attr.into(), item.into()).into()
}

/// An activity.
#[proc_macro_attribute]
pub fn activity(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::activity(attr.into(), item.into()).into()
}

/// A durable function.
#[proc_macro_attribute]
pub fn durable(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::durable(attr.into(), item.into()).into()
}
