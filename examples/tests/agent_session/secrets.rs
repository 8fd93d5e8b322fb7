//! The key is sent, and is nowhere else.

use std::fs;
use std::path::Path;

use perennial_examples::agent_session::Reply;

use crate::world::{KEY, World};

#[test]
fn the_key_is_sent_and_neither_shown_nor_stored() {
    let world = World::new();
    world.script([
        Reply::Status(500, format!("{KEY} makes me dizzy")),
        Reply::Status(400, format!("what is {KEY}?")),
        Reply::Status(401, format!("{KEY} is no key")),
        Reply::Raw(format!("\"{KEY}\"")),
        Reply::Say(format!("your key is {KEY}")),
    ]);
    world.done("chat plan-1");
    let mut shown = String::new();
    for word in ["first-word", "second-word", "third-word", "last-word"] {
        shown += &world.done(&format!("say plan-1 {word}"));
    }
    shown += &world.done("perennial manifest");
    assert_eq!(world.calls().len(), 5);
    for call in world.calls() {
        assert_eq!(call.authorization.unwrap(), format!("Bearer {KEY}"));
    }
    assert!(shown.contains("agent: your key is [key]"), "{shown}");
    assert!(!shown.contains(KEY), "{shown}");
    let (mut words, mut keys) = (0, 0);
    each_file(world.path(), &mut |bytes| {
        words += usize::from(has(bytes, b"last-word"));
        keys += usize::from(has(bytes, KEY.as_bytes()));
    });
    assert!(words > 0, "what was said is stored as it is");
    assert_eq!(keys, 0);
}

#[test]
fn a_key_does_not_go_to_another_machine_in_the_clear() {
    let world = World::new();
    let mut command = world.command();
    command.env("OPENAI_BASE_URL", "http://model.invalid/v1");
    let refused = crate::world::said(command.args(["chat", "plan-1"]));
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(!refused.err.contains(KEY), "{}", refused.err);
    insta::assert_snapshot!("exposed", refused.err);
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn each_file(folder: &Path, look: &mut impl FnMut(&[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            each_file(&entry.path(), look);
        } else if kind.is_file() {
            look(&fs::read(entry.path()).unwrap());
        }
    }
}
