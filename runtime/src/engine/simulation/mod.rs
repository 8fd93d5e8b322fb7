//! The engine on one thread, in a world that is made up, so that what happens is the same each time.
//!
//! A shard here is the shard of a real process; what surrounds it is the world's. The store's writes are done when the
//! world says so, the mailbox is read when it says so, alarms ring by its clock. There are two kinds of worlds:
//!
//! - [`stories`] are made up by chance: senders, crashes, clocks that jump, and commits whose answers are lost. What must
//!   hold whatever happens is in their judge.
//! - the [`sweep`] goes through a few programs, stops the process at each call of the store in turn, and has the next
//!   process go on. What comes of it must be what comes of it where nothing stops.

mod faults;
mod faulty;
mod process;
#[path = "../../../tests/support/seeded.rs"]
mod seeded;
mod stories;
mod sweep;
mod time;
mod watch;

/// How often a test does what it does, and which choices it makes: the number that the variable says, if it says one.
fn rounds(variable: &str, otherwise: u32) -> u32 {
    let said = std::env::var(variable).ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Another seed makes other choices.
fn seed() -> u32 {
    rounds("PERENNIAL_SEED", 1)
}
