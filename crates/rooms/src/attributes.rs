//! The attributes that decide which files belong to a crate, and which code is only for its tests.

use proc_macro2::Ident;
use syn::{Attribute, Expr, Item, Lit, Meta, MetaList, Token, punctuated::Punctuated};

/// The file of a module, if an attribute names it: on all platforms, or on some.
pub(crate) enum FileAttribute {
    Always(String),
    Sometimes(String),
}

/// Returns the file named by `#[path = "…"]` or `#[cfg_attr(…, path = "…")]`.
pub(crate) fn file_attribute(attributes: &[Attribute]) -> Option<FileAttribute> {
    attributes.iter().find_map(|attribute| {
        if attribute.path().is_ident("cfg_attr") {
            return metas(attribute)
                .iter()
                .find_map(path_value)
                .map(FileAttribute::Sometimes);
        }
        path_value(&attribute.meta).map(FileAttribute::Always)
    })
}

fn path_value(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else { return None };
    let Expr::Lit(literal) = &pair.value else {
        return None;
    };
    let Lit::Str(text) = &literal.lit else { return None };
    pair.path.is_ident("path").then(|| text.value())
}

/// Returns whether the attribute is `#[cfg(test)]`, also with further conditions.
pub(crate) fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && metas(attribute).iter().any(needs_test)
}

fn needs_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => conditions(list).iter().any(needs_test),
        Meta::List(list) if list.path.is_ident("any") => conditions(list).iter().all(needs_test),
        _ => false,
    }
}

fn metas(attribute: &Attribute) -> Vec<Meta> {
    match &attribute.meta {
        Meta::List(list) => conditions(list),
        _ => Vec::new(),
    }
}

fn conditions(list: &MetaList) -> Vec<Meta> {
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed
        .map(|metas| metas.into_iter().collect())
        .unwrap_or_default()
}

pub(crate) fn attributes_and_name(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Mod(item) => (&item.attrs, None),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}
