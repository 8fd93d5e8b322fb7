//! Complete small programs on Perennial, each with its own test.
//!
//! * [`approval`]: a purchase that waits for a person's answer, early, double, late or wrong as it may be. The binary
//!   is `src/bin/approval.rs`, the tests are `tests/approval` and `tests/approval_workflow.rs`.
//! * [`mirror`]: mirrors a real directory tree, and goes on where it was after every kill. The binary is
//!   `src/bin/mirror.rs`, the test `tests/mirror.rs`.
//!
//! The binaries are short: arguments, a runtime, what a person sees. What they do is here, where tests and
//! readers find it.

#![warn(missing_docs)]

pub mod approval;
pub mod mirror;
