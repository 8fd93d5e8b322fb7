//! Complete small programs on Perennial, each with its own test.
//!
//! * [`agent_session`]: a talk with an agent that works in steps, is steered while it works, and survives every kill.
//!   The binary is `src/bin/agent_session.rs`, the tests are `tests/agent_session` and
//!   `tests/agent_session_workflow.rs`.
//! * [`approval`]: a purchase that waits for a person's answer, early, double, late or wrong as it may be. The binary
//!   is `src/bin/approval.rs`, the tests are `tests/approval` and `tests/approval_workflow.rs`.
//! * [`mirror`]: mirrors a real directory tree, and goes on where it was after every kill. The binary is
//!   `src/bin/mirror.rs`, the test `tests/mirror.rs`.
//!
//! The binaries are short: arguments, a runtime, what a person sees. What they do is here, where tests and
//! readers find it.

#![warn(missing_docs)]

pub mod agent_session;
pub mod approval;
pub mod mirror;
