//! Iterating over a hash map or a hash set that is visibly one (D111).
//!
//! What ends in something that does not depend on the order is not reported: a count, a maximum, another
//! map, a list that the next statement sorts.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::{
    BinOp, Expr, ExprMethodCall, GenericArgument, Ident, Local, Pat, ReturnType, Stmt, Type,
};

use super::rules::hash_order::{HASHED, ITERATES, LOOKS, ORDER_FREE, ORDERED, PASSES, RULE, SORTS};
use super::variables::Ty;
use super::{Check, paths, types};

const INTEGERS: &[&str] = &[
    "i128", "i16", "i32", "i64", "i8", "isize", "u128", "u16", "u32", "u64", "u8", "usize",
];

impl Check<'_> {
    /// The name of the hashed type that an expression visibly has.
    fn hashed(&self, expr: &Expr) -> Option<&'static str> {
        match self.type_of_expr(expr)? {
            Ty::Known(ty) if HASHED.contains(&ty) => ty.rsplit("::").next(),
            _ => None,
        }
    }

    /// The address only tells this expression from others; nothing moves while it is needed.
    fn set_order_free<T>(&mut self, expr: &T) {
        self.order_free.push(std::ptr::from_ref(expr).cast());
    }

    fn is_order_free<T>(&self, expr: &T) -> bool {
        self.order_free.contains(&std::ptr::from_ref(expr).cast())
    }

    fn hides_order(ty: Option<Ty>) -> bool {
        matches!(ty, Some(Ty::Known(ty)) if HASHED.contains(&ty) || ORDERED.contains(&ty))
    }

    fn iterates(&self, call: &ExprMethodCall, method: &str) -> Option<&'static str> {
        ITERATES
            .contains(&method)
            .then(|| self.hashed(&call.receiver))
            .flatten()
    }

    /// `for _ in map`, `Vec::from_iter(map)`: something that takes its elements one by one.
    pub(super) fn taken_apart(&mut self, expr: &Expr) {
        if let Some(ty) = self.hashed(expr)
            && !self.is_order_free(expr)
        {
            self.report_hash_order(expr, &printed(expr), ty);
        }
    }

    /// A method call, its receiver visited.
    pub(super) fn hash_method(&mut self, call: &ExprMethodCall, method: &str) {
        if let Some(ty) = self.iterates(call, method)
            && !self.is_order_free(call)
        {
            let (receiver, dot, name) = (&call.receiver, &call.dot_token, &call.method);
            self.report_hash_order(quote!(#receiver #dot #name), &printed(receiver), ty);
        }
        if (method == "extend" && !Self::hides_order(self.type_of_expr(&call.receiver)))
            || method == "chain"
            || method == "zip"
        {
            for argument in &call.args {
                self.taken_apart(argument);
            }
        }
    }

    fn report_hash_order(&mut self, tokens: impl ToTokens, name: &str, ty: &str) {
        let (ordered, parameters) = if ty.ends_with("Set") {
            ("BTreeSet", "_")
        } else {
            ("BTreeMap", "_, _")
        };
        self.report(
            RULE.code,
            tokens,
            &format!("{name} is a `{ty}`: iterating over it {}", RULE.because),
            &[
                &format!("use a `{ordered}`, or collect into one: `.collect::<{ordered}<{parameters}>>()`"),
                "or sort a list at once: `let mut sorted: Vec<_> = ...collect(); sorted.sort();`",
            ],
        );
    }

    /// A method call, before what it is called on is visited: does it end an iteration well?
    pub(super) fn note_order_free(&mut self, call: &ExprMethodCall, method: &str) {
        let is_end = ORDER_FREE.contains(&method)
            || (method == "collect" && self.collects_unordered(call))
            || ((method == "sum" || method == "product") && gives_integer(call));
        if is_end && !self.acts(&call.args) {
            self.forgive(&call.receiver);
        }
        if method == "retain" && call.args.iter().all(only_looks) {
            self.set_order_free(call);
        }
        if method == "extend" && Self::hides_order(self.type_of_expr(&call.receiver)) {
            call.args.iter().for_each(|argument| self.forgive(argument));
        }
    }

    /// `BTreeMap::from_iter(map)`, `HashMap::keys(&map)`, `IntoIterator::into_iter(map)`
    pub(super) fn hash_call(&mut self, call: &syn::ExprCall) {
        let Expr::Path(function) = &*call.func else {
            return;
        };
        let text = paths::text(&function.path);
        let Some((of, name)) = text.rsplit_once("::") else {
            return;
        };
        if name != "from_iter" {
            let is_of_it = || {
                let of_type = of.ends_with("IntoIterator");
                of_type || self.named_type(of).is_some_and(|ty| HASHED.contains(&ty))
            };
            if ITERATES.contains(&name) && is_of_it() {
                call.args
                    .iter()
                    .take(1)
                    .for_each(|map| self.taken_apart(map));
            }
            return;
        }
        let ty = self.named_type(of);
        for argument in &call.args {
            if Self::hides_order(ty.map(Ty::Known)) {
                self.forgive(argument);
            } else {
                self.taken_apart(argument);
            }
        }
    }

    /// `let sorted: BTreeMap<_, _> = map.into_iter().collect();`, and a list that `next` sorts.
    pub(super) fn note_collected(&mut self, local: &Local, next: Option<&Stmt>) {
        let Some(init) = &local.init else {
            return;
        };
        let annotated = match &local.pat {
            Pat::Type(typed) => Some(&*typed.ty),
            _ => None,
        };
        if let Some(summed) = summed(&init.expr)
            && annotated.is_some_and(is_integer)
        {
            self.forgive(summed);
        }
        let Some(collected) = collected(&init.expr) else {
            return;
        };
        let hides = annotated.is_some_and(|ty| Self::hides_order(self.type_of(ty)));
        if hides || next.is_some_and(|next| sorts(next, &local.pat)) {
            self.forgive(collected);
        }
    }

    /// Whether a function gives a collection in which the order does not show, or an integer, or a `Result` of one.
    pub(super) fn gives_unordered(&self, output: &ReturnType) -> bool {
        match output {
            ReturnType::Type(_, ty) => {
                Self::hides_order(self.type_of(ty).or_else(|| self.fallible(ty)))
                    || is_integer(ty)
                    || types::of_success(ty).is_some_and(is_integer)
            }
            ReturnType::Default => false,
        }
    }

    /// `map.into_iter().collect()` or `Ok(map.values().sum())` at the end of such a function.
    pub(super) fn note_returned(&mut self, stmt: &Stmt) {
        let returned = match stmt {
            Stmt::Expr(Expr::Call(call), None) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Ok")) => {
                call.args.first()
            }
            Stmt::Expr(expr, None) => Some(expr),
            _ => None,
        };
        if let Some(taken) = returned.and_then(|returned| collected(returned).or(summed(returned)))
        {
            self.forgive(taken);
        }
    }

    fn collects_unordered(&self, call: &ExprMethodCall) -> bool {
        let turbofish = call.turbofish.as_ref();
        Self::hides_order(turbofish.and_then(|turbofish| self.type_of_turbofish(turbofish)))
    }

    /// Whether something that is called for each element uses the context, which acts in that order.
    fn acts(&self, arguments: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) -> bool {
        match self.context {
            Some(context) => arguments
                .iter()
                .any(|argument| mentions(context, argument.to_token_stream())),
            None => false,
        }
    }

    /// The iteration at the root of this chain is not to be reported.
    fn forgive(&mut self, chain: &Expr) {
        match chain {
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                if self.iterates(call, &method).is_some() {
                    self.set_order_free(call);
                } else if PASSES.contains(&method.as_str()) && !self.acts(&call.args) {
                    self.forgive(&call.receiver);
                    if method == "chain" {
                        call.args.iter().for_each(|argument| self.forgive(argument));
                    }
                }
            }
            Expr::Paren(paren) => self.forgive(&paren.expr),
            Expr::Group(group) => self.forgive(&group.expr),
            Expr::Reference(reference) => {
                self.set_order_free(chain);
                self.forgive(&reference.expr);
            }
            Expr::Path(_) => self.set_order_free(chain),
            _ => {}
        }
    }
}

/// What `.collect()` or `from_iter(..)` at the end of an initial value takes, through `?` and `.unwrap()`.
fn collected(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Try(tried) => collected(&tried.expr),
        Expr::MethodCall(call) if call.method == "collect" => Some(&call.receiver),
        Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
            collected(&call.receiver)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.segments.last()?.ident == "from_iter" => {
                call.args.first()
            }
            _ => None,
        },
        _ => None,
    }
}

/// What `.sum()` takes whose type is said elsewhere.
fn summed(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::MethodCall(call) if call.method == "sum" || call.method == "product" => {
            call.turbofish.is_none().then_some(&call.receiver)
        }
        _ => None,
    }
}

/// `name.sort();`
fn sorts(stmt: &Stmt, pat: &Pat) -> bool {
    let name = match pat {
        Pat::Type(typed) => &*typed.pat,
        pat => pat,
    };
    match (stmt, name) {
        (Stmt::Expr(Expr::MethodCall(call), _), Pat::Ident(name)) => {
            SORTS.iter().any(|method| call.method == method)
                && matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(&name.ident))
        }
        _ => false,
    }
}

/// `.sum::<u64>()`: of floating point numbers the order shows.
fn gives_integer(call: &ExprMethodCall) -> bool {
    let turbofish = call.turbofish.as_ref();
    turbofish
        .and_then(|turbofish| turbofish.args.first())
        .is_some_and(|argument| matches!(argument, GenericArgument::Type(ty) if is_integer(ty)))
}

fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Path(ty) if INTEGERS.iter().any(|integer| ty.path.is_ident(integer)))
}

/// A closure whose result can only depend on what it is given: it looks at values, and calls nothing that may
/// change one.
fn only_looks(expr: &Expr) -> bool {
    let Expr::Closure(closure) = expr else {
        return false;
    };
    let mut search = OnlyLooks(true);
    search.visit_expr(&closure.body);
    search.0
}

struct OnlyLooks(bool);

impl Visit<'_> for OnlyLooks {
    fn visit_expr(&mut self, expr: &Expr) {
        self.0 &= match expr {
            Expr::Binary(binary) => !matches!(
                binary.op,
                BinOp::AddAssign(_)
                    | BinOp::BitAndAssign(_)
                    | BinOp::BitOrAssign(_)
                    | BinOp::BitXorAssign(_)
                    | BinOp::DivAssign(_)
                    | BinOp::MulAssign(_)
                    | BinOp::RemAssign(_)
                    | BinOp::ShlAssign(_)
                    | BinOp::ShrAssign(_)
                    | BinOp::SubAssign(_)
            ),
            Expr::MethodCall(call) => LOOKS.iter().any(|method| call.method == method),
            Expr::Cast(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Lit(_)
            | Expr::Paren(_)
            | Expr::Path(_)
            | Expr::Tuple(_)
            | Expr::Unary(_) => true,
            Expr::Reference(reference) => reference.mutability.is_none(),
            _ => false,
        };
        visit::visit_expr(self, expr);
    }
}

fn mentions(context: &Ident, tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *context,
        TokenTree::Group(group) => mentions(context, group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// What is iterated over, for the text: the variable's name, or `this`.
fn printed(expr: &Expr) -> String {
    match expr {
        Expr::Path(path) => format!("`{}`", paths::text(&path.path)),
        Expr::Reference(reference) => printed(&reference.expr),
        Expr::Paren(paren) => printed(&paren.expr),
        _ => "this".to_owned(),
    }
}
