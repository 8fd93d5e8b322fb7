use super::{Denied, Rule};

const SPAWN: &str = "use `cx.spawn(..)`, `perennial::join!` or a `perennial::JoinSet`";
const CHANNEL: &str = "keep it in a local variable; parts of a workflow wait for each other with `cx.spawn(..)` and `perennial::join!`";
const AWAIT: &str = "`.await` it, if it is durable; else move it into an `#[activity]`";

const FINISHES: &str = "runs beside the workflow, where no history records when it finishes";
const WAITS: &str = "waits for code that no history records";
const BLOCKS: &str =
    "waits for something that no history records, and holds up the thread that other runs share";

pub(super) const RULE: Rule = Rule {
    code: "D104",
    category: Some("tasks"),
    title: "spawned tasks, async channels, `block_on`",
    because: FINISHES,
    denied: &[
        Denied::functions("tokio", &["spawn"], SPAWN),
        Denied::functions("tokio::task", &["spawn", "spawn_local"], SPAWN),
        Denied::functions("tokio::task::JoinSet", &["new"], SPAWN),
        Denied::functions("tokio::task::LocalSet", &["new"], SPAWN),
        Denied::functions("tokio::task::Builder", &["new"], SPAWN),
        Denied::functions("tokio::runtime::Handle", &["current", "try_current"], AWAIT)
            .because(BLOCKS),
        Denied::functions("tokio::runtime::Runtime", &["new"], AWAIT).because(BLOCKS),
        Denied::functions(
            "tokio::runtime::Builder",
            &["new_current_thread", "new_multi_thread"],
            AWAIT,
        )
        .because(BLOCKS),
        Denied::methods("tokio::runtime::Handle", &["block_on"], AWAIT).because(BLOCKS),
        Denied::methods(
            "tokio::runtime::Handle",
            &["spawn", "spawn_blocking"],
            SPAWN,
        ),
        Denied::methods("tokio::runtime::Runtime", &["block_on"], AWAIT).because(BLOCKS),
        Denied::methods(
            "tokio::runtime::Runtime",
            &["spawn", "spawn_blocking"],
            SPAWN,
        ),
        Denied::functions(
            "tokio::sync::mpsc",
            &["channel", "unbounded_channel"],
            CHANNEL,
        )
        .because(WAITS),
        Denied::functions("tokio::sync::oneshot", &["channel"], CHANNEL).because(WAITS),
        Denied::functions("tokio::sync::broadcast", &["channel"], CHANNEL).because(WAITS),
        Denied::functions("tokio::sync::watch", &["channel"], CHANNEL).because(WAITS),
        Denied::functions("tokio::sync::Notify", &["new"], CHANNEL).because(WAITS),
        Denied::functions("tokio::sync::Semaphore", &["new"], CHANNEL).because(WAITS),
        Denied::functions("tokio::sync::Barrier", &["new"], CHANNEL).because(WAITS),
        Denied::methods(
            "tokio::sync::Mutex",
            &["blocking_lock", "try_lock"],
            CHANNEL,
        )
        .because(WAITS),
        Denied::functions("async_std::task", &["spawn", "spawn_local"], SPAWN),
        Denied::functions("async_std::task", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("async_channel", &["bounded", "unbounded"], CHANNEL).because(WAITS),
        Denied::functions("smol", &["spawn"], SPAWN),
        Denied::functions("smol", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("async_io", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("async_global_executor", &["spawn", "spawn_local"], SPAWN),
        Denied::functions("async_global_executor", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("futures_lite::future", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("futures_executor", &["block_on", "block_on_stream"], AWAIT)
            .because(BLOCKS),
        Denied::functions("futures_executor::ThreadPool", &["new", "builder"], SPAWN),
        Denied::functions("futures_executor::LocalPool", &["new"], SPAWN),
        Denied::functions("futures_channel::mpsc", &["channel", "unbounded"], CHANNEL)
            .because(WAITS),
        Denied::functions("futures_channel::oneshot", &["channel"], CHANNEL).because(WAITS),
        Denied::functions("pollster", &["block_on"], AWAIT).because(BLOCKS),
        Denied::trait_methods("pollster::FutureExt", &["block_on"], AWAIT).because(BLOCKS),
        Denied::functions("actix_rt", &["spawn"], SPAWN),
        Denied::functions("wasm_bindgen_futures", &["spawn_local"], SPAWN),
    ],
};
