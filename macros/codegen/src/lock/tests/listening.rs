//! Waits for messages and signals: the name and a time limit show, how long that is does not.

use super::{found, shown};

const BASE: &str = r#"
use perennial::prelude::*;

#[workflow]
pub async fn purchase(cx: &Cx, cents: u64) -> Result<(), Error> {
    let by = cx.receive(APPROVAL).await?;
    if let Some(note) = cx.receive(names::NOTE).timeout(days(7)).await? {
        ship(cx, note).await?;
    }
    select! {
        rung = cx.wait_for(BELL) => drop(rung?),
        slept = cx.sleep(days(1)) => slept?,
    }
    Ok(())
}
"#;

type Edits = &'static [(&'static str, &'static str)];

fn changed(edits: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "`{from}` is not in the workflow");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn what_a_run_in_flight_waits_for_shows() {
    let changes: [(&str, Edits); 7] = [
        (
            "the names are swapped",
            &[
                ("receive(APPROVAL)", "receive(names::NOTE)"),
                ("receive(names::NOTE).timeout", "receive(APPROVAL).timeout"),
            ],
        ),
        ("another name", &[("APPROVAL", "APPROVED")]),
        ("a signal", &[("receive(APPROVAL)", "wait_for(APPROVAL)")]),
        (
            "a time limit",
            &[("(APPROVAL)", "(APPROVAL).timeout(days(1))")],
        ),
        ("no time limit", &[(".timeout(days(7))", "")]),
        (
            "one wait more",
            &[("    select!", "    cx.receive(NOTE).await?;\n    select!")],
        ),
        (
            "one wait less",
            &[("    let by = cx.receive(APPROVAL).await?;\n", "")],
        ),
    ];
    let mut texts = Vec::new();
    for (what, edits) in changes {
        let text = shown(&found(BASE, &changed(edits)));
        assert!(text.contains("L30"), "{what}: {text}");
        texts.push(format!("{what}\n{text}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn what_is_no_difference_to_a_run_in_flight_does_not_show() {
    let changes: [(&str, Edits); 5] = [
        ("another time limit", &[("days(7)", "PATIENCE")]),
        ("a path", &[("(APPROVAL)", "(crate::names::APPROVAL)")]),
        (
            "a variable",
            &[(
                "cx.receive(APPROVAL).await?",
                "{ let wait = cx.receive(APPROVAL); wait.await? }",
            )],
        ),
        (
            "a variable, with a time limit",
            &[
                (
                    "    if let",
                    "    let wait = cx.receive(NOTE);\n    let wait = wait.timeout(limit);\n    if let",
                ),
                (
                    "cx.receive(names::NOTE).timeout(days(7)).await?",
                    "wait.await?",
                ),
            ],
        ),
        ("the context's name", &[("cx.wait_for", "(&cx).wait_for")]),
    ];
    for (what, edits) in changes {
        let found = found(BASE, &changed(edits));
        let breaking: Vec<_> = found
            .into_iter()
            .filter(|finding| finding.level == super::Level::Error)
            .collect();
        assert_eq!(shown(&breaking), "", "{what}");
    }
}

const GIVING: &str = r#"
use perennial::prelude::*;

#[workflow]
pub async fn agent(cx: &Cx, task: u64) -> Result<(), Error> {
    cx.set(STATUS, "begun".to_owned());
    cx.emit(OUTPUT, task);
    ship(cx, task).await?;
    cx.emit(names::NOTES, "shipped".to_owned());
    cx.set(STATUS, "done".to_owned());
    Ok(())
}
"#;

/// Items of streams are decisions; what is set in a view is none.
#[test]
fn items_of_streams_show_and_what_is_set_in_views_does_not() {
    let edited = |edits: Edits| {
        let mut text = GIVING.to_owned();
        for (from, to) in edits {
            assert!(text.contains(from), "`{from}` is not in the workflow");
            text = text.replacen(from, to, 1);
        }
        found(GIVING, &text)
    };
    let shows: [(&str, Edits); 4] = [
        ("another stream", &[("emit(OUTPUT", "emit(RESULTS")]),
        (
            "one item more",
            &[("    ship", "    cx.emit(OUTPUT, 2);\n    ship")],
        ),
        ("one item less", &[("    cx.emit(OUTPUT, task);\n", "")]),
        (
            "an item after what came after it",
            &[
                ("    cx.emit(OUTPUT, task);\n", ""),
                ("await?;\n", "await?;\n    cx.emit(OUTPUT, task);\n"),
            ],
        ),
    ];
    let mut texts = Vec::new();
    for (what, edits) in shows {
        let text = shown(&edited(edits));
        assert!(text.contains("L30"), "{what}: {text}");
        texts.push(format!("{what}\n{text}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
    let harmless: [(&str, Edits); 4] = [
        (
            "another item",
            &[("emit(OUTPUT, task)", "emit(OUTPUT, task + 1)")],
        ),
        ("a path", &[("emit(OUTPUT", "emit(crate::names::OUTPUT")]),
        (
            "a view less",
            &[("    cx.set(STATUS, \"begun\".to_owned());\n", "")],
        ),
        (
            "another view",
            &[("set(STATUS, \"begun\"", "set(names::STATE, \"begun\"")],
        ),
    ];
    for (what, edits) in harmless {
        assert_eq!(shown(&edited(edits)), "", "{what}");
    }
}

#[test]
fn an_update_that_is_handled_does_not_show_and_a_condition_that_is_waited_for_does() {
    let handled = changed(&[(
        "    let by",
        "    cx.handle(SET_LIMIT, |new| check(new), move |new| limit.replace(new));\n    let by",
    )]);
    assert_eq!(shown(&found(BASE, &handled)), "");
    let waited = changed(&[(
        "    let by",
        "    cx.until(|| limit.get() > 5).await;\n    let by",
    )]);
    let text = shown(&found(BASE, &waited));
    assert!(text.contains("L30") && text.contains("cx.until"), "{text}");
}
