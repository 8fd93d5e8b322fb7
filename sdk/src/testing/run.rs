//! A run of a test.

use std::fmt;
use std::marker::PhantomData;

use super::drive::{drive_to_the_end, fail, or_fail};
use super::driver::Shared;
use super::failure::TestFailure;
use super::recorded::Recorded;
use crate::history::History;
use crate::{Data, RunId, Workflow, WorkflowResult};

type ValueOf<W> = <<W as Workflow>::Output as WorkflowResult>::Value;
type ErrorOf<W> = <<W as Workflow>::Output as WorkflowResult>::Error;

/// A run of the workflow `W`. Made by [`TestRun::start`](super::TestRun::start); clones are the same run.
pub struct Run<W: Workflow> {
    pub(super) shared: Shared,
    pub(super) index: usize,
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow> Run<W> {
    pub(super) fn new(shared: Shared, index: usize) -> Self {
        Self {
            shared,
            index,
            workflow: PhantomData,
        }
    }

    /// What the workflow returned. While it has not, the clock moves on to the next moment at which something
    /// happens, in whichever run, and again, until it has.
    ///
    /// # Errors
    ///
    /// The workflow's own.
    ///
    /// # Panics
    ///
    /// When the run waits for what no time brings, or the test has
    /// [stopped the clock](super::TestRun::stop_clock), and as all that lets workflows run
    /// ([`TestFailure`]).
    #[track_caller]
    pub fn result(&self) -> Result<ValueOf<W>, ErrorOf<W>> {
        let driven = drive_to_the_end(&self.shared, self.index);
        or_fail(&self.shared, driven);
        let end = self.shared.borrow().runs[self.index].end.clone();
        let decoded = match end {
            Some(Ok(value)) => ValueOf::<W>::from_value(&value).map(Ok),
            Some(Err(error)) => ErrorOf::<W>::from_value(&error).map(Err),
            None => unreachable!("a run that was driven to its end has ended"),
        };
        match decoded {
            Ok(result) => result,
            Err(error) => fail(
                &self.shared,
                TestFailure::Refused {
                    reason: format!("what `{}` returned: {error}", W::NAME),
                },
            ),
        }
    }

    /// Whether the workflow has returned. This lets nothing happen.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.shared.borrow().runs[self.index].end.is_some()
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> RunId {
        self.shared.borrow().runs[self.index].key.id.clone()
    }

    /// The lines that the workflow has [logged](crate::Cx::log).
    #[must_use]
    pub fn logs(&self) -> Vec<String> {
        self.shared.borrow().runs[self.index].logs.clone()
    }

    /// The run's history so far. This lets nothing happen.
    #[must_use]
    pub fn history(&self) -> History {
        let driver = self.shared.borrow();
        let run = &driver.runs[self.index];
        History {
            run: run.key.clone(),
            generation: 1,
            units: run.recording.units.clone(),
        }
    }
}

impl<W: Workflow> Recorded for Run<W> {
    fn history(&self) -> History {
        Run::history(self)
    }
}

impl<W: Workflow> Clone for Run<W> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.index)
    }
}

impl<W: Workflow> fmt::Debug for Run<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("workflow", &W::NAME)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
