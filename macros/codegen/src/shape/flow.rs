//! Conditions in a form that does not depend on how they are written: without places, comments and the names of
//! variables. A variable stands for what it was made of.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, Lit, Pat};

use super::operations::{last_segment, literal_text};
use super::walk::Walk;

/// A longer text is replaced by its hash.
const LONGEST: usize = 160;

/// FNV-1a, which is the same in every version of every tool.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn shortened(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    format!("#{:016x}", hash(&text))
}

impl Walk<'_> {
    /// The text of a condition.
    pub(super) fn canonical(&self, expr: &Expr) -> String {
        if !self.with_flow {
            return String::new();
        }
        let mut text = String::new();
        self.write(expr, &mut text);
        shortened(text)
    }

    fn write(&self, expr: &Expr, text: &mut String) {
        match expr {
            Expr::Paren(inner) => self.write(&inner.expr, text),
            Expr::Group(inner) => self.write(&inner.expr, text),
            Expr::Reference(inner) => self.write(&inner.expr, text),
            Expr::Await(awaited) => {
                text.push_str("await ");
                text.push_str(&self.awaited_label(&awaited.base));
            }
            Expr::Try(tried) => {
                self.write(&tried.expr, text);
                text.push('?');
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => text.push_str(&self.origin(&name.unraw().to_string())),
                None => {
                    let mut last = path.path.segments.iter().rev().take(2);
                    let name = last.next().map(|segment| segment.ident.unraw().to_string());
                    if let Some(before) = last.next() {
                        text.push_str(&before.ident.unraw().to_string());
                        text.push_str("::");
                    }
                    text.push_str(&name.unwrap_or_default());
                }
            },
            Expr::Lit(literal) => text.push_str(&match &literal.lit {
                Lit::Int(number) => format!("{}{}", number.base10_digits(), number.suffix()),
                Lit::Float(number) => format!("{}{}", number.base10_digits(), number.suffix()),
                other => other.to_token_stream().to_string(),
            }),
            Expr::Binary(binary) => {
                text.push('(');
                self.write(&binary.left, text);
                text.push_str(&binary.op.to_token_stream().to_string());
                self.write(&binary.right, text);
                text.push(')');
            }
            Expr::Unary(unary) => {
                text.push_str(&unary.op.to_token_stream().to_string());
                self.write(&unary.expr, text);
            }
            Expr::Field(field) => {
                self.write(&field.base, text);
                text.push('.');
                text.push_str(&field.member.to_token_stream().to_string());
            }
            Expr::MethodCall(call) if self.is_durable_method(call) => {
                text.push_str(&self.awaited_label(expr));
            }
            Expr::MethodCall(call) => {
                self.write(&call.receiver, text);
                text.push('.');
                text.push_str(&call.method.unraw().to_string());
                self.write_list(call.args.iter(), text);
            }
            Expr::Call(call) if self.hands_over_context(call.args.iter()) => {
                text.push_str(&self.awaited_label(expr));
            }
            Expr::Call(call) => {
                match last_segment(&call.func) {
                    Some(name) => text.push_str(&name),
                    None => self.write(&call.func, text),
                }
                self.write_list(call.args.iter(), text);
            }
            Expr::Let(condition) => {
                text.push_str("let ");
                self.write_pattern(&condition.pat, text);
                text.push('=');
                self.write(&condition.expr, text);
            }
            Expr::Tuple(tuple) => self.write_list(tuple.elems.iter(), text),
            Expr::Index(index) => {
                self.write(&index.expr, text);
                self.write_list(std::iter::once(&*index.index), text);
            }
            Expr::Cast(cast) => {
                self.write(&cast.expr, text);
                text.push_str(" as ");
                self.write_tokens(cast.ty.to_token_stream(), text);
            }
            Expr::Range(range) => {
                for (index, end) in [&range.start, &range.end].into_iter().enumerate() {
                    if index == 1 {
                        text.push_str(&range.limits.to_token_stream().to_string());
                    }
                    if let Some(end) = end {
                        self.write(end, text);
                    }
                }
            }
            other => {
                let tokens = other.to_token_stream();
                if self.mentions_context(tokens.clone()) {
                    // What it waits for is in the lines, and its arguments are nobody's business.
                    text.push_str("..");
                } else {
                    self.write_tokens(tokens, text);
                }
            }
        }
    }

    fn write_list<'e>(&self, exprs: impl Iterator<Item = &'e Expr>, text: &mut String) {
        text.push('(');
        for (index, expr) in exprs.enumerate() {
            if index > 0 {
                text.push(',');
            }
            self.write(expr, text);
        }
        text.push(')');
    }

    /// The text of a pattern, without the names that it binds.
    pub(super) fn canonical_pattern(&self, pat: &Pat) -> String {
        if !self.with_flow {
            return String::new();
        }
        let mut text = String::new();
        self.write_pattern(pat, &mut text);
        shortened(text)
    }

    fn write_pattern(&self, pat: &Pat, text: &mut String) {
        let bound = names_in(pat);
        write_tokens(
            pat.to_token_stream(),
            &|name| {
                bound
                    .iter()
                    .any(|bound| bound == name)
                    .then(|| "_".to_owned())
            },
            text,
        );
    }

    /// What is not looked into: as it is written, but for the names of variables.
    fn write_tokens(&self, tokens: TokenStream, text: &mut String) {
        write_tokens(tokens, &|name| self.known_origin(name), text);
    }

    /// What is awaited, without its arguments.
    fn awaited_label(&self, expr: &Expr) -> String {
        match expr {
            Expr::Paren(inner) => self.awaited_label(&inner.expr),
            Expr::Group(inner) => self.awaited_label(&inner.expr),
            Expr::Reference(inner) => self.awaited_label(&inner.expr),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.origin(&name.unraw().to_string()),
                None => String::new(),
            },
            Expr::MethodCall(call) if self.is_context(&call.receiver) => {
                let text = literal_text(call.args.first()).unwrap_or_default();
                format!("cx.{} {text}", call.method.unraw())
            }
            Expr::MethodCall(call) if self.hands_over_context(call.args.iter()) => {
                call.method.unraw().to_string()
            }
            Expr::MethodCall(builder) => self.awaited_label(&builder.receiver),
            Expr::Call(call) if self.hands_over_context(call.args.iter()) => {
                self.function_label(&call.func).unwrap_or_default()
            }
            Expr::Call(call) => {
                let inside = call.args.first().map(|inner| self.awaited_label(inner));
                inside.unwrap_or_default()
            }
            Expr::Async(_) => "async".to_owned(),
            _ => String::new(),
        }
    }
}

fn write_tokens(tokens: TokenStream, replaced: &dyn Fn(&str) -> Option<String>, text: &mut String) {
    let mut after_word = false;
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let is_last = index + 1 == tokens.len();
        let is_field = index > 0
            && matches!(&tokens[index - 1], TokenTree::Punct(dot) if dot.as_char() == '.');
        let is_word = !matches!(token, TokenTree::Group(_) | TokenTree::Punct(_));
        if is_word && after_word {
            text.push(' ');
        }
        match token {
            TokenTree::Ident(name) => {
                let name = name.unraw().to_string();
                let new = if is_field { None } else { replaced(&name) };
                text.push_str(&new.unwrap_or(name));
            }
            TokenTree::Punct(comma) if comma.as_char() == ',' && is_last => {}
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            TokenTree::Literal(literal) => text.push_str(&literal.to_string()),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write_tokens(group.stream(), replaced, text);
                text.push_str(close);
            }
        }
        after_word = is_word;
    }
}

/// The names that a pattern binds, in order. A capital begins a constant or a variant.
pub(super) fn names_in(pat: &Pat) -> Vec<String> {
    struct Bound(Vec<String>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            let name = pat.ident.unraw().to_string();
            let is_bound = !name.starts_with(char::is_uppercase) || pat.subpat.is_some();
            if is_bound {
                self.0.push(name);
            }
            visit::visit_pat_ident(self, pat);
        }

        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bound = Bound(Vec::new());
    bound.visit_pat(pat);
    bound.0
}
