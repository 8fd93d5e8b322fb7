//! What an await waits for, by name: the operation, never its arguments.

use std::collections::HashMap;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Expr, ExprCall, ExprMethodCall, Pat};

use super::sites::Asks;

/// Names operations, also through the variables that hold them.
#[derive(Debug)]
pub(super) struct Labels {
    context: Option<String>,
    variables: HashMap<String, String>,
}

/// An await of something without a name.
const NAMELESS: &str = "await";

impl Labels {
    pub(super) fn new(context: Option<&Ident>) -> Self {
        Labels {
            context: context.map(Ident::to_string),
            variables: HashMap::new(),
        }
    }

    /// `charge_card(cx, order).retry(..)` is `charge_card`, `cx.sleep(..)` is `sleep`.
    pub(super) fn of(&self, expr: &Expr) -> String {
        self.of_operation(expr).unwrap_or_else(|| match expr {
            Expr::MethodCall(call) => call.method.unraw().to_string(),
            Expr::Call(call) => last_segment(&call.func).unwrap_or_else(|| NAMELESS.to_owned()),
            _ => NAMELESS.to_owned(),
        })
    }

    /// The label of something that is visibly an operation.
    pub(super) fn of_operation(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Paren(inner) => self.of_operation(&inner.expr),
            Expr::Group(inner) => self.of_operation(&inner.expr),
            Expr::Try(inner) => self.of_operation(&inner.expr),
            Expr::Reference(inner) => self.of_operation(&inner.expr),
            Expr::Async(_) => Some("async".to_owned()),
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|name| self.variables.get(&name.to_string()))
                .cloned(),
            Expr::MethodCall(call) if self.is_context(&call.receiver) => {
                match (call.method == "spawn", call.args.first()) {
                    // What it runs says more than that it runs beside.
                    (true, Some(task)) => Some(self.of(task)),
                    _ => Some(call.method.unraw().to_string()),
                }
            }
            // It begins there, and what is waited for later is its result alone.
            Expr::MethodCall(call) if call.method == "open" && call.args.is_empty() => None,
            Expr::MethodCall(builder) => self.of_operation(&builder.receiver),
            Expr::Call(call) => self.callee(call).or_else(|| {
                match (last_segment(&call.func)?.as_str(), call.args.first()) {
                    ("pin" | "new", Some(inner)) => self.of_operation(inner),
                    _ => None,
                }
            }),
            _ => None,
        }
    }

    /// What is asked for where `expr`, whose label is `label`, is waited for or begun.
    pub(super) fn asks(&self, expr: &Expr, label: &str) -> Asks {
        match (self.of_operation(expr), label) {
            (None, _) | (Some(_), "async" | NAMELESS) => Asks::Unknown,
            (Some(_), "sleep" | "sleep_until") => Asks::For("sleep".to_owned()),
            (Some(_), "receive") => Asks::For("receive".to_owned()),
            (Some(_), "fulfil") => Asks::For("fulfil".to_owned()),
            (Some(_), "send") => Asks::For("send".to_owned()),
            (Some(_), "signal") => Asks::For("signal".to_owned()),
            (Some(_), "wait_for") => Asks::For("wait for".to_owned()),
            (Some(_), function) => Asks::Call(function.to_owned()),
        }
    }

    /// The function that is called with the context: `f(cx, ..)`, `f(n, &cx)`, `f(cx.clone(), ..)`.
    pub(super) fn callee(&self, call: &ExprCall) -> Option<String> {
        let mut arguments = call.args.iter();
        match arguments.any(|argument| self.hands_over_context(argument)) {
            true => last_segment(&call.func),
            false => None,
        }
    }

    /// The method that is called with the context: `shop.restock(cx, ..)`.
    pub(super) fn method_callee(&self, call: &ExprMethodCall) -> Option<String> {
        let mut arguments = call.args.iter();
        arguments
            .any(|argument| self.hands_over_context(argument))
            .then(|| call.method.unraw().to_string())
    }

    /// Remembers what a variable holds.
    pub(super) fn bind(&mut self, pat: &Pat, label: Option<String>) {
        let name = match pat {
            Pat::Ident(pat) => pat.ident.to_string(),
            Pat::Type(typed) => return self.bind(&typed.pat, label),
            _ => return,
        };
        match label {
            Some(label) => self.variables.insert(name, label),
            None => self.variables.remove(&name),
        };
    }

    fn hands_over_context(&self, argument: &Expr) -> bool {
        match argument {
            Expr::Reference(reference) => self.hands_over_context(&reference.expr),
            Expr::Paren(inner) => self.hands_over_context(&inner.expr),
            Expr::Group(inner) => self.hands_over_context(&inner.expr),
            Expr::MethodCall(call) => {
                call.method == "clone" && call.args.is_empty() && self.is_context(&call.receiver)
            }
            other => self.is_context(other),
        }
    }

    pub(super) fn is_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => match (path.path.get_ident(), &self.context) {
                (Some(name), Some(context)) => name == context,
                _ => false,
            },
            Expr::Paren(inner) => self.is_context(&inner.expr),
            Expr::Group(inner) => self.is_context(&inner.expr),
            _ => false,
        }
    }
}

fn last_segment(function: &Expr) -> Option<String> {
    match function {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.unraw().to_string()),
        Expr::Paren(inner) => last_segment(&inner.expr),
        Expr::Group(inner) => last_segment(&inner.expr),
        _ => None,
    }
}
