//! Expansions as text: formatted where they are Rust, and the errors taken out.

use proc_macro2::TokenStream;

pub fn activity(options: &str, item: &str) -> String {
    formatted(perennial_codegen::activity(tokens(options), tokens(item)))
}

pub fn workflow(options: &str, item: &str) -> String {
    formatted(perennial_codegen::workflow(tokens(options), tokens(item)))
}

pub fn durable(options: &str, item: &str) -> String {
    let expanded = perennial_codegen::durable(tokens(options), tokens(item));
    // A method may stand in an `impl` only.
    match syn::parse2::<syn::File>(expanded.clone()) {
        Ok(_) => formatted(expanded),
        Err(_) => formatted(quote::quote!(impl Shop { #expanded })),
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// Parsed again, because prettyplease knows the syntax tree only and rewritten parts are tokens.
fn formatted(expanded: TokenStream) -> String {
    let file = syn::parse_file(&expanded.to_string()).unwrap();
    prettyplease::unparse(&file)
}
