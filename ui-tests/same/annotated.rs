//! What a user imports.

pub use perennial::prelude::*;
