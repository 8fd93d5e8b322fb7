//! `PERENNIAL_EXPAND=charge_card cargo check` prints what the attribute on `charge_card` made.

use proc_macro2::{Ident, TokenStream};

/// Prints the expansion to stderr if the environment names this function.
pub(super) fn if_asked_for(function: &Ident, expanded: &TokenStream) {
    if std::env::var_os("PERENNIAL_EXPAND")
        .is_some_and(|wanted| *function == *wanted.to_string_lossy())
    {
        eprintln!("// {function}\n{expanded}\n");
    }
}
