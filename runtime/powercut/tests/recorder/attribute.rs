//! The synchronous attribute of files and folders.

use std::fs;
use std::io::Write as _;

use perennial_powercut::Choice;

use crate::place::{Place, least, make_synchronous, most};

#[test]
fn writes_to_a_file_with_the_attribute_are_durable() {
    let place = Place::new();
    place.put("file", b"");
    let mut made = false;
    let trace = place.record_with(|recorder| {
        let mut file = place.open("file");
        file.write_all(b"before ").unwrap();
        made = make_synchronous(&place.file("file"));
        file.write_all(b"after").unwrap();
        recorder.mark("written");
    });
    if !made {
        return;
    }
    // What was written before it had the attribute is not.
    assert_eq!(least(&trace).read("file").unwrap(), b"\0\0\0\0\0\0\0after");
    let (cut, _) = trace.marks().next().unwrap();
    let within = trace.image(cut - 1, Choice::Nothing);
    assert_eq!(within.read("file").unwrap(), b"");
}

#[test]
fn names_in_a_folder_with_the_attribute_are_durable_and_files_inherit_it() {
    let place = Place::new();
    if !make_synchronous(place.path()) {
        return;
    }
    let trace = place.record(|| {
        fs::write(place.file("one"), b"one").unwrap();
        fs::write(place.file("two"), b"two").unwrap();
        fs::rename(place.file("one"), place.file("new")).unwrap();
        fs::remove_file(place.file("two")).unwrap();
        fs::create_dir(place.file("folder")).unwrap();
        fs::write(place.file("folder/file"), b"inherited").unwrap();
    });
    assert_eq!(least(&trace), most(&trace));
    assert_eq!(least(&trace).read("new").unwrap(), b"one");
    assert_eq!(least(&trace).read("folder/file").unwrap(), b"inherited");
}

#[test]
fn a_file_with_the_attribute_becomes_shorter_durably_but_not_longer() {
    let place = Place::new();
    place.put("file", b"0123456789");
    if !make_synchronous(&place.file("file")) {
        return;
    }
    let trace = place.record(|| {
        let file = place.open("file");
        file.set_len(4).unwrap();
        file.set_len(8).unwrap();
    });
    assert_eq!(least(&trace).read("file").unwrap(), b"0123");
    assert_eq!(most(&trace).read("file").unwrap(), b"0123\0\0\0\0");
}
