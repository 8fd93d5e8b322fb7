//! A purchase that a person has to approve.
//!
//! [`purchase`] is the workflow: it asks the boss, waits for the answer, but not for ever, and then orders what was
//! asked for, or does not. The answer is a message, [`APPROVAL`]. The run keeps it until it is taken, so it does not
//! matter who is there first, the wait or the answer, and whether the program runs at all in between.
//!
//! | an answer that comes | is |
//! |---|---|
//! | before the boss was asked | kept, and taken as soon as the workflow waits for it |
//! | twice from the same person | one message: the name of who answers is its idempotency key |
//! | from the same person, and is another one | refused |
//! | and is no answer | taken and answered with the same question |
//! | when the time is over | not taken, since that wait is over; it stays unread |
//! | when the purchase has ended | refused |
//!
//! ```text
//! a line ─ Command ─▶ Desk ─ client ─▶ purchase ─▶ tell, place_order   (activities)
//!                      ▲                                 │
//!                      └──────────── letters ────────────┘ Office: a folder
//! ```

mod command;
mod desk;
mod office;
mod order;
mod workflow;

pub use command::{Command, Line};
pub use desk::{Desk, Refused, Reply};
pub use office::{Letter, Office, Person, place_order, tell};
pub use order::{APPROVAL, Answer, Order, Outcome};
pub use workflow::purchase;
