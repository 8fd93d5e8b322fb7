use super::{Denied, Rule};

const SLEEP: &str = "use `cx.sleep(duration).await`";
const TIMEOUT: &str = "use `perennial::select!` with `cx.sleep(duration)` as one of its arms";
const INTERVAL: &str = "use `cx.sleep(duration).await` in a loop";

pub(super) const RULE: Rule = Rule {
    code: "D105",
    category: Some("timers"),
    title: "sleeping, and timers that no history records",
    because: "starts a timer that no history records: it is lost when the process ends, and started again when the workflow is replayed",
    denied: &[
        Denied::functions(
            "std::thread",
            &["sleep", "sleep_ms", "sleep_until", "park_timeout"],
            SLEEP,
        )
        .because(
            "stops the thread that other runs share, and again each time the workflow is replayed",
        ),
        Denied::functions("tokio::time", &["sleep", "sleep_until"], SLEEP),
        Denied::functions("tokio::time", &["timeout", "timeout_at"], TIMEOUT),
        Denied::functions("tokio::time", &["interval", "interval_at"], INTERVAL),
        Denied::functions("async_std::task", &["sleep"], SLEEP),
        Denied::functions("async_std::future", &["timeout"], TIMEOUT),
        Denied::functions("async_std::io", &["timeout"], TIMEOUT),
        Denied::functions("async_std::stream", &["interval"], INTERVAL),
        Denied::functions("async_io::Timer", &["after", "at"], SLEEP),
        Denied::functions("async_io::Timer", &["interval", "interval_at"], INTERVAL),
        Denied::functions("futures_timer::Delay", &["new"], SLEEP),
        Denied::functions("futures_time::task", &["sleep", "sleep_until"], SLEEP),
        Denied::functions("futures_time::stream", &["interval"], INTERVAL),
        Denied::functions("gloo_timers::future", &["sleep"], SLEEP),
        Denied::functions("gloo_timers::future::TimeoutFuture", &["new"], SLEEP),
        Denied::functions("gloo_timers::future::IntervalStream", &["new"], INTERVAL),
        Denied::functions("crossbeam_channel", &["after", "at"], SLEEP),
        Denied::functions("crossbeam_channel", &["tick"], INTERVAL),
        Denied::functions("actix_rt::time", &["sleep", "sleep_until"], SLEEP),
        Denied::functions("actix_rt::time", &["timeout"], TIMEOUT),
        Denied::functions("libc", &["nanosleep", "sleep", "usleep"], SLEEP),
    ],
};
