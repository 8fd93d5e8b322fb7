//! Members that are polled in source order, and passed over when nothing changed for them (S8).

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::machine::{Board, judged, may_poll, wait};

/// The flags of a group's members. Its parent is whoever polls the group.
pub(super) struct Group {
    board: Arc<Board>,
    started: bool,
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            board: Board::new(),
            started: false,
        }
    }

    /// Calls `poll` for each member that is to be polled now: all of `count` the first time, in order, and
    /// then those that changed, until `poll` breaks or no member has changed.
    pub(super) fn poll(
        &mut self,
        count: usize,
        context: &Context<'_>,
        mut poll: impl FnMut(usize) -> ControlFlow<()>,
    ) {
        self.board.set_parent(context.waker());
        if !self.started {
            self.started = true;
            for place in 0..count {
                // Raised by an earlier member during this very pass: it is polled anyway.
                self.board.lower(place as u64);
                if poll(place).is_break() {
                    return;
                }
            }
        }
        while let Some(place) = self.board.take_first() {
            if !may_poll() {
                break;
            }
            if usize::try_from(place).is_ok_and(|place| poll(place).is_break()) {
                return;
            }
        }
        // For whoever polls the group: it waits for its members, also where all were passed over.
        wait();
    }
}

/// A future and, once there, its result.
pub struct Member<F: Future> {
    future: Option<Pin<Box<F>>>,
    waker: Waker,
    output: Option<F::Output>,
}

// The future is in a box of its own, and the output is never pinned.
impl<F: Future> Unpin for Member<F> {}

impl<F: Future> std::fmt::Debug for Member<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("open", &self.future.is_some())
            .finish_non_exhaustive()
    }
}

impl<F: Future> Member<F> {
    pub(super) fn new(group: &Group, place: usize, future: F) -> Self {
        Self {
            future: Some(Box::pin(future)),
            waker: group.board.member(place as u64),
            output: None,
        }
    }

    /// Polls the member unless it has its result; says whether it came to it just now.
    pub(super) fn poll(&mut self) -> bool {
        let Some(future) = &mut self.future else {
            return false;
        };
        let waker = &self.waker;
        match judged(|| future.as_mut().poll(&mut Context::from_waker(waker))) {
            Poll::Pending => false,
            Poll::Ready(output) => {
                self.future = None;
                self.output = Some(output);
                true
            }
        }
    }

    pub(super) fn output(&self) -> Option<&F::Output> {
        self.output.as_ref()
    }

    /// The result, where [`poll`](Self::poll) has said that it is there.
    ///
    /// # Panics
    ///
    /// When it was taken before: whoever waits for the group waits a second time.
    pub(super) fn take(&mut self) -> F::Output {
        match self.output.take() {
            Some(output) => output,
            None => panic!("futures were awaited again after they had given their results"),
        }
    }
}
