//! Those outside, who do not end with a process. What they do can be repeated, and is: a new process is told all of it
//! again, from the start, and has to answer as the one before.

use super::super::process::Process;
use super::acts::Act;
use super::answers::Answer;
use super::requests::Asking;
use crate::store::Store;

/// What they do, in that order. Nobody waits for an answer before the next thing is done.
pub(super) struct Outside<'a> {
    acts: &'a [Act],
    next: usize,
    waiting: Vec<(usize, Answer)>,
    /// What was answered.
    answers: Vec<Option<String>>,
}

impl<'a> Outside<'a> {
    pub(super) fn new(acts: &'a [Act]) -> Self {
        Self {
            acts,
            next: 0,
            waiting: Vec::new(),
            answers: vec![None; acts.len()],
        }
    }

    /// Another process is there.
    pub(super) fn begin_again(&mut self) {
        self.next = 0;
        self.waiting.clear();
    }

    /// Does the next thing, if it is time for it. Says whether it was.
    pub(super) fn act(&mut self, process: &Process, store: &dyn Store) -> Result<bool, String> {
        let Some(act) = self.acts.get(self.next) else {
            return Ok(false);
        };
        let Some(answer) = (Asking { process, store }).ask(act)? else {
            return Ok(false);
        };
        self.waiting.push((self.next, answer));
        self.next += 1;
        Ok(true)
    }

    /// Takes the answers that have come. Those of a process that has failed are none.
    pub(super) fn hear(&mut self, process: &Process) -> Result<(), String> {
        if process.has_failed() {
            return Ok(());
        }
        for (at, mut answer) in std::mem::take(&mut self.waiting) {
            let act = &self.acts[at];
            let heard = answer.hear();
            match heard.map_err(|error| format!("{act} was answered with: {error}"))? {
                None => self.waiting.push((at, answer)),
                Some(now) => {
                    let before = self.answers[at].get_or_insert_with(|| now.clone());
                    if *before != now {
                        return Err(format!(
                            "{act} was answered with \"{before}\", and then with \"{now}\""
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.acts.len() && self.waiting.is_empty()
    }
}
