//! What compiles and what does not, one behaviour a file: see `pass/` and `fail/`.
