//! When a finished run begins anew.

use crate::store::Status;

/// What a start does where there is a finished run of that id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reuse {
    /// It is that run, if workflow and input are the same.
    #[default]
    Never,
    /// The run begins anew, as its next generation, with whatever input.
    AfterFinish,
    /// The same, but only if it has failed.
    AfterFailure,
}

impl Reuse {
    /// Whether a run that stands like this begins anew.
    pub(super) fn begins_anew(self, status: Status) -> bool {
        match self {
            Self::Never => false,
            Self::AfterFinish => status.is_finished(),
            Self::AfterFailure => status == Status::Failed,
        }
    }
}
