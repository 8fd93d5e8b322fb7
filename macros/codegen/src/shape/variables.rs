//! What names stand for: futures, the context, and what conditions are made of.

use syn::ext::IdentExt;
use syn::{Expr, ExprMethodCall, Pat};

use super::first_span;
use super::flow::names_in;
use super::operations::{STUB, Value, label, last_segment, path_of};
use super::walk::Walk;
use crate::index::Called;

/// A name in sight.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: Value,
    /// What it was made of, for conditions.
    origin: String,
    is_context: bool,
}

impl Walk<'_> {
    pub(super) fn declare(&mut self, name: String, value: Value, origin: String, is_context: bool) {
        // Whatever has the context's name is taken for one, as a closure's own: `|cx| charge(cx, 1)`.
        let is_context = is_context || self.context.as_ref() == Some(&name);
        self.variables.push(Variable {
            name,
            value,
            origin,
            is_context,
        });
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|known| known.name == name)
    }

    pub(super) fn variable_of(&self, expr: &Expr) -> Option<&Variable> {
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.unraw().to_string();
                self.variable(&name)
            }
            Expr::Paren(inner) => self.variable_of(&inner.expr),
            Expr::Group(inner) => self.variable_of(&inner.expr),
            Expr::Reference(inner) => self.variable_of(&inner.expr),
            _ => None,
        }
    }

    /// Binds the names of a pattern to what `value` is.
    pub(super) fn bind(&mut self, pat: &Pat, value: &Value, origin: &str) {
        match pat {
            Pat::Type(typed) => self.bind(&typed.pat, value, origin),
            Pat::Paren(inner) => self.bind(&inner.pat, value, origin),
            Pat::Reference(inner) => self.bind(&inner.pat, value, origin),
            Pat::Tuple(tuple) => {
                for (index, pat) in tuple.elems.iter().enumerate() {
                    self.bind(pat, value, &format!("{origin}.{index}"));
                }
            }
            Pat::Ident(pat) if pat.subpat.is_none() => {
                let name = pat.ident.unraw().to_string();
                if !name.starts_with(char::is_uppercase) {
                    self.declare(name, value.clone(), origin.to_owned(), false);
                }
            }
            other => {
                for (index, name) in names_in(other).into_iter().enumerate() {
                    let inside = value.clone().inside();
                    self.declare(name, inside, format!("{origin}#{index}"), false);
                }
            }
        }
    }

    /// What a name stands for in a condition.
    pub(super) fn origin(&self, name: &str) -> String {
        self.known_origin(name).unwrap_or_else(|| name.to_owned())
    }

    pub(super) fn known_origin(&self, name: &str) -> Option<String> {
        self.variable(name).map(|variable| variable.origin.clone())
    }

    pub(super) fn is_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => {
                call.method == "clone" && call.args.is_empty() && self.is_context(&call.receiver)
            }
            // `self.cx`
            Expr::Field(field) => matches!(&field.member, syn::Member::Named(name) if name == "cx"),
            other => self
                .variable_of(other)
                .is_some_and(|known| known.is_context),
        }
    }

    pub(super) fn hands_over_context<'e>(
        &self,
        arguments: impl IntoIterator<Item = &'e Expr>,
    ) -> bool {
        arguments.into_iter().any(|argument| match argument {
            Expr::Reference(inner) => self.is_context(&inner.expr),
            other => self.is_context(other),
        })
    }

    pub(super) fn is_durable_method(&self, call: &ExprMethodCall) -> bool {
        self.is_context(&call.receiver) || self.hands_over_context(call.args.iter())
    }

    /// A function that is called by its path: an activity by its name in histories, another one by its own, whatever
    /// name it was imported under.
    pub(super) fn function_label(&self, function: &Expr) -> Option<String> {
        let path = path_of(function)?;
        let line = first_span(function).start().line;
        let paths = self.surroundings.names.imported(&path, line);
        let known = self
            .surroundings
            .index
            .called(&paths, self.surroundings.file);
        match known {
            Some(Called::Activity(name)) => Some(label(name)),
            Some(Called::Stub(name)) => Some(format!("{STUB}{}", label(name))),
            None => paths.first()?.rsplit("::").next().map(label),
        }
    }

    /// An await of something that no one has seen being made.
    pub(super) fn nameless(&self, expr: &Expr) -> String {
        match expr {
            Expr::Paren(inner) => self.nameless(&inner.expr),
            Expr::Group(inner) => self.nameless(&inner.expr),
            Expr::Reference(inner) => self.nameless(&inner.expr),
            Expr::MethodCall(call) => call.method.unraw().to_string(),
            Expr::Call(call) => last_segment(&call.func).unwrap_or_else(|| "await".to_owned()),
            _ => "await".to_owned(),
        }
    }

    pub(super) fn is_context_name(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|known| known.is_context)
    }
}
