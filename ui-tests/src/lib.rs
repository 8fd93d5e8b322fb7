//! What compiles and what does not, one behaviour a file: see `pass/` and `fail/`.
//!
//! And what of nondeterminism is found, by whom: see [`corpus`]. And what of a changed workflow: see
//! [`mutations`]. And which numbered cases have a test: see [`cases`].

pub mod cases;
pub mod corpus;
pub mod mutations;
mod workspace;

type AnyError = Box<dyn std::error::Error + Send + Sync>;
