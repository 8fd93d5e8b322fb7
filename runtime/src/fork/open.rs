//! What is open in the history that a fork is to have, and what becomes of that in the fork.

use std::collections::BTreeMap;

use perennial::history::{Channel, Decision, Observation, SlotResult, Unit};
use perennial::machine::{Machine, Offered, Retold};
use perennial::value::Value;
use perennial::{ActivityOptions, OperationId, RunId, Timestamp};

use super::{Wish, known_as};
use crate::engine::{Shared, observation};
use crate::registry::Registry;
use crate::store::{
    Awaited, Changes, OfferChange, Slot, SlotEffect, Task, TaskChange, TimerChange, ViewChange,
    ViewRecord,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Opened {
    activities: BTreeMap<u64, Activity>,
    offers: BTreeMap<u64, Offer>,
    asked: BTreeMap<u64, Asked>,
}

#[derive(Debug)]
struct Activity {
    /// The number of the first event of the unit that schedules it.
    unit: u64,
    /// The event that does.
    event: u64,
    name: String,
    options: ActivityOptions,
}

#[derive(Debug)]
struct Offer {
    unit: u64,
    name: &'static str,
    deadline: Option<Timestamp>,
}

/// What is asked of another run, of which no unit has said what it came to.
#[derive(Debug)]
struct Asked {
    /// The event that asks for it.
    event: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    Send {
        run: RunId,
        channel: Channel,
        name: String,
        payload: Value,
    },
    Fulfil {
        reference: OperationId,
        stub: String,
        value: Value,
    },
}

impl Opened {
    /// A unit was replayed.
    pub(super) fn unit(&mut self, unit: &Unit, retold: Retold) {
        match &unit.observation {
            Observation::ActivityCompleted { operation, .. }
            | Observation::ActivityFailed { operation, .. } => {
                self.activities.remove(operation);
            }
            Observation::StubFulfilled { operation, .. } => {
                self.offers.remove(operation);
            }
            Observation::SlotFilled { operation, .. } => {
                self.asked.remove(operation);
            }
            _ => {}
        }
        let mut scheduled = retold.scheduled.into_iter();
        for (event, decision) in (unit.number + 1..).zip(&unit.decisions) {
            match decision {
                Decision::ActivityScheduled {
                    operation, name, ..
                } => {
                    let Some(scheduled) = scheduled.next() else {
                        continue;
                    };
                    let activity = Activity {
                        unit: unit.number,
                        event,
                        name: name.to_string(),
                        options: scheduled.options,
                    };
                    self.activities.insert(*operation, activity);
                }
                // Nobody waits for it any more, and it goes on under the other run.
                Decision::Dropped { operation } => {
                    self.activities.remove(operation);
                }
                Decision::SendRequested {
                    operation,
                    run,
                    channel,
                    name,
                    payload,
                    ..
                } => {
                    let what = What::Send {
                        run: run.clone(),
                        channel: *channel,
                        name: name.to_string(),
                        payload: payload.clone(),
                    };
                    self.asked.insert(*operation, Asked { event, what });
                }
                Decision::FulfilRequested {
                    operation,
                    reference,
                    stub,
                    value,
                    ..
                } => {
                    let what = What::Fulfil {
                        reference: reference.clone(),
                        stub: stub.to_string(),
                        value: value.clone(),
                    };
                    self.asked.insert(*operation, Asked { event, what });
                }
                _ => {}
            }
        }
        for offered in retold.offers {
            self.offered(unit.number, offered);
        }
    }

    fn offered(&mut self, unit: u64, offered: Offered) {
        match offered {
            Offered::Opened { operation, name } => {
                let deadline = None;
                let offer = Offer {
                    unit,
                    name,
                    deadline,
                };
                self.offers.insert(operation, offer);
            }
            Offered::Limited {
                operation,
                deadline,
            } => {
                if let Some(offer) = self.offers.get_mut(&operation) {
                    offer.deadline = Some(deadline);
                }
            }
            Offered::Closed { operation } => {
                self.offers.remove(&operation);
            }
        }
    }

    /// An open activity that this program does not have: the event that schedules it, and its name.
    pub(super) fn unknown(&self, registry: &Registry) -> Option<(u64, &str)> {
        let unknown = |activity: &&Activity| !registry.activities.contains_key(&*activity.name);
        let activity = self.activities.values().find(unknown)?;
        Some((activity.event, &activity.name))
    }

    /// What the write that makes the fork has beside its units.
    pub(super) fn changes(
        self,
        shared: &Shared,
        wish: &Wish,
        workflow: &str,
        machine: &Machine,
        units: &[Unit],
    ) -> Changes {
        let now = shared.clock.now();
        let last = units.last();
        let at = last.map_or(now, |unit| now.max(unit.at));
        let event = last.map_or(0, Unit::last);
        let tasks = self.activities.into_iter().map(|(operation, activity)| {
            TaskChange::Put(Task {
                operation,
                generation: 1,
                unit: activity.unit,
                name: activity.name,
                options: activity.options,
                attempt: 1,
                lost: 0,
                started: None,
                not_before: Timestamp::default(),
                // Its time begins anew, as it does.
                scheduled: at,
                last_failure: None,
            })
        });
        let timers = machine.timers().into_iter();
        let timers = timers.map(|(operation, deadline)| TimerChange::Put {
            operation,
            deadline,
        });
        let offers = self.offers.into_iter().flat_map(|(operation, offer)| {
            let open = OfferChange::Open {
                operation,
                unit: offer.unit,
                name: offer.name.to_owned(),
                at,
            };
            let limit = offer.deadline.map(|deadline| OfferChange::Limit {
                operation,
                deadline,
            });
            [Some(open), limit].into_iter().flatten()
        });
        let views = machine.views().into_iter().map(|shown| {
            ViewChange::Put(ViewRecord {
                name: shown.view.to_owned(),
                value: shown.value,
                data: shown.data,
                artifact: shared.artifact.to_string(),
                at,
                event,
            })
        });
        let mut slots = Vec::new();
        for (operation, asked) in self.asked {
            slots.push(Slot {
                operation,
                at: now,
                effect: asked.effect(shared, wish, workflow, units),
            });
        }
        Changes {
            slots,
            awaited: Some(Awaited::of(machine.awaited())),
            tasks: tasks.collect(),
            timers: timers.collect(),
            offers: offers.collect(),
            views: views.collect(),
            stamp: at,
            next_operation: Some(machine.next_operation()),
            ..Changes::default()
        }
    }
}

impl Asked {
    fn effect(self, shared: &Shared, wish: &Wish, workflow: &str, units: &[Unit]) -> SlotEffect {
        let known_as = known_as(units, &wish.run.id, self.event);
        // What it has asked of itself is for itself again.
        let whom = |run: RunId| match run == *known_as {
            true => wish.to.clone(),
            false => run,
        };
        let (to, channel, name, payload) = match self.what {
            What::Send {
                run,
                channel,
                name,
                payload,
            } => (whom(run), channel, name, payload),
            What::Fulfil {
                reference,
                stub,
                value,
            } => {
                return SlotEffect::Fulfil {
                    reference: OperationId {
                        run: whom(reference.run),
                        number: reference.number,
                    },
                    stub,
                    value,
                };
            }
        };
        let sender = (&wish.new_run(), workflow);
        match shared.refuse_name(sender, &to, channel, &name) {
            Some(failure) => SlotEffect::Known(SlotResult::NotSent(failure)),
            None => SlotEffect::Send {
                run: to,
                observation: observation(channel, name, payload, None),
            },
        }
    }
}
