//! Sends to other runs (S3, M47 to M50): what the machine makes of them. Each story is told to a cold machine too,
//! unit by unit.

use perennial::history::{Decision, Observation, SlotResult};
use perennial::prelude::*;
use perennial::{Blocked, IncompatibleKind, RunEnd};

use crate::story::{Story, started};

const A: Message<u64> = Message::new("a");
const TEXT: Message<String> = Message::new("text");
const BELL: Signal<u64> = Signal::new("bell");

fn order() -> RunId {
    RunId::new("order-7").unwrap()
}

#[activity(idempotent)]
async fn step(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

impl Story {
    /// A send has come to that.
    fn filled(&mut self, operation: u64, result: SlotResult) {
        self.observe(Observation::SlotFilled { operation, result });
    }

    fn sent(&mut self, operation: u64, number: u64) {
        self.filled(operation, SlotResult::Sent(receipt(number)));
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
fn m47_what_is_sent_is_recorded_and_so_is_what_came_of_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64), Error> {
        let first = cx.send(&order(), A, &5).await?;
        let second = cx.send(&order(), TEXT, &"six".to_owned()).await?;
        cx.signal(&order(), BELL, &7).await?;
        Ok((first.number, second.number))
    }
    let mut story = Story::of::<flow>(());
    story.sent(1, 3);
    let duplicate = Receipt {
        duplicate: true,
        ..receipt(8)
    };
    story.filled(2, SlotResult::Sent(duplicate));
    story.sent(3, 9);
    assert_eq!(story.result::<(u64, u64), Error>(), Ok((3, 8)));
    insta::assert_snapshot!(story.text());
}

#[test]
fn m49_what_was_not_sent_is_an_error_that_each_replay_finds() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<SendFailure>, Error> {
        let mut failures = Vec::new();
        for _ in 0..7 {
            failures.extend(cx.send(&order(), A, &5).await.err());
        }
        Ok(failures)
    }
    let run = order();
    let finished = Timestamp::from_millis(9);
    let ended = |end| SendFailure::RunFinished {
        run: order(),
        end,
        finished,
    };
    let failures = [
        SendFailure::RunNotFound { run: run.clone() },
        ended(RunEnd::Completed),
        ended(RunEnd::Migrated {
            to: RunId::new("order-8").unwrap(),
        }),
        SendFailure::InboxFull {
            run: run.clone(),
            limit: 10_000,
        },
        SendFailure::NoSuchMessage {
            run: run.clone(),
            workflow: "order".into(),
            name: "a".into(),
        },
        SendFailure::Conflict { run: run.clone() },
        SendFailure::Unreadable {
            run,
            problem: "the checksum does not fit".into(),
        },
    ];
    let mut story = Story::of::<flow>(());
    for (operation, failure) in (1..).zip(&failures) {
        story.filled(operation, SlotResult::NotSent(failure.clone()));
    }
    assert_eq!(
        story.result::<Vec<SendFailure>, Error>(),
        Ok(failures.into())
    );
    insta::assert_snapshot!(story.text());
}

#[test]
fn sends_at_once_have_their_results_each_for_itself() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let to = order();
        let sends = (0..3).map(|n| cx.send(&to, A, &n));
        let sent = join_all(sends).await.into_iter();
        sent.map(|sent| Ok(sent?.number)).collect()
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.decisions().len(), 3);
    for (operation, number) in [(1, 10), (2, 20), (3, 30)] {
        story.sent(operation, number);
    }
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![10, 20, 30]));
}

#[test]
fn m50_a_run_may_send_to_itself_and_take_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.send(&cx.run_id(), A, &5).await?;
        Ok(cx.receive(A).await?)
    }
    let mut story = Story::of::<flow>(());
    assert!(matches!(
        &story.decisions()[0],
        Decision::SendRequested { run, .. } if run.as_str() == "order-42"
    ));
    story.sent(1, 1);
    story.message(1, "a", 5);
    assert_eq!(story.result::<u64, Error>(), Ok(5));
}

/// S12: it is decided, and the commit sends it.
#[test]
fn a_send_that_is_dropped_is_sent_all_the_same_and_its_result_is_nobodys() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let first = select! {
            sent = cx.send(&order(), A, &5) => sent?.number,
            _ = async {} => 0,
        };
        step(cx).await?;
        Ok(first)
    }
    let mut story = Story::of::<flow>(());
    let kinds = story.decisions().iter().map(|decision| match decision {
        Decision::SendRequested { operation, .. } => ("send", *operation),
        Decision::Dropped { operation } => ("dropped", *operation),
        Decision::ActivityScheduled { operation, .. } => ("activity", *operation),
        other => panic!("{other:?}"),
    });
    let expected = [("send", 1), ("dropped", 1), ("activity", 2)];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    story.sent(1, 3);
    assert_eq!(story.decisions(), []);
    story.complete(2, ());
    assert_eq!(story.result::<u64, Error>(), Ok(0));
}

#[test]
fn what_is_too_large_is_a_result_that_needs_no_event() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<bool, Error> {
        let large = "x".repeat(2 << 20);
        let sent = cx.send(&order(), TEXT, &large).await;
        step(cx).await?;
        Ok(matches!(sent, Err(SendFailure::TooLarge { size, limit: 1_048_576 }) if size > 2 << 20))
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.decisions().len(), 1, "the activity alone");
    story.complete(1, ());
    assert_eq!(story.result::<bool, Error>(), Ok(true));
}

#[test]
fn what_cannot_be_stored_blocks_the_run() {
    const FLOAT: Message<f64> = Message::new("float");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.send(&order(), FLOAT, &f64::NAN).await?;
        Ok(())
    }
    let mut story = Story::untold::<flow>();
    let blocked = story.blocked(started::<flow>(()));
    assert!(matches!(blocked, Blocked::Unstorable(_)), "{blocked}");
    assert!(blocked.to_string().contains("what is sent as \"float\""));
}

#[test]
fn a_result_of_something_else_is_damage() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let (stepped, sent) = join!(step(cx), cx.send(&order(), A, &5));
        stepped?;
        sent?;
        Ok(())
    }
    let damaged = |observation: Observation| {
        let mut story = Story::of::<flow>(());
        match story.blocked(observation) {
            Blocked::Incompatible(error) => (error.kind, error.detail.unwrap_or_default()),
            other => panic!("{other}"),
        }
    };
    let (kind, detail) = damaged(Observation::SlotFilled {
        operation: 1,
        result: SlotResult::Sent(receipt(1)),
    });
    assert_eq!(kind, IncompatibleKind::Damaged);
    assert!(detail.contains("~1"), "{detail}");
    for observation in [
        crate::story::completed(2, ()),
        Observation::TimerFired { operation: 2 },
    ] {
        let (kind, detail) = damaged(observation);
        assert_eq!(kind, IncompatibleKind::Damaged);
        assert!(detail.contains("which has sent \"a\""), "{detail}");
    }
}
