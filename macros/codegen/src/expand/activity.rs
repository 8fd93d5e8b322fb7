//! `#[activity]`: a callable that schedules it, a type that names it, and its code.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{FnArg, Path, Token};

use super::{
    Named, associated_types, code_signature, generated, internal, prescribed, unpacked, used,
};
use crate::attributes::ItemAttributes;
use crate::check::not_needed_in;
use crate::errors::Errors;
use crate::inputs::Inputs;
use crate::lower::respanned;
use crate::options::ActivityOptions;
use crate::parse::{Body, Function};
use crate::signature::{Entry, Kind};
use crate::states;

pub(super) fn expand(
    options: &ActivityOptions,
    mut function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let attributes = ItemAttributes::of_activity(std::mem::take(&mut function.attrs));
    let asyncness = asyncness(options, &function, errors);
    let Entry {
        context,
        inputs,
        output,
        broken,
    } = Entry::check(Kind::Activity, &function.sig, errors);
    let mut body = std::mem::replace(&mut function.body, Body::Missing);
    let named = Named::new(
        &options.krate,
        &function,
        &attributes,
        options.name.as_ref(),
        body.braces(),
    );
    let Named {
        krate,
        ident,
        vis,
        name,
        ..
    } = &named;
    let cfg = &attributes.cfg;
    not_needed_in(&mut body, errors);
    body.report(errors);

    let callable = named.callable(&function, &inputs, "Call", broken);
    let marker = named.marker();
    let assertions = if broken {
        TokenStream::new()
    } else {
        named.assertions(&inputs)
    };
    let constant = options.constant();
    let states = match context.as_ref().and_then(|context| context.name.as_ref()) {
        Some(context) => states::of(context, body.statements(), &options.states),
        None => options.states.clone(),
    };
    let code = match &context {
        Some(_) if attributes.wraps && !broken => {
            wrapped(&named, &function, &inputs, asyncness, &body)
        }
        _ => {
            let code_attributes = &attributes.code;
            let run = Ident::new("run", ident.span());
            let signature = code_signature(&function, run, asyncness);
            quote!(#(#code_attributes)* #vis #signature #body)
        }
    };
    let prescribed = prescribed();

    let (acx, input) = (internal("acx"), internal("input"));
    let run = match &context {
        Some(context) if !broken => {
            let unpacked = unpacked(&inputs, &input);
            let arguments = inputs.passed_on();
            let acx = if context.borrowed {
                quote_spanned!(context.span=> &#acx)
            } else {
                quote_spanned!(context.span=> #acx)
            };
            let call = quote!(#ident::run(#acx, #arguments));
            let (kind, code) = match asyncness {
                Some(_) => ("asynchronous", quote!(async move { #unpacked #call.await })),
                None => ("blocking", quote!(move || { #unpacked #call })),
            };
            let (used, attempt) = (
                used(ident),
                attempt(krate, Ident::new(kind, ident.span()), code),
            );
            quote!(#used #attempt)
        }
        _ => quote!(let _ = (#acx, #input); ::core::unreachable!()),
    };
    let types = associated_types(&function.sig, &inputs, output.as_ref(), broken);
    let visible = generated(vis);

    quote! {
        #callable
        #marker
        #(#cfg)*
        #[allow(private_interfaces, unreachable_pub)]
        impl #ident {
            /// The name under which histories know it.
            #visible const NAME: &'static str = #name;
            /// Runs the code of the activity directly, for tests.
            #prescribed
            #code
        }
        #(#cfg)*
        const _: () = {
            #assertions
            impl #krate::Activity for #ident {
                const NAME: &'static str = #name;
                const OPTIONS: #krate::ActivityOptions = #constant;
                #types
                #krate::__private::schemas!(activity);
                fn states() -> ::std::vec::Vec<#krate::StateType> {
                    ::std::vec![#(#krate::StateType::of::<#states>()),*]
                }
                fn run(#acx: #krate::ActivityCx, #input: Self::Input) -> #krate::__private::AttemptFuture<Self::Output> {
                    #run
                }
            }
        };
    }
}

/// The code as a function of its own name inside of `run`, for macros such as `#[tracing::instrument]`.
fn wrapped(
    named: &Named<'_>,
    function: &Function,
    inputs: &Inputs,
    asyncness: Option<Token![async]>,
    body: &Body,
) -> TokenStream {
    let (ident, vis, code_attributes) = (named.ident, named.vis, &named.attributes.code);
    let signature = code_signature(function, ident.clone(), asyncness);
    let acx = internal("acx");
    let context = function.sig.inputs.first().map(|context| match context {
        FnArg::Typed(context) => context.ty.to_token_stream(),
        FnArg::Receiver(receiver) => receiver.to_token_stream(),
    });
    let (parameters, arguments) = (inputs.parameters(), inputs.passed_on());
    let (output, awaited) = (&function.sig.output, asyncness.map(|_| quote!(.await)));
    quote! {
        #vis #asyncness fn run(#acx: #context, #parameters) #output {
            #(#code_attributes)*
            #signature #body
            #ident(#acx, #arguments)#awaited
        }
    }
}

/// `async fn`, or a plain `fn` that says that it blocks.
fn asyncness(
    options: &ActivityOptions,
    function: &Function,
    errors: &mut Errors,
) -> Option<Token![async]> {
    let ident = &function.sig.ident;
    match (function.sig.asyncness, options.blocking) {
        (Some(asyncness), Some(blocking)) => {
            errors.at(
                blocking,
                format!("a `blocking` activity is a plain `fn`\n\nhelp: write `fn {ident}`, or leave `blocking` away"),
            );
            Some(asyncness)
        }
        (None, None) => {
            errors.at(
                function.sig.fn_token.span,
                format!(
                    "an activity is an `async fn`, or a plain `fn` that is `blocking`\n\n\
                     help: write `async fn {ident}`, or `#[activity(blocking, ..)]` to run it on a thread of its own"
                ),
            );
            None
        }
        (asyncness, _) => asyncness,
    }
}

/// `AttemptFuture::asynchronous(code)`. Where the code is not `Send`, rustc speaks of this call: so
/// all of it stands on the activity's name.
fn attempt(krate: &Path, kind: Ident, code: TokenStream) -> TokenStream {
    let span = kind.span();
    let krate = respanned(krate, span);
    let code = code.into_iter().map(|mut token| {
        if !matches!(token, TokenTree::Group(_)) {
            token.set_span(span);
        }
        token
    });
    let mut parentheses = Group::new(Delimiter::Parenthesis, code.collect());
    parentheses.set_span(span);
    quote_spanned!(span=> #krate::__private::AttemptFuture::#kind #parentheses)
}
