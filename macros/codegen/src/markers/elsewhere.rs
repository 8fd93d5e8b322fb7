//! Calls that look like markers, on something that is not the function's context.
//!
//! A macro knows no types: `self.cx.patched("id")` is a marker if that field is a `Cx`. What is asked for in this way
//! would be in no list and compared with nothing, so it is refused.

use proc_macro2::{Delimiter, Ident, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprMethodCall, Member, UnOp};

use super::{form, text as literal};
use crate::check::text;
use crate::errors::Errors;

/// Refuses a method call that asks for a marker, as far as one can see, and not on `context` itself. Says whether it
/// did.
pub(super) fn method(call: &ExprMethodCall, context: Option<&Ident>, errors: &mut Errors) -> bool {
    let Some((is_patched, _)) = form(&call.method.to_string()) else {
        return false;
    };
    let has_the_arguments = match (is_patched, call.args.len()) {
        (true, 1) => call.args.first().and_then(literal).is_some(),
        (false, 2) => {
            call.args.first().and_then(literal).is_some()
                && matches!(call.args.last(), Some(Expr::Range(_)))
        }
        _ => false,
    };
    let is_certain = leads_to_context(&call.receiver, context);
    if !is_certain && !has_the_arguments {
        return false;
    }
    let arguments = listed(call.args.iter());
    let (method, mut helps) = (&call.method, Vec::new());
    helps.push(instead(method, &arguments, context));
    if !is_certain {
        helps.push(format!(
            "if it is no marker, call it by its path: `Type::{method}(&receiver, {arguments})`"
        ));
    }
    refuse(call, &helps, errors);
    true
}

/// As [`method`], for `Cx::patched(cx, "id")`.
pub(super) fn function(call: &ExprCall, context: Option<&Ident>, errors: &mut Errors) -> bool {
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    let mut segments = path.path.segments.iter().rev();
    let (Some(name), Some(owner)) = (segments.next(), segments.next()) else {
        return false;
    };
    let is_it = owner.ident == "Cx" && form(&name.ident.to_string()).is_some();
    if is_it {
        let arguments = listed(call.args.iter().skip(1));
        refuse(call, &[instead(&name.ident, &arguments, context)], errors);
    }
    is_it
}

/// The context behind a field of its name, a reference or a clone.
fn leads_to_context(receiver: &Expr, context: Option<&Ident>) -> bool {
    match receiver {
        Expr::Paren(inner) => leads_to_context(&inner.expr, context),
        Expr::Group(inner) => leads_to_context(&inner.expr, context),
        Expr::Reference(inner) => leads_to_context(&inner.expr, context),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => {
            leads_to_context(&inner.expr, context)
        }
        Expr::MethodCall(call) => {
            call.method == "clone"
                && call.args.is_empty()
                && leads_to_context(&call.receiver, context)
        }
        Expr::Field(field) => matches!(&field.member, Member::Named(name) if name == "cx"),
        Expr::Path(path) => context.is_some_and(|context| path.path.is_ident(context)),
        _ => false,
    }
}

/// A call of a marker among tokens that nobody has parsed, from its dot on: `.patched("id")`.
pub(super) fn in_tokens(tokens: &[TokenTree]) -> bool {
    let [
        TokenTree::Punct(dot),
        TokenTree::Ident(method),
        TokenTree::Group(arguments),
        ..,
    ] = tokens
    else {
        return false;
    };
    let Some((is_patched, _)) = form(&method.to_string()) else {
        return false;
    };
    let mut inside = arguments.stream().into_iter();
    let is_text = matches!(inside.next(), Some(TokenTree::Literal(id)) if matches!(syn::Lit::new(id.clone()), syn::Lit::Str(_)));
    dot.as_char() == '.'
        && arguments.delimiter() == Delimiter::Parenthesis
        && is_text
        && is_patched == inside.next().is_none()
}

fn listed<'a>(arguments: impl Iterator<Item = &'a Expr>) -> String {
    let printed = arguments.map(|argument| argument.to_token_stream().to_string());
    let printed: Vec<String> = printed.map(|text| text.replace(" ..= ", "..=")).collect();
    printed.join(", ")
}

/// What is to be written.
fn instead(method: &Ident, arguments: &str, context: Option<&Ident>) -> String {
    match context {
        Some(context) => format!("write `{context}.{method}({arguments})`"),
        None => {
            format!("give the function a parameter `cx: &Cx`, and write `cx.{method}({arguments})`")
        }
    }
}

fn refuse(call: &impl ToTokens, helps: &[String], errors: &mut Errors) {
    let helps: Vec<&str> = helps.iter().map(String::as_str).collect();
    errors.under(
        call,
        text(
            "L324",
            "a marker is asked for on the parameter that is the function's context: on anything else it is not seen, and not compared with what was released",
            &helps,
        ),
    );
}
