//! Packages that are written, compiled and documented as users do it.
//!
//! With the attributes the compiler says what it says without them: the files in `same/` are compiled in two forms: as they are, and with the attributes turned into comments,
//! so that each line and column stays where it was. `crate::sdk` is another module in each form: without the
//! attributes an activity is called with the workflow's context.

#![allow(clippy::unwrap_used)]

mod docs;
mod lints;
mod locks;
mod mistakes;
mod names;
mod project;
