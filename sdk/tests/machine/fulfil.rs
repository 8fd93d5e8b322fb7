//! Fulfilling what runs offer (S3, S25): what the machine makes of it. Each story is told to a cold machine too, unit by
//! unit.

use perennial::history::{Decision, Observation, SlotResult};
use perennial::prelude::*;
use perennial::{Blocked, IncompatibleKind, OperationId, RunEnd};

use crate::story::{Story, started};

#[stub]
async fn review(cx: &Cx, order: String) -> u64;

#[stub]
async fn texts(cx: &Cx) -> String;

const A: Message<u64> = Message::new("a");

fn asked() -> OperationId {
    "order-7~3".parse().unwrap()
}

#[activity(idempotent)]
async fn step(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

impl Story {
    /// What was fulfilled has come to that.
    fn given(&mut self, operation: u64, result: SlotResult) {
        self.observe(Observation::SlotFilled { operation, result });
    }
}

fn receipt(number: u64) -> Receipt {
    Receipt {
        number,
        at: crate::story::BEGIN,
        duplicate: false,
    }
}

#[test]
fn what_is_fulfilled_is_recorded_and_so_is_what_came_of_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, bool), Error> {
        let first = cx.fulfil(&asked(), review, &5).await?;
        let second = cx.fulfil(&asked(), texts, &"six".to_owned()).await?;
        Ok((first.number, second.duplicate))
    }
    let mut story = Story::of::<flow>(());
    story.given(1, SlotResult::Fulfilled(receipt(3)));
    let duplicate = Receipt {
        duplicate: true,
        ..receipt(8)
    };
    story.given(2, SlotResult::Fulfilled(duplicate));
    assert_eq!(story.result::<(u64, bool), Error>(), Ok((3, true)));
    insta::assert_snapshot!(story.text());
}

#[test]
fn why_nothing_was_fulfilled_is_an_error_that_each_replay_finds() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<FulfilFailure>, Error> {
        let mut failures = Vec::new();
        for _ in 0..9 {
            failures.extend(cx.fulfil(&asked(), review, &5).await.err());
        }
        Ok(failures)
    }
    let reference = asked;
    let (at, stub) = (Timestamp::from_millis(9), || "review".to_owned());
    let closed = |end| FulfilFailure::Closed {
        reference: asked(),
        stub: stub(),
        at,
        end,
    };
    let failures = [
        FulfilFailure::RunNotFound {
            reference: reference(),
        },
        FulfilFailure::Purged {
            reference: reference(),
        },
        FulfilFailure::NoSuchOperation {
            reference: reference(),
        },
        FulfilFailure::NotAStub {
            reference: reference(),
        },
        FulfilFailure::OtherStub {
            reference: reference(),
            is: "texts".into(),
            given: stub(),
        },
        FulfilFailure::Conflict {
            reference: reference(),
            stub: stub(),
        },
        closed(None),
        closed(Some(RunEnd::Migrated {
            to: RunId::new("order-8").unwrap(),
        })),
        FulfilFailure::Unreadable {
            reference: reference(),
            problem: "the checksum does not fit".into(),
        },
    ];
    let mut story = Story::of::<flow>(());
    for (operation, failure) in (1..).zip(&failures) {
        story.given(operation, SlotResult::NotFulfilled(failure.clone()));
    }
    assert_eq!(
        story.result::<Vec<FulfilFailure>, Error>(),
        Ok(failures.into())
    );
    insta::assert_snapshot!(story.text());
}

#[test]
fn a_run_may_fulfil_what_it_offers_itself() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let offer = review(cx, "a lamp".to_owned()).open()?;
        cx.fulfil(&offer.reference(), review, &5).await?;
        Ok(offer.await?)
    }
    let mut story = Story::of::<flow>(());
    assert!(matches!(
        &story.decisions()[1],
        Decision::FulfilRequested { reference, .. } if reference.to_string() == "order-42~1"
    ));
    story.given(2, SlotResult::Fulfilled(receipt(1)));
    story.fulfil(1, 5);
    assert_eq!(story.result::<u64, Error>(), Ok(5));
}

/// S12: it is decided, and the commit does it.
#[test]
fn what_is_dropped_is_fulfilled_all_the_same_and_its_result_is_nobodys() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let first = select! {
            given = cx.fulfil(&asked(), review, &5) => given?.number,
            _ = async {} => 0,
        };
        step(cx).await?;
        Ok(first)
    }
    let mut story = Story::of::<flow>(());
    let kinds = story.decisions().iter().map(|decision| match decision {
        Decision::FulfilRequested { operation, .. } => ("fulfil", *operation),
        Decision::Dropped { operation } => ("dropped", *operation),
        Decision::ActivityScheduled { operation, .. } => ("activity", *operation),
        other => panic!("{other:?}"),
    });
    let expected = [("fulfil", 1), ("dropped", 1), ("activity", 2)];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    story.given(1, SlotResult::Fulfilled(receipt(3)));
    assert_eq!(story.decisions(), []);
    story.complete(2, ());
    assert_eq!(story.result::<u64, Error>(), Ok(0));
}

#[test]
fn a_value_that_is_too_large_is_a_result_that_needs_no_event() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<bool, Error> {
        let large = "x".repeat(2 << 20);
        let given = cx.fulfil(&asked(), texts, &large).await;
        step(cx).await?;
        Ok(
            matches!(given, Err(FulfilFailure::TooLarge { size, limit: 1_048_576 }) if size > 2 << 20),
        )
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.decisions().len(), 1, "the activity alone");
    story.complete(1, ());
    assert_eq!(story.result::<bool, Error>(), Ok(true));
}

#[test]
fn a_value_that_cannot_be_stored_blocks_the_run() {
    #[stub]
    async fn weighs(cx: &Cx) -> f64;
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.fulfil(&asked(), weighs, &f64::NAN).await?;
        Ok(())
    }
    let mut story = Story::untold::<flow>();
    let blocked = story.blocked(started::<flow>(()));
    assert!(matches!(blocked, Blocked::Unstorable(_)), "{blocked}");
    assert!(
        blocked
            .to_string()
            .contains("what `weighs` is fulfilled with")
    );
}

#[test]
fn the_result_of_a_send_is_none_of_a_fulfilment_and_the_other_way_round() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let (given, sent) = join!(
            cx.fulfil(&asked(), review, &5),
            cx.send(&asked().run, A, &5)
        );
        given?;
        sent?;
        Ok(())
    }
    let damaged = |operation, result| {
        let mut story = Story::of::<flow>(());
        match story.blocked(Observation::SlotFilled { operation, result }) {
            Blocked::Incompatible(error) => (error.kind, error.detail.unwrap_or_default()),
            other => panic!("{other}"),
        }
    };
    let (kind, detail) = damaged(1, SlotResult::Sent(receipt(1)));
    assert_eq!(kind, IncompatibleKind::Damaged);
    assert!(
        detail.contains("~1, which has fulfilled `review`"),
        "{detail}"
    );
    let (kind, detail) = damaged(2, SlotResult::Fulfilled(receipt(1)));
    assert_eq!(kind, IncompatibleKind::Damaged);
    assert!(detail.contains("~2, which has sent \"a\""), "{detail}");
}
