//! `pass/` compiles and runs; `fail/` does not compile, with exactly these errors.
//!
//! `TRYBUILD=overwrite cargo test -p perennial-ui-tests` writes what the compiler says now. Read it
//! as its reader will: is the caret on their code, does the text say what to do, is it said once?

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
