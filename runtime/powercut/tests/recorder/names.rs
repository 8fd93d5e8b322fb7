//! Names of files and folders.

use std::fs::{self, File};
use std::io::Write as _;

use perennial_powercut::{Choice, Image};

use crate::place::{Place, least, most};

fn names(image: &Image) -> Vec<&str> {
    image.paths().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn a_new_file_may_be_missing_until_its_folder_is_synced() {
    let place = Place::new();
    let trace = place.record(|| {
        let mut file = place.create("file");
        file.write_all(b"new").unwrap();
        file.sync_all().unwrap();
    });
    assert!(names(&least(&trace)).is_empty());
    assert_eq!(most(&trace).read("file").unwrap(), b"new");

    let place = Place::new();
    let trace = place.record(|| {
        let mut file = place.create("file");
        place.sync();
        file.write_all(b"new").unwrap();
    });
    assert_eq!(least(&trace).read("file").unwrap(), b"");
}

/// The name is durable, the content is not.
#[test]
fn a_rename_without_a_sync_of_the_file_can_leave_it_empty() {
    let place = Place::new();
    place.put("file", b"old");
    let trace = place.record(|| {
        place.create("new").write_all(b"new").unwrap();
        fs::rename(place.file("new"), place.file("file")).unwrap();
        place.sync();
    });
    assert_eq!(names(&least(&trace)), ["file"]);
    assert_eq!(least(&trace).read("file").unwrap(), b"");
}

#[test]
fn a_file_that_is_replaced_is_the_old_or_the_new_one() {
    let place = Place::new();
    place.put("file", b"old");
    let trace = place.record_with(|recorder| {
        let mut file = place.create("new");
        file.write_all(b"new").unwrap();
        file.sync_all().unwrap();
        fs::rename(place.file("new"), place.file("file")).unwrap();
        place.sync();
        recorder.mark("replaced");
    });
    let (mut old, mut new) = (0, 0);
    for cut in trace.cuts() {
        for seed in 0..20 {
            let image = trace.image(cut, Choice::any(seed));
            match image.read("file") {
                Some(b"old") => old += 1,
                Some(b"new") => new += 1,
                other => panic!("{other:?}"),
            }
            if trace.marks_before(cut).count() > 0 {
                assert_eq!(names(&image), ["file"]);
                assert_eq!(image.read("file"), Some(&b"new"[..]));
            }
        }
    }
    assert!(old > 0 && new > 0);
}

#[test]
fn of_one_name_no_change_is_there_without_those_before_it() {
    let place = Place::new();
    let trace = place.record(|| {
        for n in 0..3 {
            let mut file = place.create("new");
            file.write_all(&[b'a' + n]).unwrap();
            file.sync_all().unwrap();
            fs::rename(place.file("new"), place.file("file")).unwrap();
        }
        place.create("other");
    });
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..2_000 {
        let image = trace.image(trace.len(), Choice::Coin { seed });
        let file = image.read("file").map(<[u8]>::to_vec);
        seen.insert((
            file,
            image.read("new").is_some(),
            image.read("other").is_some(),
        ));
    }
    let files: std::collections::BTreeSet<_> = seen.iter().map(|(file, ..)| file.clone()).collect();
    assert_eq!(files.len(), 4, "{seen:?}");
    assert_eq!(seen.len(), 2 * 7, "{seen:?}");
}

#[test]
fn a_removed_file_may_still_be_there() {
    let place = Place::new();
    place.put("file", b"old");
    place.put("other", b"old");
    let trace = place.record(|| {
        fs::remove_file(place.file("file")).unwrap();
        place.sync();
        fs::remove_file(place.file("other")).unwrap();
    });
    assert_eq!(names(&least(&trace)), ["other"]);
    assert!(names(&most(&trace)).is_empty());
}

#[test]
fn what_is_in_a_folder_goes_with_it() {
    let place = Place::new();
    let trace = place.record(|| {
        fs::create_dir_all(place.file("a/b")).unwrap();
        fs::write(place.file("a/b/file"), b"new").unwrap();
        File::open(place.file("a/b/file"))
            .unwrap()
            .sync_all()
            .unwrap();
        File::open(place.file("a/b")).unwrap().sync_all().unwrap();
        File::open(place.file("a")).unwrap().sync_all().unwrap();
    });
    assert!(names(&least(&trace)).is_empty());
    assert_eq!(names(&most(&trace)), ["a", "a/b", "a/b/file"]);
    let trace = place.record(|| {
        place.sync();
        fs::rename(place.file("a/b"), place.file("c")).unwrap();
        fs::remove_dir(place.file("a")).unwrap();
    });
    assert_eq!(names(&least(&trace)), ["a", "a/b", "a/b/file"]);
    assert_eq!(names(&most(&trace)), ["c", "c/file"]);
}

#[test]
fn what_moves_between_folders_is_never_half() {
    let place = Place::new();
    fs::create_dir(place.file("one")).unwrap();
    fs::create_dir(place.file("two")).unwrap();
    place.put("one/file", b"x");
    for seed in 0..20 {
        let (from, to) = if seed % 2 == 0 {
            ("one", "two")
        } else {
            ("two", "one")
        };
        let trace = place.record_with(|recorder| {
            let path = |folder: &str| place.file(folder).join("file");
            fs::rename(path(from), path(to)).unwrap();
            let synced = if seed % 4 < 2 { from } else { to };
            File::open(place.file(synced)).unwrap().sync_all().unwrap();
            recorder.mark("moved");
        });
        for cut in trace.cuts() {
            let image = trace.image(cut, Choice::any(seed));
            let there = ["one/file", "two/file"].map(|file| image.read(file).is_some());
            assert!(there[0] != there[1], "{there:?}");
            if trace.marks_before(cut).count() > 0 {
                assert!(image.read(format!("{to}/file")).is_some());
            }
        }
    }
}

#[test]
fn a_file_may_have_several_names() {
    let place = Place::new();
    place.put("one", b"old");
    fs::hard_link(place.file("one"), place.file("two")).unwrap();
    let trace = place.record(|| {
        place.open("two").write_all(b"new").unwrap();
        fs::hard_link(place.file("one"), place.file("three")).unwrap();
        fs::remove_file(place.file("one")).unwrap();
        place.open("three").sync_all().unwrap();
    });
    assert_eq!(names(&least(&trace)), ["one", "two"]);
    assert_eq!(least(&trace).read("one").unwrap(), b"new");
    assert_eq!(names(&most(&trace)), ["three", "two"]);
    assert_eq!(most(&trace).read("two").unwrap(), b"new");
}

/// The place on the device of a file that was removed becomes that of the next one.
#[test]
fn files_are_told_apart_after_one_is_removed() {
    let (place, other) = (Place::new(), Place::new());
    let trace = place.record(|| {
        for n in 0..50 {
            let mut file = place.create("file");
            file.write_all(&[n]).unwrap();
            file.sync_all().unwrap();
            place.sync();
            drop(file);
            fs::remove_file(place.file("file")).unwrap();
            // This one is not recorded.
            other.create("file").write_all(b"other").unwrap();
            fs::remove_file(other.file("file")).unwrap();
        }
    });
    for cut in trace.cuts() {
        let image = trace.image(cut, Choice::Nothing);
        assert!(image.read("file").is_none_or(|content| content.len() <= 1));
    }
    assert_eq!(least(&trace).read("file").unwrap(), [49]);
}

#[test]
fn an_image_is_written_as_it_is() {
    let place = Place::new();
    let trace = place.record(|| {
        fs::create_dir_all(place.file("a/b")).unwrap();
        fs::write(place.file("a/file"), b"new").unwrap();
    });
    let other = Place::new();
    most(&trace).write_to(other.file("image")).unwrap();
    assert!(other.file("image/a/b").is_dir());
    assert_eq!(fs::read(other.file("image/a/file")).unwrap(), b"new");
    let again = most(&trace).write_to(other.file("image")).unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
}
