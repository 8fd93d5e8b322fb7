//! The walk over a body: what is in sight where, and which check sees which expression.

use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, Expr, ExprMethodCall, FnArg, Item, Pat, Signature, Stmt, Type, UseTree,
};

use super::rules::Kind;
use super::table;
use super::variables::Ty;
use super::{Check, attrs, opt_out};
use crate::names::{Name, Scope};

/// A nested function with one of these is looked at on its own, or is no part of the workflow.
const ON_ITS_OWN: &[&str] = &["activity", "durable", "workflow", "test"];

impl Check<'_> {
    /// A whole function: its parameters and its body.
    pub(super) fn function(&mut self, sig: &Signature, block: &mut Block) {
        let outer = std::mem::take(&mut self.variables);
        for argument in &sig.inputs {
            if let FnArg::Typed(argument) = argument {
                self.bind(&argument.pat, Some(&argument.ty), None);
            }
        }
        self.returns_unordered = self.gives_unordered(&sig.output);
        self.visit_block_mut(block);
        self.variables = outer;
    }

    fn statement(&mut self, stmt: &mut Stmt, next: Option<&Stmt>) {
        match stmt {
            Stmt::Local(local) => {
                self.note_collected(local, next);
                self.visit_local_mut(local);
            }
            Stmt::Macro(call) => self.a_macro(&mut call.mac),
            Stmt::Expr(expr, _) => self.visit_expr_mut(expr),
            Stmt::Item(item) => self.visit_item_mut(item),
        }
    }

    /// Something with variables of its own.
    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        let begin = self.variables.begin();
        visit(self);
        self.variables.end(begin);
    }

    fn method_call(&mut self, call: &mut ExprMethodCall) {
        let method = call.method.to_string();
        self.note_order_free(call, &method);
        let before = self.found;
        self.visit_expr_mut(&mut call.receiver);
        // One error is enough for `Instant::now().elapsed()`.
        if !self.is_reported(&call.receiver, self.found > before) {
            self.denied_method(call, &method);
            self.hash_method(call, &method);
            self.static_method(call, &method);
        }
        let records = method == "record" && self.is_context(&call.receiver);
        for (index, argument) in call.args.iter_mut().enumerate() {
            let outer = self.recording;
            let recorded = records && index == 1;
            self.recording |= recorded;
            self.visit_expr_mut(argument);
            self.recording = outer;
            if recorded {
                *argument = self.recorded(argument);
            }
        }
    }

    fn denied_method(&mut self, call: &ExprMethodCall, name: &str) {
        for entry in table::methods(name) {
            let is_it = match entry.denied.kind {
                Kind::TraitMethod => self.imports_trait(entry.denied.of),
                _ => self.type_of_expr(&call.receiver) == Some(Ty::Known(entry.denied.of)),
            };
            if is_it {
                let (receiver, dot, method) = (&call.receiver, &call.dot_token, &call.method);
                let of = entry.denied.of.rsplit("::").next().unwrap_or_default();
                self.report_entry(
                    *entry,
                    quote::quote!(#receiver #dot #method),
                    &format!("`{of}::{method}`"),
                );
                return;
            }
        }
    }

    fn imports_trait(&self, path: &str) -> bool {
        let module = path.rsplit_once("::").map_or(path, |(module, _)| module);
        let krate = path.split("::").next().unwrap_or(path);
        let prelude = format!("{krate}::prelude");
        let by_prelude = format!("{prelude}::{}", path.rsplit("::").next().unwrap_or(path));
        self.names.imports(path, &[module, &prelude]) || self.names.imports(&by_prelude, &[])
    }

    fn is_context(&self, expr: &Expr) -> bool {
        match (expr, self.context) {
            (Expr::Path(path), Some(context)) => path.path.is_ident(context),
            (Expr::Paren(paren), _) => self.is_context(&paren.expr),
            _ => false,
        }
    }
}

impl VisitMut for Check<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let declared = declared(&block.stmts);
        let has_names = !(declared.names.is_empty() && declared.globs.is_empty());
        if has_names {
            self.names.enter(declared);
        }
        let returns_unordered = std::mem::take(&mut self.returns_unordered);
        self.nested(|check| {
            let mut at = 0;
            while at < block.stmts.len() {
                let (before, after) = block.stmts.split_at_mut(at + 1);
                let stmt = &mut before[at];
                let opt_outs = check.enter_opt_outs(statement_attrs(stmt));
                if returns_unordered && after.is_empty() {
                    check.note_returned(stmt);
                }
                check.statement(stmt, after.first());
                check.leave_opt_outs(opt_outs);
                if opt_outs > 0 {
                    let is_last = after.is_empty();
                    let stmt = block.stmts.remove(at);
                    let allowed = check.allowed_statement(stmt, is_last);
                    let count = allowed.len();
                    block.stmts.splice(at..at, allowed);
                    at += count;
                } else {
                    at += 1;
                }
            }
        });
        if has_names {
            self.names.leave();
        }
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        let before = self.found;
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        let init = local.init.as_ref().map(|init| &*init.expr);
        if init.is_some_and(|init| self.is_reported(init, self.found > before)) {
            // Both ends of a channel, say.
            self.variables.bind(&local.pat, Some(Ty::Reported));
        } else {
            self.bind(&local.pat, None, init);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Let(condition) = expr {
            // Nothing can be put around it: it is a condition with variables, and no value.
            self.without_opt_outs(&mut condition.attrs);
        }
        let opt_outs = self.enter_opt_outs(attrs::of(expr));
        match expr {
            Expr::Path(path) => self.expr_path(path),
            Expr::Lit(_) | Expr::Infer(_) | Expr::Continue(_) | Expr::Verbatim(_) => {}
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Call(call) => {
                self.hash_call(call);
                visit_mut::visit_expr_call_mut(self, call);
            }
            Expr::Await(awaited) => {
                let before = self.found;
                self.visit_expr_mut(&mut awaited.base);
                if self.is_reported(&awaited.base, self.found > before) {
                    // It has been said that it cannot be used: that it is not durable follows from that.
                    *expr = Expr::Verbatim(quote::quote!(#awaited));
                }
            }
            Expr::Macro(call) => self.a_macro(&mut call.mac),
            Expr::Cast(cast) => {
                self.cast(cast);
                self.visit_expr_mut(&mut cast.expr);
            }
            Expr::Closure(closure) => {
                let before = self.allowed;
                self.nested(|check| {
                    for pat in &closure.inputs {
                        check.bind(pat, None, None);
                    }
                    check.visit_expr_mut(&mut closure.body);
                });
                if self.allows_since(before) {
                    self.allowed_closure(closure);
                }
            }
            Expr::Async(block) => {
                let before = self.allowed;
                self.visit_block_mut(&mut block.block);
                if self.allows_since(before) {
                    self.allowed_block(&mut block.block);
                }
            }
            Expr::ForLoop(looped) => {
                self.visit_expr_mut(&mut looped.expr);
                self.taken_apart(&looped.expr);
                self.nested(|check| {
                    check.bind(&looped.pat, None, None);
                    check.visit_block_mut(&mut looped.body);
                });
            }
            Expr::If(branch) => {
                self.nested(|check| {
                    check.visit_expr_mut(&mut branch.cond);
                    check.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(looped) => self.nested(|check| {
                check.visit_expr_mut(&mut looped.cond);
                check.visit_block_mut(&mut looped.body);
            }),
            Expr::Let(bound) => {
                self.visit_expr_mut(&mut bound.expr);
                self.bind(&bound.pat, None, None);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        self.leave_opt_outs(opt_outs);
        if opt_outs > 0 {
            *expr = self.allowed(expr);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let opt_outs = self.enter_opt_outs(Some(&mut arm.attrs));
        self.nested(|check| {
            if let Pat::Guard(guarded) = &mut arm.pat {
                check.variables.bind(&guarded.pat, None);
                check.visit_expr_mut(&mut guarded.guard);
                if opt_outs > 0 {
                    *guarded.guard = check.allowed(&guarded.guard);
                }
            } else {
                check.variables.bind(&arm.pat, None);
            }
            check.visit_expr_mut(&mut arm.body);
            if opt_outs > 0 {
                *arm.body = check.allowed(&arm.body);
            }
        });
        self.leave_opt_outs(opt_outs);
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        let opt_outs = self.enter_opt_outs(Some(&mut field.attrs));
        self.visit_expr_mut(&mut field.expr);
        self.leave_opt_outs(opt_outs);
        if opt_outs > 0 {
            field.expr = self.allowed(&field.expr);
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        let attrs = match item {
            Item::Fn(item) => &mut item.attrs,
            Item::Impl(item) => &mut item.attrs,
            Item::Const(item) => &mut item.attrs,
            Item::Struct(item) => &mut item.attrs,
            Item::Enum(item) => &mut item.attrs,
            Item::ExternCrate(item) => &mut item.attrs,
            Item::Macro(item) => &mut item.attrs,
            Item::Mod(item) => &mut item.attrs,
            Item::Trait(item) => &mut item.attrs,
            Item::Type(item) => &mut item.attrs,
            Item::Union(item) => &mut item.attrs,
            Item::Use(item) => &mut item.attrs,
            Item::Static(item) => return self.item_static(item),
            _ => return,
        };
        attrs
            .iter_mut()
            .for_each(|attr| self.visit_attribute_mut(attr));
        let is_on_its_own = attrs.iter().any(|attr| {
            let last = attr.path().segments.last();
            last.is_some_and(|last| ON_ITS_OWN.iter().any(|name| last.ident == name))
        });
        match item {
            Item::Macro(item) => self.search(item.mac.tokens.clone()),
            Item::Fn(item) if !is_on_its_own => self.function(&item.sig, &mut item.block),
            Item::Impl(item) => {
                for item in &mut item.items {
                    if let syn::ImplItem::Fn(function) = item
                        && !function
                            .attrs
                            .iter()
                            .any(|attr| attr.path().is_ident("durable"))
                    {
                        self.function(&function.sig, &mut function.block);
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_attribute_mut(&mut self, attr: &mut Attribute) {
        if opt_out::is_opt_out(attr) {
            self.misplaced(attr);
        }
    }

    // Types are data, and what a pattern compares with is a constant.
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}

fn statement_attrs(stmt: &mut Stmt) -> Option<&mut Vec<Attribute>> {
    match stmt {
        Stmt::Local(local) => Some(&mut local.attrs),
        Stmt::Macro(call) => Some(&mut call.attrs),
        Stmt::Expr(expr, _) => attrs::of_statement(expr),
        Stmt::Item(Item::Static(item)) => Some(&mut item.attrs),
        Stmt::Item(_) => None,
    }
}

/// What a block declares and imports, in any order.
fn declared(stmts: &[Stmt]) -> Scope {
    let mut scope = Scope::default();
    for stmt in stmts {
        let Stmt::Item(item) = stmt else {
            continue;
        };
        let ident = match item {
            Item::Use(item) => {
                let root = if item.leading_colon.is_some() {
                    "::"
                } else {
                    ""
                };
                imported(&item.tree, root, &mut scope);
                continue;
            }
            Item::Type(item) => {
                let alias = match &*item.ty {
                    Type::Path(path) if path.qself.is_none() => {
                        Name::Path(super::paths::text(&path.path))
                    }
                    _ => Name::Declared,
                };
                scope.declare(&item.ident.to_string(), alias);
                continue;
            }
            Item::Fn(item) => &item.sig.ident,
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Mod(item) => &item.ident,
            Item::Macro(item) => match &item.ident {
                Some(ident) => ident,
                None => continue,
            },
            _ => continue,
        };
        scope.declare(&ident.to_string(), Name::Declared);
    }
    scope
}

fn imported(tree: &UseTree, before: &str, scope: &mut Scope) {
    let joined = |name: &syn::Ident| {
        if before.is_empty() || before == "::" {
            format!("{before}{name}")
        } else if name == "self" {
            before.to_owned()
        } else {
            format!("{before}::{name}")
        }
    };
    match tree {
        UseTree::Path(path) => imported(&path.tree, &joined(&path.ident), scope),
        UseTree::Name(name) => {
            let full = joined(&name.ident);
            let last = full.rsplit("::").next().unwrap_or(&full).to_owned();
            scope.declare(&last, Name::Path(full));
        }
        UseTree::Rename(rename) => scope.declare(
            &rename.rename.to_string(),
            Name::Path(joined(&rename.ident)),
        ),
        UseTree::Glob(_) => scope.globs.push(before.to_owned()),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| imported(item, before, scope)),
    }
}
