//! Looks for the functions of a package in its sources.

use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Ident, Signature};

use super::package::{Function, at};
use super::{Finding, Key, Kind, Level, SourceError};
use crate::callees;
use crate::errors::Errors;
use crate::index::Index;
use crate::markers;
use crate::parse::Body;
use crate::shape::{Place, Shape, Surroundings, context_of};

pub(super) fn parsed(path: &Path, text: &str) -> Result<syn::File, SourceError> {
    let failed = |span: Span, message: String| SourceError::Parse {
        path: path.to_owned(),
        line: span.start().line,
        column: span.start().column + 1,
        message,
    };
    // A first line for the shell is no Rust.
    let text = match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => format!("//{rest}"),
        _ => text.trim_start_matches('\u{feff}').to_owned(),
    };
    // As the compiler has them.
    let text = text.replace("\r\n", "\n");
    let tokens =
        TokenStream::from_str(&text).map_err(|error| failed(error.span(), error.to_string()))?;
    if let Some(error) = crate::parse::too_deep_in(&tokens) {
        return Err(failed(error.span(), error.to_string()));
    }
    syn::parse2(tokens).map_err(|error| failed(error.span(), error.to_string()))
}

/// Looks for functions in one file.
pub(super) struct Search<'a> {
    pub(super) index: &'a Index,
    pub(super) path: &'a Path,
    pub(super) text: Rc<str>,
    pub(super) functions: &'a mut Vec<Function>,
    /// Those with `lock = false`: their keys and places.
    pub(super) left_out: &'a mut Vec<Finding>,
    /// What is to be said of the sources whatever the lock is.
    pub(super) remarks: &'a mut Vec<Finding>,
}

impl Search<'_> {
    fn function(&mut self, attributes: &[Attribute], signature: &Signature, body: &Block) {
        let Some((kind, options)) = attributes.iter().find_map(locked) else {
            return;
        };
        let name = signature.ident.unraw().to_string();
        let line = signature.ident.span().start().line;
        let Some(declared) = self.index.declared(self.path, line, &name) else {
            return;
        };
        if declared.is_test || declared.in_macro {
            return;
        }
        let key = Key {
            kind,
            name: match kind {
                Kind::Workflow => options.name.unwrap_or(name),
                Kind::Durable => durable_name(self.path, &declared.path),
            },
        };
        if options.is_off {
            let place = Place::at(signature.ident.span());
            self.left_out.push(Finding {
                key: Some(key),
                ..at(self.path, &self.text, place, String::new())
            });
            return;
        }
        let context = context_of(kind, signature);
        let names = self.index.names_at(self.path, line);
        let surroundings = Surroundings {
            index: self.index,
            names: &names,
            file: Some(self.path),
        };
        let shape = Shape::of(signature, body, context, &surroundings, true);
        let structure = shape.text();
        let is_pure = signature.asyncness.is_none() && context.is_none() && structure.is_empty();
        if kind == Kind::Durable && is_pure {
            // Whatever it does, it does without the history.
            return;
        }
        let reached = callees::reached(self.index, &declared.calls).markers;
        let mistakes = self.mistakes(&key, context, body);
        self.functions.push(Function {
            key,
            file: self.path.to_owned(),
            line,
            structure,
            shape,
            reached,
            mistakes,
            text: self.text.clone(),
        });
    }

    /// What the compiler will say of its markers.
    fn mistakes(&self, key: &Key, context: Option<&Ident>, body: &Block) -> Vec<Finding> {
        let mut errors = Errors::default();
        let mut body = Body::Parsed(body.clone());
        markers::check(
            &syn::parse_quote!(perennial),
            context,
            &mut body,
            &mut errors,
        );
        let found = errors.texts().map(|(place, text)| Finding {
            code: markers::CODES
                .into_iter()
                .find(|code| text.starts_with(&format!("[{code}]"))),
            level: Level::Error,
            key: Some(key.clone()),
            ..at(self.path, &self.text, Place::at(place), text)
        });
        found.collect()
    }
}

/// The key of a durable function, by its file and its path there.
pub(super) fn durable_name(file: &Path, path: &str) -> String {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    format!("{}::{path}", parts.join("/"))
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.attrs, &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(place) = workflow_in(call.tokens.clone()) {
            let text = "a workflow that a macro writes is not locked: its code is not here\n\n\
                        help: write the function out, and let it call what the macro makes"
                .to_owned();
            let finding = at(self.path, &self.text, Place::at(place), text);
            self.remarks.push(finding);
        }
    }
}

/// What the attribute of a function says about the lock.
#[derive(Default)]
struct Options {
    name: Option<String>,
    /// `lock = false`
    is_off: bool,
}

fn locked(attribute: &Attribute) -> Option<(Kind, Options)> {
    let last = attribute.path().segments.last()?;
    let kind = match last.ident.to_string().as_str() {
        "workflow" => Kind::Workflow,
        "durable" => Kind::Durable,
        _ => return None,
    };
    let mut options = Options::default();
    if let syn::Meta::List(list) = &attribute.meta {
        let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
        for option in tokens.windows(3) {
            let [TokenTree::Ident(name), TokenTree::Punct(equals), value] = option else {
                continue;
            };
            if equals.as_char() != '=' {
                continue;
            }
            match (name.to_string().as_str(), value) {
                ("name", TokenTree::Literal(text)) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(text.clone()) {
                        options.name = Some(text.value());
                    }
                }
                ("lock", TokenTree::Ident(word)) => options.is_off = word == "false",
                _ => {}
            }
        }
    }
    Some((kind, options))
}

/// Where `#[workflow]` stands in the tokens of a macro.
fn workflow_in(tokens: TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().find_map(|(index, token)| {
        let TokenTree::Group(group) = token else {
            return None;
        };
        let is_attribute = index > 0
            && matches!(&tokens[index - 1], TokenTree::Punct(sign) if sign.as_char() == '#');
        if is_attribute {
            let mut words = group
                .stream()
                .into_iter()
                .take_while(|token| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_)));
            return words.find_map(|word| match word {
                TokenTree::Ident(name) if name == "workflow" => Some(name.span()),
                _ => None,
            });
        }
        workflow_in(group.stream())
    })
}
