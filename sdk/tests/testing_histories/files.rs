use std::fs;

use perennial::history::History;
use perennial::testing::{NotSaved, save_history};

use crate::story::Story;
use crate::workflows::{order, v1};
use crate::{empty_folder, history, portable};

fn charged(id: &str) -> History {
    let mut story = Story::of::<v1::fulfil>(order(id));
    story.complete(1, "R-1");
    history("order-42", &story)
}

#[test]
fn what_was_saved_is_read_again_to_the_byte() {
    let path = empty_folder("saved").join("new/folder/order-v1.json");
    let run = charged("A-1");
    save_history(&run, &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(History::from_json(&text).unwrap(), run);
    assert_eq!(run.to_json().unwrap(), text);
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn what_differs_only_in_its_call_sites_is_the_same_history() {
    let path = empty_folder("sites").join("order-v1.json");
    let run = charged("A-1");
    save_history(&run, &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let moved = text.replace("\"line\": ", "\"line\": 9");
    assert_ne!(moved, text);
    fs::write(&path, &moved).unwrap();
    save_history(&run, &path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), moved);
}

/// Code that has moved to another file is not the difference, though its lines come first.
#[test]
fn a_call_site_is_not_told_as_the_difference() {
    let path = empty_folder("moved").join("order-v1.json");
    save_history(&charged("A-1"), &path).unwrap();
    let mut longer = Story::of::<v1::fulfil>(order("A-1"));
    longer.complete(1, "R-1");
    longer.fire(2);
    let text = history("order-42", &longer).to_json().unwrap();
    let moved = text.replace("workflows.rs", "moved.rs");
    assert_ne!(moved, text);
    let error = save_history(&History::from_json(&moved).unwrap(), &path).unwrap_err();
    let NotSaved::Different { difference, .. } = error else {
        panic!("{error}")
    };
    assert!(difference.contains("fired"), "{difference}");
}

#[test]
fn another_history_is_never_replaced_unasked() {
    let path = empty_folder("kept").join("order-v1.json");
    save_history(&charged("A-1"), &path).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let mut texts = Vec::new();
    let mut longer = Story::of::<v1::fulfil>(order("A-1"));
    longer.complete(1, "R-1");
    longer.fire(2);
    let mut other_run = charged("A-1");
    other_run.generation = 2;
    for run in [charged("A-2"), history("order-42", &longer), other_run] {
        let error = save_history(&run, &path).unwrap_err();
        assert!(matches!(error, NotSaved::Different { .. }));
        texts.push(portable(error));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    // What is no history may be somebody's too.
    fs::write(&path, "{\"milk\": 2}").unwrap();
    texts.push(portable(save_history(&charged("A-1"), &path).unwrap_err()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"milk\": 2}");
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn what_is_no_history_says_where_and_what_was_expected() {
    let whole = charged("A-1").to_json().unwrap();
    let broken = [
        String::new(),
        whole[..whole.len() / 2].to_owned(),
        whole.replace("\"activity_scheduled\"", "\"activity_sheduled\""),
        whole.replace("\"units\"", "\"unit\""),
        whole.replace(
            "\"generation\": 1,\n  \"units\"",
            "\"generation\": \"one\",\n  \"units\"",
        ),
        whole.replace("\"order-42\"", "\"order 42\""),
        whole.replace("1200", "99999999999999999999"),
        "[]".to_owned(),
    ];
    let texts = broken.map(|text| {
        assert_ne!(text, whole);
        History::from_json(&text).unwrap_err().to_string()
    });
    insta::assert_snapshot!(texts.join("\n"), @r#"
    not a history: line 1, byte 0: EOF while parsing a value
    not a history: line 29, byte 3: EOF while parsing a value
    not a history: line 25, byte 29: unknown variant `activity_sheduled`, expected one of `activity_scheduled`, `timer_started`, `receive_started`, `received`, `stub_offered`, `stub_invalid`, `send_requested`, `fulfil_requested`, `recorded`, `emitted`, `update_answered`, `marker`, `set_closed`, `dropped`, `completed`, `failed`
    not a history: line 64, byte 1: missing field `units`
    not a history: line 6, byte 21: invalid type: string "one", expected u64
    not a history: line 5, byte 3: the run id "order 42" has a space at byte 5, which an id cannot have

    help: use letters, digits and `.` `_` `:` `-`, at most 128 of them
    not a history: line 14, byte 117: the integer 99999999999999999999 does not fit into 64 bits
    not a history: line 1, byte 2: invalid length 0, expected struct History with 3 elements
    "#);
}
