//! The corpus, as `cargo run -p perennial-ui-tests --bin corpus` prints it.

use perennial_ui_tests::corpus;

#[test]
fn each_nondeterminism_is_found_and_nothing_harmless() {
    match corpus::judge() {
        Ok(report) => assert!(report.is_as_expected(), "{report}"),
        Err(error) => panic!("{error}"),
    }
}
