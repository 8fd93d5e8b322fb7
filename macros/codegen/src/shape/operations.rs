//! Futures: where they are made, which variables hold them, and where they are waited for.

use syn::ext::IdentExt;
use syn::{Expr, ExprCall, Lit};

use super::{Node, Place};

/// What a value is to the shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    /// The futures that it may hold.
    pub(super) held: Vec<usize>,
    /// It is what was awaited, before a `?` or a pattern has taken it apart.
    pub(super) awaited: bool,
}

impl Value {
    pub(super) fn awaited() -> Self {
        Value {
            held: Vec::new(),
            awaited: true,
        }
    }

    pub(super) fn holding(operation: usize) -> Self {
        Value {
            held: vec![operation],
            awaited: false,
        }
    }

    /// Something made of both.
    pub(super) fn and(mut self, other: Value) -> Self {
        self.hold(&other.held);
        self.awaited |= other.awaited;
        self
    }

    pub(super) fn hold(&mut self, operations: &[usize]) {
        for operation in operations {
            if !self.held.contains(operation) {
                self.held.push(*operation);
            }
        }
    }

    /// What is in it, when it is not the awaited value any more.
    pub(super) fn inside(self) -> Self {
        Value {
            awaited: false,
            ..self
        }
    }
}

/// A future that was made.
#[derive(Debug)]
pub(super) struct Operation {
    /// What happens when it is waited for.
    pub(super) nodes: Vec<Node>,
    /// It is waited for somewhere.
    pub(super) is_used: bool,
    /// Where it is made.
    pub(super) place: Place,
}

/// Methods of the context that decide nothing and wait for nothing.
pub(super) const HARMLESS: &[&str] = &[
    "clone",
    "handle",
    "log",
    "namespace",
    "now",
    "run_id",
    "set",
];

/// Methods of the context that decide at once.
pub(super) const DECISIONS: &[&str] = &["emit", "random", "random_range", "record", "uuid"];

/// Methods of the context that wait for what the run is told, under a name that is in a constant.
pub(super) const LISTENING: &[&str] = &["receive", "wait_for"];

/// Methods of the context whose first argument is a constant that has a name.
pub(super) const NAMED: &[&str] = &["emit", "receive", "wait_for"];

/// Before the name of a stub, which is not offered where it is an activity's.
pub(super) const STUB: &str = "stub ";

/// Before the name of a stub that was offered, where its result is waited for.
pub(super) const OFFER: &str = "offer ";

/// Before the name of a set of work, which histories have where it is dropped with members that nobody has taken.
pub(super) const SET: &str = "set";

/// Methods of the context that tell another run something, under a name that is in a constant: their second argument.
pub(super) const SENDING: &[&str] = &["send", "signal"];

/// The method of the context that fulfils what a run offers: its second argument is the function of the stub.
pub(super) const FULFILLING: &str = "fulfil";

/// Methods that put what they are given into a collection.
pub(super) const COLLECTING: &[&str] = &["extend", "insert", "push", "push_back", "push_front"];

/// The last segment of a path that is called.
pub(super) fn last_segment(function: &Expr) -> Option<String> {
    match function {
        Expr::Path(path) => {
            let last = path.path.segments.last()?;
            Some(last.ident.unraw().to_string())
        }
        Expr::Paren(inner) => last_segment(&inner.expr),
        Expr::Group(inner) => last_segment(&inner.expr),
        _ => None,
    }
}

/// The path that is called, without the arguments of types.
pub(super) fn path_of(function: &Expr) -> Option<String> {
    match function {
        Expr::Path(path) if path.qself.is_some() => last_segment(function),
        Expr::Path(path) => {
            let segments = path.path.segments.iter();
            let names: Vec<_> = segments
                .map(|part| part.ident.unraw().to_string())
                .collect();
            let leading = path.path.leading_colon.map_or("", |_| "::");
            Some(format!("{leading}{}", names.join("::")))
        }
        Expr::Paren(inner) => path_of(&inner.expr),
        Expr::Group(inner) => path_of(&inner.expr),
        _ => None,
    }
}

/// `join_all(..)`, which waits for all that it is given.
pub(super) fn is_join_all(call: &ExprCall) -> bool {
    call.args.len() == 1 && last_segment(&call.func).is_some_and(|name| name == "join_all")
}

/// A literal text, as it stands behind the name of a method.
pub(super) fn literal_text(expr: Option<&Expr>) -> Option<String> {
    match expr {
        Some(Expr::Lit(literal)) => match &literal.lit {
            Lit::Str(text) => Some(format!("{:?}", text.value())),
            _ => None,
        },
        _ => None,
    }
}

/// The name of the constant that an argument is, without its path.
pub(super) fn constant(expr: Option<&Expr>) -> Option<String> {
    match expr? {
        Expr::Path(path) if path.qself.is_none() => {
            let name = path.path.segments.last()?.ident.unraw().to_string();
            is_constant(&name).then_some(name)
        }
        Expr::Paren(inner) => constant(Some(&inner.expr)),
        Expr::Group(inner) => constant(Some(&inner.expr)),
        _ => None,
    }
}

/// Whether it is written as constants are.
pub(crate) fn is_constant(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// The name of an activity, which may be any text, as a line has it.
pub(super) fn label(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-.:/".contains(character);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}
