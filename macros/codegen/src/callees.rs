//! Which of the functions that a workflow calls are activities.
//!
//! A macro sees one function. What the names in it stand for is found out by reading the sources
//! of the crate, so that a runtime can say at its start which activities a workflow will miss.
//! It is a best effort: a name that is not found, or that stands for several things, is unknown,
//! and nothing fails because of it.
//!
//! The sources are read as plain text and only once in a process. To let the compiler parse them
//! would enter every file a second time into its tables.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use proc_macro2::Span;

use crate::source::{Attribute, Function, functions};

/// A function that a workflow calls with its context.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Callee {
    /// An activity's name in histories, or the name of the function.
    pub(crate) name: String,
    pub(crate) is_activity: bool,
}

/// Finds out what the functions are that the workflow at `place` calls.
pub(crate) fn resolve(called: &[String], place: Span) -> Vec<Callee> {
    static INDEX: Mutex<Option<Index>> = Mutex::new(None);
    // A panic elsewhere leaves an index that lacks something at worst.
    let mut index = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
    let index = index.get_or_insert_with(Index::of_this_crate);
    if let Some(file) = place.local_file() {
        index.read_file(&file);
    }
    index.resolve(called)
}

/// The functions of a crate, by name.
#[derive(Debug, Default)]
struct Index {
    functions: HashMap<String, BTreeSet<Meaning>>,
    files: HashSet<PathBuf>,
}

/// What a function is to a workflow that calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// With its name in histories.
    Activity(String),
    /// With the functions it calls itself.
    Durable(Vec<String>),
    Other,
}

impl Index {
    fn of_this_crate() -> Index {
        let mut index = Index::default();
        if let Some(manifest) = std::env::var_os("CARGO_MANIFEST_DIR") {
            index.read_folder(&Path::new(&manifest).join("src"));
        }
        index
    }

    fn read_folder(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // Links are not followed, so this ends.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.read_folder(&path),
                Ok(kind)
                    if kind.is_file()
                        && path.extension().is_some_and(|extension| extension == "rs") =>
                {
                    self.read_file(&path);
                }
                _ => {}
            }
        }
    }

    fn read_file(&mut self, path: &Path) {
        let Ok(canonical) = path.canonicalize() else {
            return;
        };
        if self.files.insert(canonical)
            && let Ok(text) = std::fs::read_to_string(path)
        {
            self.read(&text);
        }
    }

    fn read(&mut self, text: &str) {
        for function in functions(text) {
            // `bank.charge(..)` is not what a bare `charge(cx, ..)` calls, unless it is durable.
            let meaning = meaning(&function);
            if !(function.is_method && meaning == Meaning::Other) {
                self.functions
                    .entry(function.name)
                    .or_default()
                    .insert(meaning);
            }
        }
    }

    fn resolve(&self, called: &[String]) -> Vec<Callee> {
        let mut callees = Vec::new();
        let mut seen = HashSet::new();
        self.follow(called, &mut seen, &mut callees);
        callees
    }

    fn follow(&self, called: &[String], seen: &mut HashSet<String>, callees: &mut Vec<Callee>) {
        for function in called {
            if !seen.insert(function.clone()) {
                continue;
            }
            let mut meanings = self.functions.get(function).into_iter().flatten();
            let callee = match (meanings.next(), meanings.next()) {
                (Some(Meaning::Activity(name)), None) => Callee {
                    name: name.clone(),
                    is_activity: true,
                },
                (Some(Meaning::Durable(calls)), None) => {
                    self.follow(calls, seen, callees);
                    continue;
                }
                _ => Callee {
                    name: function.clone(),
                    is_activity: false,
                },
            };
            if !callees.contains(&callee) {
                callees.push(callee);
            }
        }
    }
}

fn meaning(function: &Function) -> Meaning {
    let attribute = |wanted: &str| {
        function
            .attributes
            .iter()
            .find(|Attribute { name, .. }| name == wanted)
    };
    if let Some(activity) = attribute("activity") {
        Meaning::Activity(
            activity
                .name_option
                .clone()
                .unwrap_or_else(|| function.name.clone()),
        )
    } else if attribute("durable").is_some() {
        Meaning::Durable(function.calls.clone())
    } else {
        Meaning::Other
    }
}

#[cfg(test)]
mod tests {
    use super::{Callee, Index};

    fn resolved(source: &str, called: &[&str]) -> Vec<Callee> {
        let mut index = Index::default();
        index.read(source);
        index.resolve(
            &called
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    fn activity(name: &str) -> Callee {
        Callee {
            name: name.to_owned(),
            is_activity: true,
        }
    }

    fn unknown(name: &str) -> Callee {
        Callee {
            name: name.to_owned(),
            is_activity: false,
        }
    }

    #[test]
    fn an_activity_is_known_by_its_attribute_and_called_by_its_name_option() {
        let source = r#"
            #[activity(pure)] async fn plain(acx: &ActivityCx) -> R { b() }
            /// Docs with a { brace.
            #[perennial::activity(idempotent, retry(attempts = 2), name = "other-name")]
            #[allow(dead_code)]
            pub(crate) async fn named(acx: &ActivityCx, name: String) -> R { a() }
        "#;
        assert_eq!(
            resolved(source, &["plain", "named", "absent"]),
            [activity("plain"), activity("other-name"), unknown("absent")]
        );
    }

    #[test]
    fn a_durable_function_stands_for_what_it_calls_also_in_a_circle() {
        let source = "
            #[durable] async fn outer<T: Fn(u8) -> u8>(t: T, ctx: &Cx) -> u8 {
                join_all(vec![ship(ctx, 1), inner::<Vec<u8>>(&ctx)]).await;
                other(ctx.clone(), 'x', b'{').await
            }
            #[durable] async fn inner<T>(cx: &Cx) { outer(t, cx).await; pay(cx).await; not_called(x) }
            #[activity(pure)] async fn pay(acx: &ActivityCx) {}
            #[activity(pure)] fn ship(acx: &ActivityCx, n: u8) {}
        ";
        assert_eq!(
            resolved(source, &["outer"]),
            [activity("ship"), activity("pay"), unknown("other")]
        );
    }

    #[test]
    fn a_name_that_stands_for_several_things_is_unknown() {
        let source = "
            mod a { #[activity(pure)] async fn charge(acx: &ActivityCx) {} }
            mod b { fn charge(n: u32) {} }
        ";
        assert_eq!(resolved(source, &["charge"]), [unknown("charge")]);
    }

    #[test]
    fn a_method_of_the_same_name_does_not_hide_an_activity() {
        let source = "
            impl Bank { pub fn charge(&self, order: &Order) {} fn refund(self: Arc<Self>) {} }
            #[activity(pure)] async fn charge(acx: &ActivityCx) {}
            #[activity(pure)] async fn refund(acx: &ActivityCx) {}
        ";
        assert_eq!(
            resolved(source, &["charge", "refund"]),
            [activity("charge"), activity("refund")]
        );
    }

    #[test]
    fn comments_and_strings_declare_nothing() {
        let source = r####"
            // #[activity(pure)] fn a() {}
            /* #[activity(pure)] fn a() {} /* nested */ fn a() {} */
            const TEXT: &str = "#[activity(pure)] fn a() {} \" ";
            const RAW: &str = r##"fn a() {} "# "##;
            #[activity(pure)] fn b<'a>(acx: &'a ActivityCx) { let c = '\''; let d = '"'; }
            #[activity(pure)] fn r#type(acx: &ActivityCx) {}
        "####;
        assert_eq!(
            resolved(source, &["a", "b", "type"]),
            [unknown("a"), activity("b"), activity("type")]
        );
    }

    #[test]
    fn half_typed_sources_are_no_problem() {
        for source in [
            "#[activity",
            "fn",
            "fn a(",
            "#[durable] fn a(cx: &Cx) { b(cx",
            "\"",
            "r#\"",
            "/*",
            "'",
            "fn a<",
        ] {
            resolved(source, &["a"]);
        }
    }
}
