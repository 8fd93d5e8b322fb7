use super::{Denied, Rule};

const NOW: &str = "use `cx.now()`";

pub(super) const RULE: Rule = Rule {
    code: "D101",
    category: Some("clock"),
    title: "reading a clock",
    because: "gives a different result when the workflow is replayed",
    denied: &[
        Denied::functions("std::time::SystemTime", &["now"], NOW),
        Denied::functions("std::time::Instant", &["now"], NOW),
        Denied::methods("std::time::SystemTime", &["elapsed"], SINCE),
        Denied::methods("std::time::Instant", &["elapsed"], SINCE),
        Denied::functions("tokio::time::Instant", &["now"], NOW),
        Denied::methods("tokio::time::Instant", &["elapsed"], SINCE),
        Denied::functions("chrono::Utc", &["now", "today"], NOW),
        Denied::functions("chrono::Local", &["now", "today"], NOW),
        Denied::functions("time::OffsetDateTime", &["now_utc", "now_local"], NOW),
        Denied::functions("time::UtcDateTime", &["now"], NOW),
        Denied::functions("time::Instant", &["now"], NOW),
        Denied::methods("time::Instant", &["elapsed"], SINCE),
        Denied::functions("jiff::Timestamp", &["now"], NOW),
        Denied::functions("jiff::Zoned", &["now"], NOW),
        Denied::functions("web_time::SystemTime", &["now"], NOW),
        Denied::functions("web_time::Instant", &["now"], NOW),
        Denied::functions("instant::SystemTime", &["now"], NOW),
        Denied::functions("instant::Instant", &["now"], NOW),
        Denied::functions("quanta::Instant", &["now", "recent"], NOW),
        Denied::functions("quanta::Clock", &["new"], NOW),
        Denied::functions("minstant::Instant", &["now"], NOW),
        Denied::functions("coarsetime::Instant", &["now", "recent"], NOW),
        Denied::functions(
            "coarsetime::Clock",
            &["now_since_epoch", "recent_since_epoch"],
            NOW,
        ),
        Denied::functions("std::arch::x86_64", &["__rdtscp", "_rdtsc"], NOW),
        Denied::functions("uuid::Timestamp", &["now"], NOW),
        Denied::functions("libc", &["clock_gettime", "gettimeofday", "time"], NOW),
    ],
};

const SINCE: &str = "use `cx.now()` at both ends: `cx.now().since(begun)`";
