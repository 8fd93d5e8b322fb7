//! Versions that a test gives to markers, in place of the highest ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the runs of a test share.
#[derive(Debug, Default)]
pub(crate) struct Pins(RefCell<BTreeMap<String, Pin>>);

#[derive(Clone, Copy, Debug)]
struct Pin {
    version: u32,
    /// Whether a run has got it.
    asked: bool,
}

impl Pins {
    /// From now on runs that decide on the marker get this version.
    pub(crate) fn set(&self, id: &str, version: u32) {
        let pin = Pin {
            version,
            asked: false,
        };
        self.0.borrow_mut().insert(id.to_owned(), pin);
    }

    /// From now on they get the highest again.
    pub(crate) fn remove(&self, id: &str) {
        self.0.borrow_mut().remove(id);
    }

    /// The version for a run that decides on the marker.
    pub(super) fn get(&self, id: &str) -> Option<u32> {
        let mut pins = self.0.borrow_mut();
        let pin = pins.get_mut(id)?;
        pin.asked = true;
        Some(pin.version)
    }

    /// The markers that no run has asked for, with the versions that they were given.
    pub(crate) fn not_asked(&self) -> Vec<(String, u32)> {
        let pins = self.0.borrow();
        let not_asked = pins.iter().filter(|(_, pin)| !pin.asked);
        not_asked
            .map(|(id, pin)| (id.clone(), pin.version))
            .collect()
    }
}
