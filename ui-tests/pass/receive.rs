//! Each way to wait for what a run is told, and each way to name it.

#![deny(warnings)]

use perennial::prelude::*;
use perennial::testing::{TestRun, test};

mod names {
    use perennial::prelude::*;

    pub const APPROVAL: Message<bool> = Message::new("approval");
    pub static NOTE: Message<(u64, String)> = Message::new("note");

    pub struct Shop;

    impl Shop {
        pub const BELL: Signal<u64> = Signal::new("shop:bell");
    }

    #[deprecated(note = "it is a signal now")]
    pub const OLD: Message<u64> = Message::new("old");
}

use names::{APPROVAL as YES, Shop};

#[durable]
async fn asked(cx: &Cx) -> Result<bool, ReceiveError> {
    cx.receive(YES).await
}

#[workflow]
async fn several(cx: &'static Cx) -> Result<u64, Error> {
    let mut early = Box::pin(cx.receive(YES));
    select! {
        yes = &mut early => drop(yes?),
        note = cx.receive(names::NOTE) => drop(note?),
        slept = cx.sleep(days(1)) => slept?,
    }
    drop(early);
    let (yes, rung) = join!(
        cx.receive(names::APPROVAL),
        cx.wait_for(Shop::BELL).timeout(hours(1))
    );
    let _ = (yes?, rung?);
    try_join!(cx.receive(self::YES), cx.receive(crate::names::APPROVAL))?;
    let task = cx.spawn(cx.receive(names::NOTE));
    let mut set = JoinSet::new(cx);
    set.submit(cx.wait_for(Shop::BELL));
    while let Some(rung) = set.next().await {
        rung?;
    }
    let all = join_all(vec![cx.receive(YES), cx.receive(YES)]).await;
    drop(all);
    asked(cx).await?;
    Ok(task.await?.0)
}

/// Names that stand in the function, and one that no other place may use.
#[workflow]
async fn inside(cx: &Cx, urgent: bool) -> Result<u64, Error> {
    const INSIDE: Message<u64> = Message::new("inside");
    use names::Shop as Store;
    if urgent {
        #[cfg(not(any()))]
        cx.wait_for(Store::BELL).await?;
        #[cfg(any())]
        cx.receive(names::THERE_IS_NONE).await?;
    }
    #[allow(deprecated)]
    let old = cx.receive(names::OLD).timeout(seconds(1)).await?;
    Ok(cx.receive(INSIDE).await? + old.unwrap_or(0))
}

#[workflow]
async fn once_more(cx: &Cx) -> Result<u64, Error> {
    #[allow(deprecated)]
    let old = cx.receive(names::OLD).await?;
    match cx.receive(names::APPROVAL).await {
        Ok(yes) => Ok(old + u64::from(yes)),
        Err(ReceiveError::Invalid { number, .. }) => Ok(number),
        Err(other) => Err(other.into()),
    }
}

fn told(t: &mut TestRun) {
    let run = t.start(inside, false);
    run.send_json("inside", "5");
    assert_eq!(run.result().unwrap(), 5);
    assert!(inside::GRAPH.listens_for_others);

    let run = t.start(once_more, ());
    #[allow(deprecated)]
    run.send(names::OLD, 1);
    run.send_json("approval", "\"yes\"");
    assert_eq!(run.result().unwrap(), 2);
    assert_eq!(once_more::GRAPH.receives().len(), 2);
    assert!(!once_more::GRAPH.listens_for_others);

    let run = t.start(several, ());
    run.send(names::NOTE, (7, "seven".into()));
    for _ in 0..6 {
        run.send(YES, true);
    }
    t.advance(hours(1));
    run.signal(Shop::BELL, 3);
    run.send(names::NOTE, (8, "eight".into()));
    assert_eq!(run.result().unwrap(), 8);
}

fn main() {
    test(told);
}
