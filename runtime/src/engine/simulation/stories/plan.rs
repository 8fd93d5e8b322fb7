//! The workflow of the stories: it does what its input says, one step after the other.

use perennial::prelude::*;
use perennial::{Message, millis};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::watch::inject;

pub(super) const NAMES: [Message<u64>; 2] = [Message::new("left"), Message::new("right")];
pub(super) const STREAMS: [Stream<u64>; 2] = [Stream::new("out"), Stream::new("log")];

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
    /// Sends a message of that name to a run, which may be its own.
    Tell(u8, u8),
    /// Gives out an item in that stream.
    Emit(u8),
    /// Asks somebody outside.
    Ask,
    /// No longer than so many milliseconds.
    AskWithin(u64),
    /// Asks, does not wait for the answer and does something for so many milliseconds, and goes without it.
    AskInVain(u64),
    /// Opens its mailbox, if that is not open.
    Open,
    /// Takes what comes next from the mailbox.
    Mail,
    /// No longer than so many milliseconds.
    MailWithin(u64),
}

/// A message, or what somebody outside has given, that the workflow has taken.
pub(super) type Taken = u64;

pub(super) fn any() -> impl Strategy<Value = Vec<Step>> {
    let name = 0_u8..2;
    let step = prop_oneof![
        3 => name.clone().prop_map(Step::Take),
        2 => (name.clone(), 0_u64..40).prop_map(|(name, limit)| Step::TakeWithin(name, limit)),
        1 => Just(Step::Either),
        1 => Just(Step::Both),
        1 => (0_u64..40).prop_map(Step::BothWithin),
        2 => (0_u64..40).prop_map(Step::Sleep),
        3 => (0_u8..2, name).prop_map(|(run, name)| Step::Tell(run, name)),
        2 => (0_u8..2).prop_map(Step::Emit),
        1 => Just(Step::Ask),
        1 => (0_u64..40).prop_map(Step::AskWithin),
        1 => (0_u64..40).prop_map(Step::AskInVain),
        1 => Just(Step::Open),
        2 => Just(Step::Mail),
        1 => (0_u64..40).prop_map(Step::MailWithin),
    ];
    prop::collection::vec(step, 1..6)
}

/// What a run says with its step of that number: nobody else says the same.
pub(super) fn saying(run: usize, step: usize) -> u64 {
    1_000_000 * (run as u64 + 1) + step as u64
}

fn named(name: u8) -> Message<u64> {
    NAMES[usize::from(name % 2)]
}

/// Somebody outside says something.
#[stub]
pub(super) async fn review(cx: &Cx) -> Taken;

/// Somebody outside says something, which the workflow does not look at.
#[stub]
pub(super) async fn vain(cx: &Cx) -> Taken;

#[durable]
async fn both(cx: &Cx) -> Result<(Taken, Taken), Error> {
    let (left, right) = join!(cx.receive(named(0)), cx.receive(named(1)));
    Ok((left?, right?))
}

/// What it has taken, in that order, and what it has taken from its mailbox. `me`: which run it is.
#[workflow]
pub(super) async fn follow(
    cx: &Cx,
    me: usize,
    plan: Vec<Step>,
) -> Result<(Vec<Taken>, Vec<Taken>), Error> {
    let (mut taken, mut mail) = (Vec::new(), Vec::new());
    let mut mailbox = None;
    for (at, step) in plan.into_iter().enumerate() {
        if matches!(step, Step::Open | Step::Mail | Step::MailWithin(_)) && mailbox.is_none() {
            mailbox = Some(Mailbox::open(cx, inject));
        }
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
            Step::Tell(run, name) => {
                let to = RunId::new(format!("run-{run}"))?;
                // A run that is not there, or has ended, has not got it.
                let _ = cx.send(&to, named(name), &saying(me, at)).await;
            }
            Step::Emit(stream) => cx.emit(STREAMS[usize::from(stream % 2)], saying(me, at)),
            Step::Ask => taken.push(review(cx).await?),
            Step::AskWithin(limit) => taken.extend(review(cx).timeout(millis(limit)).await?),
            Step::AskInVain(length) => {
                let offer = vain(cx).open()?;
                cx.sleep(millis(length)).await?;
                drop(offer);
            }
            Step::Open => {}
            Step::Mail => {
                if let Some(mailbox) = &mailbox {
                    mail.push(mailbox.next().await?);
                }
            }
            Step::MailWithin(limit) => {
                if let Some(mailbox) = &mailbox {
                    select! {
                        next = mailbox.next() => mail.push(next?),
                        _ = cx.sleep(millis(limit)) => {},
                    }
                }
            }
        }
    }
    Ok((taken, mail))
}
