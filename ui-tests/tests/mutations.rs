//! The mutations, as `cargo run -p perennial-ui-tests --bin mutations` prints them.

use perennial_ui_tests::mutations::{self, Chosen};

#[test]
fn each_mutation_that_decides_something_else_is_found_at_its_first_event_and_nothing_harmless() {
    let report = match mutations::judge(&Chosen::default()) {
        Ok(report) => report,
        Err(error) => panic!("{error}"),
    };
    let wrong = report.wrong();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    insta::assert_snapshot!("matrix", report);

    let (workflows, mutations) = report.size();
    assert!(workflows >= 12, "{workflows} workflows");
    let kinds = report.kinds();
    let refactors = kinds.get("refactor").copied().unwrap_or_default();
    assert!(
        refactors >= 40,
        "{refactors} harmless refactors of {mutations}"
    );
    for kind in [
        "insert", "remove", "rename", "reorder", "kind", "input", "branch", "bound", "return",
        "arms", "marker", "retire", "type",
    ] {
        assert!(
            kinds.contains_key(kind),
            "no mutation is of the kind {kind}"
        );
    }
}
