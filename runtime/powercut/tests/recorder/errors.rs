//! Records that would not be whole, and the texts.

use std::fs;
use std::os::fd::AsFd as _;

use perennial_powercut::{RecordError, Recorder};

use crate::calls::map;
use crate::place::Place;

/// The text of what the end of a record says, without the place of the folder.
fn refusal(place: &Place, body: impl FnOnce()) -> String {
    let recorder = Recorder::<()>::start(place.path()).unwrap();
    body();
    text(place, recorder.finish().unwrap_err())
}

fn text(place: &Place, error: RecordError) -> String {
    let folder = place.path().canonicalize().unwrap();
    error
        .to_string()
        .replace(&*folder.to_string_lossy(), "[folder]")
}

#[test]
fn what_is_written_unseen_is_noticed_in_the_end() {
    let place = Place::new();
    place.put("file", b"01");
    let text = refusal(&place, || {
        rustix::io::pwrite(place.open("file").as_fd(), b"x", 0).unwrap();
    });
    insta::assert_snapshot!(text);
}

#[test]
fn names_that_change_unseen_are_noticed_in_the_end() {
    let place = Place::new();
    place.put("file", b"01");
    let at = fs::File::open(place.path()).unwrap();
    let made = refusal(&place, || {
        rustix::fs::mkdirat(&at, "folder", 0o755.into()).unwrap();
    });
    let gone = refusal(&place, || rustix::fs::unlink(place.file("file")).unwrap());
    insta::assert_snapshot!(format!("{made}\n---\n{gone}"));
}

/// Nobody knows what is written there, and when.
#[test]
fn a_mapping_for_writing_is_refused() {
    let place = Place::new();
    place.put("file", b"0123");
    let text = refusal(&place, || map(&place.open("file"), 4));
    insta::assert_snapshot!(text);
}

#[test]
fn what_comes_from_outside_is_noticed_in_the_end() {
    let (place, other) = (Place::new(), Place::new());
    other.put("file", b"01");
    let text = refusal(&place, || {
        fs::rename(other.file("file"), place.file("file")).unwrap();
    });
    assert!(text.contains("nobody was seen to make it"), "{text}");
}

#[test]
fn a_folder_with_links_or_no_folder_is_refused() {
    let place = Place::new();
    let start = |path| text(&place, Recorder::<()>::start(path).unwrap_err());
    assert!(start(place.file("missing")).contains("No such file"));
    std::os::unix::fs::symlink("target", place.file("link")).unwrap();
    insta::assert_snapshot!(start(place.path().into()));
}

#[test]
fn the_other_texts() {
    let not_linked = RecordError::NotLinked { name: "write" };
    let busy = RecordError::Busy {
        folder: "store".into(),
    };
    insta::assert_snapshot!(format!("{not_linked}\n---\n{busy}"));
}
