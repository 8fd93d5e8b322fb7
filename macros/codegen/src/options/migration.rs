//! `#[migration(from = order, to = order_v2)]`

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{LitStr, Path};

use super::{Given, Value, default_crate, given, unknown};
use crate::errors::Errors;

const OPTIONS: &[&str] = &["from", "to", "name", "crate"];

/// The options of one migration.
#[derive(Debug)]
pub(crate) struct MigrationOptions {
    /// `None` where it is missing or no workflow, which has been reported.
    pub(crate) from: Option<Source>,
    /// The workflow of the new run. `None` where it cannot be known, which has been reported.
    pub(crate) to: Option<Path>,
    pub(crate) name: Option<LitStr>,
    pub(crate) krate: Path,
}

/// The workflow that runs are moved from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A function of this program.
    Function(Path),
    /// One that is not in this program any more, by its name in histories.
    Name(LitStr),
}

impl MigrationOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = MigrationOptions {
            from: None,
            to: None,
            name: None,
            krate: default_crate(),
        };
        let (mut from_given, mut to_given) = (false, false);
        let mut misspelt = false;
        for option in given(attr, errors) {
            match option.name.to_string().as_str() {
                "from" => {
                    from_given = true;
                    options.from = source(&option, errors);
                }
                "to" => {
                    to_given = true;
                    options.to = function(&option, "to = order_v2", errors);
                }
                "name" => options.name = option.text("\"to-v2\"", errors),
                "crate" => options.krate = option.path(errors).unwrap_or(options.krate),
                _ => {
                    misspelt = true;
                    unknown("`#[migration]`", &option.name, OPTIONS, errors);
                }
            }
        }
        if !from_given && !misspelt {
            errors.at(
                Span::call_site(),
                "a migration says which workflow it moves runs of\n\n\
                 help: write `#[migration(from = order, to = order_v2)]`; without `to` the new run is of the same \
                 workflow",
            );
        }
        if !to_given {
            match &options.from {
                // A new run of the same workflow, over another input.
                Some(Source::Function(path)) => options.to = Some(path.clone()),
                Some(Source::Name(name)) => errors.at(
                    name.span(),
                    "which workflow is the new run of?\n\n\
                     help: a workflow that is given by its name is not in this program, so add `to = order_v2`",
                ),
                None => {}
            }
        }
        options
    }
}

fn source(option: &Given, errors: &mut Errors) -> Option<Source> {
    if let Value::Assigned(tokens) = &option.value
        && syn::parse2::<LitStr>(tokens.clone()).is_ok()
    {
        return option.text("\"order\"", errors).map(Source::Name);
    }
    function(option, "from = order", errors).map(Source::Function)
}

/// A workflow's function.
fn function(option: &Given, form: &str, errors: &mut Errors) -> Option<Path> {
    if let Value::Assigned(tokens) = &option.value
        && let Ok(path) = Path::parse_mod_style.parse2(tokens.clone())
    {
        return Some(path);
    }
    option.wants(form, errors);
    None
}

impl Source {
    /// Its name in histories, as a constant.
    pub(crate) fn constant(&self, krate: &Path) -> TokenStream {
        match self {
            Source::Function(path) => quote!(<#path as #krate::Workflow>::NAME),
            Source::Name(name) => name.to_token_stream(),
        }
    }
}
