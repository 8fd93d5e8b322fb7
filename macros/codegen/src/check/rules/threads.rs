use super::{Denied, Rule};

const ACTIVITY: &str = "move the work into an `#[activity(blocking, ..)]`";
const AT_ONCE: &str =
    "call activities and wait for several with `perennial::join!` or `cx.spawn(..)`";
const CHANNEL: &str = "keep it in a local variable; parts of a workflow wait for each other with `cx.spawn(..)` and `perennial::join!`";
const LOCAL: &str =
    "keep it in a local variable: a workflow shares nothing, and replay builds it again";

const FINISH: &str = "finishes in another order each time, and a thread cannot be replayed";
const WAITS: &str =
    "waits for code that no history records, and holds up the thread that other runs share";

pub(super) const RULE: Rule = Rule {
    code: "D103",
    category: Some("threads"),
    title: "threads, thread pools, blocking channels and locks",
    because: FINISH,
    denied: &[
        Denied::functions("std::thread", &["spawn", "scope"], ACTIVITY),
        Denied::functions("std::thread::Builder", &["new"], ACTIVITY),
        Denied::functions("std::thread", &["park", "yield_now"], LOCAL).because(WAITS),
        Denied::functions("std::sync::mpsc", &["channel", "sync_channel"], CHANNEL).because(WAITS),
        Denied::methods(
            "std::sync::mpsc::Receiver",
            &["recv", "recv_timeout", "try_recv", "iter", "try_iter"],
            CHANNEL,
        )
        .because(WAITS),
        Denied::methods("std::sync::Mutex", &["lock", "try_lock"], LOCAL).because(WAITS),
        Denied::methods(
            "std::sync::RwLock",
            &["read", "write", "try_read", "try_write"],
            LOCAL,
        )
        .because(WAITS),
        Denied::functions("std::sync::Condvar", &["new"], CHANNEL).because(WAITS),
        Denied::methods(
            "std::sync::Condvar",
            &["wait", "wait_timeout", "wait_timeout_while", "wait_while"],
            CHANNEL,
        )
        .because(WAITS),
        Denied::functions("std::sync::Barrier", &["new"], CHANNEL).because(WAITS),
        Denied::methods("std::sync::Barrier", &["wait"], CHANNEL).because(WAITS),
        Denied::methods("parking_lot::Mutex", &["lock", "try_lock"], LOCAL).because(WAITS),
        Denied::methods(
            "parking_lot::RwLock",
            &["read", "write", "try_read", "try_write", "upgradable_read"],
            LOCAL,
        )
        .because(WAITS),
        Denied::functions("parking_lot::Condvar", &["new"], CHANNEL).because(WAITS),
        Denied::functions("crossbeam_utils::thread", &["scope"], ACTIVITY),
        Denied::functions("crossbeam", &["scope"], ACTIVITY),
        Denied::functions("crossbeam_channel", &["bounded", "unbounded"], CHANNEL).because(WAITS),
        Denied::functions("flume", &["bounded", "unbounded"], CHANNEL).because(WAITS),
        Denied::functions(
            "rayon",
            &[
                "join",
                "scope",
                "spawn",
                "spawn_fifo",
                "broadcast",
                "in_place_scope",
            ],
            ACTIVITY,
        ),
        Denied::functions("rayon::ThreadPoolBuilder", &["new"], ACTIVITY),
        Denied::trait_methods(
            "rayon::iter::IntoParallelIterator",
            &["into_par_iter"],
            ACTIVITY,
        ),
        Denied::trait_methods(
            "rayon::iter::IntoParallelRefIterator",
            &["par_iter"],
            ACTIVITY,
        ),
        Denied::trait_methods(
            "rayon::iter::IntoParallelRefMutIterator",
            &["par_iter_mut"],
            ACTIVITY,
        ),
        Denied::trait_methods("rayon::iter::ParallelBridge", &["par_bridge"], ACTIVITY),
        Denied::trait_methods(
            "rayon::slice::ParallelSlice",
            &["par_chunks", "par_chunks_exact", "par_windows"],
            ACTIVITY,
        ),
        Denied::functions("threadpool::ThreadPool", &["new", "with_name"], ACTIVITY),
        Denied::functions(
            "tokio::task",
            &["spawn_blocking", "block_in_place"],
            ACTIVITY,
        ),
        Denied::functions("async_std::task", &["spawn_blocking"], ACTIVITY),
        Denied::functions("smol", &["unblock"], ACTIVITY),
        Denied::functions("blocking", &["unblock"], ACTIVITY),
        Denied::macros("blocking", &["unblock"], ACTIVITY),
        Denied::functions("libc", &["pthread_create", "fork"], AT_ONCE),
    ],
};
