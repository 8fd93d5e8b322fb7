//! A source with markers as it is run to find the truth: what a marker gives there is looked up in the history,
//! and no machine has a part in it.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Lit};

/// The source, where it asks for markers.
pub(super) fn oracle(source: &str) -> Result<Option<String>, syn::Error> {
    let mut markers = Markers {
        source,
        edits: Vec::new(),
    };
    markers.visit_file(&syn::parse_file(source)?);
    if markers.edits.is_empty() {
        return Ok(None);
    }
    markers.edits.sort_by_key(|(place, _)| place.start);
    let (mut text, mut done) = (String::new(), 0);
    for (place, code) in markers.edits {
        text.push_str(&source[done..place.start]);
        text.push_str(&code);
        done = place.end;
    }
    Ok(Some(text + &source[done..]))
}

struct Markers<'a> {
    source: &'a str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'ast> Visit<'ast> for Markers<'_> {
    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        if let Expr::MethodCall(call) = &*of.expr
            && marker(call).is_some()
        {
            // The attributes add this arm.
            let end = of.brace_token.span.close().byte_range().start;
            self.edits
                .push((end..end, " _ => unreachable!(), ".to_owned()));
        }
        visit::visit_expr_match(self, of);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some((id, is_patched, each)) = marker(call) {
            let range = match call.args.iter().nth(1) {
                Some(range) => &self.source[range.span().byte_range()],
                None => "0..=1",
            };
            let mut code = format!("crate::marked::version(cx, {id:?}, {range}, {each})");
            if is_patched {
                code = format!("({code} == 1)");
            }
            self.edits.push((call.span().byte_range(), code));
            return;
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// The id of a marker, whether it is a truth value, and whether each call decides anew.
fn marker(call: &syn::ExprMethodCall) -> Option<(String, bool, bool)> {
    let (is_patched, each) = match call.method.to_string().as_str() {
        "patched" => (true, false),
        "patched_each" => (true, true),
        "version" => (false, false),
        "version_each" => (false, true),
        _ => return None,
    };
    match call.args.first() {
        Some(Expr::Lit(literal)) => match &literal.lit {
            Lit::Str(id) => Some((id.value(), is_patched, each)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::oracle;

    #[test]
    fn markers_are_looked_up() {
        let source = "fn a() { if cx.patched(\"b\") { c(); } match cx.version_each(\"d\", 0..=2) { 0 => {} } }";
        let text = oracle(source).ok().flatten().unwrap_or_default();
        assert_eq!(
            text,
            "fn a() { if (crate::marked::version(cx, \"b\", 0..=1, false) == 1) { c(); } \
             match crate::marked::version(cx, \"d\", 0..=2, true) { 0 => {}  _ => unreachable!(), } }"
        );
        assert!(matches!(oracle("fn a() {}"), Ok(None)));
    }
}
