#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// `collecting`: sled looks for garbage, in the background.
fn open(folder: &Path, collecting: bool) -> ::sled::Db {
    assert!(crate::store::sled::lock::wait_for_sled(&folder.join("db")).unwrap());
    let config = ::sled::Config::new().path(folder);
    config
        .flush_every_ms(collecting.then_some(20))
        .open()
        .unwrap()
}

/// Lets go of it, and waits until it has.
fn close(folder: &Path, db: ::sled::Db) {
    drop(db);
    assert!(crate::store::sled::lock::wait_for_sled(&folder.join("db")).unwrap());
}

/// Keys as a store has them, values with a number that counts up, and much that goes again: pages are split,
/// merged, moved and let go of.
fn write(db: &::sled::Db, numbers: &mut Numbers, model: &mut Map, batches: u64) {
    for _ in 0..batches {
        let mut batch = ::sled::Batch::default();
        for _ in 0..numbers.below(60) {
            let kind = b"ruqk"[numbers.below(4) as usize];
            let run = numbers.below(300);
            let mut key = format!("{}default\0order-{run}\0", char::from(kind)).into_bytes();
            key.extend(numbers.below(20).to_be_bytes());
            if numbers.below(5) < 2 {
                model.remove(&key);
                batch.remove(key);
            } else {
                let value = vec![numbers.below(256) as u8; numbers.below(900) as usize];
                model.insert(key.clone(), value.clone());
                batch.insert(key, value);
            }
        }
        db.apply_batch(batch).unwrap();
    }
    // A run goes as a whole.
    let gone = format!("udefault\0order-{}\0", numbers.below(300)).into_bytes();
    for entry in db.scan_prefix(&gone) {
        let key = entry.unwrap().0;
        db.remove(&key).unwrap();
        model.remove(&key[..]);
    }
    db.flush().unwrap();
}

fn read_all(db: &Path) -> (Map, Log) {
    let file = File::open(db).unwrap();
    let log = Log::read(&file, file.metadata().unwrap().len());
    let mut all = Map::new();
    for messages in log.pages.values() {
        all.extend(log.leaf(&file, messages).entries);
    }
    (all, log)
}

/// What is in a sled that was written to for long, and its folder.
fn written() -> (tempfile::TempDir, Map) {
    let folder = tempfile::tempdir().unwrap();
    let (mut numbers, mut model) = (Numbers(7), Map::new());
    for _ in 0..4 {
        let db = open(folder.path(), true);
        write(&db, &mut numbers, &mut model, 60);
        close(folder.path(), db);
    }
    (folder, model)
}

#[test]
fn what_sled_holds_is_read_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut numbers, mut model) = (Numbers(1), Map::new());
    let path = folder.path().join("db");
    for round in 0..8 {
        let db = open(folder.path(), round % 2 == 0);
        write(&db, &mut numbers, &mut model, 60);
        if round % 2 == 1 {
            // As a kill leaves it. A thread of sled may be in the middle of a write of its own still; that ends.
            let mut read = (0..1_000).map(|_| read_all(&path));
            let whole = read.find(|(_, log)| log.lost == 0);
            assert!(whole.unwrap().0 == model, "round {round}");
        }
        close(folder.path(), db);
        let (all, log) = read_all(&path);
        assert!(all == model, "round {round}, closed");
        assert_eq!(log.lost, 0);
    }
    let db = open(folder.path(), false);
    let entries = db.iter().map(|entry| entry.unwrap());
    let held: Map = entries
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect();
    assert!(held == model);
    assert!(fs::metadata(path).unwrap().len() > 4 * SEGMENT as u64);
}

/// How much of `model` is in a file: keys that are there with the same value, and others.
fn compared(db: &Path, model: &Map) -> (usize, usize, u64) {
    let (all, log) = read_all(db);
    let same = all
        .iter()
        .filter(|(key, value)| model.get(*key) == Some(value))
        .count();
    (same, all.len() - same, log.lost)
}

#[test]
fn a_changed_byte_takes_a_page_at_most_with_it() {
    let (folder, model) = written();
    let path = folder.path().join("db");
    let bytes = fs::read(&path).unwrap();
    let mut noticed = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 16) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x55;
        fs::write(&path, flipped).unwrap();
        let (same, other, lost) = compared(&path, &model);
        assert!(
            same + 150 > model.len() && other < 100,
            "{at}: {same} of {}, {other}",
            model.len()
        );
        noticed += usize::from(lost > 0);
    }
    assert!(noticed > 0);
}

/// sled makes nothing of such a file.
#[test]
fn of_a_file_that_is_cut_short_the_rest_is_read() {
    let (folder, model) = written();
    let path = folder.path().join("db");
    let bytes = fs::read(&path).unwrap();
    let mut before = 0;
    for parts in 1..8 {
        fs::write(&path, &bytes[..bytes.len() * parts / 8]).unwrap();
        let (same, _, _) = compared(&path, &model);
        assert!(same >= before);
        before = same;
    }
    assert!(before > model.len() / 3, "{before} of {}", model.len());
}

#[test]
fn a_segment_without_a_header_is_read_all_the_same() {
    let (folder, model) = written();
    let path = folder.path().join("db");
    let mut bytes = fs::read(&path).unwrap();
    for segment in bytes.chunks_mut(SEGMENT) {
        segment[..SEGMENT_HEADER].fill(0);
    }
    fs::write(&path, bytes).unwrap();
    let (all, _) = read_all(&path);
    assert!(all == model);
}

/// A device that does not give a block.
struct Broken(Vec<u8>, u64);

impl Bytes for Broken {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let end = offset + buffer.len() as u64;
        if offset < self.1 + 4_096 && end > self.1 {
            return Err(io::Error::other("the block cannot be read"));
        }
        let from = &self.0[(offset as usize).min(self.0.len())..];
        let length = buffer.len().min(from.len());
        buffer[..length].copy_from_slice(&from[..length]);
        Ok(length)
    }
}

#[test]
fn a_block_that_cannot_be_read_is_passed_over() {
    let (folder, model) = written();
    let bytes = fs::read(folder.path().join("db")).unwrap();
    let length = bytes.len() as u64;
    let broken = Broken(bytes, 3 * SEGMENT as u64 / 2);
    let log = Log::read(&broken, length);
    let all: Map = log
        .pages
        .values()
        .flat_map(|messages| log.leaf(&broken, messages).entries)
        .collect();
    let same = all
        .iter()
        .filter(|(key, value)| model.get(*key) == Some(value))
        .count();
    assert!(same + 150 > model.len(), "{same} of {}", model.len());
}

#[test]
fn bytes_of_any_kind_are_no_panic() {
    let mut numbers = Numbers(3);
    for length in [0, 1, 20, 40, 300, 5_000, SEGMENT + 100] {
        let bytes: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        let _ = node(&bytes);
        let _ = link(&bytes);
        let broken = Broken(bytes, u64::MAX - 5_000);
        let log = Log::read(&broken, length as u64);
        for messages in log.pages.values() {
            let _ = log.leaf(&broken, messages);
        }
    }
}
