use super::{Denied, Rule};

const LOG: &str = "use `cx.log(format_args!(..))`, which speaks once";
const READ: &str = "make it an input of the workflow, or read it in an `#[activity]`";

pub(super) const RULE: Rule = Rule {
    code: "D110",
    category: Some("output"),
    title: "`println!` and kin, standard output and input",
    because: "prints again each time the workflow is replayed",
    denied: &[
        Denied::macros(
            "std",
            &["dbg", "eprint", "eprintln", "print", "println"],
            LOG,
        ),
        Denied::functions("std::io", &["stderr", "stdout"], LOG),
        Denied::functions("std::io", &["stdin"], READ)
            .because("reads what is not there again when the workflow is replayed"),
        Denied::functions("tokio::io", &["stderr", "stdout"], LOG),
        Denied::functions("tokio::io", &["stdin"], READ)
            .because("reads what is not there again when the workflow is replayed"),
        Denied::functions("async_std::io", &["stderr", "stdout"], LOG),
        Denied::functions("async_std::io", &["stdin"], READ)
            .because("reads what is not there again when the workflow is replayed"),
        Denied::macros(
            "async_std",
            &["eprint", "eprintln", "print", "println"],
            LOG,
        ),
    ],
};
