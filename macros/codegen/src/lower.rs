//! The body, rewritten so that a workflow waits only for what its history records.
//!
//! `expr.await` becomes `await_durable(&__SITES[n], expr).await`: a call with a bound, which
//! checks the type of what is awaited and tells the operation where in the source it was asked
//! for. Spans decide every message about it. The path and the parentheses carry the span of the
//! first token of `expr`, which keeps its own, as `.await` does: so the new expression begins and
//! ends where the old one did, and what rustc suggests (`let _ = `, `&`) goes to the right place.
//! A single token with the macro's own span would move the whole error to the attribute.

mod labels;
mod macros;
mod scopes;
mod sites;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, Path};

use self::labels::Labels;
pub(crate) use self::macros::{EXPRESSION_LISTS, List, SelectArms};
use self::sites::{Scope, Sites};
use crate::check::text;
use crate::errors::Errors;
use crate::parse::Body;

/// A rewritten body.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) body: Body,
    /// The static that the rewritten awaits refer to; nothing if there are none.
    pub(crate) sites: TokenStream,
    /// The functions that are called with the context, by name, each once.
    pub(crate) callees: Vec<String>,
}

/// Rewrites the body of the workflow or durable function `function`, whose context is `context`.
pub(crate) fn lower(
    krate: &Path,
    function: &str,
    context: Option<&Ident>,
    mut body: Body,
    errors: &mut Errors,
) -> Lowered {
    let mut lowering = Lowering {
        krate,
        labels: Labels::new(context),
        sites: Sites::default(),
        callees: Vec::new(),
        errors,
    };
    match &mut body {
        Body::Parsed(block) => lowering.visit_block_mut(block),
        unread => unread.report(lowering.errors),
    }
    let Lowering { sites, callees, .. } = lowering;
    Lowered {
        body,
        sites: sites.into_static(krate, function),
        callees,
    }
}

struct Lowering<'a> {
    krate: &'a Path,
    labels: Labels,
    sites: Sites,
    callees: Vec<String>,
    errors: &'a mut Errors,
}

impl Lowering<'_> {
    /// `await_durable(&__SITES[n], expr)` for a wait at `place`.
    fn checked(&mut self, mut expr: Expr, place: Option<Span>) -> TokenStream {
        // On stable the spans of several tokens cannot be joined, so the first stands for all.
        let span = expr.span();
        let label = self.labels.of(&expr);
        let asks = self.labels.asks(&expr, &label);
        self.visit_expr_mut(&mut expr);
        let site = self.sites.add(label, asks, place.unwrap_or(span));
        // As an argument they would be redundant, and rustc would say so.
        while let Expr::Paren(paren) = expr {
            expr = *paren.expr;
        }
        self.call(
            "await_durable",
            span,
            quote_spanned!(span=> &__SITES[#site], #expr),
        )
    }

    /// A call of a private function of the sdk, with `span` on the path and the parentheses.
    fn call(&self, function: &str, span: Span, arguments: TokenStream) -> TokenStream {
        let krate = respanned(self.krate, span);
        let function = Ident::new(function, span);
        let mut parentheses = Group::new(Delimiter::Parenthesis, arguments);
        parentheses.set_span(span);
        quote_spanned!(span=> #krate::__private::#function #parentheses)
    }

    /// An argument that starts when it is polled later, by something that is not an await.
    fn check_argument(&mut self, argument: &mut Expr) {
        let taken = take(argument);
        *argument = Expr::Verbatim(self.checked(taken, None));
    }

    fn lower_await(&mut self, awaited: syn::ExprAwait) -> TokenStream {
        let syn::ExprAwait {
            attrs,
            base,
            dot_token,
            await_token,
        } = awaited;
        let checked = self.checked(*base, Some(await_token.span));
        quote!(#(#attrs)* #checked #dot_token #await_token)
    }

    fn lower_async(&mut self, mut block: syn::ExprAsync) -> TokenStream {
        let group = self.sites.group();
        self.within(group, Scope::Async, |this| {
            visit_mut::visit_expr_async_mut(this, &mut block);
        });
        let attrs = std::mem::take(&mut block.attrs);
        let durable = self.call("durably", block.async_token.span, block.to_token_stream());
        quote!(#(#attrs)* #durable)
    }

    fn note_callee(&mut self, callee: Option<String>) {
        if let Some(callee) = callee
            && !self.callees.contains(&callee)
        {
            self.callees.push(callee);
        }
    }

    /// `set.submit(future)` and `cx.spawn(future)` start operations, so these get a place. Other types have such
    /// methods too: `Start` leaves alone what is not durable.
    ///
    /// `{ use Elsewhere as _; Start::new(&__SITES[n], expr).begin() }`, where the braces have the span of `expr`:
    /// what is wrong with it is said by the method that takes it.
    fn begun(&mut self, argument: &mut Expr) {
        if matches!(argument, Expr::Closure(_) | Expr::Lit(_)) {
            self.visit_expr_mut(argument);
            return;
        }
        let mut expr = take(argument);
        let span = expr.span();
        let label = self.labels.of(&expr);
        let asks = self.labels.asks(&expr, &label);
        self.visit_expr_mut(&mut expr);
        let site = self.sites.add(label, asks, span);
        let inside = Span::mixed_site().located_at(span);
        let private = {
            let krate = respanned(self.krate, inside);
            quote_spanned!(inside=> #krate::__private)
        };
        let begun = quote_spanned! {inside=>
            #[allow(unused_imports)]
            use #private::Elsewhere as _;
            #private::Start::new(&__SITES[#site], #expr).begin()
        };
        let mut braces = Group::new(Delimiter::Brace, begun);
        braces.set_span(span);
        *argument = Expr::Verbatim(braces.to_token_stream());
    }

    fn is_start(&self, call: &ExprMethodCall) -> bool {
        call.args.len() == 1 && (call.method == "submit" || call.method == "spawn")
    }
}

impl VisitMut for Lowering<'_> {
    /// A function inside of the body is one of its own.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        let label = local
            .init
            .as_ref()
            .and_then(|init| self.labels.of_operation(&init.expr));
        let otherwise = local.init.as_mut().and_then(|init| init.diverge.take());
        visit_mut::visit_local_mut(self, local);
        if let Some((token, mut block)) = otherwise {
            let group = self.sites.group();
            self.within(group, Scope::Branch(0), |this| {
                this.visit_expr_mut(&mut block);
            });
            if let Some(init) = &mut local.init {
                init.diverge = Some((token, block));
            }
        }
        self.labels.bind(&local.pat, label);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Await(_) => {
                if let Expr::Await(awaited) = take(expr) {
                    *expr = Expr::Verbatim(self.lower_await(awaited));
                }
            }
            Expr::Async(_) => {
                if let Expr::Async(block) = take(expr) {
                    *expr = Expr::Verbatim(self.lower_async(block));
                }
            }
            Expr::Closure(closure) if closure.asyncness.is_some() => {
                // Its future has no name, and `|x| durably(async move ..)` would capture otherwise.
                self.errors.under(
                    closure.asyncness,
                    text(
                        "D117",
                        "what an `async` closure waits for cannot be checked",
                        &["write `|args| async move { .. }`"],
                    ),
                );
            }
            Expr::MethodCall(call) if self.is_start(call) => {
                self.visit_expr_mut(&mut call.receiver);
                call.args
                    .iter_mut()
                    .for_each(|argument| self.begun(argument));
            }
            Expr::Call(call) => {
                match made_with_context(call) {
                    Some(Made::Set) => {}
                    Some(Made::Mailbox) => self.note_callee(call.args.get(1).and_then(last_name)),
                    None => self.note_callee(self.labels.callee(call)),
                }
                visit_mut::visit_expr_call_mut(self, call);
            }
            Expr::MethodCall(call) => {
                self.note_callee(self.labels.method_callee(call));
                visit_mut::visit_expr_method_call_mut(self, call);
                self.note_draw(call);
            }
            Expr::Macro(call) => self.lower_macro(&mut call.mac),
            _ => self.visit_scopes(expr),
        }
    }

    fn visit_stmt_macro_mut(&mut self, call: &mut syn::StmtMacro) {
        self.lower_macro(&mut call.mac);
    }
}

/// What takes the context and calls nothing with it by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// `JoinSet::new(cx)`, `JoinSet::named(cx, "turn")`.
    Set,
    /// `Mailbox::open(cx, inject)`, which offers the stub.
    Mailbox,
}

/// Whether it is one of those.
pub(crate) fn made_with_context(call: &syn::ExprCall) -> Option<Made> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let mut segments = path.path.segments.iter().rev();
    let (last, ty) = (segments.next()?, segments.next()?);
    match (
        ty.ident.to_string().as_str(),
        last.ident.to_string().as_str(),
    ) {
        ("JoinSet", "new" | "named") => Some(Made::Set),
        ("Mailbox", "open" | "open_with") => Some(Made::Mailbox),
        _ => None,
    }
}

/// The last segment of a path.
fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.unraw().to_string()),
        Expr::Paren(inner) => last_name(&inner.expr),
        Expr::Group(inner) => last_name(&inner.expr),
        _ => None,
    }
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Verbatim(TokenStream::new()))
}

/// The same path or the like with another span on every token.
pub(crate) fn respanned(tokens: &impl ToTokens, span: Span) -> TokenStream {
    tokens
        .to_token_stream()
        .into_iter()
        .map(|mut token| {
            // What `$crate` means is known to its span alone.
            match &mut token {
                TokenTree::Ident(name) if *name == "$crate" => {
                    name.set_span(span.resolved_at(name.span()));
                }
                TokenTree::Group(group) => {
                    *group = Group::new(group.delimiter(), respanned(&group.stream(), span));
                    group.set_span(span);
                }
                other => other.set_span(span),
            }
            token
        })
        .collect()
}
