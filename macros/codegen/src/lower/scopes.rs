//! What encloses a place of the source: what follows it, and what does not.

use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprMethodCall};

use super::Lowering;
use super::sites::{Asks, Scope};

impl Lowering<'_> {
    /// Visits the parts of an expression, each within what encloses it.
    pub(super) fn visit_scopes(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(branch) => {
                self.visit_expr_mut(&mut branch.cond);
                let group = self.sites.group();
                self.within(group, Scope::Branch(0), |this| {
                    this.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.within(group, Scope::Branch(1), |this| {
                        this.visit_expr_mut(otherwise)
                    });
                }
            }
            Expr::Match(branch) => {
                self.visit_expr_mut(&mut branch.expr);
                let group = self.sites.group();
                for (at, arm) in branch.arms.iter_mut().enumerate() {
                    self.within(group, Scope::Branch(at), |this| this.visit_arm_mut(arm));
                }
            }
            Expr::Binary(both) if matches!(both.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.visit_expr_mut(&mut both.left);
                let group = self.sites.group();
                self.within(group, Scope::Branch(0), |this| {
                    this.visit_expr_mut(&mut both.right)
                });
            }
            Expr::Loop(_) => self.whole(Scope::Endless, expr),
            Expr::While(_) => self.whole(Scope::Loop, expr),
            Expr::ForLoop(for_loop) => {
                self.visit_expr_mut(&mut for_loop.expr);
                let group = self.sites.group();
                self.within(group, Scope::Loop, |this| {
                    this.visit_block_mut(&mut for_loop.body)
                });
            }
            Expr::Closure(_) => self.whole(Scope::Closure, expr),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn whole(&mut self, scope: Scope, expr: &mut Expr) {
        let group = self.sites.group();
        self.within(group, scope, |this| visit_mut::visit_expr_mut(this, expr));
    }

    pub(super) fn within(&mut self, group: usize, scope: Scope, visit: impl FnOnce(&mut Self)) {
        self.sites.enter(group, scope);
        visit(self);
        self.sites.leave();
    }

    /// A draw or a recorded value waits for nothing, and has a place of its own all the same.
    pub(super) fn note_draw(&mut self, call: &ExprMethodCall) {
        if !self.labels.is_context(&call.receiver) {
            return;
        }
        let what = match (&*call.method.to_string(), call.args.first()) {
            ("random" | "random_range", _) => "random draw".to_owned(),
            ("uuid", None) => "uuid".to_owned(),
            ("record", Some(Expr::Lit(name))) => match &name.lit {
                syn::Lit::Str(name) => {
                    format!("recorded value \"{}\"", name.value().escape_debug())
                }
                _ => return,
            },
            _ => return,
        };
        let label = call.method.to_string();
        self.sites.add(label, Asks::For(what), call.method.span());
    }
}
