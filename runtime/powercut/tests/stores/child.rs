//! Another process: this test binary once more, running the one test here that is otherwise ignored.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::{embedded, sled};

const JUDGE: &str = "PERENNIAL_TEST_JUDGE";
const IMAGE: &str = "PERENNIAL_TEST_IMAGE";
const PROMISED: &str = "PERENNIAL_TEST_PROMISED";
/// Opening an image may take so long.
const PATIENCE: Duration = Duration::from_secs(60);
const VERDICT: &str = "verdict: ";

/// Who opens an image and says what is missing in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Judge {
    Sled,
    Store,
    /// The power goes again while the store is opened.
    StoreTwice,
}

/// Opens the image in another process. Gives how much is missing of what may be missing, or says what is
/// wrong with it, given what was promised.
pub(crate) fn judge(judge: Judge, image: &Path, promised: &str) -> Result<u64, String> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([
            "child::other_process",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(JUDGE, format!("{judge:?}"))
        .env(IMAGE, image)
        .env(PROMISED, promised)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (
        process.stdout.take().unwrap(),
        process.stderr.take().unwrap(),
    );
    let (done, ended) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = out.read_to_string(&mut text);
        let _ = done.send(text);
    });
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = err.read_to_string(&mut text);
        text
    });
    let text = ended.recv_timeout(PATIENCE);
    if text.is_err() {
        process.kill().unwrap();
    }
    let status = process.wait().unwrap();
    let errors = errors.join().unwrap();
    match text {
        Err(RecvTimeoutError::Timeout) => Err("it did not come to an end".into()),
        Err(RecvTimeoutError::Disconnected) => unreachable!("it sends before it ends"),
        Ok(text) => match text.lines().find_map(|line| line.split_once(VERDICT)) {
            Some((_, verdict)) => verdict.parse().map_err(|_| verdict.into()),
            None => {
                let told: Vec<_> = errors
                    .lines()
                    .filter(|line| !line.is_empty())
                    .take(3)
                    .collect();
                Err(format!("it ended with {status}: {}", told.join(" / ")))
            }
        },
    }
}

#[test]
#[ignore = "only makes sense as another process"]
fn other_process() {
    let image = PathBuf::from(std::env::var_os(IMAGE).unwrap());
    let promised = std::env::var(PROMISED).unwrap();
    let judged = match std::env::var(JUDGE).unwrap().as_str() {
        "Sled" => sled::judge(&image, &promised),
        "Store" => embedded::judge(&image, &promised),
        "StoreTwice" => embedded::judge_twice(&image, &promised),
        other => panic!("{other}"),
    };
    let verdict = judged.map_or_else(|loss| loss, |missing| missing.to_string());
    println!("{VERDICT}{}", verdict.replace('\n', " "));
}
