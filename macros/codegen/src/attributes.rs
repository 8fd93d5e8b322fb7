//! Which of the user's attributes goes on which of the generated items.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Expr, Local, Meta, Pat, Stmt, Token};

use crate::check::text;
use crate::errors::Errors;

/// The attributes of an activity or a workflow. One function becomes a callable, a type and the
/// code itself, and each attribute must act where its author meant it, and only there.
#[derive(Debug, Default)]
pub(crate) struct ItemAttributes {
    /// `#[cfg]`: on every item.
    pub(crate) cfg: Vec<Attribute>,
    /// Docs, `#[deprecated]`, `#[must_use]`, lint levels: on what users call.
    pub(crate) callable: Vec<Attribute>,
    /// Lint levels, and for activities everything unknown (`#[tracing::instrument]`): on the code.
    pub(crate) code: Vec<Attribute>,
    /// One of those on the code is a macro, which may look at the function's name.
    pub(crate) wraps: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Condition,
    Lint,
    Expectation,
    /// Says something to those who call the function or read its page.
    Face,
    /// Is about the machine code.
    Code,
    /// `#[must_use]` without a text, which the returned type has already.
    Redundant,
    Foreign,
}

impl ItemAttributes {
    /// An activity's code is an ordinary function, so any attribute macro can be put on it.
    pub(crate) fn of_activity(attrs: Vec<Attribute>) -> Self {
        let mut split = ItemAttributes::default();
        for attr in attrs {
            match subject(&attr) {
                Subject::Foreign => {
                    split.code.push(attr);
                    split.wraps = true;
                }
                subject => split.put(subject, attr),
            }
        }
        split
    }

    /// A stub has no code: what is not known says something about what users call.
    pub(crate) fn of_stub(attrs: Vec<Attribute>) -> Self {
        let mut split = ItemAttributes::default();
        for attr in attrs {
            split.put(subject(&attr), attr);
        }
        split
    }

    /// A migration's code is an ordinary function that nothing wraps: it is run once.
    pub(crate) fn of_migration(attrs: Vec<Attribute>) -> Self {
        let mut split = ItemAttributes::default();
        for attr in attrs {
            match subject(&attr) {
                Subject::Foreign => split.code.push(attr),
                subject => split.put(subject, attr),
            }
        }
        split
    }

    /// A workflow's code is not a function that could be wrapped.
    pub(crate) fn of_workflow(attrs: Vec<Attribute>, errors: &mut Errors) -> Self {
        let mut split = ItemAttributes::default();
        for attr in attrs {
            match subject(&attr) {
                Subject::Foreign
                    if attr
                        .path()
                        .segments
                        .last()
                        .is_some_and(|last| last.ident == "instrument") =>
                {
                    errors.under(&attr, cannot_be_instrumented("a workflow"));
                }
                Subject::Foreign => split.callable.push(attr),
                subject => split.put(subject, attr),
            }
        }
        split
    }

    fn put(&mut self, subject: Subject, attr: Attribute) {
        match subject {
            Subject::Condition => self.cfg.push(attr),
            Subject::Lint => {
                self.code.push(attr.clone());
                self.callable.push(attr);
            }
            Subject::Expectation => {
                // Of the places where an expectation could stand, the lint fires in one at most;
                // the others would be reported as unfulfilled.
                let allow = allowing(attr);
                self.code.push(allow.clone());
                self.callable.push(allow);
            }
            Subject::Face | Subject::Foreign => self.callable.push(attr),
            Subject::Code => self.code.push(attr),
            Subject::Redundant => {}
        }
    }
}

/// `#[tracing::instrument]` above ours has rewritten the body already, and calls its span by this name.
pub(crate) fn instrumented(body: &Block) -> Option<Span> {
    body.stmts.iter().find_map(|statement| match statement {
        Stmt::Local(Local {
            pat: Pat::Ident(pat),
            ..
        }) if pat.ident == "__tracing_attr_span" => Some(pat.ident.span()),
        Stmt::Expr(Expr::Block(block), _) => instrumented(&block.block),
        _ => None,
    })
}

pub(crate) fn cannot_be_instrumented(what: &str) -> String {
    text(
        "D119",
        &format!(
            "{what} cannot be instrumented: it is replayed from its history, and each replay would report again"
        ),
        &[
            "leave it away: the runtime runs each workflow inside of the span `run`, with the fields `run` and `workflow`, and mutes it while it replays",
            "put `#[instrument]` on its activities",
        ],
    )
}

fn subject(attr: &Attribute) -> Subject {
    subject_of(&attr.meta)
}

fn subject_of(meta: &Meta) -> Subject {
    let Some(name) = meta.path().get_ident() else {
        return match meta.path().segments.first() {
            Some(tool) if tool.ident == "clippy" || tool.ident == "rustfmt" => Subject::Face,
            _ => Subject::Foreign,
        };
    };
    match name.to_string().as_str() {
        "cfg" => Subject::Condition,
        "allow" | "warn" | "deny" | "forbid" => Subject::Lint,
        "expect" => Subject::Expectation,
        "must_use" if matches!(meta, Meta::Path(_)) => Subject::Redundant,
        "inline" | "cold" => Subject::Code,
        "doc" | "deprecated" | "must_use" | "track_caller" | "no_mangle" => Subject::Face,
        "cfg_attr" => conditional(meta),
        _ => Subject::Foreign,
    }
}

/// `#[cfg_attr(condition, a, b)]` goes where `a` goes.
fn conditional(meta: &Meta) -> Subject {
    let inner = meta
        .require_list()
        .and_then(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated));
    match inner {
        Ok(inner) => inner.iter().nth(1).map_or(Subject::Face, subject_of),
        Err(_) => Subject::Face,
    }
}

fn allowing(mut attr: Attribute) -> Attribute {
    match &mut attr.meta {
        Meta::List(list) if list.path.is_ident("expect") => rename(&mut list.path),
        Meta::List(list) => {
            // Inside a `cfg_attr`: the first `expect` that is not the condition's.
            let mut renamed = false;
            list.tokens = std::mem::take(&mut list.tokens)
                .into_iter()
                .map(|token| match token {
                    proc_macro2::TokenTree::Ident(ident) if !renamed && ident == "expect" => {
                        renamed = true;
                        proc_macro2::Ident::new("allow", ident.span()).into()
                    }
                    other => other,
                })
                .collect();
        }
        Meta::Path(_) | Meta::NameValue(_) => {}
    }
    attr
}

fn rename(path: &mut syn::Path) {
    if let Some(segment) = path.segments.first_mut() {
        segment.ident = syn::Ident::new("allow", segment.ident.span());
    }
}
