//! What a workflow may not do, as data: one rule a family, one file a rule.
//!
//! The check looks calls up here, and the fragment for `clippy.toml` is written from it: so both
//! know the same calls by the same reasons.

mod addresses;
mod clock;
mod env;
mod files;
pub(crate) mod hash_order;
mod network;
mod output;
mod processes;
mod random;
pub(crate) mod statics;
mod tasks;
mod thread_locals;
mod threads;
mod timers;

/// One rule. `book/src/rules/<code>.md` explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// `D101`, for ever.
    pub code: &'static str,
    /// The word for it in `#[allow_nondeterminism(..)]`; `None` where there is no opting out.
    pub category: Option<&'static str>,
    /// What it is about: `reading a clock`.
    pub title: &'static str,
    /// Why, as the end of a sentence that begins with the call.
    pub because: &'static str,
    /// The calls that it knows by name. A rule may know more than these.
    pub denied: &'static [Denied],
}

/// Calls of one module, type or trait that have the same replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    /// How they are called.
    pub kind: Kind,
    /// The path before the name: `std::time::SystemTime`.
    pub of: &'static str,
    /// The last segments: `now`.
    pub names: &'static [&'static str],
    /// What to do instead, as an imperative: ``use `cx.now()` ``.
    pub instead: &'static str,
    /// Why, where the rule's own reason does not fit.
    pub because: Option<&'static str>,
}

/// How something is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// By its path, also as a value: `SystemTime::now`.
    Function,
    /// On a value of the type, or by its path: `Path::exists`.
    Method,
    /// On anything, where the trait is imported: `ToSocketAddrs::to_socket_addrs`.
    TraitMethod,
    /// With `!`.
    Macro,
}

impl Denied {
    const fn functions(
        of: &'static str,
        names: &'static [&'static str],
        instead: &'static str,
    ) -> Denied {
        Denied::new(Kind::Function, of, names, instead)
    }

    const fn methods(
        of: &'static str,
        names: &'static [&'static str],
        instead: &'static str,
    ) -> Denied {
        Denied::new(Kind::Method, of, names, instead)
    }

    const fn trait_methods(
        of: &'static str,
        names: &'static [&'static str],
        instead: &'static str,
    ) -> Denied {
        Denied::new(Kind::TraitMethod, of, names, instead)
    }

    const fn macros(
        of: &'static str,
        names: &'static [&'static str],
        instead: &'static str,
    ) -> Denied {
        Denied::new(Kind::Macro, of, names, instead)
    }

    const fn new(
        kind: Kind,
        of: &'static str,
        names: &'static [&'static str],
        instead: &'static str,
    ) -> Denied {
        Denied {
            kind,
            of,
            names,
            instead,
            because: None,
        }
    }

    const fn because(self, because: &'static str) -> Denied {
        Denied {
            because: Some(because),
            ..self
        }
    }

    /// The full paths: `std::time::SystemTime::now`.
    pub fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.names
            .iter()
            .map(move |name| format!("{}::{name}", self.of))
    }
}

/// All rules, in the order of their codes.
pub fn rules() -> &'static [Rule] {
    RULES
}

/// The rule of this code.
///
/// # Panics
///
/// When there is none.
pub(crate) fn rule(code: &str) -> &'static Rule {
    RULES
        .iter()
        .find(|rule| rule.code == code)
        .expect("the codes of rules are written here")
}

const RULES: &[Rule] = &[
    clock::RULE,
    random::RULE,
    threads::RULE,
    tasks::RULE,
    timers::RULE,
    files::RULE,
    env::RULE,
    network::RULE,
    processes::RULE,
    output::RULE,
    hash_order::RULE,
    addresses::RULE,
    statics::RULE,
    thread_locals::RULE,
    without_opt_out("D115", "macros of other crates that wait"),
    without_opt_out("D116", "an `.await` inside of an unknown macro"),
    without_opt_out("D117", "an `async` closure"),
    without_opt_out("D118", "waiting for what no history records"),
    without_opt_out("D119", "`#[instrument]` on a workflow"),
    without_opt_out(
        "D120",
        "an opt-out that says too little, or stands where it cannot",
    ),
    without_opt_out("D121", "an opt-out that is not needed"),
];

/// What is seen by its form and not by a name.
const fn without_opt_out(code: &'static str, title: &'static str) -> Rule {
    Rule {
        code,
        category: None,
        title,
        because: "",
        denied: &[],
    }
}
