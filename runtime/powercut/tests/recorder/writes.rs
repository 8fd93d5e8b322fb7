//! Contents of files.

use std::fs::{self, OpenOptions};
use std::io::{IoSlice, Seek as _, SeekFrom, Write as _};

use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use perennial_powercut::{Choice, Image};

use crate::calls::{fallocate, sync_file_range};
use crate::place::{Place, least, most};

fn content(image: &Image) -> &[u8] {
    image.read("file").unwrap()
}

#[test]
fn what_is_not_synced_is_missing_when_nothing_of_it_is_left() {
    let place = Place::new();
    place.put("file", b"old.");
    let trace = place.record(|| place.open("file").write_all(b"new, and longer").unwrap());
    assert_eq!(content(&least(&trace)), b"old.");
    assert_eq!(content(&most(&trace)), b"new, and longer");
    let cut = |choice| trace.image(trace.len(), choice);
    assert_eq!(content(&cut(Choice::InPlace)), b"new,");
    assert_eq!(content(&cut(Choice::Growth)), b"old. and longer");
    assert_eq!(content(&cut(Choice::Sizes)), b"new,\0\0\0\0\0\0\0\0\0\0\0");
}

#[test]
fn what_is_synced_is_always_there() {
    let place = Place::new();
    place.put("file", b"");
    let mut cut = 0;
    let trace = place.record_with(|recorder| {
        let mut file = place.open("file");
        file.write_all(b"one ").unwrap();
        file.sync_all().unwrap();
        recorder.mark("one");
        file.write_all(b"two ").unwrap();
        file.sync_data().unwrap();
        recorder.mark("two");
        file.write_all(b"three ").unwrap();
    });
    for at in trace.cuts() {
        let marks: Vec<_> = trace.marks_before(at).copied().collect();
        let promised: &[u8] = match marks[..] {
            [] => b"",
            ["one"] => b"one ",
            ["one", "two"] => b"one two ",
            _ => panic!("{marks:?}"),
        };
        cut += usize::from(!promised.is_empty());
        for seed in 0..20 {
            let image = trace.image(at, Choice::any(seed));
            assert!(content(&image).starts_with(promised), "{at} {seed}");
        }
    }
    assert!(cut > 0);
    assert_eq!(content(&least(&trace)), b"one two ");
}

/// It looks like a sync, and sled takes it for one.
#[test]
fn a_sync_of_a_range_counts_as_nothing() {
    let place = Place::new();
    place.put("file", b"");
    let trace = place.record(|| {
        let mut file = place.open("file");
        file.write_all(b"new").unwrap();
        let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        sync_file_range(&file, 3, all);
    });
    assert_eq!(content(&least(&trace)), b"");
    assert!(trace.interesting().contains(&trace.len()));
}

#[test]
fn a_sync_covers_only_what_had_ended_when_it_began() {
    let place = Place::new();
    place.put("file", b"");
    let trace = place.record(|| {
        let file = place.open("file");
        std::thread::scope(|threads| {
            for thread in 0..4_u64 {
                let file = &file;
                threads.spawn(move || {
                    for n in 0..50 {
                        file.write_at(b"x", thread * 50 + n).unwrap();
                        file.sync_data().unwrap();
                    }
                });
            }
        });
    });
    assert_eq!(content(&least(&trace)), [b'x'; 200]);
    // 4 events of each; at each place no more than one write of a thread is not durable.
    assert_eq!(trace.len(), 4 * 4 * 50);
    let mut replay = trace.replay();
    for cut in trace.cuts() {
        replay.seek(cut);
        assert!(replay.at_risk() <= 4, "at {cut}");
    }
}

#[test]
fn a_write_is_torn_at_sectors() {
    let place = Place::new();
    place.put("file", &[b'.'; 3000]);
    let trace = place.record(|| {
        place.open("file").write_at(&[b'#'; 2048], 100).unwrap();
    });
    let mut torn = 0;
    for seed in 0..50 {
        let choice = Choice::Torn { seed, sector: 512 };
        let image = trace.image(trace.len(), choice);
        let content = content(&image);
        assert!(content[..100].iter().all(|byte| *byte == b'.'));
        assert!(content[2148..].iter().all(|byte| *byte == b'.'));
        let sectors: Vec<bool> = [100, 512, 1024, 1536, 2048, 2148]
            .windows(2)
            .map(|ends| {
                let sector = &content[ends[0]..ends[1]];
                assert!(sector.iter().all(|byte| *byte == sector[0]), "{ends:?}");
                sector[0] == b'#'
            })
            .collect();
        torn += usize::from(sectors.windows(2).any(|two| two[0] && !two[1]));
    }
    assert!(torn > 20, "{torn}");
}

#[test]
fn a_prefix_ends_in_the_middle_of_one_write() {
    let place = Place::new();
    place.put("file", &[b'.'; 8]);
    let trace = place.record(|| {
        let file = place.open("file");
        for n in 0..8 {
            file.write_at(b"#", n).unwrap();
        }
    });
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let count = |choice| {
            let image = trace.image(trace.len(), choice);
            let content = content(&image).to_vec();
            (
                content.iter().take_while(|byte| **byte == b'#').count(),
                content,
            )
        };
        let (there, content) = count(Choice::Prefix { seed, sector: 512 });
        assert!(content[there..].iter().all(|byte| *byte == b'.'));
        lengths.insert(there);
        let (_, content) = count(Choice::Suffix { seed });
        let lost = content.iter().take_while(|byte| **byte == b'.').count();
        assert!(content[lost..].iter().all(|byte| *byte == b'#'));
    }
    assert_eq!(lengths.len(), 9);
}

#[test]
fn the_same_seed_gives_the_same_image() {
    let place = Place::new();
    place.put("file", b"");
    let trace = place.record(|| {
        let file = place.open("file");
        for n in 0..100 {
            file.write_at(&[b'a'; 700], n * 700).unwrap();
        }
        place.create("other");
    });
    let image = |seed| trace.image(trace.len(), Choice::any(seed));
    let mut images: Vec<Image> = Vec::new();
    for seed in 0..100 {
        assert_eq!(image(seed), image(seed));
        if !images.contains(&image(seed)) {
            images.push(image(seed));
        }
    }
    assert!(images.len() > 50, "{}", images.len());
}

#[test]
fn writes_go_where_the_descriptor_stands_or_to_the_end() {
    let place = Place::new();
    place.put("file", b"0123456789");
    // The recorder compares what it has made of them with the file.
    let trace = place.record(|| {
        let mut file = place.open("file");
        file.seek(SeekFrom::Start(3)).unwrap();
        file.write_all(b"abc").unwrap();
        let mut same = file.try_clone().unwrap();
        same.write_all(b"d").unwrap();
        let pieces = [IoSlice::new(b"e"), IoSlice::new(b"f")];
        assert_eq!(file.write_vectored(&pieces).unwrap(), 2);
        let append = || {
            OpenOptions::new()
                .append(true)
                .open(place.file("file"))
                .unwrap()
        };
        let (mut one, mut other) = (append(), append());
        one.write_all(b"ghi").unwrap();
        other.write_all(b"jkl").unwrap();
        one.write_all(b"mno").unwrap();
        // On Linux this one goes to the end as well.
        one.write_at(b"pqr", 0).unwrap();
        one.write_all(b"s").unwrap();
        file.sync_all().unwrap();
    });
    assert_eq!(content(&least(&trace)), b"012abcdef9ghijklmnopqrs");
}

#[test]
fn many_may_append_at_once() {
    let place = Place::new();
    place.put("file", b"");
    let trace = place.record(|| {
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let open = || OpenOptions::new().append(true).open(place.file("file"));
                let mut file = open().unwrap();
                threads.spawn(move || {
                    for n in 0..100 {
                        file.write_all(format!("{thread}: {n}\n").as_bytes())
                            .unwrap();
                    }
                });
            }
        });
    });
    assert_eq!(
        content(&most(&trace)).split(|byte| *byte == b'\n').count(),
        401
    );
}

#[test]
fn a_file_becomes_shorter_and_longer() {
    let place = Place::new();
    place.put("file", b"0123456789");
    let trace = place.record(|| {
        let file = place.open("file");
        file.set_len(4).unwrap();
        file.set_len(8).unwrap();
        file.write_at(b"x", 9).unwrap();
    });
    assert_eq!(content(&least(&trace)), b"0123456789");
    assert_eq!(content(&most(&trace)), b"0123\0\0\0\0\0x");
    let first = trace.image(1, Choice::All);
    assert_eq!(content(&first), b"0123");

    let trace = place.record(|| {
        fs::File::create(place.file("file")).unwrap();
        place.open("file").sync_all().unwrap();
    });
    assert_eq!(content(&least(&trace)), b"");
}

#[test]
fn room_that_is_asked_for_in_advance_is_zeros() {
    let place = Place::new();
    place.put("file", b"01");
    let trace = place.record(|| {
        let file = place.open("file");
        fallocate(&file, 0, 8);
        file.write_at(b"x", 4).unwrap();
        file.sync_data().unwrap();
        fallocate(&file, libc::FALLOC_FL_KEEP_SIZE, 100);
        let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        fallocate(&file, hole, 1);
    });
    assert_eq!(content(&least(&trace)), b"01\0\0x\0\0\0");
    assert_eq!(content(&most(&trace)), b"\x001\0\0x\0\0\0");
}

/// rustix makes its system calls without the C library.
#[test]
fn a_size_that_is_changed_unseen_is_noticed_at_the_next_call() {
    let place = Place::new();
    place.put("file", b"01");
    let trace = place.record(|| {
        let file = place.open("file");
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 8).unwrap();
        file.write_at(b"x", 1).unwrap();
        file.sync_data().unwrap();
        rustix::fs::ftruncate(&file, 1).unwrap();
        file.sync_data().unwrap();
    });
    assert_eq!(content(&least(&trace)), b"0");
    let before = trace.len() - 3;
    let image = trace.image(before, Choice::Nothing);
    assert_eq!(content(&image), b"0x\0\0\0\0\0\0");
}

#[test]
fn a_copy_is_written_and_not_durable() {
    let place = Place::new();
    place.put("file", b"old");
    let text = "long ".repeat(100_000);
    place.put("text", text.as_bytes());
    let trace = place.record(|| {
        fs::copy(place.file("text"), place.file("file")).unwrap();
    });
    assert_eq!(content(&least(&trace)), b"old");
    assert_eq!(content(&most(&trace)), text.as_bytes());
}

#[test]
fn a_descriptor_with_o_dsync_or_o_sync_is_durable() {
    let place = Place::new();
    for flag in [libc::O_DSYNC, libc::O_SYNC] {
        place.put("file", b"0123456789");
        let trace = place.record(|| {
            place.open("file").set_len(4).unwrap();
            let open = OpenOptions::new()
                .write(true)
                .custom_flags(flag)
                .open(place.file("file"));
            open.unwrap().write_at(b"xy", 6).unwrap();
        });
        // The size before it goes with it.
        assert_eq!(content(&least(&trace)), b"0123\0\0xy");
        // While it is written it may be there or not.
        let within = trace.len() - 1;
        let image = trace.image(within, Choice::Nothing);
        assert_eq!(content(&image), b"0123456789");
        let image = trace.image(within, Choice::All);
        assert_eq!(content(&image), b"0123\0\0xy");
    }
}

/// Not a write that came before, and was lost.
#[test]
fn nothing_comes_back_over_what_is_durable() {
    let place = Place::new();
    place.put("file", b"0123456789");
    let trace = place.record(|| {
        let file = place.open("file");
        file.write_at(b"aaaaaa", 2).unwrap();
        let open = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_DSYNC)
            .open(place.file("file"));
        open.unwrap().write_at(b"bb", 4).unwrap();
    });
    assert_eq!(content(&least(&trace)), b"0123bb6789");
    assert_eq!(content(&most(&trace)), b"01aabbaa89");
}

#[test]
fn files_that_were_open_before_are_recorded() {
    let place = Place::new();
    let mut file = place.create("file");
    let trace = place.record(|| file.write_all(b"new").unwrap());
    assert_eq!(content(&most(&trace)), b"new");
}

#[test]
fn other_folders_are_not_recorded() {
    let (place, other) = (Place::new(), Place::new());
    let trace = place.record(|| {
        other.create("file").write_all(b"new").unwrap();
        fs::rename(other.file("file"), other.file("name")).unwrap();
        other.sync();
    });
    assert!(trace.is_empty());
    // Two at once do not see each other.
    let trace = place.record(|| {
        let trace = other.record(|| other.open("name").write_all(b"xyz").unwrap());
        assert_eq!(trace.len(), 2);
    });
    assert!(trace.is_empty());
}
