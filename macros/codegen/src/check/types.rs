//! Types as far as they are visible: by an annotation, a constructor, a turbofish.

use syn::{Expr, GenericArgument, Pat, PathArguments, Type};

use super::variables::Ty;
use super::{Check, paths, table};
use crate::names::Meaning;

/// What leads to the thing inside by `.`.
const POINTERS: &[&str] = &["Arc", "Box", "Rc"];

/// Functions that make a value of the type that they belong to.
const CONSTRUCTORS: &[&str] = &[
    "current",
    "default",
    "from",
    "from_iter",
    "new",
    "now",
    "with_capacity",
    "with_capacity_and_hasher",
    "with_hasher",
];

/// Methods that give the same type again, a reference or a copy.
const SAME: &[&str] = &[
    "as_mut",
    "as_path",
    "as_ref",
    "borrow",
    "borrow_mut",
    "by_ref",
    "clone",
    "expect",
    "join",
    "to_owned",
    "to_path_buf",
    "unwrap",
    "with_extension",
    "with_file_name",
];

impl Check<'_> {
    pub(super) fn type_of(&self, ty: &Type) -> Option<Ty> {
        match ty {
            Type::Reference(reference) => self.type_of(&reference.elem),
            Type::Paren(paren) => self.type_of(&paren.elem),
            Type::Group(group) => self.type_of(&group.elem),
            Type::Path(path) if path.qself.is_none() => self.type_of_path(&path.path),
            _ => None,
        }
    }

    fn type_of_path(&self, path: &syn::Path) -> Option<Ty> {
        let last = path.segments.last()?;
        if POINTERS.iter().any(|pointer| last.ident == pointer) {
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            return arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => self.type_of(ty),
                _ => None,
            });
        }
        self.named_type(&paths::text(path)).map(Ty::Known)
    }

    /// The type that a path means, if it matters.
    pub(super) fn named_type(&self, path: &str) -> Option<&'static str> {
        match self.names.meaning(path) {
            Meaning::Path(full) => table::a_type(&full),
            Meaning::Unknown(globs) => table::a_type(path)
                .or_else(|| globs.iter().find_map(|full| table::a_type(full)))
                .or_else(|| table::type_by_name(path, self.names.file_is_known())),
            Meaning::Own | Meaning::Static | Meaning::ThreadLocal => None,
        }
    }

    /// The type of an expression.
    pub(super) fn type_of_expr(&self, expr: &Expr) -> Option<Ty> {
        match expr {
            Expr::Path(path) => self.type_of_value(&path.path),
            Expr::Reference(reference) => self.type_of_expr(&reference.expr),
            Expr::Paren(paren) => self.type_of_expr(&paren.expr),
            Expr::Group(group) => self.type_of_expr(&group.expr),
            Expr::Try(tried) => self.type_of_expr(&tried.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                self.type_of_expr(&unary.expr)
            }
            Expr::Call(call) => self.type_of_call(call),
            Expr::MethodCall(call) => self.type_of_method_call(call),
            Expr::Macro(call) => {
                let name = &call.mac.path.segments.last()?.ident;
                let hashed = match name.to_string().as_str() {
                    "hashmap" => "std::collections::HashMap",
                    "hashset" => "std::collections::HashSet",
                    _ => return None,
                };
                table::a_type(hashed).map(Ty::Known)
            }
            _ => None,
        }
    }

    fn type_of_value(&self, path: &syn::Path) -> Option<Ty> {
        if let Some(name) = path.get_ident()
            && let Some(ty) = self.variables.get(&name.to_string())
        {
            return ty;
        }
        // `UNIX_EPOCH` is the only constant whose methods read something.
        let is_epoch = path.segments.last()?.ident == "UNIX_EPOCH";
        let of_type = || match self.names.meaning(&paths::text(path)) {
            Meaning::Path(full) => table::a_type(match full.as_str() {
                "std::time::UNIX_EPOCH" => "std::time::SystemTime",
                full => full.strip_suffix("::UNIX_EPOCH")?,
            }),
            Meaning::Unknown(_) => self.named_type(paths::text(path).strip_suffix("::UNIX_EPOCH")?),
            _ => None,
        };
        is_epoch.then(of_type).flatten().map(Ty::Known)
    }

    fn type_of_call(&self, call: &syn::ExprCall) -> Option<Ty> {
        let Expr::Path(function) = &*call.func else {
            return None;
        };
        let text = paths::text(&function.path);
        let (of, name) = text.rsplit_once("::")?;
        let of_last = of.rsplit("::").next()?;
        if (POINTERS.contains(&of_last) && name == "new") || (of_last == "mem" && name == "take") {
            return self.type_of_expr(call.args.first()?);
        }
        if CONSTRUCTORS.contains(&name) {
            return self.named_type(of).map(Ty::Known);
        }
        None
    }

    fn type_of_method_call(&self, call: &syn::ExprMethodCall) -> Option<Ty> {
        if call.method == "collect"
            && let Some(turbofish) = &call.turbofish
        {
            return self.type_of_turbofish(turbofish);
        }
        let same = SAME.contains(&call.method.to_string().as_str());
        same.then(|| self.type_of_expr(&call.receiver)).flatten()
    }

    /// `HashMap<..>` of `::<HashMap<..>>` and `::<Result<HashMap<..>, E>>`.
    pub(super) fn type_of_turbofish(
        &self,
        turbofish: &syn::AngleBracketedGenericArguments,
    ) -> Option<Ty> {
        turbofish.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => self.type_of(ty).or_else(|| self.fallible(ty)),
            _ => None,
        })
    }

    /// The type of what is left of a `Result<T, E>` or an `Option<T>` after a `?` or an `unwrap`.
    pub(super) fn fallible(&self, ty: &Type) -> Option<Ty> {
        self.type_of(of_success(ty)?)
    }

    /// Adds the variables of a `let` or a parameter.
    pub(super) fn bind(&mut self, pat: &Pat, ty: Option<&Type>, init: Option<&Expr>) {
        match pat {
            Pat::Type(typed) => self.bind(&typed.pat, Some(&typed.ty), init),
            Pat::Paren(paren) => self.bind(&paren.pat, ty, init),
            Pat::Ident(pat) if pat.subpat.is_none() => {
                let annotated = ty.filter(|ty| !matches!(ty, Type::Infer(_)));
                let known = match annotated {
                    Some(ty) => self.type_of(ty),
                    None => init.and_then(|init| self.type_of_expr(init)),
                };
                self.variables.add(pat.ident.to_string(), known);
            }
            Pat::Tuple(pat) => {
                for (index, elem) in pat.elems.iter().enumerate() {
                    let ty = match ty {
                        Some(Type::Tuple(tuple)) => tuple.elems.get(index),
                        _ => None,
                    };
                    let init = match init {
                        Some(Expr::Tuple(tuple)) => tuple.elems.get(index),
                        _ => None,
                    };
                    self.bind(elem, ty, init);
                }
            }
            pat => self.variables.bind(pat, None),
        }
    }
}

/// `T` of `Result<T, E>` and `Option<T>`.
pub(super) fn of_success(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) if last.ident == "Result" || last.ident == "Option" => Some(ty),
        _ => None,
    }
}
