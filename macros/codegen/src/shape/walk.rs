//! The walk over a body, in the order of evaluation.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Lifetime, Local, Pat, Signature, Stmt};

use super::operations::{Operation, Value};
use super::variables::Variable;
use super::{
    Arm, Control, Marker, Node, Numbering, Place, Shape, Surroundings, Weight, first_span,
};

pub(super) fn walk(
    signature: &Signature,
    body: &Block,
    context: Option<&Ident>,
    surroundings: &Surroundings<'_>,
    with_flow: bool,
) -> Shape {
    let context = context.map(|name| name.unraw().to_string());
    let mut walk = Walk {
        surroundings,
        with_flow,
        context: context.clone(),
        frames: vec![Vec::new()],
        operations: Vec::new(),
        variables: Vec::new(),
        loops: Vec::new(),
        on_awaited: false,
        markers: Vec::new(),
        left: MOST_NODES,
    };
    for (index, input) in signature.inputs.iter().enumerate() {
        if let FnArg::Typed(input) = input {
            let origin = format!("input{index}");
            walk.bind(&input.pat, &Value::default(), &origin);
        }
    }
    if let Some(context) = &context {
        walk.declare(context.clone(), Value::default(), String::new(), true);
    }
    walk.block(body);
    let nodes = walk.frames.pop().unwrap_or_default();
    Shape {
        nodes: walk.resolved(nodes),
        context,
        name: signature.ident.span(),
        markers: walk.markers,
    }
}

/// One function that is being looked at.
pub(super) struct Walk<'a> {
    pub(super) surroundings: &'a Surroundings<'a>,
    /// What the function calls its context.
    pub(super) context: Option<String>,
    /// Conditions are looked at too.
    pub(super) with_flow: bool,
    /// What has been found in the blocks around, the nearest last.
    pub(super) frames: Vec<Vec<Node>>,
    pub(super) operations: Vec<Operation>,
    pub(super) variables: Vec<Variable>,
    /// The loops around, with their labels.
    loops: Vec<Option<String>>,
    /// The branch is taken because of what was awaited.
    pub(super) on_awaited: bool,
    pub(super) markers: Vec<Marker>,
    /// So many nodes of futures may still be shown where those are waited for.
    left: usize,
}

impl Walk<'_> {
    pub(super) fn push(&mut self, node: Node) {
        if let Some(frame) = self.frames.last_mut() {
            frame.push(node);
        }
    }

    /// What was pushed last.
    pub(super) fn last(&mut self) -> Option<&mut Node> {
        self.frames.last_mut()?.last_mut()
    }

    pub(super) fn step(&mut self, label: String, place: Place) {
        self.push(Node::Step { label, place });
    }

    /// What is found in it, in a frame and a scope of its own.
    pub(super) fn apart<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> (Vec<Node>, T) {
        self.frames.push(Vec::new());
        let scope = self.variables.len();
        let result = look(self);
        self.variables.truncate(scope);
        (self.frames.pop().unwrap_or_default(), result)
    }

    /// Control flow with one arm.
    pub(super) fn single(
        &mut self,
        header: &'static str,
        nodes: Vec<Node>,
        flow: String,
        place: Place,
    ) {
        self.push(Node::Block(Control {
            arms: vec![Arm {
                header,
                nodes,
                flow: String::new(),
                place,
            }],
            numbering: Numbering::None,
            place,
            flow,
        }));
    }

    /// A future is made.
    pub(super) fn make(&mut self, nodes: Vec<Node>, place: Place) -> Value {
        let operation = self.operations.len();
        self.operations.push(Operation {
            nodes,
            is_used: false,
            place,
        });
        self.push(Node::Made(operation));
        Value::holding(operation)
    }

    pub(super) fn make_step(&mut self, label: String, place: Place) -> Value {
        self.make(vec![Node::Step { label, place }], place)
    }

    /// What happens when these futures are waited for at `place`.
    pub(super) fn take(&mut self, held: &[usize], place: Option<Place>) -> Vec<Node> {
        let mut nodes = Vec::new();
        for operation in held {
            let operation = &mut self.operations[*operation];
            operation.is_used = true;
            // Variables in variables in variables may be very many nodes.
            let size = size(&operation.nodes);
            if size <= self.left {
                self.left -= size;
                nodes.extend(operation.nodes.iter().cloned());
            }
        }
        if let Some(place) = place {
            for node in &mut nodes {
                if let Node::Step { place: at, .. } = node {
                    *at = place;
                }
            }
        }
        nodes
    }

    // Statements

    /// The value of a block.
    pub(super) fn block(&mut self, block: &Block) -> Value {
        let scope = self.variables.len();
        let mut value = Value::default();
        for stmt in &block.stmts {
            value = match stmt {
                Stmt::Local(local) => {
                    self.local(local);
                    Value::default()
                }
                Stmt::Expr(expr, None) => self.expr(expr),
                Stmt::Expr(expr, Some(_)) => {
                    self.expr(expr);
                    Value::default()
                }
                Stmt::Macro(call) => {
                    let value = self.macro_call(&call.mac);
                    match call.semi_token {
                        Some(_) => Value::default(),
                        None => value,
                    }
                }
                // A function inside is one of its own.
                Stmt::Item(_) => Value::default(),
            };
        }
        self.variables.truncate(scope);
        value
    }

    fn local(&mut self, local: &Local) {
        let Some(init) = &local.init else {
            self.bind(&local.pat, &Value::default(), "_");
            return;
        };
        if let (Pat::Ident(pat), true) = (&local.pat, self.is_context_value(&init.expr)) {
            self.declare(
                pat.ident.unraw().to_string(),
                Value::default(),
                String::new(),
                true,
            );
            return;
        }
        if let (Pat::Tuple(pats), Expr::Tuple(exprs)) = (&local.pat, &*init.expr)
            && pats.elems.len() == exprs.elems.len()
        {
            let values: Vec<_> = exprs
                .elems
                .iter()
                .map(|expr| (self.expr(expr), self.canonical(expr)))
                .collect();
            for (pat, (value, origin)) in pats.elems.iter().zip(values) {
                self.bind(pat, &value, &origin);
            }
            return;
        }
        let value = self.expr(&init.expr);
        let origin = self.canonical(&init.expr);
        if let Some((_, otherwise)) = &init.diverge {
            let nodes = self.branch(value.awaited, |walk| {
                walk.expr(otherwise);
            });
            let pattern = self.canonical_pattern(&local.pat);
            self.single(
                "let else",
                nodes,
                format!("let {pattern}={origin}"),
                Place::at(local.let_token.span),
            );
        }
        self.bind(&local.pat, &value, &origin);
    }

    fn is_context_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Reference(inner) => self.is_context(&inner.expr),
            other => self.is_context(other),
        }
    }

    /// What is found in a branch.
    pub(super) fn branch(&mut self, on_awaited: bool, look: impl FnOnce(&mut Self)) -> Vec<Node> {
        let outer = std::mem::replace(&mut self.on_awaited, on_awaited);
        let (nodes, ()) = self.apart(look);
        self.on_awaited = outer;
        nodes
    }

    // Expressions

    pub(super) fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Value {
        exprs
            .into_iter()
            .fold(Value::default(), |value, expr| value.and(self.expr(expr)))
    }

    /// Looks at an expression in the order of its evaluation.
    pub(super) fn expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Paren(inner) => self.expr(&inner.expr),
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Reference(inner) => self.expr(&inner.expr),
            Expr::Unary(inner) => self.expr(&inner.expr),
            Expr::Cast(inner) => self.expr(&inner.expr),
            Expr::Field(inner) => self.expr(&inner.base),
            Expr::Path(_) => match self.variable_of(expr) {
                Some(variable) => variable.value.clone(),
                None => Value::default(),
            },
            Expr::Lit(_) => Value::default(),
            Expr::Await(awaited) => self.awaited(awaited),
            Expr::Try(tried) => self.tried(tried),
            Expr::Async(block) => {
                let loops = std::mem::take(&mut self.loops);
                let nodes = self.branch(false, |walk| {
                    walk.block(&block.block);
                });
                self.loops = loops;
                let place = Place::at(block.async_token.span);
                let arm = Arm {
                    header: "async",
                    nodes,
                    flow: String::new(),
                    place,
                };
                let node = Node::Block(Control {
                    arms: vec![arm],
                    numbering: Numbering::None,
                    place,
                    flow: String::new(),
                });
                self.make(vec![node], place)
            }
            Expr::Closure(closure) => {
                let loops = std::mem::take(&mut self.loops);
                let outer = std::mem::replace(&mut self.on_awaited, false);
                let (nodes, value) = self.apart(|walk| {
                    for (index, input) in closure.inputs.iter().enumerate() {
                        walk.bind(input, &Value::default(), &format!("argument{index}"));
                    }
                    walk.expr(&closure.body)
                });
                self.on_awaited = outer;
                self.loops = loops;
                let place = Place::at(first_span(&closure.body));
                self.single("closure", nodes, String::new(), place);
                value.inside()
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Macro(call) => self.macro_call(&call.mac),
            Expr::Block(block) => {
                let label = block.label.as_ref().map(|label| &label.name);
                self.in_loop(label, label.is_some(), |walk| walk.block(&block.block))
            }
            Expr::Unsafe(block) => self.block(&block.block),
            Expr::If(_) => self.chain(expr),
            Expr::Match(matched) => self.matched(matched),
            Expr::Let(condition) => {
                let value = self.expr(&condition.expr);
                let origin = self.canonical(&condition.expr);
                self.bind(&condition.pat, &value, &origin);
                value
            }
            Expr::Loop(looped) => {
                let label = looped.label.as_ref().map(|label| &label.name);
                let nodes = self.in_loop(label, true, |walk| {
                    walk.branch(false, |walk| {
                        walk.block(&looped.body);
                    })
                });
                self.single(
                    "loop",
                    nodes,
                    String::new(),
                    Place::at(looped.loop_token.span),
                );
                Value::default()
            }
            Expr::While(looped) => {
                let label = looped.label.as_ref().map(|label| &label.name);
                let flow = self.canonical(&looped.cond);
                let nodes = self.in_loop(label, true, |walk| {
                    walk.branch(false, |walk| {
                        walk.expr(&looped.cond);
                        walk.block(&looped.body);
                    })
                });
                self.single("while", nodes, flow, Place::at(looped.while_token.span));
                Value::default()
            }
            Expr::ForLoop(looped) => {
                let label = looped.label.as_ref().map(|label| &label.name);
                let value = self.expr(&looped.expr);
                let flow = self.canonical(&looped.expr);
                let nodes = self.in_loop(label, true, |walk| {
                    walk.branch(false, |walk| {
                        walk.bind(&looped.pat, &value, &format!("{flow}[]"));
                        walk.block(&looped.body);
                    })
                });
                self.single("for", nodes, flow, Place::at(looped.for_token.span));
                Value::default()
            }
            Expr::Binary(binary) => {
                use syn::BinOp;
                let left = self.expr(&binary.left);
                let header = match &binary.op {
                    BinOp::And(_) => "&&",
                    BinOp::Or(_) => "||",
                    _ => return left.and(self.expr(&binary.right)),
                };
                // What is bound by a `let` among them can be seen behind it.
                self.frames.push(Vec::new());
                let right = self.expr(&binary.right);
                let nodes = self.frames.pop().unwrap_or_default();
                let place = Place::at(first_span(&binary.right));
                self.single(header, nodes, String::new(), place);
                left.and(right)
            }
            Expr::Assign(assign) => {
                let value = self.expr(&assign.right);
                if let Some(name) = self.name_of(&assign.left) {
                    self.hold(&name, &value);
                } else {
                    self.expr(&assign.left);
                }
                Value::default()
            }
            Expr::Return(leave) => {
                let value = leave.expr.as_ref().map(|expr| self.expr(expr));
                self.exit(
                    "return".to_owned(),
                    value,
                    Place::at(leave.return_token.span),
                );
                Value::default()
            }
            Expr::Break(leave) => {
                let value = leave.expr.as_ref().map(|expr| self.expr(expr));
                let label = self.crossing("break", leave.label.as_ref());
                self.exit(label, value, Place::at(leave.break_token.span));
                Value::default()
            }
            Expr::Continue(leave) => {
                let label = self.crossing("continue", leave.label.as_ref());
                self.exit(label, None, Place::at(leave.continue_token.span));
                Value::default()
            }
            Expr::Array(array) => self.exprs(&array.elems).inside(),
            Expr::Tuple(tuple) => self.exprs(&tuple.elems).inside(),
            Expr::Struct(literal) => {
                let fields = literal.fields.iter().map(|field| &field.expr);
                self.exprs(fields.chain(literal.rest.as_deref())).inside()
            }
            other => {
                let mut parts = Parts(Vec::new());
                visit::visit_expr(&mut parts, other);
                let parts = parts.0;
                self.exprs(parts).inside()
            }
        }
    }

    pub(super) fn name_of(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(path) => Some(path.path.get_ident()?.unraw().to_string()),
            Expr::Paren(inner) => self.name_of(&inner.expr),
            Expr::Group(inner) => self.name_of(&inner.expr),
            _ => None,
        }
    }

    /// A variable holds these futures too.
    pub(super) fn hold(&mut self, name: &str, value: &Value) {
        let known = self
            .variables
            .iter_mut()
            .rev()
            .find(|known| known.name == name);
        if let Some(variable) = known {
            variable.value.hold(&value.held);
            variable.value.awaited |= value.awaited;
        }
    }

    fn awaited(&mut self, awaited: &syn::ExprAwait) -> Value {
        let value = self.expr(&awaited.base);
        let place = Place {
            first: first_span(&awaited.base),
            last: awaited.await_token.span,
        };
        if value.held.is_empty() {
            let label = self.nameless(&awaited.base);
            self.step(label, place);
        } else {
            for node in self.take(&value.held, Some(place)) {
                self.push(node);
            }
        }
        Value::awaited()
    }

    fn tried(&mut self, tried: &syn::ExprTry) -> Value {
        let value = self.expr(&tried.expr);
        let weight = match value.awaited {
            true => Weight::Hard,
            false => Weight::Pure,
        };
        let flow = match weight {
            Weight::Pure => self.canonical(&tried.expr),
            _ => String::new(),
        };
        self.push(Node::Exit {
            label: "?".to_owned(),
            weight,
            place: Place {
                first: first_span(&tried.expr),
                last: tried.question_token.spans[0],
            },
            flow,
        });
        value.inside()
    }

    fn exit(&mut self, label: String, value: Option<Value>, place: Place) {
        let is_hard = self.on_awaited || value.is_some_and(|value| value.awaited);
        self.push(Node::Exit {
            label,
            weight: if is_hard { Weight::Hard } else { Weight::Soft },
            place,
            flow: String::new(),
        });
    }

    fn in_loop<T>(
        &mut self,
        label: Option<&Lifetime>,
        is_loop: bool,
        look: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if !is_loop {
            return look(self);
        }
        self.loops.push(label.map(|label| label.ident.to_string()));
        let result = look(self);
        self.loops.pop();
        result
    }

    /// `break 2` leaves two loops.
    fn crossing(&self, word: &str, label: Option<&Lifetime>) -> String {
        let count = label.and_then(|label| {
            let name = label.ident.to_string();
            let at = self
                .loops
                .iter()
                .rposition(|known| known.as_ref() == Some(&name))?;
            Some(self.loops.len() - at)
        });
        match count {
            None | Some(1) => word.to_owned(),
            Some(count) => format!("{word} {count}"),
        }
    }
}

/// So many nodes of futures are shown where those are waited for.
const MOST_NODES: usize = 100_000;

fn size(nodes: &[Node]) -> usize {
    let inside = |node: &Node| match node {
        Node::Block(control) => control.arms.iter().map(|arm| size(&arm.nodes)).sum(),
        Node::Version { arms, .. } => arms.iter().map(|(_, nodes)| size(nodes)).sum(),
        Node::Step { .. } | Node::Exit { .. } | Node::Made(_) => 0,
    };
    nodes.iter().map(|node| 1 + inside(node)).sum()
}

/// The expressions directly inside of another one.
struct Parts<'a>(Vec<&'a Expr>);

impl<'a> Visit<'a> for Parts<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0.push(expr);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}
