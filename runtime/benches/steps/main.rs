//! What a step costs, as a ratio to what the disk can do at all, measured in one process and in turns; how
//! cost grows with the length of a run; and what runs hold in memory.
//!
//! `cargo bench -p perennial-runtime --bench steps -- [--json | --markdown] [--dir FOLDER] [--rounds N] [--only NAME[,NAME]]`
//!
//! | name | what | unit | ratio |
//! |---|---|---|---|
//! | `limit_1`, `limit_64`, `limit_512` | a preallocated file, one writer, records of 300 bytes, `fdatasync`; 1, 64 and 512 committers | commits/s | |
//! | `steps_1`, `steps_64`, `steps_512` | workflows of ten steps, the activities do nothing; 1, 64 and 512 in flight; embedded store, `Sync` | steps/s | to the limit of the same number |
//! | `flat_10000` | runs of 10,000 steps, one after the other: time of the last 1,000 ÷ time of the first 1,000, the median | ratio | the value |
//! | `replay_memory` | cold replay of that run from the decoded history | events/s | |
//! | `replay_disk` | the same, read from the store | events/s | |
//! | `fanout_100` | one run that calls 100 activities at once | ms | |
//! | `seq_4000_1000` | memory store: a run that calls 4,000 activities one after the other ÷ one that calls 1,000; at most 6 (RW-23) | ratio | the value |
//! | `join_4000_1000` | the same, all of them at once; at most 6 | ratio | the value |
//! | `replay_10000_2500` | memory store: time an event of a cold replay of 10,000 events ÷ of 2,500; one after the other or all at once, whichever is worse; at most 5 | ratio | the value |
//! | `replay_peak_ratio` | what such a replay of 10,000 events has on the heap at most ÷ the history's size in the store; whichever is worse; at most 8 | ratio | the value |
//! | `warm_run_bytes` | what one of 10,000 runs that wait adds to the heap by being kept warm; at most 8,192 | bytes | |
//! | `send_warm_p50`, `send_warm_p99` | from a message to a run that waits for it to the run's result: two durable commits, one after the other; the run is in memory | µs | to one durable commit |
//! | `send_cold_p50`, `send_cold_p99` | the same, and the run is not in memory | µs | to one durable commit |
//! | `stream_10000` | a run of 10,000 steps that gives out an item after each: time an item until an observer has it | µs | to one durable commit |
//! | `parked_200k_made_mb` | resident memory of a process that has just started 200,000 runs, all of which sleep; embedded store | MB | |
//! | `parked_200k_open_s` | how long `start` takes in the next process; at most 3 | s | |
//! | `parked_200k_rss_mb` | resident memory of that process, once it has run a workflow of ten steps; at most 400 | MB | |
//!
//! With `--rounds 1`, which is for showing that all of it works, 2,000 runs are parked and 100 items given out, and the
//! names say so.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod disk;
mod growth;
mod limit;
mod memory;
mod options;
mod parked;
mod replay;
mod report;
mod send;
mod stream;
mod workload;

use options::Options;
use report::Report;

/// Counts what is on the heap. That costs an addition for each piece that is taken or given back.
#[global_allocator]
static HEAP: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

fn main() {
    let Options {
        form,
        only,
        folder,
        rounds,
        child,
    } = options::parse();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Some(child) = child {
        return tokio.block_on(child.run(&folder));
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let report = Report::new(form, only);
    disk::measure(&tokio, &folder, rounds, &report);
    growth::measure(&tokio, rounds, &report);
    memory::measure(&tokio, &report);
    send::measure(&tokio, &folder, rounds, &report);
    stream::measure(&tokio, &folder, rounds, &report);
    parked::measure(&folder, rounds, &report);
    let _ = std::fs::remove_dir_all(&folder);
    report.end();
}
