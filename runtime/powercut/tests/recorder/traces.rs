//! Going along a record.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use perennial_powercut::{Choice, Recorder};

use crate::place::Place;

#[test]
fn marks_are_where_they_were_set() {
    let place = Place::new();
    let trace = place.record_with(|recorder| {
        recorder.mark("start");
        let mut file = place.create("file");
        recorder.mark("created");
        file.write_all(b"x").unwrap();
        recorder.mark("written");
    });
    let marks: Vec<_> = trace.marks().map(|(cut, mark)| (cut, *mark)).collect();
    assert_eq!(marks, [(0, "start"), (1, "created"), (3, "written")]);
    let before = |cut| trace.marks_before(cut).copied().collect::<Vec<_>>();
    assert_eq!(before(0), ["start"]);
    assert_eq!(before(2), ["start", "created"]);
    assert_eq!(before(3), ["start", "created", "written"]);
}

#[test]
fn marks_of_many_threads_come_after_what_they_promise() {
    let place = Place::new();
    place.put("file", &[0; 400]);
    let recorder = Recorder::start(place.path()).unwrap();
    let file = place.open("file");
    std::thread::scope(|threads| {
        for thread in 0..4_u64 {
            let (file, recorder) = (&file, &recorder);
            threads.spawn(move || {
                for n in 0..100 {
                    let at = thread * 100 + n;
                    file.write_at(&[1], at).unwrap();
                    if n % 10 == 9 {
                        file.sync_data().unwrap();
                        recorder.mark((at - 9)..=at);
                    }
                }
            });
        }
    });
    let trace = recorder.finish().unwrap();
    let mut replay = trace.replay();
    for cut in trace.cuts() {
        replay.seek(cut);
        let image = replay.image(Choice::Nothing);
        for at in trace.marks_before(cut).cloned().flatten() {
            let at = usize::try_from(at).unwrap();
            assert_eq!(image.read("file").unwrap()[at], 1, "{at} at {cut}");
        }
    }
    assert_eq!(trace.marks().count(), 40);
}

#[test]
fn going_back_and_forth_gives_the_same_images() {
    let place = Place::new();
    let trace = place.record(|| {
        let mut file = place.create("file");
        for n in 0..20 {
            file.write_all(&[n]).unwrap();
            if n % 3 == 0 {
                file.sync_data().unwrap();
            }
        }
        place.sync();
    });
    let mut replay = trace.replay();
    for cut in trace.cuts().chain(trace.cuts().rev()) {
        for choice in [Choice::Nothing, Choice::All, Choice::Coin { seed: 7 }] {
            replay.seek(cut);
            assert_eq!(replay.image(choice), trace.image(cut, choice));
        }
    }
    replay.seek(usize::MAX);
    assert_eq!(
        replay.image(Choice::All),
        trace.image(trace.len(), Choice::All)
    );
}

#[test]
fn interesting_cuts_are_around_syncs_names_and_growth() {
    let place = Place::new();
    place.put("file", &[0; 10]);
    let trace = place.record(|| {
        let file = place.open("file");
        file.write_at(b"x", 0).unwrap(); // events 0 and 1
        file.write_at(b"x", 1).unwrap(); // 2 and 3
        file.sync_data().unwrap(); // 4 and 5
        file.write_at(b"x", 2).unwrap(); // 6 and 7
        file.write_at(b"x", 10).unwrap(); // 8 and 9, grows
        file.write_at(b"x", 3).unwrap(); // 10 and 11
        place.create("new"); // 12
        file.write_at(b"x", 4).unwrap(); // 13 and 14
        file.set_len(5).unwrap(); // 15
    });
    assert_eq!(trace.interesting(), [4, 5, 6, 9, 10, 12, 13, 15, 16]);
    assert_eq!(trace.around_changes(), [12, 13, 15, 16]);
}

#[test]
fn a_sample_is_in_order_and_half_of_it_aimed() {
    let place = Place::new();
    let trace = place.record(|| {
        let mut file = place.create("file");
        file.write_all(&[0; 1000]).unwrap();
        for n in 0..1000 {
            file.write_at(b"x", n).unwrap();
        }
        file.sync_all().unwrap();
    });
    let interesting = trace.interesting();
    assert!(interesting.len() < 10);
    let sample = trace.sample(100, &[&interesting], 1);
    assert_eq!(sample, trace.sample(100, &[&interesting], 1));
    assert!(sample.is_sorted_by_key(|(cut, _)| *cut));
    let found = sample
        .iter()
        .filter(|(cut, _)| interesting.contains(cut))
        .count();
    assert!((50..70).contains(&found), "{found}");
}

#[test]
fn cuts_can_be_aimed_at_some_writes() {
    let place = Place::new();
    let trace = place.record(|| {
        let mut file = place.create("file"); // event 0
        file.write_all(b"header").unwrap(); // 1 and 2
        file.write_all(b"body").unwrap(); // 3 and 4
        file.write_at(b"HEADER", 0).unwrap(); // 5 and 6
    });
    assert_eq!(trace.around_writes(|offset, _| offset == 0), [2, 3, 6, 7]);
    assert_eq!(trace.around_writes(|_, bytes| bytes == b"body"), [4, 5]);
}

/// Images of a large record are cheap when they are made in its order.
#[test]
fn a_large_record_is_recorded_and_replayed() {
    let place = Place::new();
    place.put("file", b"");
    let block = vec![7_u8; 64 << 10];
    let trace = place.record(|| {
        let file = place.open("file");
        for n in 0..1600_u64 {
            file.write_all_at(&block, n % 32 * block.len() as u64)
                .unwrap();
            if n % 16 == 0 {
                file.sync_data().unwrap();
            }
        }
    });
    let mut replay = trace.replay();
    let mut lengths = std::collections::BTreeSet::new();
    for (cut, choice) in trace.sample(300, &[&trace.interesting()], 1) {
        replay.seek(cut);
        let image = replay.image(choice);
        lengths.insert(image.read("file").unwrap().len());
    }
    assert!(lengths.last().is_some_and(|last| *last == 32 * block.len()));
}

#[test]
fn a_restart_gives_the_system_another_name() {
    let name = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let before = name();
    assert_eq!(name(), before);
    perennial_powercut::pretend_restart();
    assert_ne!(name(), before);
    assert_eq!(name().len(), before.len());
}
