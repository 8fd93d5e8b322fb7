//! What a marker gives where the truth is looked for: it stands in the history, and the calls say where it was
//! asked for by decisions of another kind (S36).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use perennial::Cx;

/// A call of a marker: its id, and which call of it, from 1.
pub type MarkerCall = (String, usize);

/// What is known of the markers of a run.
#[derive(Default)]
struct Markers {
    /// The versions that the history has of each id, in order.
    recorded: BTreeMap<String, Vec<u32>>,
    /// The calls that get none of them, since the history has something else at their place.
    without: BTreeSet<MarkerCall>,
    calls: BTreeMap<String, usize>,
    values: BTreeMap<String, u32>,
}

thread_local! {
    static MARKERS: RefCell<Markers> = RefCell::default();
}

/// Before a run.
pub fn begin(recorded: BTreeMap<String, Vec<u32>>, without: BTreeSet<MarkerCall>) {
    let markers = Markers {
        recorded,
        without,
        ..Markers::default()
    };
    MARKERS.set(markers);
}

/// In the place of `cx.version(id, range)` and its like.
pub fn version(cx: &Cx, id: &str, range: RangeInclusive<u32>, each: bool) -> u32 {
    let (version, taken) = MARKERS.with_borrow_mut(|markers| {
        let call = markers.calls.entry(id.to_owned()).or_default();
        *call += 1;
        let value = markers.values.get(id).copied();
        if !each && let Some(value) = value {
            return (value, None);
        }
        let call = (id.to_owned(), *call);
        let recorded = match markers.recorded.get_mut(id) {
            Some(versions) if !versions.is_empty() && !markers.without.contains(&call) => {
                Some(versions.remove(0))
            }
            _ => None,
        };
        let version = recorded.or(value).unwrap_or(0);
        markers.values.insert(id.to_owned(), version);
        (version, recorded.map(|_| call.1))
    });
    if !range.contains(&version) {
        let _: u32 = cx.record(&format!("marker/{id}/{version} is not supported/0"), || 0);
        return *range.end();
    }
    if let Some(call) = taken {
        let _: u32 = cx.record(&format!("marker/{id}/{version}/{call}"), || 0);
    }
    version
}
