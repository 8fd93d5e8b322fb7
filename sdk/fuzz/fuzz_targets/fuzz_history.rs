//! Histories under libFuzzer: `cargo +nightly fuzz run fuzz_history`, in the folder `sdk`.
//!
//! What it does with its bytes is in `tests/fuzz_history/input.rs`, and an ordinary test does the same with some
//! thousand of them. What crashes here goes there as a test of its own.

#![no_main]

#[path = "../../tests/fuzz_history/input.rs"]
mod input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| input::feed(bytes));
