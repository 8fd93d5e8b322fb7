use super::{Denied, Rule};

const ACTIVITY: &str = "move it into an `#[activity]`";
const RETURN: &str = "return an error, which ends the run and is recorded";
const RUN_ID: &str = "use `cx.run_id()`, which stays the same";
const SIGNAL: &str = "let the program that holds the runtime listen for it";

pub(super) const RULE: Rule = Rule {
    code: "D109",
    category: Some("processes"),
    title: "other processes, signals, this process",
    because: "acts outside of the history, and does so again each time the workflow is replayed",
    denied: &[
        Denied::functions("std::process::Command", &["new"], ACTIVITY),
        Denied::functions("std::process", &["abort", "exit"], RETURN).because(
            "ends the process with all runs in it, and again each time the workflow is replayed",
        ),
        Denied::functions("std::process", &["id"], RUN_ID)
            .because("gives a different result in the process that replays the workflow"),
        Denied::functions("std::os::unix::process", &["parent_id"], RUN_ID)
            .because("gives a different result in the process that replays the workflow"),
        Denied::functions("tokio::process::Command", &["new"], ACTIVITY),
        Denied::functions("tokio::signal", &["ctrl_c"], SIGNAL),
        Denied::functions("tokio::signal::unix", &["signal"], SIGNAL),
        Denied::functions("async_std::process::Command", &["new"], ACTIVITY),
        Denied::functions("async_process::Command", &["new"], ACTIVITY),
        Denied::functions("duct", &["cmd"], ACTIVITY),
        Denied::macros("duct", &["cmd"], ACTIVITY),
        Denied::functions("ctrlc", &["set_handler", "try_set_handler"], SIGNAL),
        Denied::functions("signal_hook::flag", &["register"], SIGNAL),
        Denied::functions("signal_hook::iterator::Signals", &["new"], SIGNAL),
        Denied::functions("nix::unistd", &["execv", "execvp", "fork"], ACTIVITY),
        Denied::functions("nix::unistd", &["getpid", "getppid"], RUN_ID)
            .because("gives a different result in the process that replays the workflow"),
        Denied::functions("libc", &["kill", "system"], ACTIVITY),
        Denied::functions("libc", &["abort", "exit", "_exit"], RETURN).because(
            "ends the process with all runs in it, and again each time the workflow is replayed",
        ),
        Denied::functions("libc", &["getpid", "getppid"], RUN_ID)
            .because("gives a different result in the process that replays the workflow"),
    ],
};
