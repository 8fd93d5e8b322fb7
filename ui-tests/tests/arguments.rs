//! Arguments mean what they mean in any function, also when the workflow is run and replayed: the test kit
//! replays each run. RW-33 point 1, RW-35.

#![allow(clippy::unwrap_used, clippy::non_minimal_cfg)]

use perennial::prelude::*;
use perennial::testing::{Snapshot, TestRun};

#[activity(pure)]
async fn push(_acx: &ActivityCx, mut list: Vec<u32>, mut n: u32) -> Result<Vec<u32>, Failure> {
    n += 1;
    list.push(n);
    Ok(list)
}

#[activity(pure, blocking)]
fn swap(
    _acx: &ActivityCx,
    (mut a, b): (u32, u32),
    [c, ..]: [u32; 3],
) -> Result<(u32, u32), Failure> {
    a += c;
    Ok((b, a))
}

#[durable]
async fn doubled(cx: &Cx, mut n: u32, ref text: String) -> Result<u32, Error> {
    n *= 2;
    cx.sleep(seconds(u64::from(n))).await?;
    Ok(n + u32::from(!text.is_empty()))
}

#[workflow]
async fn total(cx: &Cx, mut total: u32, (a, _): (u32, String), _unused: u8) -> Result<u32, Error> {
    total += a;
    let list = push(cx, vec![total], 1).await?;
    let (b, c) = swap(cx, (total, 7), [1, 2, 3]).await?;
    total += list.iter().sum::<u32>() + b + c;
    doubled(cx, total, "text".to_owned()).await
}

#[perennial::test]
fn rw33_mut_and_patterns_mean_the_same_as_in_a_plain_function(t: &mut TestRun) {
    t.allow(push);
    t.allow(swap);
    let run = t.start(total, (1, (2, String::new()), 0));
    // 3, and [3, 2] is 5, and 7 and 4; twice that, and one for the text.
    assert_eq!(run.result().unwrap(), (3 + 5 + 7 + 4) * 2 + 1);
}

// ANCHOR: conditional
#[activity(pure)]
async fn conditional(
    _acx: &ActivityCx,
    x: u32,
    #[cfg(any())] gone: Missing,
    #[cfg(all())] y: u32,
) -> Result<u32, Failure> {
    Ok(x * 10 + y)
}
// ANCHOR_END: conditional

#[durable]
async fn helper(
    cx: &Cx,
    #[cfg(any())] gone: Missing,
    #[cfg(all())]
    #[cfg_attr(all(), allow(unused_mut))]
    mut n: u32,
) -> Result<u32, Error> {
    Ok(conditional(cx, n, 1).await?)
}

#[workflow]
async fn kept(
    cx: &Cx,
    #[cfg(any())] first: Missing,
    #[cfg(not(any()))] (n, _): (u32, u8),
    #[cfg(any())]
    #[cfg(all())]
    last: Missing,
) -> Result<u32, Error> {
    Ok(conditional(cx, n, 2).await? + helper(cx, n).await?)
}

#[workflow]
async fn none_left(_cx: &Cx, #[cfg(any())] gone: Missing) -> Result<(), Error> {
    Ok(())
}

#[perennial::test]
fn rw35_what_cfg_removes_is_in_no_call_and_no_history(t: &mut TestRun) {
    t.allow(conditional);
    let run = t.start(kept, (3, 1));
    assert_eq!(run.result().unwrap(), 32 + 31);
    let empty = t.start(none_left, ());
    empty.result().unwrap();
    insta::assert_snapshot!(Snapshot::new().text(&run).unwrap());
    insta::assert_snapshot!(Snapshot::new().text(&empty).unwrap());
}
