//! Where in a source something can be changed: in the functions with `#[workflow]` and `#[durable]`, and in the
//! `join!`s and `select!`s of them.

use std::ops::Range;

use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Lit, Pat, Stmt, Token};

/// The places of a source, each kind in the order of the source.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The statements of each block.
    pub(super) blocks: Vec<Vec<Statement>>,
    /// All of `work.await`, and the `work` of it.
    pub(super) awaits: Vec<(Range<usize>, Range<usize>)>,
    /// The names of functions that are called with the context.
    pub(super) calls: Vec<(Range<usize>, String)>,
    /// The conditions of `if` and `while`.
    pub(super) conditions: Vec<Range<usize>>,
    pub(super) numbers: Vec<(Range<usize>, u64)>,
    /// The parts of each `join!` and `select!`, and the arms of each `match`.
    pub(super) lists: Vec<Vec<Range<usize>>>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) place: Range<usize>,
    pub(super) is_let: bool,
    /// The value of its block.
    pub(super) is_tail: bool,
}

impl Places {
    pub(super) fn of(file: &syn::File) -> Self {
        let mut places = Self::default();
        for item in &file.items {
            if let syn::Item::Fn(function) = item
                && is_durable(function)
            {
                places.visit_block(&function.block);
            }
        }
        places
    }
}

fn is_durable(function: &syn::ItemFn) -> bool {
    function.attrs.iter().any(|attribute| {
        attribute.path().is_ident("workflow") || attribute.path().is_ident("durable")
    })
}

fn place(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

impl<'ast> Visit<'ast> for Places {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        let statements = block.stmts.iter();
        let statements = statements.map(|statement| Statement {
            place: place(statement),
            is_let: matches!(statement, Stmt::Local(_)),
            is_tail: matches!(statement, Stmt::Expr(expr, None) if !is_block_like(expr))
                || matches!(statement, Stmt::Macro(of) if of.semi_token.is_none()),
        });
        self.blocks.push(statements.collect());
        visit::visit_block(self, block);
    }

    fn visit_expr_await(&mut self, awaited: &'ast syn::ExprAwait) {
        self.awaits.push((place(awaited), place(&awaited.base)));
        visit::visit_expr_await(self, awaited);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && matches!(call.args.first(), Some(Expr::Path(cx)) if cx.path.is_ident("cx"))
        {
            self.calls.push((place(path), name.to_string()));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_if(&mut self, of: &'ast syn::ExprIf) {
        self.condition(&of.cond);
        visit::visit_expr_if(self, of);
    }

    fn visit_expr_while(&mut self, of: &'ast syn::ExprWhile) {
        self.condition(&of.cond);
        visit::visit_expr_while(self, of);
    }

    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        self.lists.push(of.arms.iter().map(place).collect());
        visit::visit_expr_match(self, of);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        // A replay does not run the closure: what is changed there is harmless, and nothing here can tell.
        if call.method != "record" {
            visit::visit_expr_method_call(self, call);
        }
    }

    fn visit_expr_lit(&mut self, of: &'ast syn::ExprLit) {
        if let Lit::Int(number) = &of.lit
            && let Ok(value) = number.base10_parse()
        {
            self.numbers.push((place(number), value));
        }
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        let tokens = of.tokens.clone();
        if of.path.is_ident("join") || of.path.is_ident("try_join") {
            let parts = Punctuated::<Expr, Token![,]>::parse_terminated;
            if let Ok(parts) = parts.parse2(tokens) {
                self.lists.push(parts.iter().map(place).collect());
                for part in &parts {
                    self.visit_expr(part);
                }
            }
        } else if of.path.is_ident("select")
            && let Ok(Arms(arms)) = syn::parse2(tokens)
        {
            self.lists
                .push(arms.iter().map(|arm| arm.place.clone()).collect());
            for arm in &arms {
                self.visit_expr(&arm.future);
                self.visit_expr(&arm.code);
            }
        }
    }
}

impl Places {
    /// `if let` and `while let` have no opposite.
    fn condition(&mut self, condition: &Expr) {
        let mut lets = Lets(false);
        lets.visit_expr(condition);
        if !lets.0 {
            self.conditions.push(place(condition));
        }
    }
}

/// Whether there is a `let` in a condition.
struct Lets(bool);

impl<'ast> Visit<'ast> for Lets {
    fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
        self.0 = true;
    }
}

/// What is a statement without a semicolon.
fn is_block_like(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Block(_)
            | Expr::ForLoop(_)
            | Expr::If(_)
            | Expr::Loop(_)
            | Expr::Match(_)
            | Expr::While(_)
    )
}

/// The arms of a `select!`.
struct Arms(Vec<Arm>);

struct Arm {
    place: Range<usize>,
    future: Expr,
    code: Expr,
}

impl Parse for Arms {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arms = Vec::new();
        while !input.is_empty() {
            let pattern = Pat::parse_single(input)?;
            input.parse::<Token![=]>()?;
            let future = input.parse()?;
            input.parse::<Token![=>]>()?;
            let code: Expr = input.parse()?;
            let mut end = place(&code).end;
            if input.peek(Token![,]) {
                let comma: Token![,] = input.parse()?;
                end = place(&comma).end;
            }
            arms.push(Arm {
                place: place(&pattern).start..end,
                future,
                code,
            });
        }
        Ok(Self(arms))
    }
}
