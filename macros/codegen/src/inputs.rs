//! The arguments after the context: what a call writes into the history.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Pat, PatType, Type};

use crate::errors::Errors;

/// More conditional arguments than this would need an unreasonable number of combinations.
const MOST_CONDITIONAL: usize = 4;

/// One argument.
#[derive(Debug)]
pub(crate) struct Input {
    /// `#[cfg]`s of the argument, which each item that mentions it needs.
    pub(crate) cfg: Vec<Attribute>,
    /// Its name in generated code. It stands where the user's name stands but is the macro's,
    /// so it cannot collide with anything and no lint about names fires twice.
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// The arguments of one function.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) all: Vec<Input>,
}

/// The inputs under one combination of conditions.
#[derive(Debug)]
pub(crate) struct Shape<'a> {
    /// `#[cfg(..)]` of this combination, nothing if there are no conditional arguments.
    pub(crate) cfg: TokenStream,
    present: Vec<&'a Input>,
}

impl Inputs {
    pub(crate) fn new<'a>(
        arguments: impl Iterator<Item = &'a PatType>,
        errors: &mut Errors,
    ) -> Self {
        let all: Vec<Input> = arguments
            .enumerate()
            .map(|(index, argument)| Input {
                cfg: conditions(&argument.attrs),
                name: generated_name(&argument.pat, index),
                ty: (*argument.ty).clone(),
            })
            .collect();
        let mut inputs = Inputs { all };
        let conditional = inputs.all.iter().filter(|input| !input.cfg.is_empty());
        if let Some(one_too_many) = conditional.clone().nth(MOST_CONDITIONAL) {
            errors.at(
                one_too_many.cfg[0].span(),
                format!("at most {MOST_CONDITIONAL} arguments can be conditional\n\nhelp: put them into one struct"),
            );
            // Any shape will do next to the error.
            inputs.all.iter_mut().for_each(|input| input.cfg.clear());
        }
        inputs
    }

    /// Every combination of conditional arguments, each under its `#[cfg]`. One of them holds.
    ///
    /// A tuple type has no place for a `#[cfg]`, and an argument that is configured away must
    /// leave nothing behind in what is recorded.
    pub(crate) fn shapes(&self) -> Vec<Shape<'_>> {
        let mut shapes = vec![(Vec::new(), Vec::new())];
        for input in &self.all {
            if input.cfg.is_empty() {
                shapes
                    .iter_mut()
                    .for_each(|(_, present)| present.push(input));
                continue;
            }
            let holds = condition(&input.cfg);
            shapes = shapes
                .into_iter()
                .flat_map(|(conditions, present)| {
                    let mut with = (conditions.clone(), present.clone());
                    with.0.push(holds.clone());
                    with.1.push(input);
                    let mut without = (conditions, present);
                    without.0.push(quote!(not(#holds)));
                    [with, without]
                })
                .collect();
        }
        shapes
            .into_iter()
            .map(|(conditions, present)| Shape {
                cfg: match &conditions[..] {
                    [] => TokenStream::new(),
                    [one] => quote!(#[cfg(#one)]),
                    all => quote!(#[cfg(all(#(#all),*))]),
                },
                present,
            })
            .collect()
    }

    /// Arguments for a call of the code: `a, #[cfg(..)] b`.
    pub(crate) fn passed_on(&self) -> TokenStream {
        self.all
            .iter()
            .map(|Input { cfg, name, .. }| quote!(#(#cfg)* #name,))
            .collect()
    }

    /// Parameters of the callable.
    pub(crate) fn parameters(&self) -> TokenStream {
        self.all
            .iter()
            .map(|Input { cfg, name, ty }| quote!(#(#cfg)* #name: #ty,))
            .collect()
    }
}

impl Shape<'_> {
    /// `()`, the bare type, or a tuple, whose parentheses stand on `span`: those of the parameters.
    pub(crate) fn ty(&self, span: Span) -> TokenStream {
        self.combined(span, |input| input.ty.to_token_stream())
    }

    /// The same of the names, which is at once the value and the pattern.
    pub(crate) fn names(&self) -> TokenStream {
        self.combined(Span::call_site(), |input| input.name.to_token_stream())
    }

    fn combined(&self, span: Span, part: impl Fn(&Input) -> TokenStream) -> TokenStream {
        if let [one] = self.present[..] {
            return part(one);
        }
        let parts = self.present.iter().map(|input| part(input));
        let mut tuple = Group::new(Delimiter::Parenthesis, quote!(#(#parts),*));
        tuple.set_span(span);
        tuple.into_token_stream()
    }
}

/// The `#[cfg]`s among some attributes.
fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .cloned()
        .collect()
}

fn condition(cfg: &[Attribute]) -> TokenStream {
    let predicates: Vec<_> = cfg
        .iter()
        .filter_map(|attr| attr.meta.require_list().ok())
        .map(|list| &list.tokens)
        .collect();
    match predicates[..] {
        [one] => one.clone(),
        _ => quote!(all(#(#predicates),*)),
    }
}

/// A name for the argument in generated code: the user's own where there is one.
pub(crate) fn generated_name(pat: &Pat, index: usize) -> Ident {
    match pat {
        Pat::Ident(pat) => {
            let mut name = pat.ident.clone();
            name.set_span(Span::mixed_site().located_at(name.span()));
            name
        }
        other => format_ident!(
            "input{index}",
            span = Span::mixed_site().located_at(other.span())
        ),
    }
}
