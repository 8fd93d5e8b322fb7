//! The mirror's workflow alone: what no disk can be made to do at will.
#![allow(clippy::unwrap_used)]

use perennial::prelude::*;
use perennial::testing::TestRun;
use perennial_examples::mirror::{
    Copied, File, HashedFile, Hashes, Manifest, MirrorError, Page, Plan, Problem, Reason,
    StoredPath, copy_files, hash_files, list_page, mirror, note_skipped, prepare, tidy,
    write_manifest,
};

fn plan() -> Plan {
    Plan {
        source: StoredPath::of("/source"),
        target: StoredPath::of("/target"),
    }
}

/// Files that are each a batch of their own.
fn large_files(count: usize) -> Vec<File> {
    let file = |n| {
        let json = serde_json::json!({
            "path": format!("film-{n}"), "size": 9 << 20, "mode": 0o644, "modified": [0, 0]
        });
        serde_json::from_value(json).unwrap()
    };
    (0..count).map(file).collect()
}

/// A source of these files, and a target that takes them.
fn with_files(t: &mut TestRun, files: Vec<File>) {
    t.mock(prepare, |_| Ok(()));
    t.mock(list_page, move |_| {
        Ok(Page {
            files: files.clone(),
            ..Page::default()
        })
    });
    t.mock(hash_files, |(_, files)| {
        let hashed = |file| HashedFile {
            file,
            sha256: "00".into(),
        };
        Ok(Hashes {
            files: files.into_iter().map(hashed).collect(),
            ..Hashes::default()
        })
    });
    t.mock(copy_files, |(_, files)| {
        let mut copied = Copied::default();
        files
            .iter()
            .for_each(|file| copied.copied.add(file.file.size));
        Ok(copied)
    });
}

#[perennial::test]
fn a_file_that_is_never_what_it_was_is_skipped_after_three_times(t: &mut TestRun) {
    with_files(t, large_files(1));
    let hashed = t
        .mock(hash_files, |(_, files)| {
            Ok(Hashes {
                changed: files,
                ..Hashes::default()
            })
        })
        .times(3);
    t.mock(copy_files, |_| Ok(Copied::default())).never();
    let skipped = t.mock(note_skipped, |_| Ok(())).times(1);
    t.mock(write_manifest, |(_, _)| Ok("digest".to_owned()));
    t.mock(tidy, |_| Ok(()));

    let report = t.start(mirror, plan()).result().unwrap();

    assert_eq!(hashed.calls().len(), 3);
    assert_eq!(skipped.calls()[0].1[0].reason, Reason::Changed);
    assert_eq!((report.skipped, report.files().files), (1, 0));
}

#[perennial::test]
fn after_a_failure_no_batch_begins_and_those_under_way_are_waited_for(t: &mut TestRun) {
    with_files(t, large_files(20));
    let full = Problem::Full {
        path: StoredPath::of("/target/film-0"),
        needed: None,
        free: None,
        error: "No space left on device".into(),
    };
    let refused = full.clone();
    // All that begin take a minute, and the first of them is refused.
    let copied = t.mock_with(copy_files, move |_, (_, files)| {
        match files[0].file.path.as_str() {
            "film-0" => Err(refused.clone()),
            _ => Ok(Copied::default()),
        }
    });
    let copied = copied.takes(minutes(1)).times(8);

    let failed = t.start(mirror, plan()).result().unwrap_err();

    assert_eq!(failed, MirrorError::Problem(full));
    assert_eq!(copied.calls().len(), 8);
    assert_eq!(t.now(), TestRun::BEGIN + minutes(1));
}

#[perennial::test]
fn the_manifest_is_told_what_it_must_say(t: &mut TestRun) {
    with_files(t, large_files(20));
    let manifest = t.mock(write_manifest, |_| Ok("digest".to_owned()));
    t.mock(tidy, |_| Ok(()));

    let run = t.start(mirror, plan());
    let report = run.result().unwrap();

    let (_, expected): (Plan, Manifest) = manifest.calls().remove(0);
    assert_eq!((expected.files.files, report.copied.files), (20, 20));
    assert_eq!(report.manifest, "digest");
}
