//! How a run begins.

use std::sync::Arc;

use perennial::history::{Observation, SEMANTICS, Started, StreamEnd};
use perennial::machine::Machine;

use super::advance::{apply, observe};
use super::block::{record_of, tell};
use super::message::{Message, StartReply, StartRequest};
use super::open::entropy;
use super::run::{After, BlockedNow, Input, Run, Stage};
use super::shard::Shard;
use crate::error::Unavailable;
use crate::store::{BlockedChange, Create, Created, Head};

impl Shard {
    /// Begins a run, or answers with the one that there is.
    pub(super) fn start(&mut self, request: StartRequest) {
        let closed = if self.shared.is_draining() {
            Some(Unavailable::Draining)
        } else {
            self.failed.clone()
        };
        if let Some(error) = closed {
            let _ = request.reply.send(Err(error));
            return;
        }
        // While the run is being opened, or its end is being committed, the store does not tell yet how it
        // stands.
        if self
            .runs
            .get(&request.run)
            .is_some_and(|run| run.stage == Stage::Opening || run.in_flight.is_some())
        {
            self.starts
                .entry(request.run.clone())
                .or_default()
                .push(request);
            return;
        }
        match self.shared.store.head(&request.run) {
            Err(error) => {
                let _ = request.reply.send(Err(error.into()));
            }
            Ok(Some(head)) if !request.reuse.begins_anew(head.status) => {
                let _ = request.reply.send(Ok(StartReply::Exists(head.into())));
            }
            Ok(head) => self.create(request, head),
        }
    }

    fn create(&mut self, request: StartRequest, before: Option<Head>) {
        let StartRequest {
            run: key,
            workflow,
            input,
            digest,
            messages,
            keys,
            reply,
            ..
        } = request;
        let shared = Arc::clone(&self.shared);
        let mut run = Run::opening(key.clone());
        // Activities that the generation before has left behind are still the run's, and so is what has just
        // become of them.
        if let Some(old) = self.runs.remove(&key) {
            (run.tasks, run.changes, run.after) = (old.tasks, old.changes, old.after);
        }
        workflow.name.clone_into(&mut run.workflow);
        run.generation = before.as_ref().map_or(1, |head| head.generation + 1);
        run.stamp = before
            .as_ref()
            .map_or_else(Default::default, |head| head.stamp);
        let now = shared.clock.now();
        let at = now.max(run.stamp);
        let first_operation = before.as_ref().map_or(1, |head| head.next_operation);
        run.first_operation = first_operation;
        let begun = Input::new(Observation::Started(Started {
            workflow: workflow.name.to_owned(),
            input,
            semantics: SEMANTICS,
            artifact: shared.artifact.to_string(),
            namespace: key.namespace.clone(),
            run: key.id.clone(),
            generation: run.generation,
            first_operation,
            version: workflow.graph.version,
            migrated_from: None,
            streams: before
                .iter()
                .flat_map(|head| &head.streams)
                .map(StreamEnd::from)
                .collect(),
        }));
        let mut machine = Box::new(Machine::new(workflow, &shared.artifact, entropy()));
        run.after.push(After::Started {
            reply,
            answer: StartReply::New,
        });
        match observe(&shared, &run, &mut machine, &begun, at, now) {
            Ok(step) => {
                apply(&shared, &mut run, &begun, step, now);
                run.changes.next_operation = Some(machine.next_operation());
                run.note_awaited(&machine);
                if !machine.is_finished() {
                    run.machine = Some(machine);
                }
            }
            Err(error) => {
                tell(&shared, &key, &error);
                run.blocked = Some(BlockedNow::of(&error));
                run.was_blocked = true;
                run.changes.next_operation = Some(first_operation);
                run.changes.enqueue.push(begun.observation);
                run.changes.blocked =
                    Some(BlockedChange::Put(record_of(&error, &shared.artifact, now)));
                run.after.push(After::Blocked);
            }
        }
        // They wait in the queue like all that comes later (S25).
        run.inputs.comes_with(messages.len());
        run.changes.enqueue.extend(messages);
        let mut changes = std::mem::take(&mut run.changes);
        changes.stamp = at;
        run.sequence = changes
            .units
            .last()
            .map_or(0, perennial::history::Unit::last);
        run.in_flight = Some(std::mem::take(&mut run.after));
        let create = Create {
            run: key.clone(),
            workflow: workflow.name.to_owned(),
            input: digest,
            after: before.map(|head| head.generation),
            owner: shared.owner,
            changes,
            keys,
        };
        self.runs.insert(key.clone(), run.into());
        let told = Arc::clone(&shared);
        shared.store.create(
            create,
            Box::new(move |mut result| {
                if let Ok(Created::New(_, committed)) = &mut result {
                    told.pass_on(committed);
                }
                told.tell(
                    &key,
                    Message::Created {
                        run: key.clone(),
                        result,
                    },
                );
            }),
        );
    }
}
