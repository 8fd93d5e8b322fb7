//! The variables in sight, and what of their types is visible.

use syn::Pat;

/// What is visible of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ty {
    /// One that matters, by its full path.
    Known(&'static str),
    /// What a denied call gave, which has been reported.
    Reported,
}

/// Names of variables with their types, inner ones last.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: Vec<(String, Option<Ty>)>,
}

impl Variables {
    /// Where a block begins. [`Variables::end`] takes it.
    pub(super) fn begin(&self) -> usize {
        self.all.len()
    }

    /// A block ends, and its variables with it.
    pub(super) fn end(&mut self, begin: usize) {
        self.all.truncate(begin);
    }

    /// The variable of this name, with what is known of its type.
    pub(super) fn get(&self, name: &str) -> Option<Option<Ty>> {
        let found = self.all.iter().rev().find(|(other, _)| other == name);
        found.map(|(_, ty)| *ty)
    }

    pub(super) fn add(&mut self, name: String, ty: Option<Ty>) {
        self.all.push((name, ty));
    }

    /// Adds what a pattern binds, each with `ty`.
    pub(super) fn bind(&mut self, pat: &Pat, ty: Option<Ty>) {
        match pat {
            Pat::Ident(pat) => {
                self.add(pat.ident.to_string(), ty);
                if let Some((_, inner)) = &pat.subpat {
                    self.bind(inner, ty);
                }
            }
            Pat::Guard(pat) => self.bind(&pat.pat, ty),
            Pat::Or(pat) => pat.cases.iter().for_each(|case| self.bind(case, ty)),
            Pat::Paren(pat) => self.bind(&pat.pat, ty),
            Pat::Reference(pat) => self.bind(&pat.pat, ty),
            Pat::Slice(pat) => pat.elems.iter().for_each(|elem| self.bind(elem, ty)),
            Pat::Struct(pat) => pat
                .fields
                .iter()
                .for_each(|field| self.bind(&field.pat, ty)),
            Pat::Tuple(pat) => pat.elems.iter().for_each(|elem| self.bind(elem, ty)),
            Pat::TupleStruct(pat) => pat.elems.iter().for_each(|elem| self.bind(elem, ty)),
            Pat::Type(pat) => self.bind(&pat.pat, ty),
            _ => {}
        }
    }
}
