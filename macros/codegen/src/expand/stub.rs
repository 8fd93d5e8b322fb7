//! `#[stub]`: a callable that offers it, and a type that names it. There is no code.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Named, associated_types, generated, used};
use crate::attributes::ItemAttributes;
use crate::errors::Errors;
use crate::options::StubOptions;
use crate::parse::Function;
use crate::signature::{Entry, Kind};

pub(super) fn expand(
    options: &StubOptions,
    mut function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let attributes = ItemAttributes::of_stub(std::mem::take(&mut function.attrs));
    let braces = function.sig.paren_token.span.join();
    let Entry {
        inputs,
        output,
        broken,
        ..
    } = Entry::check(Kind::Stub, &function.sig, errors);
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
    let callable = named.callable(&function, &inputs, "StubCall", broken);
    let marker = named.marker();
    let assertions = if broken {
        TokenStream::new()
    } else {
        named.assertions(&inputs)
    };
    let types = associated_types(&function.sig, &inputs, output.as_ref(), broken);
    let visible = generated(vis);
    let used = used(ident);

    quote! {
        #callable
        #marker
        #(#cfg)*
        #[allow(unreachable_pub)]
        impl #ident {
            /// The name under which histories know it.
            #visible const NAME: &'static str = #name;
        }
        #(#cfg)*
        const _: () = {
            #assertions
            impl #krate::Stub for #ident {
                const NAME: &'static str = { #used #name };
                #types
                #krate::__private::schemas!(stub);
            }
        };
    }
}
