//! `#[workflow]`: a callable that starts a child, a type that names it, and its code.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, Lifetime, Signature, Type};

use super::{
    Named, associated_types, code_signature, denied_by_type, generated, internal, prescribed,
    unpacked, used,
};
use crate::attributes::ItemAttributes;
use crate::callees::{self, CalleeKind};
use crate::check::check;
use crate::errors::Errors;
use crate::index;
use crate::listening::{Listening, listening};
use crate::lock::{self, Annotated, Enforced, enforce};
use crate::lower::{Lowered, lower, respanned};
use crate::markers::{self, Found, Marker};
use crate::options::WorkflowOptions;
use crate::parse::{Body, Function};
use crate::signature::{Entry, Kind};

pub(super) fn expand(
    options: &WorkflowOptions,
    mut function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let attributes = ItemAttributes::of_workflow(std::mem::take(&mut function.attrs), errors);
    let braces = function.body.braces();
    let Entry {
        context,
        inputs,
        output,
        broken,
    } = Entry::check(Kind::Workflow, &function.sig, errors);
    let mut body = std::mem::replace(&mut function.body, Body::Missing);
    let named = Named::new(
        &options.krate,
        &function,
        &attributes,
        options.name.as_ref(),
        braces,
    );
    let Named {
        krate,
        ident,
        vis,
        name,
        ..
    } = &named;
    let cfg = &attributes.cfg;

    let mut differences = Errors::default();
    let locked = enforce(
        &Annotated {
            kind: lock::Kind::Workflow,
            name,
            signature: &function.sig,
            body: &body,
            is_locked: options.lock,
        },
        &mut differences,
    );
    let lock_items = &locked.items;

    let listening = listening(
        context.as_ref().and_then(|context| context.name.as_ref()),
        &body,
    );
    let context_name = context.as_ref().and_then(|context| context.name.as_ref());
    let markers = super::markers(krate, context_name, &mut body, differences, errors);
    check(krate, &function.sig, context_name, &mut body, errors);
    let Lowered {
        body,
        sites,
        callees,
    } = lower(krate, &ident.to_string(), context_name, body, errors);

    let callable = named.callable(&function, &inputs, "Child", broken);
    let marker = named.marker();
    let assertions = if broken {
        TokenStream::new()
    } else {
        named.assertions(&inputs)
    };
    let called = Called {
        functions: &callees,
        listening,
    };
    let graph = graph(&named, options, &called, &markers, &locked, errors);
    let (prescribed, code_attributes) = (prescribed(), &attributes.code);
    let denied = denied_by_type();
    let code = Ident::new("__body", Span::mixed_site().located_at(ident.span()));
    let asyncness = function
        .sig
        .asyncness
        .or_else(|| Some(syn::Token![async](function.sig.fn_token.span)));
    let mut signature = code_signature(&function, code.clone(), asyncness);
    lend(&mut signature);

    let (cx, input) = (internal("cx"), internal("input"));
    let run = match &context {
        Some(context) if !broken => {
            let (used, unpacked) = (used(ident), unpacked(&inputs, &input));
            let arguments = inputs.passed_on();
            let lent = if context.borrowed {
                quote_spanned!(context.span=> #cx)
            } else {
                quote_spanned!(context.span=> ::core::clone::Clone::clone(#cx))
            };
            // No future around the function's own: each is a type that the compiler has to look into.
            quote! {
                fn body(#cx: &'static #krate::Cx, #input: Self::Input) -> impl ::core::future::Future<Output = Self::Output> {
                    #used
                    #unpacked
                    #code(#lent, #arguments)
                }
            }
        }
        _ => quote! {
            async fn body(#cx: &'static #krate::Cx, #input: Self::Input) -> Self::Output {
                let _ = (#cx, #input);
                ::core::unreachable!()
            }
        },
    };
    let types = associated_types(&function.sig, &inputs, output.as_ref(), broken);
    let visible = generated(vis);

    quote! {
        #callable
        #marker
        #(#cfg)*
        #[allow(unreachable_pub)]
        impl #ident {
            /// The name under which histories know it.
            #visible const NAME: &'static str = #name;
            /// What is known of it before it runs.
            #visible const GRAPH: &'static #krate::Graph = <#ident as #krate::Workflow>::GRAPH;
        }
        #(#cfg)*
        const _: () = {
            #assertions
            #[allow(dead_code)]
            #prescribed
            #denied
            #(#code_attributes)*
            #signature #body
            // Behind the code, because they change with it: an editor that completes a name looks for what is
            // being typed at the place where it was before.
            #sites
            #graph
            #lock_items
            #[allow(clippy::future_not_send)]
            impl #krate::Workflow for #ident {
                const NAME: &'static str = #name;
                const GRAPH: &'static #krate::Graph = &__GRAPH;
                #types
                #krate::__private::schemas!(workflow);
                #run
            }
        };
    }
}

/// The workflow's `cx: &Cx` is `&'static Cx`, so that blocks that are spawned can take it along.
fn lend(signature: &mut Signature) {
    if let Some(FnArg::Typed(context)) = signature.inputs.first_mut()
        && let Type::Reference(reference) = &mut *context.ty
    {
        let span = reference.and_token.span;
        reference
            .lifetime
            .get_or_insert_with(|| Lifetime::new("'static", span));
    }
}

/// What a body does with its context.
struct Called<'a> {
    functions: &'a [String],
    listening: Listening,
}

/// `static __GRAPH`, with the place of the function's name.
fn graph(
    named: &Named<'_>,
    options: &WorkflowOptions,
    called: &Called<'_>,
    found: &[Found],
    locked: &Enforced,
    errors: &mut Errors,
) -> TokenStream {
    let Named {
        krate, ident, name, ..
    } = named;
    let retired: Vec<_> = lock::retired(name, called.functions, ident.span())
        .into_iter()
        .map(|lock::Retired { id, version }| {
            quote!(#krate::RetiredMarker { id: #id, version: #version })
        })
        .collect();
    let structure = &locked.structure;
    let reached = callees::resolve(called.functions, ident.span());
    markers::conflicts(found, &reached.markers, errors);
    let callees = reached.callees.into_iter().map(|callee| {
        let name = callee.name;
        let kind = match callee.kind {
            CalleeKind::Activity => format_ident!("Activity"),
            CalleeKind::Stub => format_ident!("Stub"),
            CalleeKind::Unknown => format_ident!("Unknown"),
        };
        quote!(#krate::Callee { name: #name, kind: #krate::CalleeKind::#kind })
    });
    let (span, at_name) = (ident.span(), respanned(krate, ident.span()));
    let here = quote_spanned! {span=>
        #at_name::Graph::here(#name, ::core::option_env!("CARGO_MANIFEST_DIR"), &[#(#callees),*])
    };
    // What is not as usual: most workflows have none of it, and each field is something to compile.
    let mut fields = quote!(structure: #structure,);
    if !retired.is_empty() {
        fields.extend(quote!(retired: &[#(#retired),*],));
    }
    if let Some(version) = options.version {
        fields.extend(quote!(version: ::core::option::Option::Some(#version),));
    }
    if !options.compare_inputs {
        fields.extend(quote!(compare_inputs: false,));
    }
    let own = found.iter().map(|found| &found.marker);
    let markers = ranges(own.chain(reached.markers.iter().map(|(_, marker)| marker)));
    if !markers.is_empty() {
        let markers = markers.into_iter().map(|(id, (lowest, highest))| {
            quote!(#krate::MarkerRange { id: #id, lowest: #lowest, highest: #highest })
        });
        fields.extend(quote!(markers: &[#(#markers),*],));
    }
    let Listening {
        constants,
        functions,
        for_others,
        published,
        publishes_others,
        handled,
        handles_others,
    } = &called.listening;
    let mut allowed = TokenStream::new();
    let last = |path: &syn::Path| {
        let last = path.segments.last();
        last.map(|last| last.ident.unraw().to_string())
    };
    if !published.is_empty() {
        allowed = quote!(#[allow(deprecated)]);
        let published = published.iter().map(|path| {
            let name = last(path);
            quote!(|| {
                #[allow(unused_imports)]
                use #krate::__private::published::{Known as _, Published, Typed as _, Unknown as _};
                (&&Published(&#path)).publishes(#name)
            })
        });
        fields.extend(quote!(published: &[#(#published),*],));
    }
    if *publishes_others || reached.publishes {
        fields.extend(quote!(publishes_others: true,));
    }
    if !handled.is_empty() {
        allowed = quote!(#[allow(deprecated)]);
        let handled = handled.iter().map(|path| {
            let name = last(path);
            quote!(|| {
                #[allow(unused_imports)]
                use #krate::__private::handled::{Known as _, OfUpdate, Typed as _, Unknown as _};
                (&&OfUpdate(&#path)).handles(#name)
            })
        });
        fields.extend(quote!(handles: &[#(#handled),*],));
    }
    if *handles_others || reached.listens {
        fields.extend(quote!(handles_others: true,));
    }
    let stubs = index::stubs(functions, ident.span());
    if !stubs.is_empty() {
        allowed = quote!(#[allow(deprecated)]);
        let stubs = stubs
            .iter()
            .map(|path| quote!(#krate::StubDefinition::of::<#path>));
        fields.extend(quote!(stubs: &[#(#stubs),*],));
    }
    if !constants.is_empty() {
        // Where the constant is named in the body, that was allowed or not.
        allowed = quote!(#[allow(deprecated)]);
        let constants = constants.iter().map(|path| {
            let name = last(path);
            quote!(|| {
                #[allow(unused_imports)]
                use #krate::__private::listened::{Known as _, Listened, Typed as _, Unknown as _};
                (&&Listened(&#path)).receives(#name)
            })
        });
        fields.extend(quote!(listens: &[#(#constants),*],));
    }
    if *for_others || reached.listens {
        fields.extend(quote!(listens_for_others: true,));
    }
    quote!(#allowed static __GRAPH: #krate::Graph = #krate::Graph { #fields ..#here };)
}

/// The markers, each once, by name. Where functions differ, which is an error as far as it is seen, the versions
/// that all of them support.
fn ranges<'a>(markers: impl Iterator<Item = &'a Marker>) -> BTreeMap<&'a str, (u32, u32)> {
    let mut ranges = BTreeMap::new();
    for marker in markers {
        let (lowest, highest) = ranges
            .entry(marker.id.as_str())
            .or_insert((marker.lowest, marker.highest));
        *lowest = marker.lowest.max(*lowest);
        *highest = marker.highest.min(*highest).max(*lowest);
    }
    ranges
}
