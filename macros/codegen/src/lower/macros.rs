//! Macros in a body. Their tokens are not Rust until they are expanded, which happens after us:
//! where the grammar is known the awaits inside are rewritten, elsewhere an await is an error.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Expr, Macro, Pat, Token};

use super::Lowering;
use super::sites::Scope;
use crate::check::{is_flat, text};
use crate::index::{imported_from, is_own_macro};

/// Macros whose arguments are expressions with commas between them, `name = value` included.
pub(crate) const EXPRESSION_LISTS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "concat",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "event",
    "format",
    "format_args",
    "info",
    "panic",
    "print",
    "println",
    "todo",
    "trace",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Macros of other crates that await in what they expand to, and what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    (
        "join",
        "`perennial::join!`, which does the same and checks its arms",
    ),
    (
        "try_join",
        "`perennial::try_join!`, which does the same and checks its arms",
    ),
    (
        "select",
        "`perennial::select!`, which checks its arms and tries them in the order in which they are written",
    ),
    (
        "select_biased",
        "`perennial::select!`, which checks its arms and tries them in the order in which they are written",
    ),
];

const FOREIGN_CRATES: &[&str] = &[
    "tokio",
    "futures",
    "futures_util",
    "futures_lite",
    "futures_concurrency",
    "async_std",
    "smol",
];

impl Lowering<'_> {
    pub(super) fn lower_macro(&mut self, call: &mut Macro) {
        let Some(name) = call
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string())
        else {
            return;
        };
        if let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name)
            && let Some(from) = foreign_crate(call)
        {
            self.errors.under(
                macro_name(call),
                text(
                    "D115",
                    &format!("a workflow cannot use `{from}::{name}!`: what it waits for cannot be checked"),
                    &[&format!("use {instead}")],
                ),
            );
            return;
        }
        // One's own macro of such a name may be about anything.
        let is_ours = || call.path.get_ident().is_none_or(|name| !is_own_macro(name));
        match name.as_str() {
            "join" | "try_join" if is_ours() => self.lower_join(call),
            "select" if is_ours() => self.lower_select(call),
            // Also without an await in it: `vec![ship(cx, 1), ship(cx, 2)]` names callees.
            known if EXPRESSION_LISTS.contains(&known) && is_flat(&call.tokens) => {}
            known if EXPRESSION_LISTS.contains(&known) => self.lower_list(call),
            _ if !waits(call.tokens.clone()) => {}
            "matches" | "assert_matches" => self.lower_matches(call),
            _ => self.cannot_check(call),
        }
    }

    /// `vec![a.await, b.await]`, `vec![a.await; 3]`
    fn lower_list(&mut self, call: &mut Macro) {
        match List::parse.parse2(call.tokens.clone()) {
            Ok(mut list) => {
                list.items
                    .iter_mut()
                    .for_each(|item| self.visit_expr_mut(item));
                call.tokens = list.into_token_stream();
            }
            Err(_) => self.cannot_check(call),
        }
    }

    /// `matches!(a.await, Some(_) if b)`: only the expression before the comma can wait.
    fn lower_matches(&mut self, call: &mut Macro) {
        let split = |input: ParseStream<'_>| -> syn::Result<(Expr, TokenStream)> {
            Ok((input.parse()?, input.parse()?))
        };
        match split.parse2(call.tokens.clone()) {
            Ok((mut scrutinee, rest)) if !waits(rest.clone()) => {
                self.visit_expr_mut(&mut scrutinee);
                let mut tokens = scrutinee.into_token_stream();
                tokens.extend(rest);
                call.tokens = tokens;
            }
            _ => self.cannot_check(call),
        }
    }

    /// Each arm of `join!` is polled by the macro, so it is checked here like an awaited one.
    fn lower_join(&mut self, call: &mut Macro) {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        // What does not parse is reported by the macro itself.
        if let Ok(mut arms) = parser.parse2(call.tokens.clone()) {
            arms.iter_mut().for_each(|arm| self.check_argument(arm));
            call.tokens = arms.into_token_stream();
        }
    }

    fn lower_select(&mut self, call: &mut Macro) {
        if let Ok(mut arms) = syn::parse2::<SelectArms>(call.tokens.clone()) {
            // All are waited for, and then the code of one of them runs.
            for arm in &mut arms.0 {
                self.check_argument(&mut arm.future);
            }
            let group = self.sites.group();
            for (at, arm) in arms.0.iter_mut().enumerate() {
                self.within(group, Scope::Branch(at), |this| {
                    this.visit_expr_mut(&mut arm.body);
                });
            }
            call.tokens = arms.into_token_stream();
        }
    }

    fn cannot_check(&mut self, call: &Macro) {
        let Some(at) = first_await(call.tokens.clone()) else {
            return;
        };
        let written = path_text(call);
        self.errors.under(
            at,
            text(
                "D116",
                &format!("cannot check this `.await`: `{written}!` may do anything with it"),
                &["await into a variable before the macro"],
            ),
        );
    }
}

/// Several expressions with commas, or one with a count.
pub(crate) struct List {
    pub(crate) items: Vec<Expr>,
    separators: Vec<TokenTree>,
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut list = List {
            items: Vec::new(),
            separators: Vec::new(),
        };
        while !input.is_empty() {
            list.items.push(input.parse()?);
            if input.peek(Token![,]) || input.peek(Token![;]) {
                list.separators.push(input.parse()?);
            } else if !input.is_empty() {
                return Err(input.error("expected `,`"));
            }
        }
        Ok(list)
    }
}

impl ToTokens for List {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let mut separators = self.separators.iter();
        for item in &self.items {
            item.to_tokens(tokens);
            separators.next().to_tokens(tokens);
        }
    }
}

/// `pattern = future => expression,` and so on.
pub(crate) struct SelectArms(pub(crate) Vec<SelectArm>);

pub(crate) struct SelectArm {
    pub(crate) pat: Pat,
    equals: Token![=],
    pub(crate) future: Expr,
    arrow: Token![=>],
    pub(crate) body: Expr,
    comma: Option<Token![,]>,
}

impl Parse for SelectArms {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arms = Vec::new();
        while !input.is_empty() {
            arms.push(SelectArm {
                pat: input.call(Pat::parse_multi_with_leading_vert)?,
                equals: input.parse()?,
                future: input.parse()?,
                arrow: input.parse()?,
                body: arm_body(input)?,
                comma: input.parse()?,
            });
        }
        Ok(SelectArms(arms))
    }
}

/// A block ends its arm, so that what follows it is the next arm and not a call of the block.
fn arm_body(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(syn::token::Brace) {
        let ahead = input.fork();
        let block: syn::ExprBlock = ahead.parse()?;
        if ahead.is_empty()
            || ahead.peek(Token![,])
            || !(ahead.peek(Token![.]) || ahead.peek(Token![?]))
        {
            input.advance_to(&ahead);
            return Ok(Expr::Block(block));
        }
    }
    input.parse()
}

impl ToTokens for SelectArms {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for SelectArm {
            pat,
            equals,
            future,
            arrow,
            body,
            comma,
        } in &self.0
        {
            pat.to_tokens(tokens);
            equals.to_tokens(tokens);
            future.to_tokens(tokens);
            arrow.to_tokens(tokens);
            body.to_tokens(tokens);
            comma.to_tokens(tokens);
        }
    }
}

/// The other crate that a macro is from, by its path or by what the file imports.
fn foreign_crate(call: &Macro) -> Option<String> {
    let is_foreign = |krate: &str| FOREIGN_CRATES.contains(&krate);
    let first = call.path.segments.first()?;
    let from = match call.path.segments.len() {
        1 => imported_from(&first.ident, is_foreign)?,
        _ => first.ident.to_string(),
    };
    is_foreign(&from).then_some(from)
}

/// `tokio::join!`, all tokens of it.
fn macro_name(call: &Macro) -> TokenStream {
    let (path, bang) = (&call.path, &call.bang_token);
    quote!(#path #bang)
}

/// The path as it was written, without the spaces of printed tokens.
fn path_text(call: &Macro) -> String {
    call.path.to_token_stream().to_string().replace(' ', "")
}

/// Whether there is something to rewrite: an await or an async block.
fn waits(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "await" || ident == "async",
        TokenTree::Group(group) => waits(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// `.await`, both tokens.
fn first_await(tokens: TokenStream) -> Option<TokenStream> {
    let mut before: Option<TokenTree> = None;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => {
                if let Some(found) = first_await(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Ident(ident) if ident == "await" => {
                if let Some(TokenTree::Punct(dot)) = &before
                    && dot.as_char() == '.'
                {
                    return Some([before.take(), Some(token)].into_iter().flatten().collect());
                }
            }
            _ => {}
        }
        before = Some(token);
    }
    None
}
