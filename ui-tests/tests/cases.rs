//! The numbered cases, as `cargo run -p perennial-ui-tests --bin cases` prints them.

use perennial_ui_tests::cases;

#[test]
fn each_numbered_case_has_a_test_or_says_why_not() {
    match cases::report() {
        Ok(report) => assert!(report.wrong().is_empty(), "{:#?}", report.wrong()),
        Err(error) => panic!("{error}"),
    }
}
