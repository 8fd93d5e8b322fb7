//! What stands in the parentheses of an attribute.
//!
//! The list is cut at its commas before anything is parsed, so that a mistake in one option does
//! not hide one in the next.

mod activity;
mod migration;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Path};

pub(crate) use self::activity::ActivityOptions;
pub(crate) use self::migration::{MigrationOptions, Source};
use crate::errors::Errors;
use crate::manifest::{self, Known};
use crate::suggest::closest;

/// One option: `blocking`, `name = "charge"`, `retry(attempts = 5)`.
struct Given {
    name: Ident,
    value: Value,
}

enum Value {
    None,
    Assigned(TokenStream),
    Listed(TokenStream),
}

impl Given {
    fn parse(input: ParseStream<'_>) -> syn::Result<Given> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(syn::Token![=]) {
            input.parse::<syn::Token![=]>()?;
            if input.is_empty() {
                return Err(syn::Error::new(
                    name.span(),
                    format!("`{name} = ` needs a value"),
                ));
            }
            Value::Assigned(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let inside;
            syn::parenthesized!(inside in input);
            Value::Listed(inside.parse()?)
        } else {
            Value::None
        };
        Ok(Given { name, value })
    }

    /// The option's value as a string that is not empty.
    fn text(&self, example: &str, errors: &mut Errors) -> Option<LitStr> {
        if let Value::Assigned(tokens) = &self.value
            && let Ok(text) = syn::parse2::<LitStr>(tokens.clone())
        {
            if text.value().trim().is_empty() {
                errors.at(text.span(), format!("`{}` cannot be empty", self.name));
                return None;
            }
            return Some(text);
        }
        self.wants(&format!("{} = {example}", self.name), errors);
        None
    }

    fn path(&self, errors: &mut Errors) -> Option<Path> {
        if let Value::Assigned(tokens) = &self.value {
            let path = Path::parse_mod_style.parse2(tokens.clone()).or_else(|_| {
                syn::parse2::<LitStr>(tokens.clone())?.parse_with(Path::parse_mod_style)
            });
            if let Ok(path) = path {
                return Some(path);
            }
        }
        self.wants(&format!("{} = path::of::the_crate", self.name), errors);
        None
    }

    /// A number from 0 on, without a sign.
    fn number(&self, example: &str, errors: &mut Errors) -> Option<u32> {
        if let Value::Assigned(tokens) = &self.value
            && let Ok(number) = syn::parse2::<syn::LitInt>(tokens.clone())
        {
            if let Ok(number) = number.base10_parse() {
                return Some(number);
            }
            errors.at(
                number.span(),
                format!("`{}` is a number from 0 to {}", self.name, u32::MAX),
            );
            return None;
        }
        self.wants(example, errors);
        None
    }

    /// `true` or `false`.
    fn truth(&self, example: &str, errors: &mut Errors) -> Option<bool> {
        if let Value::Assigned(tokens) = &self.value
            && let Ok(truth) = syn::parse2::<syn::LitBool>(tokens.clone())
        {
            return Some(truth.value);
        }
        self.wants(example, errors);
        None
    }

    /// For an option that takes nothing.
    fn alone(&self, errors: &mut Errors) {
        if !matches!(self.value, Value::None) {
            errors.at(self.name.span(), format!("`{}` takes no value", self.name));
        }
    }

    fn wants(&self, form: &str, errors: &mut Errors) {
        let value = match &self.value {
            Value::Assigned(value) => value.clone(),
            Value::Listed(_) | Value::None => TokenStream::new(),
        };
        let at = if value.is_empty() {
            self.name.to_token_stream()
        } else {
            value
        };
        errors.under(at, format!("`{}` is written `{form}`", self.name));
    }
}

/// Cuts a list at its commas and parses each piece on its own.
fn given(attr: TokenStream, errors: &mut Errors) -> Vec<Given> {
    let mut found: Vec<Given> = Vec::new();
    for piece in pieces(attr) {
        match Given::parse.parse2(piece) {
            Ok(option) if found.iter().any(|other| other.name == option.name) => {
                errors.at(
                    option.name.span(),
                    format!("`{}` is given twice", option.name),
                );
            }
            Ok(option) => found.push(option),
            Err(error) => errors.take(error),
        }
    }
    found
}

fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in tokens {
        match (&token, pieces.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => {
                pieces.push(TokenStream::new())
            }
            (_, Some(piece)) => piece.extend([token]),
            (_, None) => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// An option that the attribute does not have.
fn unknown(attribute: &str, name: &Ident, known: &[&str], errors: &mut Errors) {
    let list = match known {
        [one] => format!("its only option is `{one}`"),
        [all @ .., last] => {
            let all: Vec<String> = all.iter().map(|option| format!("`{option}`")).collect();
            format!("the options are {} and `{last}`", all.join(", "))
        }
        [] => "it has none".to_owned(),
    };
    let meant = match closest(&name.to_string(), known) {
        Some(meant) => format!("did you mean `{meant}`? "),
        None => String::new(),
    };
    errors.at(
        name.span(),
        format!("{attribute} has no option `{name}`\n\nhelp: {meant}{list}"),
    );
}

/// `::perennial`, or what the dependency is called, unless an option says otherwise.
fn default_crate() -> Path {
    let name = match manifest::known() {
        Known::As(name) => syn::parse_str(&name).ok(),
        Known::Itself | Known::Not => None,
    };
    let name = name.unwrap_or_else(|| Ident::new("perennial", Span::call_site()));
    let mut path = Path::from(name);
    path.leading_colon = Some(syn::token::PathSep::default());
    path
}

/// `#[workflow(name = "..", version = 3, compare_inputs = false, lock = false, crate = path)]`
#[derive(Debug)]
pub(crate) struct WorkflowOptions {
    pub(crate) name: Option<LitStr>,
    /// A label.
    pub(crate) version: Option<u32>,
    /// Whether a replay compares inputs and results.
    pub(crate) compare_inputs: bool,
    /// Whether it is compared with `perennial.lock`.
    pub(crate) lock: bool,
    pub(crate) krate: Path,
}

impl WorkflowOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = WorkflowOptions {
            name: None,
            lock: true,
            version: None,
            compare_inputs: true,
            krate: default_crate(),
        };
        for option in given(attr, errors) {
            match option.name.to_string().as_str() {
                "name" => options.name = option.text("\"order\"", errors),
                "lock" => options.lock = option.truth("lock = false", errors).unwrap_or(true),
                "version" => options.version = option.number("version = 3", errors),
                "compare_inputs" => {
                    let compare = option.truth("compare_inputs = false", errors);
                    options.compare_inputs = compare.unwrap_or(true);
                }
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => unknown(
                    "`#[workflow]`",
                    &option.name,
                    &["name", "version", "compare_inputs", "lock", "crate"],
                    errors,
                ),
            }
        }
        options
    }
}

/// `#[durable(lock = false, crate = path)]`
#[derive(Debug)]
pub(crate) struct DurableOptions {
    /// Whether it is compared with `perennial.lock`.
    pub(crate) lock: bool,
    pub(crate) krate: Path,
}

impl DurableOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = DurableOptions {
            lock: true,
            krate: default_crate(),
        };
        for option in given(attr, errors) {
            match option.name.to_string().as_str() {
                "lock" => options.lock = option.truth("lock = false", errors).unwrap_or(true),
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => unknown("`#[durable]`", &option.name, &["lock", "crate"], errors),
            }
        }
        options
    }
}

/// `#[stub(name = "..", crate = path)]`
#[derive(Debug)]
pub(crate) struct StubOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) krate: Path,
}

impl StubOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = StubOptions {
            name: None,
            krate: default_crate(),
        };
        for option in given(attr, errors) {
            match option.name.to_string().as_str() {
                "name" => options.name = option.text("\"review\"", errors),
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => unknown("`#[stub]`", &option.name, &["name", "crate"], errors),
            }
        }
        options
    }
}

/// `#[perennial::test(strict, crate = path)]`
#[derive(Debug)]
pub(crate) struct TestOptions {
    pub(crate) strict: bool,
    pub(crate) krate: Path,
}

impl TestOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = TestOptions {
            strict: false,
            krate: default_crate(),
        };
        for option in given(attr, errors) {
            match option.name.to_string().as_str() {
                "strict" => {
                    option.alone(errors);
                    options.strict = true;
                }
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => unknown(
                    "`#[perennial::test]`",
                    &option.name,
                    &["strict", "crate"],
                    errors,
                ),
            }
        }
        options
    }
}
