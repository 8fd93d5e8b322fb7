//! Calls by path, also where the path is handed on as a value.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, Ident, Path};

use super::Check;
use super::table::{self, Entry};
use super::variables::Ty;
use crate::names::Meaning;

/// A path as it is written, without its generic arguments.
pub(super) fn text(path: &Path) -> String {
    let mut text = String::new();
    for (index, segment) in path.segments.iter().enumerate() {
        if index > 0 || path.leading_colon.is_some() {
            text.push_str("::");
        }
        text.push_str(&segment.ident.unraw().to_string());
    }
    text
}

/// `LIKE_THIS`, as statics and constants are written.
pub(super) fn is_screaming(ident: &Ident) -> bool {
    screams(&ident.to_string())
}

/// The same of a word.
pub(super) fn screams(name: &str) -> bool {
    name.chars().any(|character| character.is_ascii_uppercase())
        && !name.chars().any(|character| character.is_lowercase())
}

/// What a rule says of a path, and the full path that it stands for.
pub(super) enum Verdict {
    Denied(Entry, String),
    Static,
    ThreadLocal,
}

impl Check<'_> {
    pub(super) fn expr_path(&mut self, path: &syn::ExprPath) {
        let verdict = match &path.qself {
            // `<SystemTime>::now`
            Some(qself) if qself.position == 0 => {
                let Some(Ty::Known(ty)) = self.type_of(&qself.ty) else {
                    return;
                };
                let full = format!("{ty}{}", text(&path.path));
                table::function(&full).map(|entry| Verdict::Denied(entry, full))
            }
            Some(_) => None,
            None => self.verdict(&path.path),
        };
        if let Some(verdict) = verdict {
            let written = match &path.qself {
                Some(qself) => {
                    let of = qself.ty.to_token_stream().to_string().replace(' ', "");
                    format!("<{of}>{}", text(&path.path))
                }
                None => text(&path.path),
            };
            self.report_path(
                verdict,
                path,
                written.strip_prefix("::").unwrap_or(&written),
            );
        }
    }

    /// What the rules say of a path in the place of a value.
    pub(super) fn verdict(&self, path: &Path) -> Option<Verdict> {
        let last = &path.segments.last()?.ident;
        if path.segments.len() == 1 && path.leading_colon.is_none() {
            if self.variables.get(&last.to_string()).is_some() {
                return None;
            }
        } else if !(table::has_name(&last.unraw().to_string()) || is_screaming(last)) {
            return None;
        }
        self.verdict_of(&text(path))
    }

    pub(super) fn verdict_of(&self, written: &str) -> Option<Verdict> {
        let denied =
            |full: &str| table::function(full).map(|entry| Verdict::Denied(entry, full.to_owned()));
        match self.names.meaning(written) {
            Meaning::Path(full) => denied(&full),
            Meaning::Static => Some(Verdict::Static),
            Meaning::ThreadLocal => Some(Verdict::ThreadLocal),
            Meaning::Own => None,
            Meaning::Unknown(globs) => denied(written)
                .or_else(|| globs.iter().find_map(|full| denied(full)))
                .or_else(|| {
                    let entry = table::by_suffix(written, self.names.file_is_known())?;
                    let name = written.rsplit("::").next()?;
                    Some(Verdict::Denied(
                        entry,
                        format!("{}::{name}", entry.denied.of),
                    ))
                }),
        }
    }

    pub(super) fn report_path(&mut self, verdict: Verdict, tokens: impl ToTokens, written: &str) {
        match verdict {
            Verdict::Denied(entry, full) => {
                let is_suffix = written.contains("::")
                    && full
                        .strip_suffix(written)
                        .is_some_and(|before| before.is_empty() || before.ends_with("::"));
                let resolved = if is_suffix {
                    String::new()
                } else {
                    format!(" (`{full}`)")
                };
                self.report_entry(entry, tokens, &format!("`{written}`{resolved}"));
            }
            Verdict::Static => self.report_static(tokens, written),
            Verdict::ThreadLocal => self.report_thread_local(tokens, written),
        }
    }

    /// Reports `subject`, which the table denies.
    pub(super) fn report_entry(&mut self, entry: Entry, tokens: impl ToTokens, subject: &str) {
        let Entry { rule, denied } = entry;
        let because = denied.because.unwrap_or(rule.because);
        self.report(
            rule.code,
            tokens,
            &format!("{subject} {because}"),
            &[denied.instead],
        );
    }

    /// Whether an expression is what a denied call gives, in which something was found if `fresh`: no
    /// second error is said of it.
    pub(super) fn is_reported(&self, expr: &Expr, fresh: bool) -> bool {
        match expr {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.variables.get(&name.to_string()) == Some(Some(Ty::Reported)),
                None => false,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let last = path.path.segments.last();
                    let is_pin = last.is_some_and(|last| last.ident == "pin");
                    (fresh && matches!(self.verdict(&path.path), Some(Verdict::Denied(..))))
                        || (is_pin
                            && call
                                .args
                                .first()
                                .is_some_and(|arg| self.is_reported(arg, fresh)))
                }
                _ => false,
            },
            Expr::MethodCall(call) => self.is_reported(&call.receiver, fresh),
            Expr::Await(awaited) => self.is_reported(&awaited.base, fresh),
            Expr::Paren(paren) => self.is_reported(&paren.expr, fresh),
            Expr::Group(group) => self.is_reported(&group.expr, fresh),
            Expr::Reference(reference) => self.is_reported(&reference.expr, fresh),
            Expr::Try(tried) => self.is_reported(&tried.expr, fresh),
            _ => false,
        }
    }
}
