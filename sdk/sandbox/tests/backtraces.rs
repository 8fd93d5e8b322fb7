//! The first backtrace that a program prints is one that a workflow prints. It is alone in this program.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

use std::backtrace::Backtrace;

use perennial::testing::{World, sandbox};
use perennial_sandbox as _;

#[test]
fn printing_a_backtrace_is_no_violation_and_comes_to_an_end() {
    let mut text = String::new();
    let touched = sandbox().unwrap().watch(World::Real, &mut || {
        // It reads the environment.
        let _ = Backtrace::capture();
        text = Backtrace::force_capture().to_string();
    });
    assert!(text.contains("printing_a_backtrace"), "{text}");
    assert_eq!(touched, []);
}
