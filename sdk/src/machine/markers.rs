//! Version markers (S36): which version of a changed piece of code a run has.
//!
//! `next` is the next decision that the history has in the unit, `value` what the generation has for the id so far.
//!
//! `cx.patched`, `cx.version`: the first value sticks.
//!
//! | | the history has | the code asks for it | then |
//! |---|---|---|---|
//! | 1 | (live) no value | `low..=high` | `high`; recorded, unless it is 0 |
//! | 2 | (live or replayed) a value in the range | `low..=high` | the value |
//! | 3 | (live or replayed) a value outside of it | `low..=high` | marker unsupported |
//! | 4 | no value; next is the marker, in the range | `low..=high` | what was recorded |
//! | 5 | no value; next is the marker, outside of it | `low..=high` | marker unsupported |
//! | 6 | no value; next is something else or nothing | `0..=high` | 0, the code before the marker existed |
//! | 7 | no value; next is something else or nothing | `1..=high` | marker unsupported: none is version 0 |
//! | 8 | no value; the marker comes later in the unit | `low..=high` | reordered |
//!
//! `cx.patched_each`, `cx.version_each`: each call decides anew. The value is 0 at first.
//!
//! | | the history has | the code asks for it | then |
//! |---|---|---|---|
//! | 9 | (live) the value `high` | `low..=high` | `high`; nothing is recorded |
//! | 10 | (live) another value | `low..=high` | `high`, recorded |
//! | 11 | next is the marker, in the range | `low..=high` | what was recorded |
//! | 12 | next is the marker, outside of it | `low..=high` | marker unsupported |
//! | 13 | next is something else or nothing; the value is in the range | `low..=high` | the value |
//! | 14 | next is something else or nothing; the value is outside of it | `low..=high` | marker unsupported |
//!
//! The call is gone:
//!
//! | | the history has | the code | then |
//! |---|---|---|---|
//! | 15 | next is a marker | asks for something else, waits or ends | marker removed |
//! | 16 | next is a marker, retired with this version | anything | it is passed over |
//! | 17 | next is a marker, retired with another version | asks for something else, waits or ends | marker unsupported |
//! | 18 | next is a marker that was asked for before, where the history had none | anything but it | reordered |

use std::ops::RangeInclusive;
use std::panic::Location;

use super::core::Core;
use super::state::State;
use crate::Blocked;
use crate::history::{CallSite, Decision};
use crate::incompatible::{Incompatible, IncompatibleKind, MarkerMismatch, Side};
use crate::prose::shorten;
use crate::value::EncodeError;

/// The longest name of a marker, in bytes.
pub const MAX_MARKER_ID: usize = 1 << 10;

/// What a generation has for a marker.
#[derive(Clone, Copy)]
pub(super) struct MarkerValue {
    version: u32,
    /// The event that has it; `None`: nothing was recorded, and it is 0.
    event: Option<u64>,
    /// Where it was asked for by the call that made it stick.
    asked: Option<&'static Location<'static>>,
}

/// A call of a marker.
pub(crate) struct MarkerCall {
    pub(crate) id: &'static str,
    /// The lowest version that the code supports.
    pub(crate) lowest: u32,
    /// The highest one.
    pub(crate) highest: u32,
    /// Whether it decides anew.
    pub(crate) each: bool,
    pub(crate) place: &'static Location<'static>,
}

impl MarkerCall {
    /// # Panics
    ///
    /// When the range is empty.
    pub(crate) fn new(
        id: &'static str,
        range: RangeInclusive<u32>,
        each: bool,
        place: &'static Location<'static>,
    ) -> Self {
        assert!(
            !range.is_empty(),
            "the marker {id:?} needs a range of versions that is not empty"
        );
        Self {
            id,
            lowest: *range.start(),
            highest: *range.end(),
            each,
            place,
        }
    }

    fn supports(&self, version: u32) -> bool {
        (self.lowest..=self.highest).contains(&version)
    }
}

impl Core {
    /// The version that this run has. After an error it is some version that the code supports, so that the code
    /// comes to its next await, and goes no further.
    pub(crate) fn version(&self, call: &MarkerCall) -> u32 {
        let version = self.deciding().and_then(|mut state| state.version(call));
        version.unwrap_or(call.highest)
    }
}

impl State {
    fn version(&mut self, call: &MarkerCall) -> Option<u32> {
        self.may_decide();
        if self.go_on().is_none() {
            self.made_up();
            return None;
        }
        if call.id.len() > MAX_MARKER_ID {
            return self.name_too_long(call);
        }
        let known = self.markers.get(call.id).copied();
        if let (Some(known), false) = (known, call.each) {
            return self.supported(call, known, None);
        }
        let asked = (!call.each).then_some(call.place);
        let last = known.unwrap_or(MarkerValue {
            version: 0,
            event: None,
            asked,
        });
        let taken = self.take_marker(call.id);
        let next = self.event();
        let mut value = match (&taken, &self.expected) {
            (Some((version, _)), _) => MarkerValue {
                version: *version,
                event: Some(next),
                asked,
            },
            (None, Some(_)) => {
                if !call.each && self.comes_later(call.id) {
                    return self.asked_too_early(call);
                }
                last
            }
            (None, None) => self.decide(call, last),
        };
        self.supported(call, value, taken.and_then(|(_, site)| site))?;
        if value.event == Some(next) {
            self.commands += 1;
        } else {
            self.step("calls of markers after one event")?;
        }
        if self.expected.is_some() && value.event.is_none() {
            self.unrecorded = Some((call.id, call.place));
        }
        value.asked = asked;
        self.markers.insert(call.id, value);
        Some(value.version)
    }

    /// Live: the highest version that the code supports, recorded where that is new.
    fn decide(&mut self, call: &MarkerCall, last: MarkerValue) -> MarkerValue {
        let version = self.pinned(call.id).unwrap_or(call.highest);
        if version == last.version || !call.supports(version) {
            return MarkerValue { version, ..last };
        }
        let event = Some(self.event());
        let site = Some(self.location(call.place));
        self.push(Decision::Marker {
            id: call.id.into(),
            version,
            site,
        });
        MarkerValue {
            version,
            event,
            ..last
        }
    }

    /// In replay: the next decision, where it is this marker. Retired ones before it are passed over.
    fn take_marker(&mut self, id: &str) -> Option<(u32, Option<CallSite>)> {
        loop {
            match self.expected.as_mut()?.front_mut()? {
                Decision::Marker {
                    id: next,
                    version,
                    site,
                } if next == id => {
                    let taken = (*version, site.take());
                    self.expected.as_mut()?.pop_front();
                    return Some(taken);
                }
                _ => self.pass_retired()?,
            }
        }
    }

    /// Passes over the next decision, where it is a retired marker with the version that has stayed.
    pub(super) fn pass_retired(&mut self) -> Option<()> {
        let Decision::Marker { id, version, .. } = self.expected.as_ref()?.front()? else {
            return None;
        };
        let retired = self.graph.retired.iter();
        let retired = retired
            .copied()
            .find(|retired| retired.id == id && retired.version == *version)?;
        self.expected.as_mut()?.pop_front();
        let value = MarkerValue {
            version: retired.version,
            event: Some(self.event()),
            asked: None,
        };
        self.markers.insert(retired.id, value);
        self.commands += 1;
        Some(())
    }

    /// Whether the unit has the marker, though not next.
    fn comes_later(&self, id: &str) -> bool {
        let is_it = |decision: &Decision| matches!(decision, Decision::Marker { id: next, .. } if next == id);
        self.expected.iter().flatten().any(is_it)
    }

    // ---- errors --------------------------------------------------------------------------------------

    fn supported(
        &mut self,
        call: &MarkerCall,
        value: MarkerValue,
        site: Option<CallSite>,
    ) -> Option<u32> {
        let MarkerValue { version, event, .. } = value;
        if call.supports(version) {
            return Some(version);
        }
        let pinned = event != Some(self.event())
            && self.expected.is_none()
            && self.pinned(call.id) == Some(version);
        let recorded = (event.is_some() || pinned).then_some(version);
        let what = match recorded {
            Some(version) => Side::marker(call.id, version),
            None => format!("no {}: version 0", Side::marker_name(call.id)),
        };
        let recorded_side = Side {
            what,
            name: Some(call.id.to_owned()),
            event,
            site,
            ..Side::default()
        };
        let asked = self.asked(call);
        let kind = IncompatibleKind::MarkerUnsupported;
        let error = self.mismatch(kind, Some(recorded_side), Some(asked));
        let marker = MarkerMismatch {
            id: call.id.to_owned(),
            recorded,
            supported: Some((call.lowest, call.highest)),
        };
        let detail = match event {
            _ if pinned => Some("the test gives this version to the marker".to_owned()),
            Some(event) if event < self.event() => {
                Some(format!("the version was recorded as event {event}"))
            }
            _ => None,
        };
        self.stop(error.about_marker(marker, detail))
    }

    fn asked_too_early<T>(&mut self, call: &MarkerCall) -> Option<T> {
        let next = self.expected.as_ref().and_then(|expected| expected.front());
        let recorded = next.map(Side::of);
        let asked = self.asked(call);
        let error = self.mismatch(IncompatibleKind::Reordered, recorded, Some(asked));
        let marker = MarkerMismatch {
            id: call.id.to_owned(),
            recorded: None,
            supported: Some((call.lowest, call.highest)),
        };
        let detail = Some("the history has the marker after this".to_owned());
        self.stop(error.about_marker(marker, detail))
    }

    /// The history has a marker here, and the code asks for something else, waits or ends.
    pub(super) fn marker_left(
        &self,
        recorded: &Decision,
        asked: Option<Side>,
    ) -> Option<Incompatible> {
        let Decision::Marker { id, version, .. } = recorded else {
            return None;
        };
        let retired = self.graph.retired.iter().find(|retired| retired.id == id);
        let known = self.markers.get(&**id);
        let earlier = known.filter(|value| value.event.is_none());
        let earlier = earlier.and_then(|value| value.asked);
        let (kind, detail) = match (retired, earlier) {
            (Some(retired), _) => (
                IncompatibleKind::MarkerUnsupported,
                Some(format!(
                    "the marker was retired: the code of its version {} has stayed",
                    retired.version
                )),
            ),
            (None, Some(place)) => (
                IncompatibleKind::Reordered,
                Some(format!(
                    "the code asks for the marker earlier, at {}, where the history has none: version 0",
                    self.location(place)
                )),
            ),
            (None, None) => (IncompatibleKind::MarkerRemoved, None),
        };
        let error = self.mismatch(kind, Some(Side::of(recorded)), asked);
        let marker = MarkerMismatch {
            id: shorten(id.to_string(), MAX_MARKER_ID),
            recorded: Some(*version),
            supported: retired.map(|retired| (retired.version, retired.version)),
        };
        Some(error.about_marker(marker, detail))
    }

    fn name_too_long<T>(&mut self, call: &MarkerCall) -> Option<T> {
        let (run, event) = (self.run_text(), self.event());
        self.error
            .get_or_insert(Blocked::Unstorable(crate::Unstorable {
                run,
                workflow: self.workflow,
                event,
                what: Side::marker_name(&shorten(call.id.to_owned(), 64)),
                error: EncodeError::Refused {
                    reason: format!(
                        "its name has {} bytes, and may have at most {MAX_MARKER_ID}",
                        call.id.len()
                    ),
                },
            }));
        None
    }

    /// Why the code may have gone the way before a marker, where it asked for one since the last event.
    pub(super) fn went_the_old_way(&self) -> Option<String> {
        let (id, place) = self.unrecorded?;
        Some(format!(
            "the code asked for the {} at {}, and the history has none there: it got version 0, the code before the marker",
            Side::marker_name(&shorten(id.to_owned(), MAX_MARKER_ID)),
            self.location(place)
        ))
    }

    fn asked(&self, call: &MarkerCall) -> Side {
        let MarkerCall {
            id,
            lowest,
            highest,
            ..
        } = call;
        Side {
            what: format!("{} {lowest}..={highest}", Side::marker_name(id)),
            name: Some((*id).to_owned()),
            site: Some(self.location(call.place)),
            ..Side::default()
        }
    }

    /// The version that a test gives to this marker.
    fn pinned(&self, id: &str) -> Option<u32> {
        #[cfg(feature = "testing")]
        return self.pins.get(id);
        #[cfg(not(feature = "testing"))]
        return {
            let _ = id;
            None
        };
    }
}
