//! `if`, `match`, and the arms of markers.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::token::AndAnd;
use syn::{BinOp, Block, Expr, ExprBinary, ExprIf, ExprMatch, Pat, Stmt};

use super::operations::Value;
use super::walk::Walk;
use super::{Arm, Control, Marker, Node, Numbering, Place, first_span};
use crate::markers::{MarkerCall, marker_call, number};

/// So many arms are made of `_` in a marker's `match` at most.
const MOST_ARMS: u32 = 1_000;

impl Walk<'_> {
    /// `if`, `else if`, `else`, also where an `else` holds nothing but an `if`.
    pub(super) fn chain(&mut self, first: &Expr) -> Value {
        let Expr::If(branch) = first else {
            return self.expr(first);
        };
        if let Some(value) = self.patched(branch) {
            return value;
        }
        if let Some(nested) = self.nested(branch) {
            return self.chain(&Expr::If(nested));
        }
        let place = Place::at(branch.if_token.span);
        let mut arms = Vec::new();
        let mut value = Value::default();
        let mut on_awaited = false;
        let mut next = Some(first);
        while let Some(expr) = next.take() {
            match expr {
                Expr::If(branch) if arms.is_empty() || !self.asks(branch) => {
                    let header = if arms.is_empty() { "if" } else { "else if" };
                    let condition = self.canonical(&branch.cond);
                    let scope = self.variables.len();
                    let (before, tested) = match arms.is_empty() {
                        // It is evaluated always.
                        true => (Vec::new(), self.expr(&branch.cond)),
                        false => {
                            self.frames.push(Vec::new());
                            let tested = self.expr(&branch.cond);
                            (self.frames.pop().unwrap_or_default(), tested)
                        }
                    };
                    on_awaited |= tested.awaited;
                    let mut nodes = before;
                    let mut given = Value::default();
                    nodes.extend(self.branch(on_awaited, |walk| {
                        given = walk.block(&branch.then_branch);
                    }));
                    self.variables.truncate(scope);
                    value = value.and(given);
                    arms.push(Arm {
                        header,
                        nodes,
                        flow: condition,
                        place: self.whole(&branch.cond),
                    });
                    next = branch.else_branch.as_ref().map(|(_, expr)| unnested(expr));
                }
                otherwise => {
                    let mut given = Value::default();
                    let nodes = self.branch(on_awaited, |walk| given = walk.expr(otherwise));
                    value = value.and(given);
                    arms.push(Arm {
                        header: "else",
                        nodes,
                        flow: String::new(),
                        place: Place::at(first_span(otherwise)),
                    });
                }
            }
        }
        self.push(Node::Block(Control {
            arms,
            numbering: Numbering::None,
            place,
            flow: String::new(),
        }));
        value
    }

    /// `if cx.patched("id") { .. } else { .. }`
    fn patched(&mut self, branch: &ExprIf) -> Option<Value> {
        let (form, id, is_negated) = {
            let (marker, is_negated) = self.marker_of(&branch.cond)?;
            if !marker.is_patched {
                return None;
            }
            (form(&marker), marker.id?.value(), is_negated)
        };
        let (mut first, mut second) = (Value::default(), Value::default());
        let on_awaited = self.on_awaited;
        let then = self.branch(on_awaited, |walk| first = walk.block(&branch.then_branch));
        let otherwise = self.branch(on_awaited, |walk| {
            if let Some((_, expr)) = &branch.else_branch {
                second = walk.expr(expr);
            }
        });
        let (old, new) = if is_negated {
            (then, otherwise)
        } else {
            (otherwise, then)
        };
        let place = Place {
            first: first_span(&branch.cond),
            last: last_span(&branch.cond),
        };
        self.version(form, id, vec![(0, old), (1, new)], place);
        Some(first.and(second))
    }

    /// Whether a marker decides in it.
    fn asks(&self, branch: &ExprIf) -> bool {
        self.marker_of(&branch.cond).is_some() || self.nested(branch).is_some()
    }

    /// `if a && cx.patched("b") && c { .. }` as the three `if`s that it is. With an `else` it is none.
    fn nested(&self, branch: &ExprIf) -> Option<ExprIf> {
        if branch.else_branch.is_some() {
            return None;
        }
        let mut conditions = Vec::new();
        between_and(&branch.cond, &mut conditions);
        let is_marker = |condition: &Expr| {
            let marker = self.marker_of(condition);
            marker.is_some_and(|(marker, _)| marker.is_patched && marker.id.is_some())
        };
        let is_marker: Vec<bool> = conditions.iter().map(|one| is_marker(one)).collect();
        if conditions.len() < 2 || !is_marker.contains(&true) {
            return None;
        }
        let nested = |cond: Expr, then_branch: Block| ExprIf {
            attrs: Vec::new(),
            if_token: branch.if_token,
            cond: Box::new(cond),
            then_branch,
            else_branch: None,
        };
        // From the inside: a marker stands alone, and what stands between two of them is one condition.
        let mut pairs = conditions.into_iter().zip(is_marker).rev();
        let (last, mut after_marker) = pairs.next()?;
        let mut inner = nested(last.clone(), branch.then_branch.clone());
        for (condition, is_marker) in pairs {
            if is_marker || after_marker {
                let block = Block {
                    brace_token: branch.then_branch.brace_token,
                    stmts: vec![Stmt::Expr(Expr::If(inner), None)],
                };
                inner = nested(condition.clone(), block);
            } else {
                let right = inner.cond;
                inner.cond = Box::new(Expr::Binary(ExprBinary {
                    attrs: Vec::new(),
                    left: Box::new(condition.clone()),
                    op: BinOp::And(AndAnd(first_span(&right))),
                    right,
                }));
            }
            after_marker = is_marker;
        }
        Some(inner)
    }

    fn version(
        &mut self,
        form: &'static str,
        id: String,
        arms: Vec<(u32, Vec<Node>)>,
        place: Place,
    ) {
        self.markers.push(Marker {
            id: id.clone(),
            arms: arms.iter().map(|(number, _)| *number).collect(),
            place,
        });
        self.push(Node::Version {
            form,
            id,
            arms,
            place,
        });
    }

    /// All of a condition, where that matters.
    fn whole(&self, condition: &Expr) -> Place {
        let first = first_span(condition);
        Place {
            first,
            last: if self.with_flow {
                last_span(condition)
            } else {
                first
            },
        }
    }

    /// The marker that a condition asks for, and whether it is negated.
    fn marker_of<'e>(&self, condition: &'e Expr) -> Option<(MarkerCall<'e>, bool)> {
        match condition {
            Expr::Paren(inner) => self.marker_of(&inner.expr),
            Expr::Group(inner) => self.marker_of(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Not(_)) => {
                let (marker, is_negated) = self.marker_of(&unary.expr)?;
                Some((marker, !is_negated))
            }
            Expr::MethodCall(call) => {
                let marker = marker_call(call, |expr| self.is_context(expr))?;
                Some((marker, false))
            }
            _ => None,
        }
    }

    pub(super) fn matched(&mut self, matched: &ExprMatch) -> Value {
        if let Some(value) = self.versions(matched) {
            return value;
        }
        let place = Place::at(matched.match_token.span);
        let scrutinee = self.expr(&matched.expr);
        let flow = self.canonical(&matched.expr);
        let mut value = Value::default();
        let mut arms = Vec::new();
        for arm in &matched.arms {
            let mut given = Value::default();
            let mut pattern = String::new();
            let nodes = self.branch(scrutinee.awaited, |walk| {
                pattern = walk.bind_arm(&arm.pat, &scrutinee, &flow);
                given = walk.expr(&arm.body);
            });
            value = value.and(given);
            arms.push(Arm {
                header: "match",
                nodes,
                flow: pattern,
                place: Place::at(arm.pat.span()),
            });
        }
        self.push(Node::Block(Control {
            arms,
            numbering: Numbering::Shown,
            place,
            flow,
        }));
        value
    }

    /// Binds what an arm's pattern takes apart, and gives the text of pattern and guard.
    fn bind_arm(&mut self, pat: &Pat, scrutinee: &Value, origin: &str) -> String {
        let Pat::Guard(guarded) = pat else {
            self.bind(pat, scrutinee, origin);
            return self.canonical_pattern(pat);
        };
        self.bind(&guarded.pat, scrutinee, origin);
        self.expr(&guarded.guard);
        format!(
            "{} if {}",
            self.canonical_pattern(&guarded.pat),
            self.canonical(&guarded.guard)
        )
    }

    /// `match cx.version("id", 0..=2) { 0 => .., 1 | 2 => .. }`
    fn versions(&mut self, matched: &ExprMatch) -> Option<Value> {
        let (form, id, range) = {
            let (marker, _) = self.marker_of(&matched.expr)?;
            if marker.is_patched {
                return None;
            }
            (form(&marker), marker.id?.value(), marker.range)
        };
        let mut found: Vec<(u32, Vec<Node>)> = Vec::new();
        let mut value = Value::default();
        let on_awaited = self.on_awaited;
        for arm in &matched.arms {
            let mut numbers = numbers(&arm.pat);
            if numbers.is_empty()
                && let Some((low, high)) = range
            {
                // `_`, or a name: what is left.
                let taken = |number: &u32| found.iter().any(|(known, _)| known == number);
                numbers = (low..=high.min(low.saturating_add(MOST_ARMS)))
                    .filter(|number| !taken(number))
                    .collect();
            }
            let mut given = Value::default();
            let nodes = self.branch(on_awaited, |walk| given = walk.expr(&arm.body));
            value = value.and(given);
            for number in numbers {
                if found.iter().all(|(known, _)| *known != number) {
                    found.push((number, nodes.clone()));
                }
            }
        }
        found.sort_by_key(|(number, _)| *number);
        let place = Place {
            first: first_span(&matched.expr),
            last: last_span(&matched.expr),
        };
        self.version(form, id, found, place);
        Some(value)
    }
}

fn form(marker: &MarkerCall<'_>) -> &'static str {
    if marker.each {
        "version_each"
    } else {
        "version"
    }
}

/// The numbers of a pattern: `1 | 2`.
fn numbers(pat: &Pat) -> Vec<u32> {
    match pat {
        Pat::Lit(literal) => number(&Expr::Lit(literal.clone())).into_iter().collect(),
        Pat::Or(or) => or.cases.iter().flat_map(numbers).collect(),
        Pat::Paren(inner) => numbers(&inner.pat),
        _ => Vec::new(),
    }
}

/// What stands between `&&`, through parentheses.
fn between_and<'e>(condition: &'e Expr, found: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Paren(inner) => between_and(&inner.expr, found),
        Expr::Group(inner) => between_and(&inner.expr, found),
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
            between_and(&both.left, found);
            between_and(&both.right, found);
        }
        other => found.push(other),
    }
}

/// `{ if .. }` as the `if` in it.
fn unnested(expr: &Expr) -> &Expr {
    match expr {
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.as_slice() {
            [Stmt::Expr(inner @ Expr::If(_), None)] => inner,
            _ => expr,
        },
        _ => expr,
    }
}

/// Where the last token stands.
fn last_span(expr: &Expr) -> Span {
    let last = expr.to_token_stream().into_iter().last();
    last.map_or_else(|| first_span(expr), |token| token.span())
}
