//! What the signature of a workflow or an activity must be.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{FnArg, GenericParam, Pat, PatType, ReturnType, Safety, Signature, Type};

use crate::errors::Errors;
use crate::inputs::Inputs;

/// The runtime takes functions of up to so many inputs.
const MOST_INPUTS: usize = 8;

/// Which of the attributes stands above the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Workflow,
    Activity,
    Stub,
}

impl Kind {
    /// For messages: a workflow.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Workflow => "a workflow",
            Kind::Activity => "an activity",
            Kind::Stub => "a stub",
        }
    }

    /// For messages: `` `#[workflow]` ``.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Kind::Workflow => "`#[workflow]`",
            Kind::Activity => "`#[activity]`",
            Kind::Stub => "`#[stub]`",
        }
    }

    fn context(self) -> &'static str {
        match self {
            Kind::Workflow | Kind::Stub => "Cx",
            Kind::Activity => "ActivityCx",
        }
    }

    /// What its first parameter should look like.
    fn context_parameter(self) -> &'static str {
        match self {
            Kind::Workflow | Kind::Stub => "cx: &Cx",
            Kind::Activity => "acx: &ActivityCx",
        }
    }
}

/// A checked signature.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `None` if it is missing, which has been reported.
    pub(crate) context: Option<Context>,
    pub(crate) inputs: Inputs,
    /// `None` if a history cannot hold it, which has been reported.
    pub(crate) output: Option<Type>,
    /// Something was wrong with it, so the generated items must not use the inputs.
    pub(crate) broken: bool,
}

/// The first parameter.
#[derive(Debug)]
pub(crate) struct Context {
    /// Its name, if it has a simple one.
    pub(crate) name: Option<Ident>,
    pub(crate) borrowed: bool,
    /// It is the other kind's, which has been reported.
    wrong: bool,
    /// Where its type stands.
    pub(crate) span: Span,
}

impl Entry {
    pub(crate) fn check(kind: Kind, sig: &Signature, errors: &mut Errors) -> Entry {
        let mut broken = false;
        modifiers(kind, sig, errors);
        for parameter in &sig.generics.params {
            broken = true;
            generic(kind, parameter, errors);
        }

        let mut arguments = sig.inputs.iter().filter_map(|argument| match argument {
            FnArg::Typed(argument) => Some(argument),
            FnArg::Receiver(_) => None,
        });
        let context = context(kind, sig, arguments.clone().next(), errors);
        if context.is_some() {
            arguments.next();
        }
        broken |= context.as_ref().is_none_or(|context| context.wrong);
        for argument in arguments.clone() {
            broken |= !owned_input(kind, &argument.ty, errors);
        }
        if let Some(one_too_many) = arguments.clone().nth(MOST_INPUTS) {
            errors.under(
                one_too_many,
                format!(
                    "{} takes at most {MOST_INPUTS} inputs\n\nhelp: put them into one struct",
                    kind.noun()
                ),
            );
            broken = true;
        }
        let inputs = Inputs::new(arguments, errors);
        let output = output(kind, sig, errors);
        broken |= output.is_none();
        Entry {
            context,
            inputs,
            output,
            broken,
        }
    }
}

fn modifiers(kind: Kind, sig: &Signature, errors: &mut Errors) {
    let noun = kind.noun();
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(
            token.span,
            format!("{noun} cannot be `unsafe`: the runtime calls it"),
        );
    }
    if let Some(token) = &sig.constness {
        errors.at(token.span, format!("{noun} cannot be `const`"));
    }
    if let Some(abi) = &sig.abi {
        errors.under(
            abi,
            format!("{noun} cannot be `extern`: the runtime calls it"),
        );
    }
    if kind != Kind::Activity && sig.asyncness.is_none() {
        errors.at(
            sig.fn_token.span,
            format!(
                "{} goes on an `async fn`\n\nhelp: write `async fn {}`",
                kind.attribute(),
                sig.ident
            ),
        );
    }
}

fn generic(kind: Kind, parameter: &GenericParam, errors: &mut Errors) {
    let noun = kind.noun();
    match parameter {
        GenericParam::Type(parameter) => {
            let share = match kind {
                Kind::Workflow => "a generic `#[durable]` function",
                Kind::Activity => "a generic function",
                Kind::Stub => "a generic `#[durable]` function that calls them",
            };
            errors.at(
                parameter.ident.span(),
                format!(
                    "{noun} cannot have type parameters: its inputs and its result are read back from the history\n\n\
                     help: write one for each type, and put what they share into {share}"
                ),
            );
        }
        GenericParam::Lifetime(parameter) => errors.under(
            &parameter.lifetime,
            format!(
                "{noun} cannot have lifetime parameters: its inputs come out of the history\n\n\
                 help: take owned values: `String` for `&str`, `Vec<T>` for `&[T]`"
            ),
        ),
        GenericParam::Const(parameter) => errors.at(
            parameter.ident.span(),
            format!("{noun} cannot have const parameters: its inputs come out of the history\n\nhelp: make it an input"),
        ),
    }
}

fn context(
    kind: Kind,
    sig: &Signature,
    first: Option<&PatType>,
    errors: &mut Errors,
) -> Option<Context> {
    let (noun, wanted, parameter) = (kind.noun(), kind.context(), kind.context_parameter());
    let Some(first) = first else {
        let asyncness = if sig.asyncness.is_some() {
            "async "
        } else {
            ""
        };
        errors.at(
            sig.paren_token.span.join(),
            format!(
                "{noun} takes its context first\n\nhelp: write `{asyncness}fn {}({parameter})`",
                sig.ident
            ),
        );
        return None;
    };
    let named = context_type(&first.ty);
    if named.as_deref() == Some(wanted) {
        let ty = ungrouped(&first.ty);
        if let Type::Reference(reference) = ty
            && let Some(mutability) = &reference.mutability
        {
            errors.at(
                mutability.span,
                format!("the context is borrowed as `&{wanted}`\n\nhelp: write `{parameter}`"),
            );
        }
        let name = match &*first.pat {
            Pat::Ident(pat) => Some(pat.ident.clone()),
            _ => None,
        };
        return Some(Context {
            name,
            borrowed: matches!(ty, Type::Reference(_)),
            wrong: false,
            span: ty.span(),
        });
    }
    match named.as_deref() {
        Some("Cx" | "ActivityCx") => {
            errors.under(
                &first.ty,
                format!("{noun} takes `&{wanted}`\n\nhelp: write `{parameter}`"),
            );
            // It is a context, if the wrong one: the inputs follow it.
            Some(Context {
                name: None,
                borrowed: true,
                wrong: true,
                span: first.ty.span(),
            })
        }
        _ => {
            errors.under(
                first,
                format!("{noun} takes its context first\n\nhelp: put `{parameter}` before this"),
            );
            None
        }
    }
}

/// The last segment of a path, through `&`. The macro cannot see through an alias.
fn context_type(ty: &Type) -> Option<String> {
    match ungrouped(ty) {
        Type::Reference(reference) => context_type(&reference.elem),
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// What `macro_rules` puts around a `$t:ty` is invisible.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        ty => ty,
    }
}

fn owned_input(kind: Kind, ty: &Type, errors: &mut Errors) -> bool {
    match borrowing(ty) {
        Some(Borrowing::Reference(lifetime_or_reference)) => {
            errors.under(
                lifetime_or_reference,
                "inputs are read back from the history, so they must be owned\n\n\
                 help: `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`",
            );
            false
        }
        Some(Borrowing::ImplTrait(ty)) => {
            errors.under(
                ty,
                format!("the inputs of {} are read back from the history, so each needs a concrete type", kind.noun()),
            );
            false
        }
        None => true,
    }
}

fn output(kind: Kind, sig: &Signature, errors: &mut Errors) -> Option<Type> {
    let noun = kind.noun();
    let ReturnType::Type(_, ty) = &sig.output else {
        if kind == Kind::Stub {
            return Some(syn::parse_quote!(()));
        }
        let result = match kind {
            Kind::Workflow => "Result<(), MyError>",
            Kind::Activity | Kind::Stub => "Result<(), Failure>",
        };
        errors.at(
            sig.paren_token.span.close(),
            format!("{noun} returns a `Result`, which is written to the history\n\nhelp: write `-> {result}` here"),
        );
        return None;
    };
    match borrowing(ty) {
        Some(Borrowing::Reference(part)) => errors.under(
            part,
            "the result is written to the history, so it must be owned\n\n\
             help: `String` for `&str`, `Vec<T>` for `&[T]`, `T` for `&T`",
        ),
        Some(Borrowing::ImplTrait(part)) => errors.under(
            part,
            format!("the result of {noun} is written to the history, so it needs a concrete type"),
        ),
        None => return Some((**ty).clone()),
    }
    None
}

/// A part of a type that cannot come out of a history.
enum Borrowing<'a> {
    Reference(&'a dyn ToTokens),
    ImplTrait(&'a dyn ToTokens),
}

fn borrowing(ty: &Type) -> Option<Borrowing<'_>> {
    struct Finder<'a>(Option<Borrowing<'a>>);
    impl<'a> Visit<'a> for Finder<'a> {
        fn visit_type_reference(&mut self, reference: &'a syn::TypeReference) {
            self.0.get_or_insert(Borrowing::Reference(reference));
        }
        fn visit_type_impl_trait(&mut self, ty: &'a syn::TypeImplTrait) {
            self.0.get_or_insert(Borrowing::ImplTrait(ty));
        }
        fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
            // `Cow<'static, str>` reads back as an owned value.
            if lifetime.ident != "static" {
                self.0.get_or_insert(Borrowing::Reference(lifetime));
            }
        }
        // References in the signature of a function pointer are not borrowed by the value.
        fn visit_type_fn_ptr(&mut self, _: &'a syn::TypeFnPtr) {}
        fn visit_generic_argument(&mut self, argument: &'a syn::GenericArgument) {
            visit::visit_generic_argument(self, argument);
        }
    }
    let mut finder = Finder(None);
    finder.visit_type(ty);
    finder.0
}
