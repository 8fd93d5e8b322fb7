//! A workflow whose stack overflows. It ends the process, so it has one of its own.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

use std::process::Command;

use perennial::testing::{World, sandbox};
use perennial_sandbox as _;

fn deep(levels: u64) -> u64 {
    let room = std::hint::black_box([levels; 64]);
    match levels {
        0 => 0,
        _ => room[7] + deep(levels - 1),
    }
}

/// Fails on purpose: the next test runs it.
#[test]
#[ignore = "it ends the process"]
fn overflow() {
    sandbox().unwrap().watch(World::Real, &mut || {
        std::hint::black_box(deep(u64::MAX));
    });
}

#[test]
fn the_standard_library_still_says_so() {
    let mut program = Command::new(std::env::current_exe().unwrap());
    let ended = program.args(["--ignored", "overflow"]).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("has overflowed its stack"), "{said}");
}
