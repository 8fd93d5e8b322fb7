//! The shape of a function: what it waits for and decides, in the order of evaluation (S37).
//!
//! One line a wait or a decision, indented by the control flow around it. Control flow in which nothing durable
//! stands is left out, as are arguments, conditions, durations, types and the names of variables: so a refactor
//! does not show, and what a run in flight could not follow does.
//!
//! ```text
//! charge_card?
//! version "add-fraud-check" 0
//! version "add-fraud-check" 1
//!   fraud_check?
//! loop
//!   match 0
//!     ship
//!   match 1
//!     cx.sleep
//! ```
//!
//! | line | what it is |
//! |---|---|
//! | `charge_card` | an activity, by its name in histories where that is known, or another function that is called with the context |
//! | `cx.sleep`, `cx.record "name"` | what the context offers, and the first argument if it is a literal text |
//! | `cx.receive APPROVAL`, `cx.wait_for BELL timeout` | the constant that has the name of the message or signal, without its path, and whether there is a time limit |
//! | `cx.emit OUTPUT` | the constant that has the name of the stream; what is set in views does not show |
//! | `cx.fulfil review` | the stub that another run offers, or the run itself; which offer is left out |
//! | `cx.send RESERVED`, `cx.signal BELL` | the same of what is sent to another run; to which one is left out |
//! | `set "turn"`, `set "turn" detach` | a set of work with a name, and that its members go on when it is dropped |
//! | `next`, `await` | something that is awaited and whose origin is not visible: the method's name, if it is one |
//! | `task` | what `cx.spawn` returned |
//! | a `?` behind a wait, or alone | the function ends where what was awaited is an error |
//! | `return`, `break`, `continue` | beside something durable, or where what was awaited says so; `break 2` leaves two loops |
//! | `if`, `else if`, `else`, `match 0` | the branches with something durable in them |
//! | `else` below `let`, `&&`, `||` | what is evaluated only sometimes |
//! | `loop`, `while`, `for` | what is repeated |
//! | `join! 0`, `try_join! 0`, `select! 0` | all arms, in order |
//! | `join_all`, `submit`, `cx.spawn`, `async`, `closure` | what stands in them |
//! | `version "id" 0` | an arm of a marker, also where it is empty; `version_each` for the forms that decide anew |
//! | `name!` | a macro that is not known and takes the context |
//!
//! A future is shown where it is waited for, not where it is made: `let a = charge(cx); .. a.await`. One that is
//! never visibly waited for is shown where it is made.
//!
//! Beside its lines a shape has a flow: conditions, loop bounds and early ends in pure code, as hashes. They only
//! give a warning when they change.
//!
//! The shape is derived from the parsed body and from nothing that only a compiler knows: the macro and the tool
//! that reads sources see the same.

mod branches;
mod calls;
mod flow;
mod lines;
mod macros;
mod operations;
mod resolve;
#[cfg(test)]
mod tests;
mod variables;
mod walk;

use std::path::Path;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Block, Expr, FnArg, Pat, Signature};

pub(crate) use self::lines::{Known, Line, Projected, UnknownMarker};
pub(crate) use self::operations::is_constant;
use crate::expand::durable_context;
use crate::index::Index;
use crate::lock::Kind;
use crate::names::Names;

/// The parameter of a function that is its context.
pub(crate) fn context_of(kind: Kind, signature: &Signature) -> Option<&Ident> {
    if kind == Kind::Durable {
        return durable_context(signature);
    }
    match signature.inputs.first()? {
        FnArg::Typed(argument) => match &*argument.pat {
            Pat::Ident(pat) => Some(&pat.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

/// Where something stands, from its first token to its last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Place {
    pub(crate) fn at(span: Span) -> Self {
        Place {
            first: span,
            last: span,
        }
    }
}

/// Where the first token of an expression stands. To ask syn for it is to make tokens of all of it.
fn first_span(expr: &Expr) -> Span {
    match expr {
        Expr::Path(path) if path.qself.is_none() && path.path.leading_colon.is_none() => path
            .path
            .segments
            .first()
            .map_or_else(|| path.span(), |first| first.ident.span()),
        Expr::MethodCall(call) => first_span(&call.receiver),
        Expr::Call(call) => first_span(&call.func),
        Expr::Field(field) => first_span(&field.base),
        Expr::Await(awaited) => first_span(&awaited.base),
        Expr::Try(tried) => first_span(&tried.expr),
        Expr::Paren(inner) => inner.paren_token.span.open(),
        Expr::Reference(inner) => inner.and_token.span,
        Expr::Async(block) => block.async_token.span,
        Expr::Binary(binary) => first_span(&binary.left),
        Expr::Block(block) if block.label.is_none() => block.block.brace_token.span.open(),
        Expr::Lit(literal) => literal.lit.span(),
        other => {
            let first = other.to_token_stream().into_iter().next();
            first.map_or_else(Span::call_site, |token| token.span())
        }
    }
}

/// What is known around a function.
pub(crate) struct Surroundings<'a> {
    /// What the crate declares.
    pub(crate) index: &'a Index,
    /// The names that can be seen where the function stands.
    pub(crate) names: &'a Names,
    /// The function's file, as the index knows it.
    pub(crate) file: Option<&'a Path>,
}

/// The shape of one function.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    nodes: Vec<Node>,
    /// What the function calls its context.
    pub(crate) context: Option<String>,
    /// Where the function's name stands.
    pub(crate) name: Span,
    markers: Vec<Marker>,
}

/// A marker as one call of it has it.
#[derive(Debug, Clone)]
pub(crate) struct Marker {
    pub(crate) id: String,
    /// The versions that have an arm, ascending.
    pub(crate) arms: Vec<u32>,
    pub(crate) place: Place,
}

impl Shape {
    /// The shape of the function with this signature and body, whose context is `context`. The flow takes time
    /// and is left out unless it is asked for.
    pub(crate) fn of(
        signature: &Signature,
        body: &Block,
        context: Option<&Ident>,
        surroundings: &Surroundings<'_>,
        with_flow: bool,
    ) -> Shape {
        walk::walk(signature, body, context, surroundings, with_flow)
    }

    /// Its lines as they are, all markers and arms included.
    pub(crate) fn whole(&self) -> Projected {
        lines::whole(self)
    }

    /// Its lines as one sees it who knows only these markers and arms.
    pub(crate) fn project(&self, known: &Known) -> Projected {
        lines::project(self, known)
    }

    /// The text of its lines, as `Graph.structure` has it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.whole().lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// The markers that it asks for, one for each call.
    pub(crate) fn markers(&self) -> &[Marker] {
        &self.markers
    }
}

/// One thing that a function does, with what stands in it.
#[derive(Debug, Clone)]
enum Node {
    /// Waits or decides.
    Step {
        label: String,
        place: Place,
    },
    /// Leaves the function or a loop.
    Exit {
        label: String,
        weight: Weight,
        place: Place,
        /// On what it depends, for the flow.
        flow: String,
    },
    Block(Control),
    Version {
        /// `version` or `version_each`.
        form: &'static str,
        id: String,
        /// In the order of their numbers.
        arms: Vec<(u32, Vec<Node>)>,
        place: Place,
    },
    /// A future that was made here: shown here unless it is waited for elsewhere.
    Made(usize),
}

/// How much an exit matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// It depends on what was awaited.
    Hard,
    /// It shows beside something durable.
    Soft,
    /// In pure code: it is part of the flow only.
    Pure,
}

/// Control flow.
#[derive(Debug, Clone)]
struct Control {
    arms: Vec<Arm>,
    /// Whether an arm of its own number is shown, or only those with something in them.
    numbering: Numbering,
    place: Place,
    /// Its condition, what it is matched with, or what it goes over.
    flow: String,
}

#[derive(Debug, Clone)]
struct Arm {
    /// The line before it, without its number.
    header: &'static str,
    nodes: Vec<Node>,
    /// Its condition, or its pattern.
    flow: String,
    /// Where that stands.
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// There is one arm, or each has a word of its own.
    None,
    /// The arms that are shown are counted.
    Shown,
    /// Each arm is shown, with its number.
    All,
}
