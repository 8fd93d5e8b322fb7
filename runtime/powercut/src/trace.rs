//! What was recorded, from beginning to end.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use fastrand::Rng;

use crate::choice::Choice;
use crate::image::Image;
use crate::record::{Data, Event, Record};
use crate::replay::Replay;

/// What was recorded, with marks `M`.
///
/// A *cut* is a place between two events, given as the number of events before it. Writes and syncs have two
/// events, when they begin and when they end.
#[derive(Debug)]
pub struct Trace<M> {
    record: Record,
    marks: Vec<(usize, M)>,
}

impl<M> Trace<M> {
    pub(crate) fn new(record: Record, marks: Vec<(usize, M)>) -> Self {
        Self { record, marks }
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.record.events.len()
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.record.events.is_empty()
    }

    /// All cuts, from the one before everything to the one after everything.
    #[must_use]
    pub fn cuts(&self) -> RangeInclusive<usize> {
        0..=self.len()
    }

    /// Cuts at which most can go wrong, in their order: right before and after a sync, or what may be taken
    /// for one; around changes of names and sizes; and while something is written that makes a file longer,
    /// or is durable when it returns.
    #[must_use]
    pub fn interesting(&self) -> Vec<usize> {
        let mut cuts = BTreeSet::new();
        for (at, event) in self.record.events.iter().enumerate() {
            match event {
                Event::WriteBegins(number) | Event::WriteEnds(number) => {
                    let write = &self.record.writes[*number];
                    if write.grows || write.durable {
                        cuts.insert(at + 1);
                    }
                }
                Event::SyncBegins(_) => {
                    cuts.insert(at);
                }
                Event::Resize { .. }
                | Event::Entry { .. }
                | Event::SyncEnds(_)
                | Event::RangeSync(_) => cuts.extend([at, at + 1]),
            }
        }
        cuts.into_iter().collect()
    }

    /// Cuts within and right after those writes that `aim` picks by their place in their file and their
    /// bytes, in their order: to aim at what a file format has that is worth it.
    pub fn around_writes(&self, aim: impl Fn(u64, &[u8]) -> bool) -> Vec<usize> {
        let aimed = |number: &usize| {
            let write = &self.record.writes[*number];
            match &write.data {
                Data::Bytes(bytes) => write.written > 0 && aim(write.offset, bytes),
                Data::Zeros(_) => false,
            }
        };
        let events = self.record.events.iter().enumerate();
        let cuts = events.filter_map(|(at, event)| match event {
            Event::WriteBegins(number) | Event::WriteEnds(number) => {
                aimed(number).then_some(at + 1)
            }
            _ => None,
        });
        cuts.collect()
    }

    /// Cuts right before and after changes of names and sizes, in their order.
    #[must_use]
    pub fn around_changes(&self) -> Vec<usize> {
        let events = self.record.events.iter().enumerate();
        let cuts: BTreeSet<_> = events
            .filter(|(_, event)| matches!(event, Event::Entry { .. } | Event::Resize { .. }))
            .flat_map(|(at, _)| [at, at + 1])
            .collect();
        cuts.into_iter().collect()
    }

    /// So many cuts, each with a choice, in the order of the cuts. They take turns: one out of each of the
    /// lists of cuts in `aims`, and one from anywhere.
    #[must_use]
    pub fn sample(&self, images: usize, aims: &[&[usize]], seed: u64) -> Vec<(usize, Choice)> {
        let mut random = Rng::with_seed(seed);
        let mut sample: Vec<_> = (0..images)
            .map(|image| {
                let cut = match aims.get(image % (aims.len() + 1)) {
                    Some(aim) if !aim.is_empty() => aim[random.usize(..aim.len())],
                    _ => random.usize(self.cuts()),
                };
                (cut, Choice::any(random.u64(..)))
            })
            .collect();
        sample.sort_by_key(|(cut, _)| *cut);
        sample
    }

    /// The marks that had been set at a cut, in their order.
    pub fn marks_before(&self, cut: usize) -> impl Iterator<Item = &M> {
        let reached = self.marks.partition_point(|(at, _)| *at <= cut);
        self.marks[..reached].iter().map(|(_, mark)| mark)
    }

    /// All marks with their cuts: the first at which each was set.
    pub fn marks(&self) -> impl Iterator<Item = (usize, &M)> {
        self.marks.iter().map(|(at, mark)| (*at, mark))
    }

    /// Says what happened right before and right after a cut, for a person.
    #[must_use]
    pub fn describe(&self, cut: usize) -> String {
        let mut replay = self.replay();
        replay.seek(cut);
        let told = |at: Option<usize>| match at.and_then(|at| self.record.events.get(at)) {
            None => "nothing".into(),
            Some(event) => replay.tell(event),
        };
        let (before, after) = (told(cut.checked_sub(1)), told(Some(cut)));
        format!("after {before}, before {after}")
    }

    /// Goes along the record, for many images.
    #[must_use]
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(&self.record)
    }

    /// What the folder may be after a power cut. For many images [`Trace::replay`] is cheaper.
    #[must_use]
    pub fn image(&self, cut: usize, choice: Choice) -> Image {
        let mut replay = self.replay();
        replay.seek(cut);
        replay.image(choice)
    }
}

impl<M> fmt::Display for Trace<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record {
            writes,
            syncs,
            events,
            ..
        } = &self.record;
        let bytes: u64 = writes.iter().map(|write| write.written).sum();
        let durable = writes.iter().filter(|write| write.durable).count();
        write!(
            f,
            "{} events: {} writes of {} KB in all ({durable} of them synchronous), {} syncs, {} marks",
            events.len(),
            writes.len(),
            bytes / 1000,
            syncs.len(),
            self.marks.len()
        )
    }
}
