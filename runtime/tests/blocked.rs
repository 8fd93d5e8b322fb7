//! Blocked runs in operation (S14, S16): a program is deployed that does not fit, each run that it cannot go on
//! with is blocked and nothing else happens to it, and with the program before it goes on as if nothing had been.
#![allow(clippy::unwrap_used)]

#[path = "blocked/kinds.rs"]
mod kinds;
#[path = "blocked/listed.rs"]
mod listed;
#[path = "blocked/meanwhile.rs"]
mod meanwhile;
#[path = "blocked/place.rs"]
mod place;
#[path = "blocked/starts.rs"]
mod starts;
mod support;
#[path = "blocked/unblock.rs"]
mod unblock;
#[path = "blocked/unheard.rs"]
mod unheard;
