use super::{Denied, Rule};

const ID: &str = "use a number of your own, or `cx.uuid()`";

pub(super) const RULE: Rule = Rule {
    code: "D112",
    category: Some("addresses"),
    title: "addresses as text or numbers, thread ids",
    because: "is different in the process that replays the workflow",
    denied: &[
        Denied::functions("std::thread", &["current"], ID),
        Denied::functions("tokio::task", &["id", "try_id"], ID),
        Denied::functions(
            "std::backtrace::Backtrace",
            &["capture", "force_capture"],
            ID,
        ),
        Denied::functions("std::ptr", &["hash"], ID),
        Denied::functions("libc", &["gettid", "pthread_self"], ID),
    ],
};
