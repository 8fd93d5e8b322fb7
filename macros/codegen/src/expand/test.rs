//! `#[perennial::test]`: an ordinary `#[test]` that runs the function under the test kit.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ReturnType, Signature, Type};

use super::{as_written, internal};
use crate::errors::Errors;
use crate::lower::respanned;
use crate::options::TestOptions;
use crate::parse::{Body, Function};

/// The function becomes an inner one, as it was written, of a test that has its name.
pub(super) fn expand(
    options: &TestOptions,
    function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let krate = &options.krate;
    let Some(kit) = the_kit(&function, errors) else {
        let as_written = as_written(function);
        return quote!(#[allow(dead_code)] #as_written);
    };
    let Function {
        attrs,
        vis,
        sig,
        body,
    } = function;
    let outer = Signature {
        inputs: Punctuated::new(),
        ..sig.clone()
    };
    let (ident, t) = (&sig.ident, internal("t"));
    // An error of the parameter's type stands at that type, one of the returned type at that.
    let there = respanned(krate, kit.span());
    let code = quote_spanned! {kit.span()=>
        let __body: fn(&mut #there::testing::TestRun) -> _ = #ident;
    };
    let returned = match &sig.output {
        ReturnType::Default => kit.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let strict = options.strict.then(|| quote!(#t.strict();));
    let there = respanned(krate, returned);
    let run = quote_spanned! {returned=>
        #there::testing::test(|#t| { #strict __body(#t) })
    };
    quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis #outer {
            #sig #body
            #code
            #run
        }
    }
}

/// The type of the one parameter, where the function is one that can be run.
fn the_kit(function: &Function, errors: &mut Errors) -> Option<Type> {
    let sig = &function.sig;
    let name = &sig.ident;
    let mut fits = true;
    let mut refuse = |tokens: TokenStream, message: String| {
        errors.under(tokens, message);
        fits = false;
    };
    if let Some(asyncness) = sig.asyncness {
        refuse(
            quote!(#asyncness),
            format!(
                "`#[perennial::test]` goes on a plain `fn`: the kit runs the workflow itself, on a clock of its \
                 own\n\nhelp: write `fn {name}(t: &mut TestRun)`"
            ),
        );
    }
    if !sig.generics.params.is_empty() {
        let generics = &sig.generics;
        refuse(quote!(#generics), "a test cannot be generic".to_owned());
    }
    if sig.constness.is_some() || sig.abi.is_some() || !matches!(sig.safety, syn::Safety::Default) {
        refuse(
            quote!(#name),
            "`#[perennial::test]` goes on a plain `fn`, without `const`, `unsafe` or `extern`"
                .to_owned(),
        );
    }
    if matches!(function.body, Body::Missing) {
        refuse(
            quote!(#name),
            "`#[perennial::test]` goes on a function with a body".to_owned(),
        );
    }
    if let Some(attr) = function.attrs.iter().find(|attr| is_test(attr)) {
        refuse(
            quote!(#attr),
            "`#[perennial::test]` makes the function a test; `#[test]` would make it another one\n\n\
             help: take it out"
                .to_owned(),
        );
    }
    let kit = match sig.inputs.first() {
        Some(FnArg::Typed(argument)) if sig.inputs.len() == 1 => match &*argument.ty {
            Type::Reference(reference) if reference.mutability.is_some() => {
                Some((*argument.ty).clone())
            }
            ty => {
                refuse(
                    quote!(#ty),
                    "a test takes the kit as `t: &mut TestRun`".to_owned(),
                );
                None
            }
        },
        Some(_) => {
            let inputs = &sig.inputs;
            refuse(
                quote!(#inputs),
                "a test takes the kit as its only parameter, `t: &mut TestRun`".to_owned(),
            );
            None
        }
        None => {
            refuse(
                quote!(#name),
                format!(
                    "a test takes the kit as its parameter\n\n\
                     help: write `fn {name}(t: &mut perennial::testing::TestRun)`; a test of something else is a \
                     `#[test]`"
                ),
            );
            None
        }
    };
    kit.filter(|_| fits)
}

fn is_test(attr: &Attribute) -> bool {
    attr.path().is_ident("test")
}
