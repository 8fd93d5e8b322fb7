//! `#[migration]`: a callable that stands for it, a type that names it, and its code.

use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Path, ReturnType, Type};

use super::{
    Named, as_written, code_signature, generated, internal, last_token, misplaced, prescribed, used,
};
use crate::attributes::ItemAttributes;
use crate::errors::Errors;
use crate::lower::respanned;
use crate::options::{MigrationOptions, Source};
use crate::parse::{Body, Function};

pub(super) fn expand(
    options: &MigrationOptions,
    function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let mut function = match misplaced("`#[migration]`", function, errors) {
        Ok(function) => function,
        Err(function) => return as_written(*function),
    };
    let fits = is_plain(&function, errors);
    let returned = returned(&function, errors);
    let attributes = ItemAttributes::of_migration(std::mem::take(&mut function.attrs));
    let body = std::mem::replace(&mut function.body, Body::Missing);
    body.report(errors);
    let named = Named::new(
        &options.krate,
        &function,
        &attributes,
        options.name.as_ref(),
        body.braces(),
    );
    let (callable, marker) = (callable(&named, &function), named.marker());
    let Named {
        ident, vis, name, ..
    } = &named;
    let cfg = &attributes.cfg;
    let (prescribed, code_attributes) = (prescribed(), &attributes.code);
    let run = Ident::new("run", ident.span());
    let signature = code_signature(&function, run, function.sig.asyncness);
    // Where something is wrong, that was said, and whoever names the migration is told nothing more.
    let implementation = match (&options.from, &options.to) {
        (Some(from), Some(to)) => {
            let returned = returned.filter(|_| fits);
            implementation(&named, from, to, returned.as_ref())
        }
        _ => TokenStream::new(),
    };
    let visible = generated(vis);
    quote! {
        #callable
        #marker
        #(#cfg)*
        #[allow(private_interfaces, unreachable_pub)]
        impl #ident {
            /// The name under which histories know it.
            #visible const NAME: &'static str = #name;
            /// Runs the code of the migration directly, for tests.
            #prescribed
            #(#code_attributes)*
            #vis #signature #body
        }
        #(#cfg)*
        const _: () = {
            #implementation
        };
    }
}

/// `returned`: what the function returns; `None` where it cannot be called.
fn implementation(
    named: &Named<'_>,
    from: &Source,
    to: &Path,
    returned: Option<&Type>,
) -> TokenStream {
    let Named {
        krate, ident, name, ..
    } = named;
    let (old, from_name) = (internal("old"), from.constant(krate));
    let span = returned.map_or_else(|| ident.span(), Spanned::span);
    let call = match returned {
        Some(_) => quote_spanned!(span=> #ident::run(#old)),
        None => quote!(let _ = #old; ::core::unreachable!()),
    };
    // Where the function returns something else than the workflow takes, that is said of what it returns.
    let at_type = respanned(krate, span);
    let input = quote_spanned! {span=>
        ::core::result::Result<<Self::To as #at_type::Workflow>::Input, #at_type::Refuse>
    };
    // Whoever uses a migration uses its workflows too.
    let used = used(ident);
    let from_used = match from {
        Source::Function(path) => quote!(#[allow(deprecated)] let _ = #path;),
        Source::Name(_) => TokenStream::new(),
    };
    quote! {
        impl #krate::Migration for #ident {
            const NAME: &'static str = #name;
            const FROM: &'static str = #from_name;
            type To = #to;
            fn run(#old: &#krate::OldRun) -> #input {
                #used
                #from_used
                #[allow(deprecated)]
                let _ = #to;
                #call
            }
        }
    }
}

/// What users call: `fn to_v2(old: &OldRun) -> Migrates<to_v2>`.
fn callable(named: &Named<'_>, function: &Function) -> TokenStream {
    let Named {
        krate,
        ident,
        vis,
        attributes: ItemAttributes { cfg, callable, .. },
        ..
    } = named;
    let (old, end) = (internal("old"), last_token(&function.sig));
    let (at_end, returns) = (respanned(krate, end), Ident::new("Migrates", end));
    let output = quote_spanned!(end=> -> #at_end::#returns<#ident>);
    let mut block = Group::new(Delimiter::Brace, quote!(#krate::Migrates::new(#old)));
    block.set_span(named.braces);
    let fn_token = &function.sig.fn_token;
    quote! {
        #(#cfg)* #(#callable)*
        #vis #fn_token #ident(#old: &#krate::OldRun) #output #block
    }
}

/// Whether it is a plain function of one `old: &OldRun`.
fn is_plain(function: &Function, errors: &mut Errors) -> bool {
    let sig = &function.sig;
    let name = &sig.ident;
    let form = format!("help: write `fn {name}(old: &OldRun) -> Result<NewInput, Refuse>`");
    let mut fits = true;
    let mut refuse = |tokens: TokenStream, message: String| {
        errors.under(tokens, message);
        fits = false;
    };
    if let Some(asyncness) = sig.asyncness {
        let message = format!(
            "`#[migration]` goes on a plain `fn`: it looks at the old run and waits for nothing\n\n{form}"
        );
        refuse(quote!(#asyncness), message);
    }
    if !sig.generics.params.is_empty() {
        let generics = &sig.generics;
        refuse(
            quote!(#generics),
            "a migration cannot be generic".to_owned(),
        );
    }
    if sig.constness.is_some() || sig.abi.is_some() || !matches!(sig.safety, syn::Safety::Default) {
        let message = "`#[migration]` goes on a plain `fn`, without `const`, `unsafe` or `extern`";
        refuse(quote!(#name), message.to_owned());
    }
    let inputs = &sig.inputs;
    match inputs.first() {
        Some(FnArg::Typed(old)) if inputs.len() == 1 => {
            let ty = &old.ty;
            if !is_old_run(ty) {
                let message = format!("a migration takes the old run as `old: &OldRun`\n\n{form}");
                refuse(quote!(#ty), message);
            }
        }
        Some(_) => {
            let message = format!(
                "a migration takes the old run as its only parameter, `old: &OldRun`\n\n{form}"
            );
            refuse(quote!(#inputs), message);
        }
        None => {
            let message = format!("a migration takes the old run as its parameter\n\n{form}");
            refuse(quote!(#name), message);
        }
    }
    fits
}

/// `&OldRun`, by the last segment of its path. The macro cannot see through an alias.
fn is_old_run(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_old_run(&group.elem),
        Type::Paren(paren) => is_old_run(&paren.elem),
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "OldRun"),
            _ => false,
        },
        _ => false,
    }
}

fn returned(function: &Function, errors: &mut Errors) -> Option<Type> {
    match &function.sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => {
            errors.at(
                function.sig.paren_token.span.close(),
                "a migration returns the input of the new run, or why there is to be none\n\n\
                 help: write `-> Result<NewInput, Refuse>` here",
            );
            None
        }
    }
}
