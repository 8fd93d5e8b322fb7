//! Many power cuts: images are made one after the other, and opened two at a time.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use perennial_powercut::{Choice, Trace};

use crate::child::{Judge, judge};

const WORKERS: usize = 2;
/// Names a folder for the images in which something is missing.
pub(crate) const KEEP: &str = "PERENNIAL_TEST_KEEP";

/// What became of many images.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) images: usize,
    /// How many of them lack something that may be missing.
    pub(crate) behind: usize,
    /// The cut, and what is wrong with the image.
    pub(crate) losses: Vec<(usize, String)>,
}

impl Outcome {
    /// What a person wants to know of the losses.
    pub(crate) fn told(&self) -> String {
        let mut text = format!(
            "{} of {} images, {} behind",
            self.losses.len(),
            self.images,
            self.behind
        );
        for (cut, loss) in self.losses.iter().take(20) {
            let _ = write!(text, "\n  cut {cut}, {loss}");
        }
        text
    }
}

/// Judges images at `cuts`, which are in their order. `promised` says what the marks before a cut promise.
pub(crate) fn judge_all<M: Sync>(
    trace: &Trace<M>,
    cuts: &[(usize, Choice)],
    by: Judge,
    promised: impl Fn(&mut dyn Iterator<Item = &M>) -> String,
) -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (losses, behind) = (Mutex::new(Vec::new()), Mutex::new(0));
    let (images, taken) = sync_channel::<(usize, Choice, String)>(WORKERS);
    let taken = Mutex::new(taken);
    let path = |number: usize| folder.path().join(number.to_string());
    std::thread::scope(|threads| {
        for _ in 0..WORKERS {
            threads.spawn(|| {
                loop {
                    let next = taken.lock().unwrap().recv();
                    let Ok((number, choice, promised)) = next else {
                        break;
                    };
                    let place = path(number);
                    match judge(by, &place, &promised) {
                        Ok(0) => {}
                        Ok(_) => *behind.lock().unwrap() += 1,
                        Err(loss) => {
                            let cut = cuts[number].0;
                            if let Some(folder) = std::env::var_os(KEEP) {
                                let folder = Path::new(&folder).join(format!("{cut}-{number}"));
                                trace.image(cut, choice).write_to(folder).unwrap();
                            }
                            let loss = format!("{}, {choice:?}: {loss}", trace.describe(cut));
                            losses.lock().unwrap().push((cut, loss));
                        }
                    }
                    remove(&place);
                }
            });
        }
        let mut replay = trace.replay();
        for (number, (cut, choice)) in cuts.iter().enumerate() {
            replay.seek(*cut);
            replay.image(*choice).write_to(path(number)).unwrap();
            let promised = promised(&mut trace.marks_before(*cut));
            images.send((number, *choice, promised)).unwrap();
        }
        drop(images);
    });
    let mut losses = losses.into_inner().unwrap();
    losses.sort_by_key(|(cut, ..)| *cut);
    Outcome {
        images: cuts.len(),
        behind: behind.into_inner().unwrap(),
        losses,
    }
}

/// A process that was killed may leave something that is still being written.
fn remove(place: &Path) {
    let _ = std::fs::remove_dir_all(place);
}
