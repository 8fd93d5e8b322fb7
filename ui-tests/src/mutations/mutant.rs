//! Changed workflows, by hand and by machine.

use super::expected::Expected;
use super::made;
use super::oracle::oracle;
use super::original::Original;

/// A changed workflow.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    /// The name of its module.
    pub(super) module: String,
    /// The name of its function.
    pub(super) workflow: String,
    /// What kind of change, such as `insert`.
    pub(super) kind: String,
    /// What was changed.
    pub(super) what: String,
    pub(super) source: String,
    /// The source out of which the truth comes, where that is another: it asks for markers.
    pub(super) oracle: Option<String>,
    /// Of those written by hand.
    pub(super) expected: Option<Expected>,
}

impl Mutant {
    /// Whether the lock is told to accept it, so that it retires markers.
    pub(super) fn retires(&self) -> bool {
        self.kind == "retire"
    }

    /// What it is, for people.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.kind, self.what)
    }
}

/// All mutants of an original: those written by hand come first.
pub(super) fn all(original: &Original) -> Result<Vec<Mutant>, syn::Error> {
    let mut mutants = Vec::new();
    for (number, mutation) in (1..).zip(&original.mutations) {
        mutants.push(Mutant {
            module: format!("hand_{number}"),
            workflow: workflow(&mutation.source).unwrap_or_else(|| original.name.clone()),
            kind: mutation.kind.clone(),
            what: mutation.title.clone(),
            source: mutation.source.clone(),
            oracle: oracle(&mutation.source)?,
            expected: Some(mutation.expected.clone()),
        });
    }
    for (number, made) in (1..).zip(made::all(&original.source)?) {
        mutants.push(Mutant {
            module: format!("made_{number}"),
            workflow: original.name.clone(),
            kind: made.kind.to_owned(),
            what: made.what,
            oracle: oracle(&made.source)?,
            source: made.source,
            expected: None,
        });
    }
    Ok(mutants)
}

/// The name of the function with `#[workflow]`.
fn workflow(source: &str) -> Option<String> {
    let file = syn::parse_file(source).ok()?;
    file.items.iter().find_map(|item| match item {
        syn::Item::Fn(function) => {
            let mut attributes = function.attrs.iter();
            attributes
                .any(|attribute| attribute.path().is_ident("workflow"))
                .then(|| function.sig.ident.to_string())
        }
        _ => None,
    })
}
