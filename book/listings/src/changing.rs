//! *Changing running workflows*.

use perennial::prelude::*;

#[activity(idempotent)]
pub async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

#[activity(pure)]
pub async fn is_fraud(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 100_000)
}

#[activity(pure)]
pub async fn is_fraud_by_model(_acx: &ActivityCx, cents: u64) -> Result<bool, Failure> {
    Ok(cents > 50_000)
}

#[activity(idempotent)]
pub async fn fetch(_acx: &ActivityCx) -> Result<u64, Failure> {
    Ok(1)
}

#[activity(idempotent)]
pub async fn fetch_in_batches(_acx: &ActivityCx) -> Result<u64, Failure> {
    Ok(100)
}

/// The workflow as it was released first.
pub mod first {
    use super::charge;
    use perennial::prelude::*;

    // ANCHOR: first
    #[workflow]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        Ok(charge(cx, cents).await?)
    }
    // ANCHOR_END: first
}

/// With the marker.
pub mod added {
    use super::{charge, is_fraud};
    use perennial::prelude::*;

    // ANCHOR: added
    #[workflow(version = 2)]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        if cx.patched("fraud-check") {
            let is_fraud = is_fraud(cx, cents).await?;
            if is_fraud {
                return Err(Error::new("refused"));
            }
        }
        Ok(charge(cx, cents).await?)
    }
    // ANCHOR_END: added
}

/// Changed once more.
pub mod changed_again {
    use super::{charge, is_fraud, is_fraud_by_model};
    use perennial::prelude::*;

    // ANCHOR: changed_again
    #[workflow(version = 3)]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        let fraud = match cx.version("fraud-check", 0..=2) {
            0 => false,
            1 => is_fraud(cx, cents).await?,
            2 => is_fraud_by_model(cx, cents).await?,
        };
        if fraud {
            return Err(Error::new("refused"));
        }
        Ok(charge(cx, cents).await?)
    }
    // ANCHOR_END: changed_again
}

/// The old arms are gone.
pub mod narrowed {
    use super::{charge, is_fraud_by_model};
    use perennial::prelude::*;

    // ANCHOR: narrowed
    #[workflow(version = 4)]
    pub async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        let fraud = match cx.version("fraud-check", 2..=2) {
            2 => is_fraud_by_model(cx, cents).await?,
        };
        if fraud {
            return Err(Error::new("refused"));
        }
        Ok(charge(cx, cents).await?)
    }
    // ANCHOR_END: narrowed
}

// ANCHOR: each
#[workflow]
pub async fn watch(cx: &Cx, rounds: u32) -> Result<u64, Error> {
    let mut seen = 0;
    for _ in 0..rounds {
        cx.sleep(hours(1)).await?;
        seen += if cx.patched_each("batches") {
            fetch_in_batches(cx).await?
        } else {
            fetch(cx).await?
        };
    }
    Ok(seen)
}
// ANCHOR_END: each

// ANCHOR: compare_inputs
#[workflow(compare_inputs = false)]
pub async fn totals(cx: &Cx, cents: Vec<u64>) -> Result<u64, Error> {
    let mut sum = 0;
    for cents in cents {
        sum += charge(cx, cents).await?;
    }
    Ok(sum)
}
// ANCHOR_END: compare_inputs

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::changed_again::order;
    use super::*;
    use perennial::testing::TestRun;

    // ANCHOR: arms
    #[perennial::test]
    fn each_version_does_what_it_did(t: &mut TestRun) {
        t.allow(charge);
        t.mock(is_fraud, |_| Ok(true)).times(1);
        t.mock(is_fraud_by_model, |_| Ok(true)).times(1);
        for (version, refused) in [(0, false), (1, true), (2, true)] {
            t.version("fraud-check", version);
            assert_eq!(t.start(order, 500).result().is_err(), refused);
        }
    }
    // ANCHOR_END: arms

    // ANCHOR: in_flight
    #[perennial::test]
    fn a_run_in_flight_fetches_in_batches_from_the_next_round_on(t: &mut TestRun) {
        t.allow(fetch);
        t.allow(fetch_in_batches);
        t.version("batches", 0);
        let run = t.start(watch, 5);
        t.advance(hours(2));
        t.newest_version("batches");
        assert_eq!(run.result().unwrap(), 1 + 1 + 100 + 100 + 100);
    }
    // ANCHOR_END: in_flight

    /// The life of the marker: what each form of the code makes of a run of the one before.
    #[perennial::test]
    fn runs_of_each_form_have_the_same_name_and_end(t: &mut TestRun) {
        t.allow(charge);
        t.allow(is_fraud);
        t.allow(is_fraud_by_model);
        assert_eq!(t.start(first::order, 500).result().unwrap(), 500);
        assert_eq!(t.start(added::order, 500).result().unwrap(), 500);
        assert_eq!(t.start(narrowed::order, 500).result().unwrap(), 500);
        assert_eq!(t.start(totals, vec![1, 2]).result().unwrap(), 3);
        assert!(narrowed::order::GRAPH.markers[0].is_dead());
    }
}
