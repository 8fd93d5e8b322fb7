//! Where there are no Unix sockets.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use super::error::ControlError;
use crate::engine::Shared;

/// There is none.
#[derive(Debug)]
pub(crate) struct Bound(Infallible);

/// There is none.
#[derive(Debug)]
pub(crate) struct Control(Infallible);

impl Bound {
    pub(crate) fn make(_: Option<&Path>) -> Result<Self, ControlError> {
        Err(ControlError::Unsupported)
    }

    pub(crate) fn listen(self, _: &Arc<Shared>) -> Result<Control, ControlError> {
        match self.0 {}
    }
}

impl Control {
    pub(crate) fn close(&mut self) {
        match self.0 {}
    }
}
