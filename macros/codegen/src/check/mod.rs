//! Is what the body does the same at each replay?
//!
//! Names are resolved as far as one file tells. Types are data and calls are effects: only a call, or
//! a path to one as a value, is denied. What is not visible here, such as an alias of another crate, is
//! left to clippy, which knows types, and to the test kit, which runs the code twice.

mod attrs;
mod hash_order;
mod macros;
mod opt_out;
mod paths;
pub(crate) mod rules;
mod statics;
mod table;
#[cfg(test)]
mod tests;
mod types;
mod variables;
mod walk;

use quote::ToTokens;
use syn::{Ident, Path, Signature};

use self::opt_out::OptOut;
use self::rules::rule;
use self::variables::Variables;
use crate::errors::Errors;
use crate::names::Names;
use crate::parse::Body;

pub(crate) use self::macros::is_flat;
pub(crate) use self::opt_out::{
    is_opt_out, misplaced as misplaced_opt_out, not_needed_in, outside_of_a_function,
};
pub use self::rules::{Denied, Kind, Rule, rules};

/// The line of an error that names the page about it.
fn see(code: &str) -> String {
    match code.starts_with('L') {
        true => format!("see: changing#{} in the book", code.to_lowercase()),
        false => format!("see: rules/{code} in the book"),
    }
}

/// The text of an error with a code: what is wrong, what to do, and where to read on.
pub(crate) fn text(code: &str, wrong: &str, help: &[&str]) -> String {
    let mut text = format!("[{code}] {wrong}\n\n");
    for help in help {
        text += &format!("help: {help}\n");
    }
    text + &see(code)
}

/// Checks a body, and puts what the runtime needs in the place of its opt-outs.
pub(crate) fn check(
    krate: &Path,
    sig: &Signature,
    context: Option<&Ident>,
    body: &mut Body,
    errors: &mut Errors,
) {
    if let Body::Parsed(block) = body {
        let names = crate::index::names(sig.ident.span());
        Check::new(krate, context, names, errors).function(sig, block);
    }
}

/// One function that is being checked.
struct Check<'a> {
    krate: &'a Path,
    context: Option<&'a Ident>,
    names: Names,
    variables: Variables,
    /// The opt-outs around what is being looked at, the nearest last.
    opt_outs: Vec<OptOut>,
    /// Inside of what `cx.record(..)` calls once.
    recording: bool,
    /// The block that is entered next gives a collection that hides the order.
    returns_unordered: bool,
    /// Something was rewritten.
    rewritten: bool,
    /// So many findings.
    found: usize,
    /// So many more that an opt-out allows.
    allowed: usize,
    /// Hashed collections and iterators over them whose order cannot show: where in memory their expressions are.
    order_free: Vec<*const ()>,
    errors: &'a mut Errors,
}

impl<'a> Check<'a> {
    fn new(
        krate: &'a Path,
        context: Option<&'a Ident>,
        names: Names,
        errors: &'a mut Errors,
    ) -> Self {
        Check {
            krate,
            context,
            names,
            variables: Variables::default(),
            opt_outs: Vec::new(),
            recording: false,
            returns_unordered: false,
            rewritten: false,
            found: 0,
            allowed: 0,
            order_free: Vec::new(),
            errors,
        }
    }

    /// Reports what is under `tokens`, unless there is an opt-out around it.
    fn report(&mut self, code: &str, tokens: impl ToTokens, wrong: &str, help: &[&str]) {
        let rule = rule(code);
        let Some(category) = rule.category else {
            self.found += 1;
            self.errors.under(tokens, text(code, wrong, help));
            return;
        };
        let allowed = self
            .opt_outs
            .iter_mut()
            .rev()
            .any(|opt_out| opt_out.covers(category));
        // What is made once and recorded may be another each time.
        let recorded = self.recording
            && !matches!(
                category,
                "threads" | "tasks" | "timers" | "network" | "processes"
            );
        if allowed || recorded {
            self.allowed += usize::from(allowed);
            return;
        }
        self.found += 1;
        let why = format!(
            "if this cannot affect what the workflow does, say why: `#[allow_nondeterminism({category}, reason = \"..\")]`"
        );
        let help: Vec<&str> = help.iter().copied().chain([why.as_str()]).collect();
        self.errors.under(tokens, text(code, wrong, &help));
    }
}
