//! What compiles and what does not, one behaviour a file: see `pass/` and `fail/`.
//!
//! And what of nondeterminism is found, by whom: see [`corpus`].

pub mod corpus;
