use perennial::assert_history;
use perennial::history::{ActivityFailure, History};
use perennial::testing::{RedactionError, Snapshot};
use perennial::value::Value;
use serde_json::json;

use crate::history;
use crate::story::Story;
use crate::workflows::{order, v1};

fn charged() -> History {
    let mut story = Story::of::<v1::fulfil>(order("A-1"));
    story.complete(1, "R-1");
    story.fire(2);
    history("order-42", &story)
}

fn lines(snapshot: &Snapshot, run: &History) -> String {
    snapshot.text(run).unwrap()
}

#[test]
fn a_value_is_named_by_its_event_and_its_path() {
    let snapshot = Snapshot::new()
        .redact("fulfil.input.card.number", "[number]")
        .redact("charge_card.input.card.*", "[hidden]")
        .redact("charge_card.result", "[receipt]")
        .redact("ship.input.lines[0]", "[first]")
        .redact("ship.input.order", "[order]");
    assert_history!(charged(), snapshot.uuids());
}

#[test]
fn a_member_is_hidden_wherever_it_is() {
    let text = lines(&Snapshot::new().redact("**.number", "[number]"), &charged());
    assert!(!text.contains("4000"), "{text}");
    assert_eq!(text.matches("[number]").count(), 3, "{text}");
    let text = lines(
        &Snapshot::new().redact("*.input.**.holder", "[holder]"),
        &charged(),
    );
    assert_eq!(text.matches("[holder]").count(), 3, "{text}");
    let text = lines(&Snapshot::new().redact("ship.**", "[all]"), &charged());
    assert_eq!(text.matches("[all]").count(), 1, "{text}");
    let text = lines(
        &Snapshot::new().redact("ship.input.lines[*]", "[line]"),
        &charged(),
    );
    assert_eq!(text.matches("[line]").count(), 4, "{text}");
}

#[test]
fn each_kind_of_value_has_its_name() {
    let mut story = Story::of::<v1::refund>("R-1");
    story.fail(
        1,
        ActivityFailure::RetriesExhausted {
            last: "bank 10.0.0.7 said no".into(),
            attempts: 3,
        },
    );
    let run = history("refund-1", &story);
    let snapshot = Snapshot::new()
        .redact(r#"["give.back"].error"#, "[what the bank said]")
        .redact("refund.error", "[why]");
    assert_history!(run, snapshot, @r#"
    1 started      refund "R-1"
    2   activity   ~1 give.back "R-1"                               workflows.rs refund
    3 failed       ~1 give.back retries exhausted after 3: [what the bank said]
    4 failed       "[why]"
    "#);

    let mut story = Story::of::<v1::refund>("R-1");
    let value = Value::encode(&json!({"code": 7, "at": [1, 2]})).unwrap();
    story.fail(1, ActivityFailure::Rejected { value });
    let run = history("refund-1", &story);
    let snapshot = Snapshot::new().redact(r#"["give.back"].error["at"][1]"#, "[at]");
    assert_history!(run, snapshot, @r#"
    1 started      refund "R-1"
    2   activity   ~1 give.back "R-1"                               workflows.rs refund
    3 failed       ~1 give.back rejected {"at":[1,"[at]"],"code":7}
    4 failed       {"message":"refused with 7"}
    "#);
}

/// A uuid that was drawn is the same one wherever it flows.
#[test]
fn drawn_uuids_are_numbered() {
    let text = lines(&Snapshot::new().uuids(), &charged());
    assert_eq!(text.matches("[uuid 1]").count(), 2, "{text}");
}

#[test]
fn a_redaction_that_matches_nothing_says_what_there_is() {
    let run = charged();
    let texts = [
        "charge_crad.input.card",
        "charge_card.output",
        "charge_card.input.card.nubmer",
        "ship.input.lines[4]",
        "ship.input.lines.sku",
        "fulfil.input.id.number",
        "**.nubmer",
        "[0].input",
    ]
    .map(|selector| {
        let error = Snapshot::new()
            .redact(selector, "[]")
            .text(&run)
            .unwrap_err();
        assert!(matches!(error, RedactionError::Unused { .. }), "{error:?}");
        error.to_string()
    });
    insta::assert_snapshot!(texts.join("\n---\n"));
    let refund = history("refund-1", &Story::of::<v1::refund>("R-1"));
    let error = Snapshot::new().uuids().text(&refund).unwrap_err();
    insta::assert_snapshot!(error, @"
    the history of run refund-1 has no uuid that could be replaced

    help: take `.uuids()` out
    ");
}

#[test]
fn a_selector_that_cannot_be_read_says_why() {
    let texts = [
        "", ".input", "a..b", "a.b.", "a[", "a[x]", "a[\"x]", "a[\"x\"", "a[0]b",
    ]
    .map(|selector| {
        let error = Snapshot::new()
            .redact(selector, "[]")
            .text(&charged())
            .unwrap_err();
        assert!(
            matches!(error, RedactionError::Malformed { .. }),
            "{error:?}"
        );
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    insta::assert_snapshot!(texts.join("\n"), @r#"
    the redaction `` cannot be read: a name is missing
    the redaction `.input` cannot be read: `.input` stands where `.` or `[` belongs
    the redaction `a..b` cannot be read: a name is missing
    the redaction `a.b.` cannot be read: a name is missing
    the redaction `a[` cannot be read: `[` has no `]`
    the redaction `a[x]` cannot be read: `[x]` is neither a number, `[*]` nor a name in quotes
    the redaction `a["x]` cannot be read: `["x]` has no name in quotes
    the redaction `a["x"` cannot be read: `["x"` has no `]`
    the redaction `a[0]b` cannot be read: `b` stands where `.` or `[` belongs
    "#);
}
