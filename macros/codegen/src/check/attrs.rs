//! The attributes of an expression, whichever it is.

use syn::{Attribute, Expr};

/// Its attributes; `None` where it has no place for them.
pub(super) fn of(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    Some(match expr {
        Expr::Array(expr) => &mut expr.attrs,
        Expr::Assign(expr) => &mut expr.attrs,
        Expr::Async(expr) => &mut expr.attrs,
        Expr::Await(expr) => &mut expr.attrs,
        Expr::Binary(expr) => &mut expr.attrs,
        Expr::Block(expr) => &mut expr.attrs,
        Expr::Break(expr) => &mut expr.attrs,
        Expr::Call(expr) => &mut expr.attrs,
        Expr::Cast(expr) => &mut expr.attrs,
        Expr::Closure(expr) => &mut expr.attrs,
        Expr::Const(expr) => &mut expr.attrs,
        Expr::Continue(expr) => &mut expr.attrs,
        Expr::Field(expr) => &mut expr.attrs,
        Expr::ForLoop(expr) => &mut expr.attrs,
        Expr::Group(expr) => &mut expr.attrs,
        Expr::If(expr) => &mut expr.attrs,
        Expr::Index(expr) => &mut expr.attrs,
        Expr::Infer(expr) => &mut expr.attrs,
        Expr::Let(expr) => &mut expr.attrs,
        Expr::Lit(expr) => &mut expr.attrs,
        Expr::Loop(expr) => &mut expr.attrs,
        Expr::Macro(expr) => &mut expr.attrs,
        Expr::Match(expr) => &mut expr.attrs,
        Expr::MethodCall(expr) => &mut expr.attrs,
        Expr::Paren(expr) => &mut expr.attrs,
        Expr::Path(expr) => &mut expr.attrs,
        Expr::Range(expr) => &mut expr.attrs,
        Expr::RawAddr(expr) => &mut expr.attrs,
        Expr::Reference(expr) => &mut expr.attrs,
        Expr::Repeat(expr) => &mut expr.attrs,
        Expr::Return(expr) => &mut expr.attrs,
        Expr::Struct(expr) => &mut expr.attrs,
        Expr::Try(expr) => &mut expr.attrs,
        Expr::TryBlock(expr) => &mut expr.attrs,
        Expr::Tuple(expr) => &mut expr.attrs,
        Expr::Unary(expr) => &mut expr.attrs,
        Expr::Unsafe(expr) => &mut expr.attrs,
        Expr::While(expr) => &mut expr.attrs,
        Expr::Yield(expr) => &mut expr.attrs,
        _ => return None,
    })
}

/// The attributes in front of a statement: the parser gives them to the leftmost operand.
pub(super) fn of_statement(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    match expr {
        Expr::Assign(expr) => of_statement(&mut expr.left),
        Expr::Binary(expr) => of_statement(&mut expr.left),
        Expr::Cast(expr) => of_statement(&mut expr.expr),
        expr => of(expr),
    }
}
