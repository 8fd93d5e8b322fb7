//! Failing devices, and full ones.

use std::io::{Error, Write as _};
use std::os::unix::fs::FileExt as _;

use perennial_powercut::Faults;

use crate::calls::fallocate;
use crate::place::{Place, least, most};

fn number(result: std::io::Result<()>) -> Option<i32> {
    result.err().as_ref().and_then(Error::raw_os_error)
}

#[test]
fn one_sync_fails_or_all_from_one_on() {
    let (place, other) = (Place::new(), Place::new());
    let (file, elsewhere) = (place.create("file"), other.create("file"));
    let faults = Faults::below(place.path()).unwrap();
    let syncs = || [file.sync_all(), file.sync_data(), file.sync_all()].map(number);
    assert_eq!(syncs(), [None; 3]);
    faults.fail_sync(2);
    assert_eq!(number(elsewhere.sync_all()), None);
    assert_eq!(syncs(), [None, Some(libc::EIO), None]);
    faults.fail_syncs_from(2);
    assert_eq!(syncs(), [None, Some(libc::EIO), Some(libc::EIO)]);
    assert_eq!(number(elsewhere.sync_all()), None);
    assert_eq!(faults.failed(), 3);
    faults.heal();
    assert_eq!(syncs(), [None; 3]);
    faults.fail_syncs_from(1);
    drop(faults);
    assert_eq!(syncs(), [None; 3]);
}

#[test]
fn a_full_device_takes_what_fits() {
    let place = Place::new();
    let faults = Faults::below(place.path()).unwrap();
    faults.full_after(10);
    let mut file = place.create("file");
    file.write_all(b"01234").unwrap();
    assert_eq!(file.write(b"56789abc").unwrap(), 5);
    assert_eq!(number(file.write_all(b"abc")), Some(libc::ENOSPC));
    assert_eq!(number(file.write_all_at(b"abc", 0)), Some(libc::ENOSPC));
    assert_eq!(number(file.set_len(11)), Some(libc::ENOSPC));
    assert_eq!(fallocate(&file, 0, 11), libc::ENOSPC);
    assert_eq!(number(file.set_len(10)), None);
    assert_eq!(std::fs::read(place.file("file")).unwrap(), b"0123456789");
    assert_eq!(faults.failed(), 4);
    faults.heal();
    file.write_all(b"abc").unwrap();
}

/// Linux reports a failed sync once and drops what it could not write: the next sync succeeds without it.
#[test]
fn what_a_failed_sync_should_have_covered_is_never_durable() {
    let place = Place::new();
    place.put("file", b"0000");
    let faults = Faults::below(place.path()).unwrap();
    let trace = place.record(|| {
        let file = place.open("file");
        file.write_at(b"1", 0).unwrap();
        faults.fail_sync(1);
        file.sync_data().unwrap_err();
        file.write_at(b"2", 1).unwrap();
        file.sync_data().unwrap();
        place.create("new");
        faults.fail_sync(1);
        std::fs::File::open(place.path())
            .unwrap()
            .sync_all()
            .unwrap_err();
        place.sync();
    });
    assert_eq!(least(&trace).read("file").unwrap(), b"0200");
    assert_eq!(least(&trace).read("new"), None);
    assert_eq!(most(&trace).read("file").unwrap(), b"1200");
}

#[test]
fn a_write_in_part_is_recorded_in_part() {
    let place = Place::new();
    place.put("file", b"0000");
    let faults = Faults::below(place.path()).unwrap();
    faults.full_after(2);
    let trace = place.record(|| {
        let mut file = place.open("file");
        assert_eq!(file.write(b"1234").unwrap(), 2);
        file.write(b"34").unwrap_err();
    });
    assert_eq!(most(&trace).read("file").unwrap(), b"1200");
}
