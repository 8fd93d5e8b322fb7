//! `#[activity(idempotent, attempt = "30s", retry(attempts = 5, initial = "200ms", cap = "1m"))]`

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{LitInt, LitStr, Path, Type};

use super::{Given, Value, default_crate, given, unknown};
use crate::errors::Errors;
use crate::suggest::closest;

const OPTIONS: &[&str] = &[
    "pure",
    "idempotent",
    "name",
    "attempt",
    "timeout",
    "retry",
    "blocking",
    "state",
    "crate",
];
const RETRY_OPTIONS: &[&str] = &["attempts", "initial", "cap", "factor"];

/// The options of one activity.
#[derive(Debug)]
pub(crate) struct ActivityOptions {
    pub(crate) class: Class,
    pub(crate) name: Option<LitStr>,
    /// The deadline of one attempt.
    pub(crate) attempt: Option<Duration>,
    /// The deadline of all attempts together.
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry: Option<Retry>,
    /// The token, when it is there.
    pub(crate) blocking: Option<Span>,
    /// State that functions called by the activity ask for.
    pub(crate) states: Vec<Type>,
    pub(crate) krate: Path,
}

/// What happens when it runs twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Pure,
    Idempotent,
}

impl Class {
    /// The variant of `perennial::Class`.
    pub(crate) fn variant(self) -> Ident {
        match self {
            Class::Pure => format_ident!("Pure"),
            Class::Idempotent => format_ident!("Idempotent"),
        }
    }
}

/// What was written in `retry(..)`; what was not keeps the runtime's default.
#[derive(Debug, Default)]
pub(crate) struct Retry {
    pub(crate) attempts: Option<u32>,
    pub(crate) initial: Option<Duration>,
    pub(crate) cap: Option<Duration>,
    pub(crate) factor: Option<u32>,
}

impl ActivityOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = ActivityOptions {
            // What a missing class falls back to only decides what the rest of the crate sees
            // next to the error.
            class: Class::Idempotent,
            name: None,
            attempt: None,
            timeout: None,
            retry: None,
            blocking: None,
            states: Vec::new(),
            krate: default_crate(),
        };
        let mut class: Option<Ident> = None;
        let mut misspelt_class = false;
        for option in given(attr, errors) {
            let name = option.name.to_string();
            match name.as_str() {
                "pure" | "idempotent" | "lookup" | "once" => {
                    if let Some(first) = &class {
                        errors.at(
                            option.name.span(),
                            format!(
                                "an activity is `{first}` or `{name}`, not both\n\nhelp: {}",
                                choice()
                            ),
                        );
                        continue;
                    }
                    options.class = one_class(&option, errors);
                    class = Some(option.name);
                }
                "name" => options.name = option.text("\"charge-card\"", errors),
                "attempt" => options.attempt = duration(&option, "\"30s\"", errors),
                "timeout" => options.timeout = duration(&option, "\"10m\"", errors),
                "retry" => options.retry = retry(&option, errors),
                "blocking" => {
                    option.alone(errors);
                    options.blocking = Some(option.name.span());
                }
                "state" => options.states = types(&option, errors),
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => {
                    misspelt_class |=
                        matches!(closest(&name, OPTIONS), Some("pure" | "idempotent"));
                    unknown("`#[activity]`", &option.name, OPTIONS, errors);
                }
            }
        }
        if class.is_none() && !misspelt_class {
            errors.at(
                Span::call_site(),
                format!(
                    "an activity says what happens when it runs twice\n\nhelp: {}",
                    choice()
                ),
            );
        }
        options
    }
}

fn choice() -> &'static str {
    "`pure`: it has no effect, so it is simply run again\n\
     help: `idempotent`: it has one, and running it again with the same `acx.idempotency_key()` adds no second one"
}

fn one_class(option: &Given, errors: &mut Errors) -> Class {
    let name = option.name.to_string();
    match name.as_str() {
        "pure" => option.alone(errors),
        "idempotent" => option.alone(errors),
        _ => errors.at(
            option.name.span(),
            format!(
                "`{name}` is not there yet: so far an activity is `pure` or `idempotent`\n\n\
                 help: write `idempotent`, and hand `acx.idempotency_key()` to the other side, \
                 so that it does the work once however often it is asked"
            ),
        ),
    }
    if name == "pure" {
        Class::Pure
    } else {
        Class::Idempotent
    }
}

fn duration(option: &Given, example: &str, errors: &mut Errors) -> Option<Duration> {
    let text = option.text(example, errors)?;
    match humantime::parse_duration(text.value().trim()) {
        Ok(Duration::ZERO) => {
            errors.at(
                text.span(),
                format!("`{}` must be longer than nothing", option.name),
            );
            None
        }
        Ok(duration) => Some(duration),
        Err(error) => {
            errors.at(
                text.span(),
                format!("this is not a duration: {error}\n\nhelp: write a number and a unit, as in \"200ms\", \"30s\", \"1m 30s\" or \"2h\""),
            );
            None
        }
    }
}

fn retry(option: &Given, errors: &mut Errors) -> Option<Retry> {
    let Value::Listed(list) = &option.value else {
        option.wants(
            "retry(attempts = 5, initial = \"200ms\", cap = \"1m\", factor = 2)",
            errors,
        );
        return None;
    };
    let mut retry = Retry::default();
    for part in given(list.clone(), errors) {
        match part.name.to_string().as_str() {
            "attempts" => retry.attempts = at_least_one(&part, "attempts = 5", errors),
            "initial" => retry.initial = duration(&part, "\"200ms\"", errors),
            "cap" => retry.cap = duration(&part, "\"1m\"", errors),
            "factor" => retry.factor = at_least_one(&part, "factor = 2", errors),
            _ => unknown("`retry`", &part.name, RETRY_OPTIONS, errors),
        }
    }
    Some(retry)
}

fn at_least_one(option: &Given, form: &str, errors: &mut Errors) -> Option<u32> {
    if let Value::Assigned(tokens) = &option.value
        && let Ok(number) = syn::parse2::<LitInt>(tokens.clone())
    {
        match number.base10_parse::<u32>() {
            Ok(value) if value > 0 => return Some(value),
            _ => errors.under(
                number,
                format!(
                    "`{}` is a whole number, at least 1 and at most {}",
                    option.name,
                    u32::MAX
                ),
            ),
        }
        return None;
    }
    option.wants(form, errors);
    None
}

fn types(option: &Given, errors: &mut Errors) -> Vec<Type> {
    if let Value::Listed(list) = &option.value {
        match Punctuated::<Type, syn::Token![,]>::parse_terminated.parse2(list.clone()) {
            Ok(types) => return types.into_iter().collect(),
            Err(error) => errors.take(error),
        }
    } else {
        option.wants("state(Bank, Mailer)", errors);
    }
    Vec::new()
}

/// A `Duration` that can stand in a `const`.
pub(super) fn literal(duration: Duration) -> TokenStream {
    let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#seconds, #nanoseconds))
}

impl ActivityOptions {
    /// The `ActivityOptions` of the sdk, as a constant.
    pub(crate) fn constant(&self) -> TokenStream {
        let krate = &self.krate;
        let class = self.class.variant();
        let attempt = self
            .attempt
            .map(literal)
            .map(|attempt| quote!(.attempt(#attempt)));
        let timeout = self
            .timeout
            .map(literal)
            .map(|timeout| quote!(.timeout(#timeout)));
        let retry = self.retry.as_ref().map(|retry| {
            let attempts = retry.attempts.map(|attempts| quote!(.attempts(#attempts)));
            let initial = retry
                .initial
                .map(literal)
                .map(|initial| quote!(.initial(#initial)));
            let cap = retry.cap.map(literal).map(|cap| quote!(.cap(#cap)));
            let factor = retry.factor.map(|factor| quote!(.factor(#factor)));
            quote!(.retry(#krate::Retry::new() #attempts #initial #cap #factor))
        });
        quote!(#krate::ActivityOptions::new(#krate::Class::#class) #attempt #timeout #retry)
    }
}
