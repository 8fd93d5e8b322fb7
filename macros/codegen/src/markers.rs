//! Calls of version markers (S36): `cx.patched("id")`, `cx.version("id", 0..=2)` and their `_each` forms.

mod arms;
mod check;
mod elsewhere;
mod scan;
#[cfg(test)]
mod tests;

use syn::{Expr, ExprLit, ExprMethodCall, ExprRange, Lit, LitStr, RangeLimits};

pub(crate) use self::check::{Found, check, conflicts};
pub(crate) use self::scan::scan;

/// The codes of what can be wrong with markers.
pub(crate) const CODES: [&str; 6] = ["L320", "L321", "L322", "L323", "L324", "L325"];

/// A marker that a function asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Marker {
    /// What the code calls the change.
    pub(crate) id: String,
    /// The lowest version that the code supports.
    pub(crate) lowest: u32,
    /// The highest one.
    pub(crate) highest: u32,
    /// Whether each call decides anew.
    pub(crate) each: bool,
}

/// One call of a marker, as far as the source tells.
#[derive(Debug)]
pub(crate) struct MarkerCall<'a> {
    /// The name, where it is a literal.
    pub(crate) id: Option<&'a LitStr>,
    /// The versions that the call supports, where they are literals: `0..=2`. Of `patched` they are 0 and 1.
    pub(crate) range: Option<(u32, u32)>,
    /// `patched` and `patched_each`: a truth value in place of a number.
    pub(crate) is_patched: bool,
    /// Decides anew at every call.
    pub(crate) each: bool,
}

/// The marker that `call` asks for. `is_context` tells whether an expression is the workflow's `cx`.
pub(crate) fn marker_call<'a>(
    call: &'a ExprMethodCall,
    is_context: impl Fn(&Expr) -> bool,
) -> Option<MarkerCall<'a>> {
    let (is_patched, each) = form(&call.method.to_string())?;
    if !is_context(&call.receiver) {
        return None;
    }
    let mut arguments = call.args.iter();
    let id = arguments.next().and_then(text);
    let range = match is_patched {
        true => Some((0, 1)),
        false => arguments.next().and_then(range),
    };
    Some(MarkerCall {
        id,
        range,
        is_patched,
        each,
    })
}

/// What the name of a method says: whether it gives a truth value, and whether each call decides anew.
fn form(method: &str) -> Option<(bool, bool)> {
    Some(match method {
        "patched" => (true, false),
        "patched_each" => (true, true),
        "version" => (false, false),
        "version_each" => (false, true),
        _ => return None,
    })
}

fn text(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// `0..=2` as its lowest and its highest number.
fn range(expr: &Expr) -> Option<(u32, u32)> {
    let Expr::Range(ExprRange {
        start: Some(start),
        limits: RangeLimits::Closed(_),
        end: Some(end),
        ..
    }) = expr
    else {
        return None;
    };
    Some((number(start)?, number(end)?))
}

pub(crate) fn number(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    }
}
