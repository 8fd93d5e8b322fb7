//! Calls: where futures are made, and where the context decides.

use syn::ext::IdentExt;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::operations::{
    COLLECTING, DECISIONS, FULFILLING, HARMLESS, LISTENING, NAMED, OFFER, Operation, SENDING, SET,
    STUB, Value, constant, is_join_all, last_segment, literal_text,
};
use super::walk::Walk;
use super::{Arm, Control, Node, Numbering, Place, first_span};
use crate::lower::{Made, made_with_context};
use crate::markers::marker_call;

/// What is said of a set whose members go on when it is dropped.
const DETACH: &str = "Detach";

/// Behind a wait that has a time limit.
const LIMITED: &str = " timeout";

impl Walk<'_> {
    /// What an arm that is driven by something else does: an `async` block around all of it says nothing.
    pub(super) fn driven(&mut self, arm: &Expr) -> Vec<Node> {
        let (mut nodes, value) = self.apart(|walk| walk.expr(arm));
        let mut taken = self.unwrapped(&value);
        if value.held.is_empty() {
            taken.push(Node::Step {
                label: self.nameless(arm),
                place: Place::at(first_span(arm)),
            });
        }
        nodes.append(&mut taken);
        nodes
    }

    pub(super) fn call(&mut self, call: &ExprCall) -> Value {
        let place = Place::at(first_span(&call.func));
        if self.hands_over_context(call.args.iter()) {
            self.exprs(&call.args);
            let made = made_with_context(call);
            if made == Some(Made::Mailbox) {
                let stub = call.args.get(1).and_then(|stub| self.function_label(stub));
                let stub = stub.unwrap_or_else(|| "closure".to_owned());
                let stub = stub.strip_prefix(STUB).unwrap_or(&stub);
                self.step(format!("mailbox {stub}"), place);
                return Value::default();
            }
            if made == Some(Made::Set)
                && last_segment(&call.func).is_some_and(|name| name == "named")
            {
                let name = call.args.get(1);
                let name = literal_text(name).or_else(|| constant(name));
                let label = name.map_or_else(|| "set".to_owned(), |name| format!("{SET} {name}"));
                self.step(label, place);
                return Value::default();
            }
            // Something that is given the context for later: `JoinSet::new(cx)`.
            if made.is_some() || last_segment(&call.func).is_some_and(|name| name == "new") {
                return Value::default();
            }
            let label = match self.variable_of(&call.func) {
                Some(_) => None,
                None => self.function_label(&call.func),
            };
            return self.make_step(label.unwrap_or_else(|| "closure".to_owned()), place);
        }
        if is_join_all(call) {
            let (mut nodes, value) = self.apart(|walk| walk.exprs(&call.args));
            // What making them takes comes first.
            let made = nodes.iter().all(|node| matches!(node, Node::Made(_)));
            if !made {
                for node in std::mem::take(&mut nodes) {
                    self.push(node);
                }
            }
            let nodes = self.take(&value.held, None);
            let arm = Arm {
                header: "join_all",
                nodes,
                flow: String::new(),
                place,
            };
            let node = Node::Block(Control {
                arms: vec![arm],
                numbering: Numbering::All,
                place,
                flow: String::new(),
            });
            return self.make(vec![node], place);
        }
        let function = self.expr(&call.func).inside();
        let arguments = self.exprs(&call.args);
        function.and(arguments.inside())
    }

    pub(super) fn method_call(&mut self, call: &ExprMethodCall) -> Value {
        let place = Place {
            first: first_span(&call.receiver),
            last: call.method.span(),
        };
        let method = call.method.unraw().to_string();
        if let Some(marker) = marker_call(call, |expr| self.is_context(expr)) {
            // Where its arms cannot be seen: that is an error of its own.
            let label = match marker.id {
                Some(id) => format!("marker {:?}", id.value()),
                None => "marker".to_owned(),
            };
            self.step(label, place);
            return Value::default();
        }
        if self.is_context(&call.receiver) {
            return self.context_call(call, &method, place);
        }
        let receiver = self.expr(&call.receiver);
        if method == "on_close"
            && call.args.first().and_then(last_segment).as_deref() == Some(DETACH)
        {
            self.detach();
        }
        if self.hands_over_context(call.args.iter()) {
            self.exprs(&call.args);
            return self.make_step(method, Place::at(call.method.span()));
        }
        if method == "submit" && call.args.len() == 1 {
            let work = &call.args[0];
            let (nodes, value) = self.apart(|walk| walk.expr(work));
            if !value.held.is_empty() {
                for node in nodes {
                    self.push(node);
                }
                let nodes = self.unwrapped(&value);
                self.driven_by("submit", nodes, Place::at(call.method.span()));
                return Value::default();
            }
            for node in nodes {
                self.push(node);
            }
            return receiver;
        }
        if method == "timeout" {
            self.limit(&receiver);
        }
        if method == "open"
            && call.args.is_empty()
            && let Some(offer) = self.open(&receiver, place)
        {
            return offer;
        }
        let arguments = self.exprs(&call.args);
        if COLLECTING.contains(&method.as_str())
            && let Some(name) = self.name_of(&call.receiver)
        {
            self.hold(&name, &arguments.clone().inside());
        }
        receiver.and(arguments.inside())
    }

    /// A wait for what the run is told gets a time limit, which is an operation more. That of an activity is none.
    fn limit(&mut self, value: &Value) {
        let is_listening = |label: &str| {
            if label.starts_with(STUB) || label.starts_with(OFFER) {
                return true;
            }
            let method = label
                .strip_prefix("cx.")
                .and_then(|rest| rest.split(' ').next());
            method.is_some_and(|method| LISTENING.contains(&method))
        };
        for operation in &value.held {
            for node in &mut self.operations[*operation].nodes {
                if let Node::Step { label, .. } = node
                    && is_listening(label)
                    && !label.ends_with(LIMITED)
                {
                    label.push_str(LIMITED);
                }
            }
        }
    }

    /// The set that was named last lets its members go on when it is dropped.
    fn detach(&mut self) {
        if let Some(Node::Step { label, .. }) = self.last()
            && label.starts_with(SET)
        {
            label.push_str(" detach");
        }
    }

    /// A stub is offered there, and its result is waited for later.
    fn open(&mut self, value: &Value, place: Place) -> Option<Value> {
        let [operation] = value.held.as_slice() else {
            return None;
        };
        let [Node::Step { label, .. }] = self.operations[*operation].nodes.as_slice() else {
            return None;
        };
        let stub = label.strip_prefix(STUB)?.to_owned();
        self.operations[*operation].is_used = true;
        self.step(format!("{STUB}{stub}"), place);
        Some(self.make_waiter(format!("{OFFER}{stub}"), place))
    }

    /// What these futures do, without an `async` block around all of it.
    fn unwrapped(&mut self, value: &Value) -> Vec<Node> {
        let mut nodes = self.take(&value.held, None);
        if let [Node::Block(control)] = nodes.as_mut_slice()
            && let [arm] = control.arms.as_mut_slice()
            && arm.header == "async"
        {
            return std::mem::take(&mut arm.nodes);
        }
        nodes
    }

    /// Something begins that runs beside.
    fn driven_by(&mut self, header: &'static str, nodes: Vec<Node>, place: Place) {
        let arm = Arm {
            header,
            nodes,
            flow: String::new(),
            place,
        };
        self.push(Node::Block(Control {
            arms: vec![arm],
            numbering: Numbering::None,
            place,
            flow: String::new(),
        }));
    }

    fn context_call(&mut self, call: &ExprMethodCall, method: &str, place: Place) -> Value {
        if HARMLESS.contains(&method) {
            self.exprs(&call.args);
            return Value::default();
        }
        let mut label = format!("cx.{method}");
        if let Some(text) = literal_text(call.args.first()) {
            label = format!("{label} {text}");
        }
        if NAMED.contains(&method)
            && let Some(name) = constant(call.args.first())
        {
            label = format!("{label} {name}");
        }
        if SENDING.contains(&method)
            && let Some(name) = constant(call.args.iter().nth(1))
        {
            label = format!("{label} {name}");
        }
        if method == FULFILLING
            && let Some(stub) = call.args.iter().nth(1)
            && let Some(stub) = self.function_label(stub)
        {
            label = format!("{label} {}", stub.strip_prefix(STUB).unwrap_or(&stub));
        }
        if method == "record" {
            // What it records is made once and by pure code.
            self.step(label, place);
            return Value::default();
        }
        if method == "spawn" {
            let (nodes, value) = self.apart(|walk| walk.exprs(&call.args));
            for node in nodes {
                self.push(node);
            }
            let nodes = self.unwrapped(&value);
            self.driven_by("cx.spawn", nodes, place);
            return self.make_task(place);
        }
        self.exprs(&call.args);
        if DECISIONS.contains(&method) {
            self.step(label, place);
            return Value::default();
        }
        self.make_step(label, place)
    }

    /// What waits for a spawned task; to leave it alone is nothing that shows.
    fn make_task(&mut self, place: Place) -> Value {
        self.make_waiter("task".to_owned(), place)
    }

    fn make_waiter(&mut self, label: String, place: Place) -> Value {
        let operation = self.operations.len();
        self.operations.push(Operation {
            nodes: vec![Node::Step { label, place }],
            is_used: true,
            place,
        });
        Value::holding(operation)
    }
}
