//! Macros whose grammar is known, and what is said of the others.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

use super::operations::Value;
use super::walk::Walk;
use super::{Arm, Control, Node, Numbering, Place, first_span};
use crate::check::is_flat;
use crate::lower::{EXPRESSION_LISTS, List, SelectArms};

impl Walk<'_> {
    pub(super) fn macro_call(&mut self, call: &Macro) -> Value {
        let Some(last) = call.path.segments.last() else {
            return Value::default();
        };
        let name = last.ident.unraw().to_string();
        let place = Place {
            first: call
                .path
                .segments
                .first()
                .map_or_else(|| last.ident.span(), |first| first.ident.span()),
            last: call.bang_token.span,
        };
        let is_own = || {
            let name = call.path.get_ident();
            name.is_some_and(|name| self.surroundings.names.is_own_macro(name))
        };
        let known = match name.as_str() {
            "join" | "pin" | "try_join" | "select" if is_own() => None,
            "join" => self.joined("join!", call, place),
            "try_join" => self.joined("try_join!", call, place),
            "select" => self.selected(call, place),
            "matches" | "assert_matches" => self.scrutinee(call),
            "pin" => self.pinned(call),
            list if EXPRESSION_LISTS.contains(&list) => {
                if is_flat(&call.tokens) {
                    return Value::default();
                }
                match List::parse.parse2(call.tokens.clone()) {
                    Ok(list) => Some(self.exprs(&list.items).inside()),
                    // `info!(%field, "..")` has signs of its own.
                    Err(_) => return Value::default(),
                }
            }
            _ => None,
        };
        known.unwrap_or_else(|| {
            if self.mentions_context(call.tokens.clone()) {
                self.step(format!("{name}!"), place);
            }
            Value::default()
        })
    }

    fn joined(&mut self, header: &'static str, call: &Macro, place: Place) -> Option<Value> {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let arms = parser.parse2(call.tokens.clone()).ok()?;
        let arms = arms
            .iter()
            .map(|arm| Arm {
                header,
                nodes: self.driven(arm),
                flow: String::new(),
                place: Place::at(first_span(arm)),
            })
            .collect();
        self.all(arms, place);
        Some(Value::awaited())
    }

    fn selected(&mut self, call: &Macro, place: Place) -> Option<Value> {
        let select = syn::parse2::<SelectArms>(call.tokens.clone()).ok()?;
        let mut held = Value::default();
        let mut arms = Vec::new();
        for arm in &select.0 {
            let mut nodes = self.driven(&arm.future);
            let origin = self.canonical(&arm.future);
            let mut given = Value::default();
            nodes.extend(self.branch(false, |walk| {
                walk.bind(&arm.pat, &Value::awaited(), &format!("await {origin}"));
                given = walk.expr(&arm.body);
            }));
            held = held.and(given.inside());
            arms.push(Arm {
                header: "select!",
                nodes,
                flow: self.canonical_pattern(&arm.pat),
                place: Place::at(first_span(&arm.future)),
            });
        }
        self.all(arms, place);
        Some(held.and(Value::awaited()))
    }

    /// Arms of which each is shown.
    fn all(&mut self, arms: Vec<Arm>, place: Place) {
        self.push(Node::Block(Control {
            arms,
            numbering: Numbering::All,
            place,
            flow: String::new(),
        }));
    }

    /// `pin!(charge(cx))` is the future that is in it.
    fn pinned(&mut self, call: &Macro) -> Option<Value> {
        let pinned = syn::parse2::<Expr>(call.tokens.clone()).ok()?;
        Some(self.expr(&pinned))
    }

    fn scrutinee(&mut self, call: &Macro) -> Option<Value> {
        let split = |input: ParseStream<'_>| -> syn::Result<(Expr, TokenStream)> {
            Ok((input.parse()?, input.parse()?))
        };
        let (scrutinee, _) = split.parse2(call.tokens.clone()).ok()?;
        Some(self.expr(&scrutinee))
    }

    pub(super) fn mentions_context(&self, tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(name) => self.is_context_name(&name.unraw().to_string()),
            TokenTree::Group(group) => self.mentions_context(group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
}
