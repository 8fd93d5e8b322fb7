//! Where markers stand in a body: in an `if` or in a `match`, so that the code of each version can be told.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprMethodCall, Macro, Path, Token, UnOp};

use super::{Marker, MarkerCall, elsewhere, form, marker_call};
use crate::check::text;
use crate::errors::Errors;
use crate::index::is_own_macro;
use crate::lower::{EXPRESSION_LISTS, List, SelectArms};
use crate::parse::Body;

/// The longest name of a marker, in bytes. The sdk has the same bound.
const MAX_ID: usize = 1 << 10;

/// A marker and the call that asks for it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) marker: Marker,
    call: TokenStream,
}

/// Checks the markers of a body, and adds to each `match` the arm that is never reached.
pub(crate) fn check(
    krate: &Path,
    context: Option<&Ident>,
    body: &mut Body,
    errors: &mut Errors,
) -> Vec<Found> {
    let Body::Parsed(block) = body else {
        return Vec::new();
    };
    let mut checking = Checking {
        krate,
        context,
        found: Vec::new(),
        errors,
    };
    checking.visit_block_mut(block);
    let found = checking.found;
    for (at, second) in found.iter().enumerate() {
        let first = found[..at]
            .iter()
            .find(|first| conflict(first, &second.marker));
        if let Some(first) = first {
            two_ways(second, &first.marker, "above", errors);
        }
    }
    found
}

/// Reports a marker that a function and one that it calls ask for in two ways.
pub(crate) fn conflicts(found: &[Found], others: &[(String, Marker)], errors: &mut Errors) {
    for one in found {
        let other = others.iter().find(|(_, other)| conflict(one, other));
        if let Some((function, other)) = other {
            two_ways(one, other, &format!("in `{function}`"), errors);
        }
    }
}

fn conflict(one: &Found, other: &Marker) -> bool {
    one.marker.id == other.id && one.marker != *other
}

fn two_ways(one: &Found, other: &Marker, place: &str, errors: &mut Errors) {
    let Marker {
        id,
        lowest,
        highest,
        each,
    } = &one.marker;
    let (here, there, help) = if each == &other.each {
        (
            format!("`{lowest}..={highest}`"),
            format!("`{}..={}`", other.lowest, other.highest),
            "all calls support the same versions: a run has one of them",
        )
    } else {
        let form = |each: bool| match each {
            true => "a call that decides anew (`_each`)".to_owned(),
            false => "one whose first answer sticks".to_owned(),
        };
        (
            form(*each),
            form(other.each),
            "use one of the two, or another name",
        )
    };
    errors.under(
        &one.call,
        text(
            "L325",
            &format!(
                "the marker \"{}\" is asked for in two ways: {here} here, {there} {place}",
                id.escape_debug()
            ),
            &[help],
        ),
    );
}

struct Checking<'a> {
    krate: &'a Path,
    context: Option<&'a Ident>,
    found: Vec<Found>,
    errors: &'a mut Errors,
}

impl Checking<'_> {
    /// The marker call that an expression is, through parentheses.
    fn marker<'e>(&self, expr: &'e Expr) -> Option<(&'e ExprMethodCall, MarkerCall<'e>)> {
        match expr {
            Expr::Paren(inner) => self.marker(&inner.expr),
            Expr::Group(inner) => self.marker(&inner.expr),
            Expr::MethodCall(call) => {
                let marker = marker_call(call, |expr| self.is_context(expr))?;
                Some((call, marker))
            }
            _ => None,
        }
    }

    /// As [`marker`](Self::marker), for a condition: with a `!` in front or without.
    fn condition<'e>(&self, expr: &'e Expr) -> Option<(&'e ExprMethodCall, MarkerCall<'e>)> {
        match expr {
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Group(inner) => self.condition(&inner.expr),
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => self.condition(&not.expr),
            other => self.marker(other).filter(|(_, marker)| marker.is_patched),
        }
    }

    /// What stands between `&&`: `a && cx.patched("b")` without an `else` is one `if` in another.
    fn conjunction(&mut self, expr: &mut Expr) {
        let found = self.condition(expr);
        if let Some((call, marker)) = found {
            return self.note(call, &marker);
        }
        match expr {
            Expr::Paren(inner) => self.conjunction(&mut inner.expr),
            Expr::Group(inner) => self.conjunction(&mut inner.expr),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                self.conjunction(&mut both.left);
                self.conjunction(&mut both.right);
            }
            other => self.visit_expr_mut(other),
        }
    }

    fn is_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => (self.context).is_some_and(|context| path.path.is_ident(context)),
            Expr::Paren(inner) => self.is_context(&inner.expr),
            Expr::Group(inner) => self.is_context(&inner.expr),
            _ => false,
        }
    }

    /// Looks at the name and the range, and remembers the marker.
    fn note(&mut self, call: &ExprMethodCall, marker: &MarkerCall<'_>) {
        let mut arguments = call.args.iter();
        // A wrong number of arguments is the compiler's.
        if let Some(argument) = arguments.next() {
            match marker.id {
                None => self.errors.under(
                    argument,
                    text(
                        "L320",
                        "the name of a marker must be a string literal, so that its versions can be compared with what was released",
                        &["write it where it is used, as in `cx.patched(\"fraud-check\")`"],
                    ),
                ),
                Some(id) if id.value().len() > MAX_ID => self.errors.under(
                    argument,
                    text(
                        "L320",
                        &format!(
                            "the name of a marker has at most {MAX_ID} bytes, and this has {}",
                            id.value().len()
                        ),
                        &[],
                    ),
                ),
                Some(_) => {}
            }
        }
        if let (false, Some(argument)) = (marker.is_patched, arguments.next()) {
            self.range(argument, marker.range);
        }
        if let (Some(id), Some((lowest, highest))) = (marker.id, marker.range)
            && lowest <= highest
        {
            self.found.push(Found {
                marker: Marker {
                    id: id.value(),
                    lowest,
                    highest,
                    each: marker.each,
                },
                call: call.to_token_stream(),
            });
        }
    }

    fn range(&mut self, argument: &Expr, range: Option<(u32, u32)>) {
        match range {
            Some((lowest, highest)) if lowest > highest => self.errors.under(
                argument,
                text(
                    "L323",
                    &format!("no version is supported: {lowest} is more than {highest}"),
                    &[&format!("write the lowest first: `{highest}..={lowest}`")],
                ),
            ),
            Some(_) => {}
            None => self.errors.under(
                argument,
                text(
                    "L323",
                    "the supported versions of a marker are two numbers, from the lowest to the highest: `0..=2`",
                    &["the lowest is 0, the code before the marker existed, until no run needs that any more"],
                ),
            ),
        }
    }

    /// A marker that is neither the condition of an `if` nor what a `match` is over.
    fn misplaced(&mut self, call: &ExprMethodCall, marker: &MarkerCall<'_>) {
        let id = marker.id.map_or_else(
            || "\"name\"".to_owned(),
            |id| id.to_token_stream().to_string(),
        );
        let (context, method) = (call.receiver.to_token_stream(), &call.method);
        let form = if marker.is_patched {
            format!("write `if {context}.{method}({id}) {{ /* after */ }} else {{ /* before */ }}`")
        } else {
            let (lowest, highest) = marker.range.unwrap_or((0, 2));
            let arms = match highest.saturating_sub(lowest) {
                0 => format!("{lowest} => .."),
                1 => format!("{lowest} => .., {highest} => .."),
                _ => format!("{lowest} => .., {} => .., ..", lowest + 1),
            };
            format!("write `match {context}.{method}({id}, {lowest}..={highest}) {{ {arms} }}`")
        };
        self.errors.under(
            call,
            text(
                "L324",
                "the code of each version cannot be told here, so that it could not be compared with what was released",
                &[
                    &form,
                    "other conditions go inside, or beside it with `&&` where there is no `else`; the same marker may be asked for at several places",
                ],
            ),
        );
    }

    // ---- macros --------------------------------------------------------------------------------------

    fn a_macro(&mut self, call: &mut Macro) {
        let Some(name) = call.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        if marker_tokens(self.context, call.tokens.clone()).is_none() {
            return;
        }
        let is_ours = call.path.get_ident().is_none_or(|name| !is_own_macro(name));
        match name.as_str() {
            "join" | "try_join" if is_ours => {
                let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
                if let Ok(mut arms) = parser.parse2(call.tokens.clone()) {
                    arms.iter_mut().for_each(|arm| self.visit_expr_mut(arm));
                    call.tokens = arms.into_token_stream();
                }
            }
            "select" if is_ours => {
                if let Ok(mut arms) = syn::parse2::<SelectArms>(call.tokens.clone()) {
                    for arm in &mut arms.0 {
                        self.visit_expr_mut(&mut arm.future);
                        self.visit_expr_mut(&mut arm.body);
                    }
                    call.tokens = arms.into_token_stream();
                }
            }
            known if EXPRESSION_LISTS.contains(&known) => {
                match syn::parse2::<List>(call.tokens.clone()) {
                    Ok(mut list) => {
                        list.items
                            .iter_mut()
                            .for_each(|item| self.visit_expr_mut(item));
                        call.tokens = list.into_token_stream();
                    }
                    Err(_) => self.in_a_macro(call),
                }
            }
            _ => self.in_a_macro(call),
        }
    }

    fn in_a_macro(&mut self, call: &Macro) {
        let Some(at) = marker_tokens(self.context, call.tokens.clone()) else {
            return;
        };
        self.errors.under(
            at,
            text(
                "L324",
                "the code of each version cannot be told inside of a macro, so that it could not be compared with what was released",
                &["ask for the marker before the macro, in an `if` or in a `match`"],
            ),
        );
    }
}

impl VisitMut for Checking<'_> {
    /// A function inside of the body is one of its own.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(branch) => {
                let found = self.condition(&branch.cond);
                if found.is_some() || branch.else_branch.is_none() {
                    self.conjunction(&mut branch.cond);
                    self.visit_block_mut(&mut branch.then_branch);
                    if let Some((_, otherwise)) = &mut branch.else_branch {
                        self.visit_expr_mut(otherwise);
                    }
                    return;
                }
            }
            Expr::Match(over) => {
                let found = self.marker(&over.expr);
                if let Some((call, marker)) = found.filter(|(_, marker)| !marker.is_patched) {
                    self.note(call, &marker);
                    if let Some((lowest, highest)) = marker.range
                        && lowest <= highest
                    {
                        super::arms::check(call, (lowest, highest), &over.arms, self.errors);
                    }
                    for arm in &mut over.arms {
                        self.visit_arm_mut(arm);
                    }
                    let krate = self.krate;
                    over.arms.push(syn::parse_quote! {
                        #[allow(unreachable_patterns)]
                        _ => #krate::__private::no_such_version(),
                    });
                    return;
                }
            }
            Expr::MethodCall(call) => {
                if let Some(marker) = marker_call(call, |expr| self.is_context(expr)) {
                    self.note(call, &marker);
                    self.misplaced(call, &marker);
                    return;
                }
                if elsewhere::method(call, self.context, self.errors) {
                    return;
                }
            }
            Expr::Call(call) if elsewhere::function(call, self.context, self.errors) => return,
            Expr::Macro(call) => return self.a_macro(&mut call.mac),
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_stmt_macro_mut(&mut self, call: &mut syn::StmtMacro) {
        self.a_macro(&mut call.mac);
    }
}

/// The first `cx.patched` among tokens that nobody has parsed, or what looks like a marker on something else.
fn marker_tokens(context: Option<&Ident>, tokens: TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if elsewhere::in_tokens(&tokens[at..]) {
            let first = at.saturating_sub(1);
            return Some(tokens[first..at + 2].iter().cloned().collect());
        }
        match (token, tokens.get(at + 1), tokens.get(at + 2)) {
            (
                TokenTree::Ident(receiver),
                Some(TokenTree::Punct(dot)),
                Some(TokenTree::Ident(method)),
            ) if context.is_some_and(|context| receiver == context)
                && dot.as_char() == '.'
                && form(&method.to_string()).is_some() =>
            {
                return Some(quote!(#receiver #dot #method));
            }
            (TokenTree::Group(group), ..) => {
                if let Some(found) = marker_tokens(context, group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
