//! `#[allow_nondeterminism(clock, reason = "..")]`: read, used, and replaced by what the runtime needs.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Expr, LitStr, Meta, Stmt, Token, parse_quote, parse_quote_spanned};

use super::{Check, rules, text};
use crate::errors::Errors;
use crate::parse::Body;
use crate::suggest::closest;

pub(crate) const NAME: &str = "allow_nondeterminism";

/// The categories that an opt-out names, and whether anything was found of them.
#[derive(Debug)]
pub(super) struct OptOut {
    categories: Vec<Category>,
}

#[derive(Debug)]
struct Category {
    written: Ident,
    used: bool,
}

impl OptOut {
    /// Whether it allows `category`, which it then has been needed for.
    pub(super) fn covers(&mut self, category: &str) -> bool {
        let mut covered = false;
        for known in &mut self.categories {
            if known.written == category {
                known.used = true;
                covered = true;
            }
        }
        covered
    }
}

pub(crate) fn is_opt_out(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|last| last.ident == NAME)
}

impl Check<'_> {
    /// Takes the opt-outs out of `attrs` and enters them. Returns how many.
    pub(super) fn enter_opt_outs(&mut self, attrs: Option<&mut Vec<Attribute>>) -> usize {
        let Some(attrs) = attrs.filter(|attrs| attrs.iter().any(is_opt_out)) else {
            return 0;
        };
        let mut count = 0;
        for attr in attrs.extract_if(.., |attr| is_opt_out(attr)) {
            let opt_out = self.read(&attr);
            self.opt_outs.push(opt_out);
            count += 1;
        }
        self.rewritten = true;
        count
    }

    /// Leaves them, and reports what was not needed.
    pub(super) fn leave_opt_outs(&mut self, count: usize) {
        for opt_out in self.opt_outs.split_off(self.opt_outs.len() - count) {
            if !self.names.file_is_known() {
                // So something may be that is not seen.
                continue;
            }
            for Category { written, .. } in opt_out.categories.iter().filter(|known| !known.used) {
                let wrong = format!("nothing here is `{written}`: remove this");
                let help = "if a function that is called here does it, put `#[durable]` on that function, and this inside of it";
                self.errors
                    .at(written.span(), text("D121", &wrong, &[help]));
            }
        }
    }

    fn read(&mut self, attr: &Attribute) -> OptOut {
        let mut opt_out = OptOut {
            categories: Vec::new(),
        };
        let form = "write `#[allow_nondeterminism(clock, reason = \"only for a log line\")]`";
        let Meta::List(list) = &attr.meta else {
            let wrong = "an opt-out says what it allows, and why that does no harm";
            self.errors.under(attr, text("D120", wrong, &[form]));
            return opt_out;
        };
        let mut reason = None;
        let parts = |input: ParseStream<'_>| Punctuated::<Part, Token![,]>::parse_terminated(input);
        match list.parse_args_with(parts) {
            Ok(parts) => {
                for part in parts {
                    match part {
                        Part::Category(written) => self.category(&mut opt_out, written),
                        Part::Reason(text) => reason = Some(text),
                    }
                }
            }
            Err(error) => {
                let wrong = format!("this opt-out is not complete: {error}");
                self.errors.at(error.span(), text("D120", &wrong, &[form]));
                return opt_out;
            }
        }
        match reason {
            None => {
                let wrong = "an opt-out says why it does no harm";
                let help = match opt_out.categories.first() {
                    Some(Category { written, .. }) => {
                        format!("write `#[allow_nondeterminism({written}, reason = \"..\")]`")
                    }
                    None => form.to_owned(),
                };
                self.errors.under(attr, text("D120", wrong, &[&help]));
            }
            Some(reason) if reason.value().trim().is_empty() => {
                let wrong = "the reason of an opt-out cannot be empty";
                let help = "say why this does no harm, to those who read it later";
                self.errors.at(reason.span(), text("D120", wrong, &[help]));
            }
            Some(_)
                if opt_out.categories.is_empty()
                    && list.tokens.to_string().starts_with("reason") =>
            {
                let wrong = "an opt-out says what it allows";
                self.errors
                    .under(attr, text("D120", wrong, &[&known_categories()]));
            }
            Some(_) => {}
        }
        opt_out
    }

    fn category(&mut self, opt_out: &mut OptOut, written: Ident) {
        let known: Vec<&str> = rules().iter().filter_map(|rule| rule.category).collect();
        let name = written.unraw().to_string();
        if opt_out
            .categories
            .iter()
            .any(|other| other.written == written)
        {
            let wrong = format!("`{name}` is given twice");
            self.errors.at(
                written.span(),
                text("D120", &wrong, &["remove one of them"]),
            );
        } else if known.contains(&name.as_str()) {
            opt_out.categories.push(Category {
                written,
                used: false,
            });
        } else {
            let wrong = format!("there is no category `{name}`");
            let list = known_categories();
            let help = match closest(&name, &known) {
                Some(meant) => format!("did you mean `{meant}`? {list}"),
                None => list,
            };
            self.errors
                .at(written.span(), text("D120", &wrong, &[&help]));
        }
    }

    /// An opt-out in a place where nothing can be put around.
    pub(super) fn misplaced(&mut self, attr: &mut Attribute) {
        misplaced(attr, self.errors);
        // Something in its place that may stand there.
        attr.meta = parse_quote!(allow(clippy::disallowed_methods));
        self.rewritten = true;
    }

    /// Takes opt-outs away from where they cannot be.
    pub(super) fn without_opt_outs(&mut self, attrs: &mut Vec<Attribute>) {
        for attr in attrs.extract_if(.., |attr| is_opt_out(attr)) {
            misplaced(&attr, self.errors);
        }
    }

    /// Whether an opt-out around this place has allowed more than `before`.
    pub(super) fn allows_since(&self, before: usize) -> bool {
        self.allowed > before && !self.opt_outs.is_empty()
    }

    /// What is in a closure happens when it is called, and then it is inside of the opt-out.
    pub(super) fn allowed_closure(&self, closure: &mut syn::ExprClosure) {
        let body = self.allowed(&closure.body);
        *closure.body = match closure.output {
            syn::ReturnType::Default => body,
            // Behind a type there has to be a block.
            syn::ReturnType::Type(..) => parse_quote!({ #body }),
        };
    }

    /// Likewise what is in an `async` block, when it is polled.
    pub(super) fn allowed_block(&self, block: &mut syn::Block) {
        let inside = Expr::Block(syn::ExprBlock {
            attrs: Vec::new(),
            label: None,
            block: block.clone(),
        });
        block.stmts = vec![Stmt::Expr(self.allowed(&inside), None)];
    }

    /// `expr`, with the runtime told that it is inside of an opt-out.
    ///
    /// An arm of a `match` may have attributes, which an expression may not, and its type is expected to
    /// be what is expected of the whole.
    pub(super) fn allowed(&self, expr: &Expr) -> Expr {
        match expr {
            // It is told inside of these, and the types of a closure's parameters follow from where it stands.
            Expr::Closure(_) | Expr::Async(_) => return expr.clone(),
            // What `&text()` borrows lives until the end of the statement, and not of the arm.
            Expr::Reference(reference) if is_value(&reference.expr) => {
                let mut reference = reference.clone();
                *reference.expr = self.allowed(&reference.expr);
                return Expr::Reference(reference);
            }
            Expr::Paren(paren) => {
                let mut paren = paren.clone();
                *paren.expr = self.allowed(&paren.expr);
                return Expr::Paren(paren);
            }
            _ => {}
        }
        let (enter, lints, guard) = (self.enter(), lints(), guard());
        // What rustc says of the whole, it says of the user's code.
        let span = Span::mixed_site().located_at(expr.span());
        parse_quote_spanned!(span=> match #enter { #lints #guard => #expr })
    }

    /// `expr`, which makes what is recorded. `cx.record` tells the runtime; clippy is told here.
    pub(super) fn recorded(&mut self, expr: &Expr) -> Expr {
        self.rewritten = true;
        let lints = lints();
        parse_quote!(match () { #lints () => #expr })
    }

    /// A statement in an opt-out, in its block: its variables stay.
    pub(super) fn allowed_statement(&self, stmt: Stmt, is_last: bool) -> Vec<Stmt> {
        let (enter, lints, guard) = (self.enter(), lints(), guard());
        match stmt {
            Stmt::Expr(expr, None) if is_last => vec![Stmt::Expr(self.allowed(&expr), None)],
            // Inside of its own braces it may be an assignment, before which attributes cannot stand.
            Stmt::Expr(..) => {
                vec![parse_quote!({ let #guard = #enter; #lints { #stmt } })]
            }
            Stmt::Item(_) => vec![stmt],
            Stmt::Local(_) | Stmt::Macro(_) => {
                let mut stmt = stmt;
                match &mut stmt {
                    Stmt::Local(local) => local.attrs.push(lints),
                    Stmt::Macro(call) => call.attrs.push(lints),
                    Stmt::Expr(..) | Stmt::Item(_) => {}
                }
                // Not in a block: what it declares is used after it.
                vec![
                    parse_quote!(let #guard = #enter;),
                    stmt,
                    parse_quote!(#[allow(unreachable_code)] ::core::mem::drop(#guard);),
                ]
            }
        }
    }

    fn enter(&self) -> Expr {
        let krate = self.krate;
        parse_quote!(#krate::__private::Allowed::enter())
    }
}

/// Whether it makes a value, and does not name a place.
fn is_value(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Array(_)
            | Expr::Await(_)
            | Expr::Binary(_)
            | Expr::Call(_)
            | Expr::Macro(_)
            | Expr::MethodCall(_)
            | Expr::Reference(_)
            | Expr::Struct(_)
            | Expr::Try(_)
            | Expr::Tuple(_)
    )
}

/// The name that holds the opt-out open. User code cannot see it.
fn guard() -> Ident {
    Ident::new("__allowed", Span::mixed_site())
}

/// What clippy would say of the same code.
fn lints() -> Attribute {
    parse_quote! {
        #[allow(clippy::disallowed_methods, clippy::disallowed_macros, clippy::iter_over_hash_type)]
    }
}

fn known_categories() -> String {
    let all: Vec<String> = rules()
        .iter()
        .filter_map(|rule| Some(format!("`{}`", rule.category?)))
        .collect();
    format!("the categories are {}", all.join(", "))
}

/// Reports an opt-out in a place where it cannot stand.
pub(crate) fn misplaced(attr: &Attribute, errors: &mut Errors) {
    let wrong = "an opt-out cannot stand here";
    let help = "put it on a statement, a block or an expression in the body of the function";
    errors.under(attr, text("D120", wrong, &[help]));
}

/// An opt-out that no function with an attribute of ours has taken: `item`, and an error.
pub(crate) fn outside_of_a_function(item: TokenStream) -> TokenStream {
    let wrong = "an opt-out stands inside of a function with `#[workflow]` or `#[durable]`";
    let help = "remove it: nothing is checked here";
    let mut errors = Errors::default();
    errors.at(Span::call_site(), text("D120", wrong, &[help]));
    let mut tokens = item;
    tokens.extend(errors.into_tokens());
    tokens
}

/// Takes the opt-outs out of the body of an activity, which may do all that they allow.
pub(crate) fn not_needed_in(body: &mut Body, errors: &mut Errors) {
    struct Search(bool);
    impl Visit<'_> for Search {
        fn visit_attribute(&mut self, attr: &Attribute) {
            self.0 |= is_opt_out(attr);
        }
    }
    let Body::Parsed(block) = body else {
        return;
    };
    let mut search = Search(false);
    search.visit_block(block);
    if search.0 {
        let stripped = stripped(block.to_token_stream(), errors);
        if let Ok(parsed) = syn::parse2(stripped) {
            *block = parsed;
        }
    }
}

/// `tokens` without opt-outs, each of which is reported.
fn stripped(tokens: TokenStream, errors: &mut Errors) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = &token else {
            kept.push(token);
            continue;
        };
        let is_attribute = group.delimiter() == Delimiter::Bracket
            && matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#')
            && names_opt_out(group.stream());
        if is_attribute {
            let hash = kept.pop();
            let wrong = "an activity needs no opt-out: it may do all that a workflow may not";
            errors.under(quote!(#hash #token), text("D120", wrong, &["remove it"]));
        } else {
            let mut inside = Group::new(group.delimiter(), stripped(group.stream(), errors));
            inside.set_span(group.span());
            kept.push(inside.into());
        }
    }
    kept.into_iter().collect()
}

/// `path::allow_nondeterminism(..)`
fn names_opt_out(attr: TokenStream) -> bool {
    attr.into_iter()
        .take_while(|token| !matches!(token, TokenTree::Group(_)))
        .any(|token| matches!(token, TokenTree::Ident(ident) if ident == NAME))
}

enum Part {
    Category(Ident),
    Reason(LitStr),
}

impl syn::parse::Parse for Part {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.call(Ident::parse_any)?;
        if word == "reason" {
            input.parse::<Token![=]>()?;
            Ok(Part::Reason(input.parse()?))
        } else {
            Ok(Part::Category(word))
        }
    }
}
