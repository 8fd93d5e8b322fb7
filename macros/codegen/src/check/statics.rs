//! What outlives a run: statics (D113) and thread-local variables (D114). And addresses (D112).

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprCast, ExprMethodCall, ItemStatic, StaticMutability, Type};

use super::rules::statics::{ATOMIC, changes};
use super::{Check, paths};
use crate::names::Meaning;

const LOCAL: &str = "keep it in a local variable, which replay builds again";
const ORDERINGS: &[&str] = &["AcqRel", "Acquire", "Relaxed", "Release", "SeqCst"];
const NUMBERS: &[&str] = &["i128", "i64", "isize", "u128", "u64", "usize"];

impl Check<'_> {
    pub(super) fn report_static(&mut self, tokens: impl ToTokens, name: &str) {
        self.report(
            "D113",
            tokens,
            &format!("the static `{name}` holds what other runs and earlier replays left in it"),
            &[LOCAL],
        );
    }

    pub(super) fn report_thread_local(&mut self, tokens: impl ToTokens, name: &str) {
        self.report(
            "D114",
            tokens,
            &format!(
                "the thread-local `{name}` holds what other runs and earlier replays left on this thread"
            ),
            &[LOCAL],
        );
    }

    /// A static in the body: as in the file, one whose type shows nothing that changes is a constant.
    pub(super) fn item_static(&mut self, item: &mut ItemStatic) {
        self.visit_expr_mut(&mut item.expr);
        if matches!(item.mutability, StaticMutability::None)
            && !names_change(item.ty.to_token_stream())
        {
            return;
        }
        let (keyword, mutability, ident) = (&item.static_token, &item.mutability, &item.ident);
        self.report(
            "D113",
            quote::quote!(#keyword #mutability #ident),
            &format!("the static `{ident}` holds what other runs and earlier replays left in it"),
            &[LOCAL, "what never changes can be a `const`"],
        );
    }

    /// `COUNTER.fetch_add(1, Ordering::Relaxed)`, `CACHE.with(|cache| ..)`
    pub(super) fn static_method(&mut self, call: &ExprMethodCall, method: &str) {
        let Expr::Path(receiver) = &*call.receiver else {
            return;
        };
        if !receiver
            .path
            .segments
            .last()
            .is_some_and(|last| paths::is_screaming(&last.ident))
        {
            return;
        }
        let name = paths::text(&receiver.path);
        let is_local = receiver.path.get_ident().is_some() && self.variables.get(&name).is_some();
        // What is declared in sight was reported at its declaration or by its name.
        let is_known = match self.names.meaning(&name) {
            Meaning::Static | Meaning::ThreadLocal => true,
            Meaning::Own => receiver.path.get_ident().is_some() && self.names.is_in_a_block(&name),
            Meaning::Path(_) | Meaning::Unknown(_) => false,
        };
        if is_local || is_known {
            return;
        }
        let takes_closure = matches!(call.args.first(), Some(Expr::Closure(_)));
        if ATOMIC.contains(&method)
            || (method == "load" || method == "store" || method == "swap")
                && call.args.last().is_some_and(is_ordering)
        {
            self.report_static(receiver, &name);
        } else if takes_closure
            && (method == "with"
                || method == "try_with"
                || method == "with_borrow"
                || method == "with_borrow_mut")
        {
            self.report_thread_local(receiver, &name);
        }
    }

    /// `x as *const T as usize`
    pub(super) fn cast(&mut self, cast: &ExprCast) {
        let is_number = matches!(&*cast.ty, Type::Path(ty)
            if NUMBERS.iter().any(|number| ty.path.is_ident(number)));
        if is_number && is_address(&cast.expr) {
            self.report(
                "D112",
                cast,
                "this address as a number is different in the process that replays the workflow",
                &["use a number of your own, or `cx.uuid()`"],
            );
        }
    }

    /// `{:p}` in what is printed or formatted.
    pub(super) fn pointer_format(&mut self, literal: &syn::LitStr) {
        if prints_pointer(&literal.value()) {
            self.report(
                "D112",
                literal,
                "`{:p}` prints an address, which is different in the process that replays the workflow",
                &["print a number of your own, or `cx.uuid()`"],
            );
        }
    }
}

/// Whether a format has a placeholder of type `p`: `{:p}`, `{name:#018p}`.
pub(super) fn prints_pointer(format: &str) -> bool {
    let mut rest = format;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        if let Some(escaped) = after.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let Some(close) = after.find('}') else {
            return false;
        };
        if let Some((_, spec)) = after[..close].split_once(':')
            && let Some(before) = spec.trim_end().strip_suffix('p')
            && !before.ends_with(|last: char| last.is_alphabetic() || last == '_')
        {
            return true;
        }
        rest = &after[close + 1..];
    }
    false
}

fn is_ordering(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path)
        if path.path.segments.last().is_some_and(|last| ORDERINGS.iter().any(|known| last.ident == known)))
}

/// Visibly a pointer.
fn is_address(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_address(&paren.expr),
        Expr::Group(group) => is_address(&group.expr),
        Expr::RawAddr(_) => true,
        Expr::Cast(cast) => {
            matches!(&*cast.ty, Type::Ptr(_) | Type::FnPtr(_)) || is_address(&cast.expr)
        }
        Expr::MethodCall(call) => {
            call.method == "as_ptr"
                || call.method == "as_mut_ptr"
                || call.method == "cast" && is_address(&call.receiver)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
                ["as_ptr", "from_ref", "from_mut", "into_raw"]
                    .iter()
                    .any(|name| last.ident == name)
            }),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a type has a part in it that can change.
fn names_change(ty: TokenStream) -> bool {
    ty.into_iter().any(|token| match token {
        TokenTree::Ident(word) => changes(&word.to_string()),
        TokenTree::Group(group) => names_change(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
