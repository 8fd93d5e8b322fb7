//! A file at some moment: what is on the device, and what is not.

use std::ops::Range;
use std::sync::Arc;

use crate::choice::Fate;
use crate::record::{Data, Resize, Write};

#[derive(Clone, Debug)]
pub(crate) struct File {
    durable: Arc<Vec<u8>>,
    /// In the order in which they began.
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    /// Positions in the record. `None`: it has not ended.
    begun: usize,
    ended: Option<usize>,
    /// A sync of it failed. The system tries no second time, so no later sync makes it durable.
    given_up: bool,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// A write, and the ranges of the file that nothing durable has taken from it since.
    Write(usize, Vec<Range<u64>>),
    Resize(Resize),
}

/// What is left of `range` when `taken` is taken from it.
fn without(range: &Range<u64>, taken: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let before = range.start..taken.start.clamp(range.start, range.end);
    let after = taken.end.clamp(range.start, range.end)..range.end;
    [before, after].into_iter().filter(|part| !part.is_empty())
}

fn index(place: u64) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

fn put(content: &mut Vec<u8>, write: &Write, range: &Range<u64>) {
    let (start, end) = (index(range.start), index(range.end));
    if start >= end {
        return;
    }
    if content.len() < end {
        content.resize(end, 0);
    }
    match &write.data {
        Data::Bytes(bytes) => {
            let skipped = index(range.start - write.offset);
            content[start..end].copy_from_slice(&bytes[skipped..skipped + (end - start)]);
        }
        Data::Zeros(_) => content[start..end].fill(0),
    }
}

impl File {
    pub(crate) fn new(durable: Arc<Vec<u8>>) -> Self {
        Self {
            durable,
            pending: Vec::new(),
        }
    }

    /// Positions at which that began which is not on the device.
    pub(crate) fn pending(&self) -> impl Iterator<Item = usize> {
        self.pending.iter().map(|pending| pending.begun)
    }

    pub(crate) fn begin(&mut self, at: usize, number: usize, write: &Write) {
        if write.written > 0 {
            self.pending.push(Pending {
                begun: at,
                ended: None,
                given_up: false,
                change: Change::Write(number, vec![write.range()]),
            });
        }
    }

    pub(crate) fn end(&mut self, at: usize, number: usize, writes: &[Write]) {
        let found = self.pending.iter().rposition(
            |pending| matches!(&pending.change, Change::Write(found, _) if *found == number),
        );
        let Some(found) = found else { return };
        self.pending[found].ended = Some(at);
        if writes[number].durable {
            self.settle(
                |place, pending| {
                    place == found || place < found && matches!(pending.change, Change::Resize(_))
                },
                writes,
            );
        }
    }

    pub(crate) fn resize(&mut self, at: usize, resize: Resize, durable: bool, writes: &[Write]) {
        self.pending.push(Pending {
            begun: at,
            ended: Some(at),
            given_up: false,
            change: Change::Resize(resize),
        });
        if durable {
            self.settle(
                |_, pending| matches!(pending.change, Change::Resize(_)),
                writes,
            );
        }
    }

    /// A sync that began at `begun` has ended.
    pub(crate) fn sync(&mut self, begun: usize, succeeded: bool, writes: &[Write]) {
        if succeeded {
            let covered = |pending: &Pending| {
                !pending.given_up && pending.ended.is_some_and(|ended| ended < begun)
            };
            self.settle(|_, pending| covered(pending), writes);
        } else {
            for pending in &mut self.pending {
                pending.given_up |= pending.ended.is_some_and(|ended| ended < begun);
            }
        }
    }

    /// Brings changes to the device.
    fn settle(&mut self, settles: impl Fn(usize, &Pending) -> bool, writes: &[Write]) {
        let mut left: Vec<Pending> = Vec::new();
        for (place, pending) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if !settles(place, &pending) {
                left.push(pending);
                continue;
            }
            let durable = Arc::make_mut(&mut self.durable);
            // What came before and is not on the device does not come back over it.
            let taken: Vec<Range<u64>> = match &pending.change {
                Change::Write(number, ranges) => {
                    for range in ranges {
                        put(durable, &writes[*number], range);
                    }
                    ranges.clone()
                }
                Change::Resize(resize) => {
                    let size = resize.of(durable.len() as u64);
                    durable.resize(index(size), 0);
                    match resize {
                        Resize::To(size) => std::iter::once(*size..u64::MAX).collect(),
                        Resize::AtLeast(_) => Vec::new(),
                    }
                }
            };
            for earlier in &mut left {
                if let Change::Write(_, ranges) = &mut earlier.change {
                    for taken in &taken {
                        *ranges = ranges
                            .iter()
                            .flat_map(|range| without(range, taken))
                            .collect();
                    }
                }
            }
            left.retain(
                |pending| !matches!(&pending.change, Change::Write(_, ranges) if ranges.is_empty()),
            );
        }
        self.pending = left;
    }

    /// The file as it is after the power cut.
    pub(crate) fn image(&self, fate: &mut Fate, writes: &[Write]) -> Arc<Vec<u8>> {
        let durable = self.durable.len() as u64;
        let mut content = Arc::clone(&self.durable);
        for pending in &self.pending {
            match &pending.change {
                Change::Write(number, ranges) => {
                    for range in ranges {
                        let left = fate.write(pending.begun, range.clone(), durable);
                        let size = if left.size { index(range.end) } else { 0 };
                        if left.content.iter().all(Range::is_empty) && size <= content.len() {
                            continue;
                        }
                        let content = Arc::make_mut(&mut content);
                        for part in &left.content {
                            put(content, &writes[*number], part);
                        }
                        if content.len() < size {
                            content.resize(size, 0);
                        }
                    }
                }
                Change::Resize(resize) => {
                    if fate.resize(pending.begun) {
                        let size = resize.of(content.len() as u64);
                        Arc::make_mut(&mut content).resize(index(size), 0);
                    }
                }
            }
        }
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_a_range_leaves_what_is_before_and_after() {
        let left = |taken| {
            without(&(10..20), &taken)
                .map(|part| (part.start, part.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(left(12..15), [(10, 12), (15, 20)]);
        assert_eq!(left(0..15), [(15, 20)]);
        assert_eq!(left(15..30), [(10, 15)]);
        assert_eq!(left(0..10), [(10, 20)]);
        assert_eq!(left(20..30), [(10, 20)]);
        assert_eq!(left(0..30), []);
    }
}
