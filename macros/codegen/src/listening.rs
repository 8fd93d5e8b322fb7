//! The messages and signals that a workflow waits for, as far as its body tells: `cx.receive(names::APPROVAL)`; the
//! updates that it handles: `cx.handle(SET_LIMIT, ..)`; the functions by whose names it offers stubs; and the streams and views that it publishes: `cx.emit(OUTPUT, ..)`,
//! `cx.set(STATUS, ..)`.
//!
//! What is found is named again beside the body, where the workflow is described. So it must mean there what it means
//! in the body, and what may not is left out. Then, and wherever the context goes where nobody looks, the workflow may
//! wait for more than is listed: to say too little would have somebody refuse what a run waits for.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Macro, PatIdent, Path, StmtMacro, Token, UseTree};

use crate::lower::{EXPRESSION_LISTS, List, Made, SelectArms, made_with_context};
use crate::parse::Body;
use crate::shape::is_constant;

/// What a body waits for.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    /// The constants, each once, as they were written.
    pub(crate) constants: Vec<Path>,
    /// The functions that get the context, each once, as they were written: calls of stubs are among them.
    pub(crate) functions: Vec<Path>,
    /// It may wait for others too.
    pub(crate) for_others: bool,
    /// The constants of streams and views, each once.
    pub(crate) published: Vec<Path>,
    /// It may publish others too.
    pub(crate) publishes_others: bool,
    /// The constants of updates that it handles, each once.
    pub(crate) handled: Vec<Path>,
    /// It may handle others too.
    pub(crate) handles_others: bool,
}

/// The method of the context that handles an update.
const HANDLING: &str = "handle";

/// The methods of the context that publish something.
const PUBLISHING: [&str; 2] = ["emit", "set"];
/// The methods of the context that wait for what the run is told.
const METHODS: [&str; 2] = ["receive", "wait_for"];

/// What a workflow waits for whose context is `context`. Functions that it calls are not looked into.
pub(crate) fn listening(context: Option<&Ident>, body: &Body) -> Listening {
    let (Some(context), Body::Parsed(block)) = (context, body) else {
        return Listening {
            for_others: context.is_some(),
            handles_others: context.is_some(),
            publishes_others: context.is_some(),
            ..Listening::default()
        };
    };
    let mut search = Search {
        context,
        found: Listening::default(),
        declared: HashSet::new(),
        is_unclear: false,
    };
    search.visit_block(block);
    let Search {
        mut found,
        declared,
        is_unclear,
        ..
    } = search;
    let means_the_same = |path: &Path| {
        let first = path.segments.first().map(|first| first.ident.unraw());
        let is_own =
            first.is_none_or(|first| first == "Self" || declared.contains(&first.to_string()));
        !is_unclear && !is_own
    };
    let (handled, published) = (found.handled.len(), found.published.len());
    found.handled.retain(means_the_same);
    let before = found.constants.len();
    found.constants.retain(means_the_same);
    found.functions.retain(means_the_same);
    found.published.retain(means_the_same);
    found.for_others |= found.constants.len() < before;
    found.handles_others |= found.for_others || found.handled.len() < handled;
    found.publishes_others |= found.for_others || found.published.len() < published;
    for paths in [
        &mut found.handled,
        &mut found.constants,
        &mut found.functions,
        &mut found.published,
    ] {
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.to_token_stream().to_string()));
    }
    found
}

struct Search<'a> {
    context: &'a Ident,
    found: Listening,
    /// Names that the body gives a meaning of its own.
    declared: HashSet<String>,
    /// It may declare other names, or have parts that are not compiled.
    is_unclear: bool,
}

impl Search<'_> {
    fn is_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.get_ident() == Some(self.context),
            Expr::Paren(inner) => self.is_context(&inner.expr),
            Expr::Group(inner) => self.is_context(&inner.expr),
            Expr::Reference(inner) => self.is_context(&inner.expr),
            _ => false,
        }
    }

    /// Whether an argument is the context. Whoever is called gets it, and is known as a function that is called.
    fn hands_over(&self, argument: &Expr) -> bool {
        match argument {
            Expr::MethodCall(call) => {
                call.method == "clone" && call.args.is_empty() && self.is_context(&call.receiver)
            }
            Expr::Reference(inner) => self.hands_over(&inner.expr),
            other => self.is_context(other),
        }
    }

    fn arguments<'e>(&mut self, arguments: impl IntoIterator<Item = &'e Expr>) {
        for argument in arguments {
            if !self.hands_over(argument) {
                self.visit_expr(argument);
            }
        }
    }

    fn context_call(&mut self, call: &syn::ExprMethodCall) {
        let method = call.method.unraw().to_string();
        if METHODS.contains(&method.as_str()) {
            match call.args.first().and_then(constant) {
                Some(path) if call.args.len() == 1 => self.found.constants.push(path.clone()),
                _ => self.found.for_others = true,
            }
        } else if PUBLISHING.contains(&method.as_str()) {
            let constant = call.args.first().and_then(constant);
            self.found.publishes_others |= constant.is_none();
            self.found.published.extend(constant.cloned());
            call.args
                .iter()
                .skip(constant.is_some().into())
                .for_each(|argument| self.visit_expr(argument));
        } else if method == HANDLING {
            let constant = call.args.first().and_then(constant);
            self.found.handles_others |= constant.is_none();
            self.found.handled.extend(constant.cloned());
            call.args
                .iter()
                .skip(constant.is_some().into())
                .for_each(|argument| self.visit_expr(argument));
        } else if method == "clone" {
            // Under another name.
            self.found.for_others = true;
        } else {
            call.args
                .iter()
                .for_each(|argument| self.visit_expr(argument));
        }
    }

    /// A macro, whose tokens are looked into where its grammar is known.
    fn look_into(&mut self, call: &Macro, is_statement: bool) {
        let name = call.path.segments.last();
        let name = name.map(|last| last.ident.unraw().to_string());
        let tokens = call.tokens.clone();
        match name.as_deref() {
            Some("join" | "try_join") => {
                let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
                match parser.parse2(tokens) {
                    Ok(arms) => arms.iter().for_each(|arm| self.visit_expr(arm)),
                    Err(_) => self.search(call.tokens.clone()),
                }
            }
            Some("select") => match syn::parse2::<SelectArms>(tokens) {
                Ok(arms) => {
                    for arm in &arms.0 {
                        self.visit_pat(&arm.pat);
                        self.visit_expr(&arm.future);
                        self.visit_expr(&arm.body);
                    }
                }
                Err(_) => self.search(call.tokens.clone()),
            },
            Some(known) if EXPRESSION_LISTS.contains(&known) => match syn::parse2::<List>(tokens) {
                Ok(list) => list.items.iter().for_each(|item| self.visit_expr(item)),
                Err(_) => self.search(call.tokens.clone()),
            },
            _ => {
                self.is_unclear |= is_statement;
                self.search(tokens);
            }
        }
    }

    /// Tokens that may be anything.
    fn search(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => self.found.for_others |= name == *self.context,
                TokenTree::Group(group) => self.search(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn imports(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.imports(&path.tree),
            UseTree::Name(name) => self.declare(&name.ident),
            UseTree::Rename(renamed) => self.declare(&renamed.rename),
            UseTree::Glob(_) => self.is_unclear = true,
            UseTree::Group(group) => group.items.iter().for_each(|item| self.imports(item)),
        }
    }

    fn declare(&mut self, name: &Ident) {
        self.declared.insert(name.unraw().to_string());
    }
}

impl<'e> Visit<'e> for Search<'_> {
    fn visit_expr(&mut self, expr: &'e Expr) {
        match expr {
            Expr::MethodCall(call) if self.is_context(&call.receiver) => {
                call.attrs
                    .iter()
                    .for_each(|attr| self.visit_attribute(attr));
                self.context_call(call);
            }
            Expr::MethodCall(call) => {
                call.attrs
                    .iter()
                    .for_each(|attr| self.visit_attribute(attr));
                self.visit_expr(&call.receiver);
                self.arguments(&call.args);
            }
            Expr::Call(call) => {
                call.attrs
                    .iter()
                    .for_each(|attr| self.visit_attribute(attr));
                let is_named = matches!(&*call.func, Expr::Path(_));
                self.found.for_others |= !is_named && call.args.iter().any(|a| self.hands_over(a));
                if call.args.iter().any(|argument| self.hands_over(argument)) {
                    let function = match made_with_context(call) {
                        Some(Made::Mailbox) => call.args.get(1),
                        Some(Made::Set) => None,
                        None => Some(&*call.func),
                    };
                    self.found
                        .functions
                        .extend(function.and_then(plain_path).cloned());
                }
                self.visit_expr(&call.func);
                self.arguments(&call.args);
            }
            Expr::Macro(call) => {
                call.attrs
                    .iter()
                    .for_each(|attr| self.visit_attribute(attr));
                self.look_into(&call.mac, false);
            }
            other if self.is_context(other) => self.found.for_others = true,
            other => visit::visit_expr(self, other),
        }
    }

    fn visit_stmt_macro(&mut self, call: &'e StmtMacro) {
        call.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.look_into(&call.mac, true);
    }

    /// In the place of a type or a pattern.
    fn visit_macro(&mut self, call: &'e Macro) {
        self.search(call.tokens.clone());
    }

    fn visit_pat_ident(&mut self, pat: &'e PatIdent) {
        self.declare(&pat.ident);
        visit::visit_pat_ident(self, pat);
    }

    fn visit_attribute(&mut self, attribute: &'e Attribute) {
        self.is_unclear |=
            attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
    }

    /// A function inside of the body is one of its own; what counts is which names there are.
    fn visit_item(&mut self, item: &'e Item) {
        match item {
            Item::Const(item) => self.declare(&item.ident),
            Item::Static(item) => self.declare(&item.ident),
            Item::Enum(item) => self.declare(&item.ident),
            Item::Struct(item) => self.declare(&item.ident),
            Item::Union(item) => self.declare(&item.ident),
            Item::Trait(item) => self.declare(&item.ident),
            Item::Type(item) => self.declare(&item.ident),
            Item::Mod(item) => self.declare(&item.ident),
            Item::Use(item) => self.imports(&item.tree),
            Item::Fn(_) | Item::Impl(_) => {}
            _ => self.is_unclear = true,
        }
    }
}

/// A path as a type could be written too.
fn plain_path(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => {
            let mut segments = path.path.segments.iter();
            segments
                .all(|segment| segment.arguments.is_empty())
                .then_some(&path.path)
        }
        Expr::Paren(inner) => plain_path(&inner.expr),
        Expr::Group(inner) => plain_path(&inner.expr),
        _ => None,
    }
}

/// The path of a constant.
fn constant(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?.ident.unraw().to_string();
            is_constant(&last).then_some(&path.path)
        }
        Expr::Paren(inner) => constant(&inner.expr),
        Expr::Group(inner) => constant(&inner.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::parse::Function;

    /// `A b::B ..`: the constants, and dots if there may be others.
    fn found(body: &str) -> String {
        let text = format!("async fn flow(cx: &Cx) -> R {{ {body} }}");
        let function: Function = syn::parse_str(&text).unwrap();
        let context = syn::parse_str("cx").unwrap();
        let found = listening(Some(&context), &function.body);
        let paths = found.constants.iter();
        let mut texts: Vec<_> = paths
            .map(|path| path.to_token_stream().to_string().replace(' ', ""))
            .collect();
        if found.for_others {
            texts.push("..".to_owned());
        }
        texts.join(" ")
    }

    #[test]
    fn constants_are_found_wherever_they_are_waited_for() {
        for (body, expected) in [
            (
                "cx.receive(A).await?; cx.wait_for(names::B).timeout(d).await?",
                "A names::B",
            ),
            (
                "cx.receive((crate::A)).await?; cx.receive(A).await?; cx.receive(A).await",
                "crate::A A",
            ),
            (
                "join!(cx.receive(A), async { cx.wait_for(B).await })",
                "A B",
            ),
            (
                "select! { a = cx.receive(A) => a?, _ = cx.sleep(d) => cx.receive(B).await?, }",
                "A B",
            ),
            ("vec![cx.receive(A), cx.receive(B)]", "A B"),
            (
                "let wait = (&cx).receive(A); while let Ok(n) = wait.await { ship(cx, n).await? }",
                "A",
            ),
            (
                "for n in 0..3 { charge(&cx, n).await? } order.pay(cx.clone()).await",
                "",
            ),
            (
                "let task = cx.spawn(ship(cx, 1)); set.submit(cx.receive(A)); cx.record(\"x\", || B)",
                "A",
            ),
            (
                "let done = channel.receive(A); info!(\"{done}\"); assert!(cx.now() > B)",
                "",
            ),
            ("move |n| async move { cx.receive(A).await }", "A"),
        ] {
            assert_eq!(found(body), expected, "{body}");
        }
    }

    #[test]
    fn updates_are_found_and_say_nothing_of_what_is_waited_for() {
        for (body, expected) in [
            (
                "cx.handle(SET_LIMIT, |_| Ok(()), move |new| limit.replace(new))",
                "SET_LIMIT",
            ),
            (
                "cx.handle(names::A, a, b); cx.handle(B, a, b); cx.handle(B, c, d)",
                "names::A B",
            ),
            ("cx.handle(update, a, b)", ".."),
            ("const A: U = U::new(\"a\"); cx.handle(A, a, b)", ".."),
            ("cx.until(|| limit.get() > LIMIT).await", ""),
            ("charge(cx, cx.handle(A, |n| B, c)).await", "A"),
        ] {
            let text = format!("async fn flow(cx: &Cx) -> R {{ {body} }}");
            let function: Function = syn::parse_str(&text).unwrap();
            let context = syn::parse_str("cx").unwrap();
            let found = listening(Some(&context), &function.body);
            let paths = found.handled.iter();
            let mut texts: Vec<_> = paths
                .map(|path| path.to_token_stream().to_string().replace(' ', ""))
                .collect();
            if found.handles_others {
                texts.push("..".to_owned());
            }
            assert_eq!(texts.join(" "), expected, "{body}");
            assert!(!found.for_others && found.constants.is_empty(), "{body}");
        }
    }

    #[test]
    fn what_is_published_is_found_and_says_nothing_of_what_is_waited_for() {
        let published = |body: &str| {
            let text = format!("async fn flow(cx: &Cx) -> R {{ {body} }}");
            let function: Function = syn::parse_str(&text).unwrap();
            let context = syn::parse_str("cx").unwrap();
            let found = listening(Some(&context), &function.body);
            assert!(!found.for_others, "{body}");
            let both = [found.published, found.constants].map(|paths| {
                let paths = paths.iter();
                let texts = paths.map(|path| path.to_token_stream().to_string().replace(' ', ""));
                texts.collect::<Vec<_>>().join(" ")
            });
            let others = if found.publishes_others { ".." } else { "" };
            both.join("|") + others
        };
        for (body, expected) in [
            (
                "cx.emit(A, 1); cx.set(names::B, 2); cx.emit(A, 3)",
                "A names::B|",
            ),
            ("cx.emit(A, cx.receive(B).await?)", "A|B"),
            ("for n in 0..3 { (&cx).set(A, n) }", "A|"),
            ("other.emit(A, 1); pay(cx, 1).await", "|"),
            ("cx.emit(name, 1); other.emit(A, 1)", "|.."),
            ("cx.set(views(1), 1); cx.set(A, 1)", "A|.."),
            (
                "const A: Stream<u8> = Stream::new(\"a\"); cx.emit(A, 1)",
                "|..",
            ),
        ] {
            assert_eq!(published(body), expected, "{body}");
        }
    }

    #[test]
    fn where_nobody_sees_what_becomes_of_the_context_there_may_be_others() {
        for body in [
            "cx.receive(name).await",
            "cx.receive(Message::new(\"a\")).await",
            "cx.receive(<Names as All>::A).await",
            "let own = cx.clone(); cx.spawn(async move { listen(&own).await })",
            "let c = cx; c.receive(A).await",
            "(self.listen)(cx).await",
            "let pair = (cx, 1);",
            "Listener { cx }.await",
            "listen! { cx }",
            "matches!(cx.receive(A), _)",
            "join!(cx listen)",
        ] {
            assert_eq!(found(body), "..", "{body}");
        }
    }

    #[test]
    fn functions_that_get_the_context_are_found() {
        for (body, expected) in [
            (
                "review(cx, 1).await?; shop::review(&cx).open()?; ship(1)",
                "review shop::review",
            ),
            (
                "Mailbox::open(cx, crate::inject); let set = JoinSet::named(cx, \"a\"); set.submit(review(cx))",
                "crate::inject review",
            ),
            ("let review = 1; review(cx).await; all::<u8>(cx)", ""),
        ] {
            let text = format!("async fn flow(cx: &Cx) -> R {{ {body} }}");
            let function: Function = syn::parse_str(&text).unwrap();
            let context = syn::parse_str("cx").unwrap();
            let found = listening(Some(&context), &function.body);
            let paths = found.functions.iter();
            let texts: Vec<_> = paths
                .map(|path| path.to_token_stream().to_string().replace(' ', ""))
                .collect();
            assert_eq!(texts.join(" "), expected, "{body}");
        }
    }

    #[test]
    fn what_may_mean_something_else_beside_the_body_is_left_out() {
        for body in [
            "const A: Message<u8> = Message::new(\"a\"); cx.receive(A).await",
            "use names::A; cx.receive(A).await",
            "use names::{self as A, B}; cx.receive(A::X).await; cx.receive(B).await",
            "{ use names::*; cx.receive(A).await }",
            "mod names { } cx.receive(names::A).await",
            "let A = names::A; cx.receive(A).await",
            "|A| cx.receive(A)",
            "cx.receive(Self::A).await",
            "declare! { A } cx.receive(A).await",
            "#[cfg(feature = \"a\")] cx.receive(A).await?; Ok(1)",
            "macro_rules! a { () => {} } cx.receive(A).await",
        ] {
            assert_eq!(found(body), "..", "{body}");
        }
    }
}
