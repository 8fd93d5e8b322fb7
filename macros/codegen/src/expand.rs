//! Puts the generated items together.

mod activity;
mod durable;
mod migration;
mod print;
mod stub;
mod test;
mod workflow;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, LitStr, Path, ReturnType, Signature, Token, Type, Visibility};

use crate::attributes::{ItemAttributes, cannot_be_instrumented, instrumented};
use crate::check::{check, is_opt_out, misplaced_opt_out};
use crate::errors::Errors;
use crate::index::is_associated;
use crate::inputs::{Input, Inputs};
use crate::lower::respanned;
use crate::manifest::{self, Known};
use crate::markers::{self, Found};
use crate::options::{
    ActivityOptions, DurableOptions, MigrationOptions, StubOptions, TestOptions, WorkflowOptions,
};
use crate::parse::{Body, Function};
use crate::signature::Kind;

pub(crate) use self::durable::context as durable_context;

pub(crate) fn workflow(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand("workflow", names_crate(&attr), item, |function, errors| {
        let options = WorkflowOptions::parse(attr, errors);
        let function = not_instrumented(function, "a workflow", errors);
        match misplaced(Kind::Workflow.attribute(), function, errors) {
            Ok(function) => workflow::expand(&options, function, errors),
            Err(mut function) => {
                check(
                    &options.krate,
                    &function.sig,
                    None,
                    &mut function.body,
                    errors,
                );
                as_written(*function)
            }
        }
    })
}

pub(crate) fn activity(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand("activity", names_crate(&attr), item, |function, errors| {
        let options = ActivityOptions::parse(attr, errors);
        match misplaced(Kind::Activity.attribute(), function, errors) {
            Ok(function) => activity::expand(&options, function, errors),
            Err(function) => as_written(*function),
        }
    })
}

pub(crate) fn stub(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand("stub", names_crate(&attr), item, |function, errors| {
        let options = StubOptions::parse(attr, errors);
        let mut function = match bodiless(function, errors) {
            Ok(function) => function,
            Err(function) => return as_written(*function),
        };
        function.body = Body::Missing;
        stub::expand(&options, function, errors)
    })
}

pub(crate) fn durable(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand("durable", names_crate(&attr), item, |function, errors| {
        let options = DurableOptions::parse(attr, errors);
        let function = not_instrumented(function, "a `#[durable]` function", errors);
        durable::expand(&options, function, errors)
    })
}

pub(crate) fn migration(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand("migration", names_crate(&attr), item, |function, errors| {
        let options = MigrationOptions::parse(attr, errors);
        migration::expand(&options, function, errors)
    })
}

pub(crate) fn test(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand(
        "perennial::test",
        names_crate(&attr),
        item,
        |function, errors| {
            let options = TestOptions::parse(attr, errors);
            test::expand(&options, function, errors)
        },
    )
}

/// Parses the item, expands it, and puts the findings behind it.
fn expand(
    attribute: &str,
    names_crate: bool,
    item: TokenStream,
    with: impl FnOnce(Function, &mut Errors) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::default();
    let mut expanded = match syn::parse2::<Function>(item.clone()) {
        Ok(mut function) => {
            let name = function.sig.ident.clone();
            if !matches!(attribute, "activity" | "migration" | "stub") {
                without_opt_outs(&mut function, &mut errors);
            }
            let expanded = if names_crate || finds_crate(attribute, &mut errors) {
                with(function, &mut errors)
            } else {
                as_written(without_code(function))
            };
            print::if_asked_for(&name, &expanded);
            expanded
        }
        Err(error) => {
            let function = match attribute {
                "perennial::test" | "migration" => "a plain `fn`",
                "stub" => "the signature of an `async fn`",
                _ => "an `async fn`",
            };
            match what_it_is(item.clone()) {
                Some((token, what)) => {
                    errors.at(
                        token.span(),
                        format!("`#[{attribute}]` goes on {function}, not on {what}"),
                    );
                }
                None => errors.take(error),
            }
            item
        }
    };
    expanded.extend(errors.into_tokens());
    expanded
}

/// Checks the markers of a body. Where something is wrong with them it cannot be told what they guard, so that is
/// said in place of what the lock found.
fn markers(
    krate: &Path,
    context: Option<&Ident>,
    body: &mut Body,
    differences: Errors,
    errors: &mut Errors,
) -> Vec<Found> {
    let mut mistakes = Errors::default();
    let found = markers::check(krate, context, body, &mut mistakes);
    errors.append(if mistakes.is_empty() {
        differences
    } else {
        mistakes
    });
    found
}

/// Whether the attribute is told where the crate `perennial` is.
fn names_crate(attr: &TokenStream) -> bool {
    let mut tokens = attr.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Ident(name) if name == "crate"))
}

/// Whether the crate `perennial` is there, as far as one can know. Where it is not, each path of the generated
/// code would be an error, and none would say what to do.
fn finds_crate(attribute: &str, errors: &mut Errors) -> bool {
    let place = Span::call_site();
    // Outside of the compiler nothing is known.
    if place.local_file().is_none() || manifest::known() != Known::Not {
        return true;
    }
    let option = match attribute {
        "activity" | "migration" => format!("#[{attribute}(.., crate = path::to::perennial)]"),
        _ => format!("#[{attribute}(crate = path::to::perennial)]"),
    };
    errors.at(
        place,
        format!("`#[{attribute}]` does not find the crate `perennial`: no dependency in Cargo.toml has that name\n\nhelp: add it, or say where it is: `{option}`"),
    );
    false
}

/// Where `#[tracing::instrument]` stands above ours it has rewritten the code: that is reported, and nothing
/// that would follow from it.
fn not_instrumented(function: Function, what: &str, errors: &mut Errors) -> Function {
    let instrumented = match &function.body {
        Body::Parsed(block) => instrumented(block),
        Body::Opaque(..) | Body::Missing => None,
    };
    match instrumented {
        Some(place) => {
            errors.at(place, cannot_be_instrumented(what));
            without_code(function)
        }
        None => function,
    }
}

/// The function without its code, so that no error follows from another one.
fn without_code(mut function: Function) -> Function {
    function
        .attrs
        .insert(0, syn::parse_quote!(#[allow(unused)]));
    function.body = Body::Parsed(syn::parse_quote!({ ::core::unreachable!() }));
    function
}

/// Takes away opt-outs of the whole function and of its parameters, which cannot be.
fn without_opt_outs(function: &mut Function, errors: &mut Errors) {
    let parameters = function.sig.inputs.iter_mut().map(|input| match input {
        FnArg::Typed(input) => &mut input.attrs,
        FnArg::Receiver(receiver) => &mut receiver.attrs,
    });
    for attrs in [&mut function.attrs].into_iter().chain(parameters) {
        attrs.retain(|attr| {
            let is_opt_out = is_opt_out(attr);
            if is_opt_out {
                misplaced_opt_out(attr, errors);
            }
            !is_opt_out
        });
    }
}

/// The keyword of an item that is no function.
fn what_it_is(item: TokenStream) -> Option<(TokenTree, &'static str)> {
    item.into_iter().find_map(|token| {
        let TokenTree::Ident(word) = &token else {
            return None;
        };
        let what = match word.to_string().as_str() {
            "struct" => "a struct",
            "enum" => "an enum",
            "union" => "a union",
            "trait" => "a trait",
            "impl" => "an `impl`",
            "mod" => "a module",
            "type" => "a type alias",
            "static" => "a static",
            "use" => "a `use`",
            "let" => "a statement",
            _ => return None,
        };
        Some((token, what))
    })
}

/// A method, or a function without a body: types cannot be declared where it stands, so it is
/// emitted as it was written.
fn misplaced(
    attribute: &str,
    function: Function,
    errors: &mut Errors,
) -> Result<Function, Box<Function>> {
    if let Some(receiver) = function.sig.receiver() {
        errors.under(
            receiver,
            format!("{} goes on a free function, not on a method\n\nhelp: pass what it needs of `self` as an input", attribute),
        );
    } else if is_associated(&function.sig.ident) {
        errors.under(
            &function.sig.ident,
            format!(
                "{} goes on a free function\n\nhelp: move it out of the `impl` or the `trait`",
                attribute
            ),
        );
    } else if let Body::Missing = function.body {
        errors.under(
            &function.sig.ident,
            format!("{} goes on a function with a body", attribute),
        );
    } else {
        return Ok(function);
    }
    Err(Box::new(function))
}

/// A stub has no code. Where some was written it is reported and left away.
fn bodiless(function: Function, errors: &mut Errors) -> Result<Function, Box<Function>> {
    let attribute = Kind::Stub.attribute();
    if let Some(receiver) = function.sig.receiver() {
        errors.under(
            receiver,
            format!("{attribute} goes on a free function, not on a method\n\nhelp: pass what it needs of `self` as an input"),
        );
        return Err(Box::new(without_code(function)));
    }
    if is_associated(&function.sig.ident) {
        errors.under(
            &function.sig.ident,
            format!("{attribute} goes on a free function\n\nhelp: move it out of the `impl` or the `trait`"),
        );
        return Err(Box::new(function));
    }
    if !matches!(function.body, Body::Missing) {
        errors.at(
            function.body.braces(),
            "a stub has no body: somebody outside of the run gives its result\n\n\
             help: end the signature with `;`; code that the runtime is to run is an `#[activity]`",
        );
    }
    Ok(function)
}

fn as_written(function: Function) -> TokenStream {
    let Function {
        attrs,
        vis,
        sig,
        body,
    } = function;
    let body = match body {
        Body::Missing => quote!(;),
        body => body.into_token_stream(),
    };
    quote!(#(#attrs)* #vis #sig #body)
}

/// What workflows and activities have in common: a callable and a type of the same name.
struct Named<'a> {
    krate: &'a Path,
    ident: &'a Ident,
    vis: &'a Visibility,
    attributes: &'a ItemAttributes,
    name: String,
    /// Where the braces of its body stand.
    braces: Span,
}

impl<'a> Named<'a> {
    fn new(
        krate: &'a Path,
        function: &'a Function,
        attributes: &'a ItemAttributes,
        name: Option<&LitStr>,
        braces: Span,
    ) -> Self {
        let ident = &function.sig.ident;
        let name = name.map_or_else(|| ident.unraw().to_string(), LitStr::value);
        Named {
            krate,
            ident,
            vis: &function.vis,
            attributes,
            name,
            braces,
        }
    }

    /// What users call: `fn charge_card(cx: &Cx, order: Order) -> Call<charge_card>`.
    ///
    /// `broken`: the inputs cannot be taken over, so it only has to have the right signature.
    fn callable(
        &self,
        function: &Function,
        inputs: &Inputs,
        returns: &str,
        broken: bool,
    ) -> TokenStream {
        let Named {
            krate,
            ident,
            vis,
            attributes: ItemAttributes { cfg, callable, .. },
            ..
        } = self;
        let cx = first_parameter(inputs);
        let parameters = inputs.parameters();
        let created = format_ident!("{returns}");
        let body = if broken {
            let names = inputs.passed_on();
            quote!(let _ = (#cx, #names); ::core::unreachable!())
        } else {
            let calls = inputs.shapes().into_iter().map(|shape| {
                let (cfg, value) = (&shape.cfg, shape.names());
                quote!(#cfg { #krate::#created::new(#cx, #value) })
            });
            match inputs.shapes().len() {
                1 => {
                    let value = inputs.shapes()[0].names();
                    quote!(#krate::#created::new(#cx, #value))
                }
                _ => quote!(#(#calls)*),
            }
        };
        let (fn_token, generics) = (&function.sig.fn_token, &function.sig.generics);
        let where_clause = &generics.where_clause;
        // It begins and ends with the user's tokens, and so does its signature. With one of the macro's at an end
        // it would count as foreign code, and lints about unused or undocumented functions would be silent.
        let end = last_token(&function.sig);
        let (at_end, returns) = (respanned(krate, end), Ident::new(returns, end));
        let output = quote_spanned!(end=> -> #at_end::#returns<#ident>);
        let mut block = Group::new(Delimiter::Brace, body);
        block.set_span(self.braces);
        quote! {
            #(#cfg)* #(#callable)*
            #vis #fn_token #ident #generics (#cx: &#krate::Cx, #parameters) #output #where_clause #block
        }
    }

    /// The type that stands for the function: in the type namespace, so it can have its name.
    fn marker(&self) -> TokenStream {
        let Named {
            ident,
            vis,
            attributes: ItemAttributes { cfg, .. },
            ..
        } = self;
        quote! {
            #(#cfg)*
            #[doc(hidden)]
            #[allow(
                non_camel_case_types,
                unreachable_pub,
                missing_debug_implementations,
                missing_copy_implementations
            )]
            #vis struct #ident { _never: ::core::convert::Infallible }
        }
    }

    /// Checks of several input types, each spanned to its type, so that an error sits there.
    ///
    /// The traits check them too, but all at once. A single one needs no second check. The type that the checks
    /// are about is nobody else's: what is private to the user's module may stand in them.
    fn assertions(&self, inputs: &Inputs) -> TokenStream {
        if inputs.all.len() < 2 {
            return TokenStream::new();
        }
        let krate = self.krate;
        let assertion = |(index, Input { cfg, ty, .. }): (usize, &Input)| {
            let checked = quote_spanned!(ty.span()=> type Type = #ty;);
            quote!(#(#cfg)* impl #krate::__private::Input<#index> for __Inputs { #checked })
        };
        let checks = inputs.all.iter().enumerate().map(assertion);
        quote!(struct __Inputs; #(#checks)*)
    }
}

/// The visibility of an item that nobody has written. With the span of a `macro_rules!` on one of its tokens the
/// compiler would take the item for code of that macro, and say where it is not used.
fn generated(vis: &Visibility) -> TokenStream {
    respanned(vis, Span::call_site())
}

/// `cx`, if no input has taken that name.
fn first_parameter(inputs: &Inputs) -> Ident {
    let taken = inputs.all.iter().any(|input| input.name == "cx");
    internal(if taken { "__cx" } else { "cx" })
}

/// A name that only generated code sees.
fn internal(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// `type Input = ..;`, once for each combination of conditions, and `type Output = ..;`.
///
/// They stand on the types of the signature: rustc reports there that one is private where the
/// function is not.
fn associated_types(
    signature: &Signature,
    inputs: &Inputs,
    output: Option<&Type>,
    broken: bool,
) -> TokenStream {
    let mut types = match output {
        Some(output) => quote_spanned!(output.span()=> type Output = #output;),
        None => quote!(
            type Output = ::core::result::Result<(), ::std::string::String>;
        ),
    };
    if broken {
        types.extend(quote!(
            type Input = ();
        ));
        return types;
    }
    let span = inputs
        .all
        .first()
        .map_or_else(Span::call_site, |first| first.ty.span());
    for shape in inputs.shapes() {
        let (cfg, ty) = (&shape.cfg, shape.ty(signature.paren_token.span.join()));
        types.extend(quote_spanned!(span=> #cfg type Input = #ty;));
    }
    types
}

/// `let (a, b) = input;`, once for each combination of conditions.
fn unpacked(inputs: &Inputs, input: &Ident) -> TokenStream {
    inputs
        .shapes()
        .into_iter()
        .map(|shape| {
            let (cfg, names) = (&shape.cfg, shape.names());
            quote!(#cfg let #names = #input;)
        })
        .collect()
}

/// Whoever uses the type uses the callable too: a workflow that is named as a type only is no dead code.
fn used(callable: &Ident) -> TokenStream {
    quote!(#[allow(deprecated)] let _ = #callable;)
}

/// The signature of the code itself: always one that can be called, whatever was wrong with it.
fn code_signature(function: &Function, name: Ident, asyncness: Option<Token![async]>) -> Signature {
    Signature {
        constness: None,
        asyncness,
        safety: syn::Safety::Default,
        abi: None,
        ident: name,
        ..function.sig.clone()
    }
}

/// Where the last token before the body or the `where` stands.
fn last_token(signature: &Signature) -> Span {
    match &signature.output {
        ReturnType::Type(_, ty) => ty.to_token_stream().into_iter().last(),
        ReturnType::Default => None,
    }
    .map_or_else(|| signature.paren_token.span.close(), |token| token.span())
}

/// Lints about signatures whose form the attribute prescribes. On the user's function they would
/// not fire, because it is public, or would be answered by a change that is not possible.
fn prescribed() -> TokenStream {
    quote! {
        #[allow(
            clippy::too_many_arguments,
            clippy::needless_pass_by_value,
            clippy::large_types_passed_by_value,
            clippy::trivially_copy_pass_by_ref,
            clippy::unnecessary_wraps,
            clippy::unused_async,
            clippy::fn_params_excessive_bools,
            clippy::missing_errors_doc,
            clippy::missing_panics_doc,
            clippy::must_use_candidate,
            clippy::future_not_send
        )]
    }
}

/// What clippy looks for by type, where tokens cannot tell: the calls that the shipped fragment of `clippy.toml`
/// lists (see `clippy`), and loops over maps in their order. rustc by itself passes over it.
///
/// It stands before the user's attributes, which may say otherwise.
fn denied_by_type() -> TokenStream {
    quote!(#[deny(clippy::disallowed_methods, clippy::iter_over_hash_type)])
}
