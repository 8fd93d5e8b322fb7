use super::{Denied, Rule};

const LOCAL: &str = "keep it in a local variable, which replay builds again";

pub(super) const RULE: Rule = Rule {
    code: "D114",
    category: Some("thread_locals"),
    title: "thread-local variables",
    because: "holds what other runs and earlier replays left on this thread",
    denied: &[
        Denied::macros("std", &["thread_local"], LOCAL),
        Denied::methods(
            "std::thread::LocalKey",
            &[
                "get",
                "replace",
                "set",
                "take",
                "try_with",
                "with",
                "with_borrow",
                "with_borrow_mut",
            ],
            LOCAL,
        ),
        Denied::macros("tokio", &["task_local"], LOCAL),
    ],
};
