//! Activities at work.

mod attempt;
mod slots;

pub(crate) use attempt::{AttemptReport, Order, panic_text, run_attempt};
pub(crate) use slots::{Slot, Slots, Waiting};
