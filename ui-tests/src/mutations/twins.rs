//! A second activity for each of the shop, and a second stub: it takes and gives the same, under another name.

use syn::spanned::Spanned;

/// The module `twins`, out of the source of the shop.
pub(super) fn twins(shop: &str) -> Result<String, syn::Error> {
    let mut text = String::from("use perennial::prelude::*;\n\nuse crate::shop::*;\n");
    for item in syn::parse_file(shop)?.items {
        let named = match &item {
            syn::Item::Fn(function) if is_activity(function) => Some(function.sig.ident.span()),
            // A function without a body is none to syn.
            syn::Item::Verbatim(tokens) => {
                let function = syn::parse2::<syn::ForeignItemFn>(tokens.clone()).ok();
                function
                    .filter(|function| is_stub(&function.attrs))
                    .map(|function| function.sig.ident.span())
            }
            _ => None,
        };
        if let Some(name) = named {
            let (whole, name) = (item.span().byte_range(), name.byte_range());
            text.push('\n');
            text.push_str(&shop[whole.start..name.start]);
            text.push_str("twin_of_");
            text.push_str(&shop[name.start..whole.end]);
            text.push('\n');
        }
    }
    Ok(text)
}

fn is_stub(attributes: &[syn::Attribute]) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|attribute| attribute.path().is_ident("stub"))
}

/// The path of the twin of an activity, or of a stub.
pub(super) fn twin(activity: &str) -> String {
    format!("crate::twins::twin_of_{activity}")
}

pub(super) fn is_activity(function: &syn::ItemFn) -> bool {
    let mut attributes = function.attrs.iter();
    attributes.any(|attribute| attribute.path().is_ident("activity"))
}
