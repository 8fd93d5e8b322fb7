//! Sets of work with names: histories have the name where a set is dropped with members, and what becomes of those.

use super::{found, shown};

const BASE: &str = r#"
use perennial::prelude::*;

#[workflow]
pub async fn agent(cx: &Cx, task: String) -> Result<(), Error> {
    let mut turn = JoinSet::named(cx, "turn");
    turn.submit(think(cx, task.clone()));
    let mut plain = JoinSet::new(cx);
    plain.submit(think(cx, task));
    turn.next().await;
    plain.next().await;
    Ok(())
}
"#;

fn changed(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "`{from}` is not in the workflow");
    BASE.replacen(from, to, 1)
}

#[test]
fn the_name_of_a_set_and_what_becomes_of_its_members_show() {
    let changes = [
        ("another name", "\"turn\")", "\"round\")"),
        ("no name", "named(cx, \"turn\")", "new(cx)"),
        (
            "its members go on",
            "\"turn\");",
            "\"turn\").on_close(Close::Detach);",
        ),
        (
            "a set that had no name",
            "JoinSet::new(cx)",
            "JoinSet::named(cx, \"plain\")",
        ),
    ];
    let mut texts = Vec::new();
    for (what, from, to) in changes {
        let text = shown(&found(BASE, &changed(from, to)));
        assert!(text.contains("L30"), "{what}: {text}");
        texts.push(format!("{what}\n{text}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn what_is_no_difference_to_a_run_in_flight_does_not_show() {
    let changes = [
        ("let mut plain", "let mut rest"),
        ("\"turn\");", "\"turn\").on_close(Close::Drop);"),
        ("JoinSet::named(cx", "JoinSet::<u64>::named(cx"),
        ("JoinSet::named(cx", "perennial::JoinSet::named(cx"),
    ];
    for (from, to) in changes {
        let text = changed(from, to).replace("plain.", "rest.");
        let text = match from {
            "let mut plain" => text,
            _ => changed(from, to),
        };
        assert_eq!(shown(&found(BASE, &text)), "", "{to}");
    }
}
