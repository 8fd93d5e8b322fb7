//! A second activity for each of the shop: it takes and gives the same, under another name.

use syn::spanned::Spanned;

/// The module `twins`, out of the source of the shop.
pub(super) fn twins(shop: &str) -> Result<String, syn::Error> {
    let mut text = String::from("use perennial::prelude::*;\n\nuse crate::shop::*;\n");
    for item in syn::parse_file(shop)?.items {
        if let syn::Item::Fn(function) = item
            && is_activity(&function)
        {
            let (whole, name) = (function.span().byte_range(), function.sig.ident.span());
            let name = name.byte_range();
            text.push('\n');
            text.push_str(&shop[whole.start..name.start]);
            text.push_str("twin_of_");
            text.push_str(&shop[name.start..whole.end]);
            text.push('\n');
        }
    }
    Ok(text)
}

/// The path of the twin of an activity.
pub(super) fn twin(activity: &str) -> String {
    format!("crate::twins::twin_of_{activity}")
}

pub(super) fn is_activity(function: &syn::ItemFn) -> bool {
    let mut attributes = function.attrs.iter();
    attributes.any(|attribute| attribute.path().is_ident("activity"))
}
