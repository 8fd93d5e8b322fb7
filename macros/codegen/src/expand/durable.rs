//! `#[durable]`: a function whose future a workflow may wait for, because it was checked too.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Ident, Pat, PatIdent, ReturnType, Signature, Stmt, Type};

use super::{as_written, denied_by_type, last_token};
use crate::check::check;
use crate::errors::Errors;
use crate::inputs::generated_name;
use crate::lock::{self, Annotated, enforce};
use crate::lower::{Lowered, lower};
use crate::options::DurableOptions;
use crate::parse::{Body, Function};

pub(super) fn expand(
    options: &DurableOptions,
    function: Function,
    errors: &mut Errors,
) -> TokenStream {
    let krate = &options.krate;
    let Function {
        attrs,
        vis,
        mut sig,
        mut body,
    } = function;
    let mut differences = Errors::default();
    let locked = enforce(
        &Annotated {
            kind: lock::Kind::Durable,
            name: &sig.ident.unraw().to_string(),
            signature: &sig,
            body: &body,
            is_locked: options.lock,
        },
        &mut differences,
    );
    let lock_items = locked.items;
    let context = context(&sig).cloned();
    super::markers(krate, context.as_ref(), &mut body, differences, errors);
    check(krate, &sig, context.as_ref(), &mut body, errors);
    let Some(asyncness) = sig.asyncness else {
        // It waits for nothing: there is nothing in it to be rewritten.
        body.report(errors);
        let denied = match body {
            Body::Missing => TokenStream::new(),
            _ => denied_by_type(),
        };
        if let Body::Parsed(block) = &mut body
            && !lock_items.is_empty()
        {
            let first = Stmt::Expr(Expr::Verbatim(lock_items), None);
            block.stmts.insert(0, first);
        }
        let function = as_written(Function {
            attrs,
            vis,
            sig,
            body,
        });
        return quote!(#denied #function);
    };
    let Lowered { body, sites, .. } = lower(
        krate,
        &sig.ident.unraw().to_string(),
        context.as_ref(),
        body,
        errors,
    );

    let output = match &sig.output {
        ReturnType::Type(_, ty) => quote!(#ty),
        ReturnType::Default => quote!(()),
    };
    let coerced = coerced(&sig.output);
    sig.asyncness = None;
    // The `impl` has the macro's span: so the capture rules of this crate's edition apply, and
    // borrowed arguments need no lifetime in older editions either.
    // Its last token is the user's, so that lints take the signature for their own.
    let end = quote_spanned!(last_token(&sig)=> >);
    sig.output =
        syn::parse_quote!(-> #krate::Durably<impl ::core::future::Future<Output = #output> #end);
    let moved = moved(&mut sig);

    if let Body::Missing = body {
        return quote!(#(#attrs)* #vis #sig;);
    }
    // The block has the braces of the function, so that lints look into it as into any function.
    let braces = body.braces();
    let statements = body.statements();
    let mut block = Group::new(Delimiter::Brace, quote!(#coerced #moved #statements));
    block.set_span(braces);
    let future = quote_spanned!(asyncness.span=> async move #block);
    let durable = quote!(#krate::__private::durably(#future));
    // The sites stand behind the code, because they change with it: see the expansion of a workflow.
    let inside = if sites.is_empty() && lock_items.is_empty() {
        durable
    } else {
        quote!(let __durable = #durable; #sites #lock_items __durable)
    };
    let mut outer = Group::new(Delimiter::Brace, inside);
    outer.set_span(braces);
    let denied = denied_by_type();
    quote!(#denied #(#attrs)* #vis #sig #outer)
}

/// The parameter that is the context: by its type, else by its name.
pub(crate) fn context(sig: &Signature) -> Option<&Ident> {
    let mut named = None;
    for argument in &sig.inputs {
        let FnArg::Typed(argument) = argument else {
            continue;
        };
        let Pat::Ident(pat) = &*argument.pat else {
            continue;
        };
        let ty = match &*argument.ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        match ty {
            Type::Path(path)
                if path
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "Cx") =>
            {
                return Some(&pat.ident);
            }
            _ if pat.ident == "cx" => named = Some(&pat.ident),
            _ => {}
        }
    }
    named
}

/// Fixes the type of the block before the first `return` or the last expression does, so that
/// both coerce as in an `async fn`: `&String` to `&str`, a box to a box of a trait object.
fn coerced(output: &ReturnType) -> TokenStream {
    match output {
        ReturnType::Type(_, ty)
            if !matches!(**ty, Type::ImplTrait(_) | Type::Never(_) | Type::Infer(_)) =>
        {
            quote_spanned! {ty.span()=>
                #[allow(unreachable_code, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
                if false {
                    let __ret: #ty = loop {};
                    return __ret;
                }
            }
        }
        _ => TokenStream::new(),
    }
}

/// Moves all arguments into the future, used or not: an `async fn` does that.
fn moved(sig: &mut Signature) -> TokenStream {
    let mut moved = TokenStream::new();
    for (index, argument) in sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(argument) = argument else {
            continue;
        };
        let name = generated_name(&argument.pat, index);
        let plain = Pat::Ident(PatIdent {
            attrs: Vec::new(),
            by_ref: None,
            mutability: None,
            ident: name.clone(),
            subpat: None,
        });
        let pat = std::mem::replace(&mut *argument.pat, plain);
        let attrs = &argument.attrs;
        // To clippy such a name says that the binding has no use, and this one has: it is dropped
        // with the future.
        let underscored = matches!(&pat, Pat::Ident(pat) if pat.ident.to_string().starts_with('_'));
        let allowed = underscored.then(|| quote!(#[allow(clippy::no_effect_underscore_binding)]));
        moved.extend(quote!(#allowed #(#attrs)* let #pat = #name;));
    }
    moved
}
