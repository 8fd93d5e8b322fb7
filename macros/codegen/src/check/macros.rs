//! Macros in the body. Where the grammar is known their arguments are checked like other expressions;
//! elsewhere their tokens are searched for paths that are denied.

use proc_macro2::{Delimiter, Literal, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Lit, Macro, Token};

use super::paths::screams;
use super::table::{self, Entry};
use super::{Check, paths};
use crate::lower::respanned;
use crate::lower::{EXPRESSION_LISTS, List, SelectArms};
use crate::names::Meaning;

/// Macros that anyone can call, unless something hides them.
const PRELUDE: &[&str] = &[
    "dbg",
    "eprint",
    "eprintln",
    "print",
    "println",
    "thread_local",
];

impl Check<'_> {
    pub(super) fn a_macro(&mut self, call: &mut Macro) {
        if let Some((entry, full)) = self.denied_macro(&paths::text(&call.path)) {
            let (path, bang) = (&call.path, &call.bang_token);
            let written = paths::text(path);
            let written = written.strip_prefix("::").unwrap_or(&written);
            let is_suffix = full.ends_with(written);
            let resolved = if is_suffix {
                String::new()
            } else {
                format!(" (`{full}!`)")
            };
            self.report_entry(
                entry,
                quote!(#path #bang),
                &format!("`{written}!`{resolved}"),
            );
        }
        let Some(name) = call
            .path
            .segments
            .last()
            .map(|last| last.ident.unraw().to_string())
        else {
            return;
        };
        if call.tokens.is_empty() {
            return;
        }
        match name.as_str() {
            "thread_local" | "task_local" => {}
            "join" | "try_join" | "select" if self.is_own_macro(call) => {
                self.search(call.tokens.clone());
            }
            "join" | "try_join" => self.arms(call),
            "select" => self.select(call),
            "matches" | "assert_matches" => self.scrutinee(call),
            known if EXPRESSION_LISTS.contains(&known) => self.list(call, known),
            _ => self.search(call.tokens.clone()),
        }
    }

    fn denied_macro(&self, written: &str) -> Option<(Entry, String)> {
        let known = |full: &str| table::a_macro(full).map(|entry| (entry, full.to_owned()));
        let last = written.rsplit("::").next()?;
        match self.names.meaning(written) {
            Meaning::Path(full) => known(&full),
            Meaning::Unknown(globs) if table::has_name(last) => known(written)
                .or_else(|| globs.iter().find_map(|full| known(full)))
                .or_else(|| {
                    PRELUDE
                        .contains(&written)
                        .then(|| known(&format!("std::{written}")))
                        .flatten()
                }),
            _ => None,
        }
    }

    fn is_own_macro(&self, call: &Macro) -> bool {
        let name = call.path.get_ident();
        name.is_some_and(|name| self.names.is_own_macro(name))
    }

    fn list(&mut self, call: &mut Macro, name: &str) {
        if is_flat(&call.tokens) {
            // Names and literals only, as in most: the tokens tell it all.
            self.flat(call.tokens.clone(), name);
            return;
        }
        let Ok(mut list) = List::parse.parse2(call.tokens.clone()) else {
            // `info!(%field, "..")` has signs of its own.
            self.search(call.tokens.clone());
            return;
        };
        let format = format_position(name);
        for (index, item) in list.items.iter().enumerate() {
            if let Expr::Lit(literal) = item
                && let Lit::Str(text) = &literal.lit
                && (format == Some(index) || is_report(name))
            {
                self.pointer_format(text);
            }
        }
        self.inside(call, |check| {
            list.items
                .iter_mut()
                .for_each(|item| check.visit_expr_mut(item));
            list.into_token_stream()
        });
    }

    /// A list without brackets in it.
    fn flat(&mut self, tokens: TokenStream, name: &str) {
        let format = format_position(name);
        let mut index = 0;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == ',' => index += 1,
                TokenTree::Literal(literal) if format == Some(index) || is_report(name) => {
                    self.literal(literal);
                }
                TokenTree::Ident(_) => {
                    at = self.word(&tokens, at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Visits what is inside, and puts it back if it was rewritten.
    fn inside(&mut self, call: &mut Macro, visit: impl FnOnce(&mut Self) -> TokenStream) {
        let before = std::mem::replace(&mut self.rewritten, false);
        let tokens = visit(self);
        if self.rewritten {
            call.tokens = tokens;
        }
        self.rewritten |= before;
    }

    fn scrutinee(&mut self, call: &mut Macro) {
        let split = |input: ParseStream<'_>| -> syn::Result<(Expr, TokenStream)> {
            Ok((input.parse()?, input.parse()?))
        };
        let Ok((mut scrutinee, rest)) = split.parse2(call.tokens.clone()) else {
            self.search(call.tokens.clone());
            return;
        };
        self.inside(call, |check| {
            check.visit_expr_mut(&mut scrutinee);
            check.search(rest.clone());
            quote!(#scrutinee #rest)
        });
    }

    fn arms(&mut self, call: &mut Macro) {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let Ok(mut arms) = parser.parse2(call.tokens.clone()) else {
            self.search(call.tokens.clone());
            return;
        };
        self.inside(call, |check| {
            arms.iter_mut().for_each(|arm| check.arm(arm));
            arms.into_token_stream()
        });
    }

    fn select(&mut self, call: &mut Macro) {
        let Ok(mut arms) = syn::parse2::<SelectArms>(call.tokens.clone()) else {
            self.search(call.tokens.clone());
            return;
        };
        self.inside(call, |check| {
            for arm in &mut arms.0 {
                check.arm(&mut arm.future);
                let begin = check.variables.begin();
                check.variables.bind(&arm.pat, None);
                check.visit_expr_mut(&mut arm.body);
                check.variables.end(begin);
            }
            arms.into_token_stream()
        });
    }

    /// Something that the macro waits for.
    fn arm(&mut self, future: &mut Expr) {
        let before = self.found;
        self.visit_expr_mut(future);
        if self.is_reported(future, self.found > before) {
            // Once it has been said that it cannot be used, it need not be said that it is not durable.
            let krate = respanned(self.krate, future.span());
            *future =
                Expr::Verbatim(quote_spanned!(future.span()=> #krate::__private::durably(#future)));
            self.rewritten = true;
        }
    }

    /// Searches tokens whose grammar is not known.
    pub(super) fn search(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(_) => {
                    at = self.word(&tokens, at);
                    continue;
                }
                TokenTree::Group(group) => self.search(group.stream()),
                TokenTree::Literal(literal) => self.literal(literal),
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn literal(&mut self, literal: &Literal) {
        if let Lit::Str(text) = Lit::new(literal.clone()) {
            self.pointer_format(&text);
        }
    }

    /// The path that begins at `at`. Returns where it ends.
    fn word(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let end = path_end(tokens, at);
        // A field, a method or the name of what is declared is no path.
        let is_path = match at.checked_sub(1).map(|before| &tokens[before]) {
            Some(TokenTree::Punct(punct)) => {
                punct.as_char() != '.' || at > 1 && is_dot(&tokens[at - 2])
            }
            Some(TokenTree::Ident(word)) => word != "fn" && word != "mod" && word != "use",
            _ => true,
        };
        if is_path {
            self.searched_path(&tokens[at..end], &tokens[end..]);
        }
        end
    }

    fn searched_path(&mut self, path: &[TokenTree], after: &[TokenTree]) {
        let written: String = path.iter().map(ToString::to_string).collect();
        let written = written.replace("r#", "");
        let tokens: TokenStream = path.iter().cloned().collect();
        let is_group = |token: Option<&TokenTree>, delimiter: Delimiter| matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter);
        match after.first() {
            Some(TokenTree::Punct(bang))
                if bang.as_char() == '!'
                    && bang.spacing() == Spacing::Alone
                    && matches!(after.get(1), Some(TokenTree::Group(_))) =>
            {
                if let Some((entry, _)) = self.denied_macro(&written) {
                    self.report_entry(entry, quote!(#tokens #bang), &format!("`{written}!`"));
                }
            }
            next => {
                let is_call = is_group(next, Delimiter::Parenthesis);
                let is_qualified = written.contains("::");
                let is_variable = !is_qualified && self.variables.get(&written).is_some();
                // A bare word may be anything in a macro, unless it is called or written like a static.
                let matters = match written.rsplit("::").next() {
                    Some(last) if is_qualified => table::has_name(last) || screams(last),
                    Some(last) => is_call || screams(last),
                    None => false,
                };
                if matters
                    && !is_variable
                    && let Some(verdict) = self.verdict_of(&written)
                {
                    self.report_path(verdict, tokens, &written);
                }
            }
        }
    }
}

/// Whether there is no bracket in it, and so no call.
pub(crate) fn is_flat(tokens: &TokenStream) -> bool {
    !tokens
        .clone()
        .into_iter()
        .any(|token| matches!(token, TokenTree::Group(_)))
}

fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.')
}

/// Where a path that begins at `at` ends.
fn path_end(tokens: &[TokenTree], at: usize) -> usize {
    let mut end = at + 1;
    while let [
        TokenTree::Punct(first),
        TokenTree::Punct(second),
        TokenTree::Ident(_),
        ..,
    ] = &tokens[end..]
    {
        if first.as_char() != ':' || second.as_char() != ':' {
            break;
        }
        end += 3;
    }
    end
}

/// Where among the arguments the format is.
fn format_position(name: &str) -> Option<usize> {
    match name {
        "anyhow" | "bail" | "eprint" | "eprintln" | "format" | "format_args" | "panic"
        | "print" | "println" | "todo" | "unimplemented" | "unreachable" => Some(0),
        "assert" | "debug_assert" | "ensure" | "write" | "writeln" => Some(1),
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => Some(2),
        _ => None,
    }
}

/// Macros of `tracing` and `log`, which take fields before the format.
fn is_report(name: &str) -> bool {
    matches!(
        name,
        "debug" | "error" | "event" | "info" | "trace" | "warn"
    )
}
