//! The workflow of the stories: it does what its input says, one step after the other.

use perennial::prelude::*;
use perennial::{Message, millis};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const NAMES: [Message<u64>; 2] = [Message::new("left"), Message::new("right")];

/// What the workflow does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Step {
    /// Waits for a message of that name.
    Take(u8),
    /// No longer than so many milliseconds.
    TakeWithin(u8, u64),
    /// Whichever of both comes first.
    Either,
    /// One of each.
    Both,
    /// One of each kind beside a timer, which ends both.
    BothWithin(u64),
    /// Is busy with something else.
    Sleep(u64),
}

/// A message that the workflow has taken.
pub(super) type Taken = u64;

pub(super) fn any() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_u8..2).prop_map(Step::Take),
        2 => (0_u8..2, 0_u64..40).prop_map(|(name, limit)| Step::TakeWithin(name, limit)),
        1 => Just(Step::Either),
        1 => Just(Step::Both),
        1 => (0_u64..40).prop_map(Step::BothWithin),
        2 => (0_u64..40).prop_map(Step::Sleep),
    ];
    prop::collection::vec(step, 1..6)
}

fn named(name: u8) -> Message<u64> {
    NAMES[usize::from(name % 2)]
}

#[durable]
async fn both(cx: &Cx) -> Result<(Taken, Taken), Error> {
    let (left, right) = join!(cx.receive(named(0)), cx.receive(named(1)));
    Ok((left?, right?))
}

/// What it has taken, in that order.
#[workflow]
pub(super) async fn follow(cx: &Cx, plan: Vec<Step>) -> Result<Vec<Taken>, Error> {
    let mut taken = Vec::new();
    for step in plan {
        match step {
            Step::Take(name) => taken.push(cx.receive(named(name)).await?),
            Step::TakeWithin(name, limit) => {
                let limit = millis(limit);
                taken.extend(cx.receive(named(name)).timeout(limit).await?);
            }
            Step::Either => taken.push(select! {
                left = cx.receive(named(0)) => left?,
                right = cx.receive(named(1)) => right?,
            }),
            Step::Both => {
                let (left, right) = both(cx).await?;
                taken.extend([left, right]);
            }
            Step::BothWithin(limit) => {
                select! {
                    two = both(cx) => {
                        let (left, right) = two?;
                        taken.extend([left, right]);
                    },
                    _ = cx.sleep(millis(limit)) => {},
                }
            }
            Step::Sleep(length) => cx.sleep(millis(length)).await?,
        }
    }
    Ok(taken)
}
