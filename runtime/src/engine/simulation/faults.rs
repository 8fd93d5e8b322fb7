//! What a store must not do. A simulator that finds nothing proves nothing, so each of these has to be found.

use perennial::history::{Observation, SlotResult};
use perennial::{Receipt, millis};

use crate::store::{Commit, Deliver, OfferChange, Slot, SlotEffect, TaskChange, TimerChange};

/// Something that a store must not do. Where it is said of each third, the others are as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Each third message is acknowledged and not kept.
    LosesAMessage,
    /// Each third message is there twice.
    DoublesAMessage,
    /// Timers have another deadline than the history.
    RingsEarly,
    /// What was taken out of a queue is there again.
    GivesBackWhatWasTaken,
    /// Each third thing that a run sends is said to be sent, and is not kept.
    LosesWhatARunSends,
    /// Each third thing that a run sends is there twice.
    DoublesWhatARunSends,
    /// Each third value for an offer is acknowledged and not kept.
    LosesAValue,
    /// A second value for an offer is acknowledged too.
    AcknowledgesASecondValue,
    /// Each third offer is not there.
    ForgetsAnOffer,
    /// An offer that the run has dropped is still open.
    KeepsAnOfferOpen,
    /// An item of a stream is passed over by whoever reads behind it.
    SkipsAnItem,
    /// An item of a stream is given to whoever has read it.
    RepeatsAnItem,
    /// No run stays paused.
    ForgetsPauses,
    /// By its key no send is known again.
    ForgetsKeys,
    /// By its key no update is known again.
    ForgetsUpdates,
    /// No timer is kept.
    ForgetsTimers,
    /// No activity is kept that has to run.
    ForgetsTasks,
    /// What a run has sent is kept, and the unit that says so is not, where the process ends meanwhile.
    KeepsHalf,
    /// A delivery is answered before it is done.
    AnswersEarly,
}

impl Fault {
    /// Those that stories must find.
    pub(super) const ALL: [Self; 13] = [
        Self::LosesAMessage,
        Self::DoublesAMessage,
        Self::RingsEarly,
        Self::GivesBackWhatWasTaken,
        Self::LosesWhatARunSends,
        Self::DoublesWhatARunSends,
        Self::LosesAValue,
        Self::AcknowledgesASecondValue,
        Self::ForgetsAnOffer,
        Self::KeepsAnOfferOpen,
        Self::SkipsAnItem,
        Self::RepeatsAnItem,
        Self::ForgetsPauses,
    ];

    /// Those that nobody notices as long as no process is stopped.
    pub(super) const OF_STOPS: [Self; 6] = [
        Self::ForgetsKeys,
        Self::ForgetsUpdates,
        Self::ForgetsTimers,
        Self::ForgetsTasks,
        Self::KeepsHalf,
        Self::AnswersEarly,
    ];
}

/// Something was said to be done, and was not: under this number.
pub(super) const NOWHERE: u64 = 1_000_000;

/// Makes a commit what the store with that fault makes of it. `unlucky` says, for each thing that it is asked about,
/// whether that is to suffer.
pub(super) fn spoil(fault: Fault, commit: &mut Commit, mut unlucky: impl FnMut() -> bool) {
    let changes = &mut commit.changes;
    match fault {
        Fault::RingsEarly => {
            for timer in &mut changes.timers {
                let (TimerChange::Put { deadline, .. } | TimerChange::Remove { deadline, .. }) =
                    timer;
                *deadline = *deadline - millis(5);
            }
        }
        Fault::GivesBackWhatWasTaken => changes.taken.truncate(1),
        Fault::ForgetsPauses => changes.pause = None,
        Fault::ForgetsUpdates => changes.update_keys.clear(),
        Fault::LosesWhatARunSends => {
            for slot in &mut changes.slots {
                if matches!(slot.effect, SlotEffect::Send { .. }) && unlucky() {
                    let receipt = Receipt {
                        number: NOWHERE,
                        at: slot.at,
                        duplicate: false,
                    };
                    slot.effect = SlotEffect::Known(SlotResult::Sent(receipt));
                }
            }
        }
        Fault::ForgetsAnOffer => changes
            .offers
            .retain(|change| !matches!(change, OfferChange::Open { .. }) || !unlucky()),
        Fault::KeepsAnOfferOpen => changes
            .offers
            .retain(|change| !matches!(change, OfferChange::Close { .. })),
        Fault::ForgetsTimers => changes
            .timers
            .retain(|change| !matches!(change, TimerChange::Put { .. })),
        Fault::ForgetsTasks => changes
            .tasks
            .retain(|change| !matches!(change, TaskChange::Put(_))),
        _ => {}
    }
}

/// What a commit sends, as deliveries by themselves.
pub(super) fn sent(commit: &Commit) -> Vec<Deliver> {
    let deliver = |slot: &Slot| match &slot.effect {
        SlotEffect::Send { run, observation } => Some(Deliver {
            run: perennial::RunKey::new(commit.run.namespace.clone(), run.clone()),
            observation: observation.clone(),
            at: slot.at,
            tasks: Vec::new(),
            key: None,
            stub: None,
        }),
        _ => None,
    };
    commit.changes.slots.iter().filter_map(deliver).collect()
}

/// Whether it is a value for an offer.
pub(super) fn is_value(deliver: &Deliver) -> bool {
    matches!(deliver.observation, Observation::StubFulfilled { .. })
}
