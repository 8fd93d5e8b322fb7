//! Which runs are listed, and a page of them.

use perennial::{Namespace, RunId};

use super::contract::{Head, Status};

/// Which runs to list.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// In which namespace.
    pub namespace: Namespace,
    /// Only runs of this workflow.
    pub workflow: Option<String>,
    /// Only runs that stand like this.
    pub status: Option<Status>,
    /// Only runs that are blocked, or only those that are not. One that has finished is not, whatever records it
    /// has.
    pub blocked: Option<bool>,
    /// Only runs that are paused, or only those that are not.
    pub paused: Option<bool>,
    /// Only runs whose ids begin like this.
    pub prefix: String,
    /// Only runs after this one, which need not exist.
    pub after: Option<RunId>,
    /// At most so many.
    pub limit: usize,
}

/// A page of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The runs.
    pub runs: Vec<(RunId, Head)>,
    /// Whether more runs follow the last of them.
    pub more: bool,
}
