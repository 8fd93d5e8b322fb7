//! No lint fires that would not fire on the same plain functions: `cargo clippy --all-targets` is
//! the test. What is here lints without a finding when the attributes and the awaits are removed. RW-39.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    missing_debug_implementations,
    missing_copy_implementations,
    missing_docs,
    single_use_lifetimes,
    trivial_casts,
    unit_bindings,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![forbid(unsafe_code)]

pub mod shop {
    //! A module with public items, which more lints look at.

    use perennial::prelude::*;

    /// An order.
    #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
    pub struct Order {
        id: String,
        cents: u64,
    }

    /// The card was declined.
    #[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
    pub struct Declined;

    /// Charges.
    #[activity(
        idempotent,
        attempt = "30s",
        timeout = "1h",
        retry(attempts = 5, initial = "200ms", cap = "1m")
    )]
    pub async fn charge(
        acx: &ActivityCx,
        mut order: Order,
        _note: String,
    ) -> Result<String, Failure<Declined>> {
        order.cents += 1;
        if order.cents > 100 {
            return Err(Failure::reject(Declined));
        }
        std::future::ready(()).await;
        Ok(order.id + acx.state::<String>())
    }

    /// No inputs and no await.
    #[activity(pure)]
    pub async fn nothing(_acx: &ActivityCx) -> Result<(), Failure> {
        Ok(())
    }

    /// A plain function.
    #[activity(pure, blocking)]
    pub fn blocking(
        acx: ActivityCx,
        list: Vec<u32>,
        (a, b): (u8, bool),
    ) -> Result<usize, Declined> {
        drop(acx);
        if b {
            Ok(list.len() + usize::from(a))
        } else {
            Err(Declined)
        }
    }

    /// Many inputs.
    #[activity(pure)]
    pub async fn many(
        _acx: &ActivityCx,
        a: bool,
        b: bool,
        c: bool,
        d: u8,
        _e: u8,
        _f: (),
    ) -> Result<bool, Failure> {
        Ok(a && b && c && d > 0)
    }

    /// A unit for an input.
    #[activity(pure)]
    pub async fn unit(_acx: &ActivityCx, unit: ()) -> Result<(), Failure> {
        std::future::ready(unit).await;
        Ok(())
    }

    /// Private to the module.
    #[activity(pure, name = "inner-one")]
    async fn inner(acx: &ActivityCx, n: Option<Box<u32>>) -> Result<u32, Failure> {
        Ok(n.map_or(0, |n| *n) + acx.attempt())
    }

    /// Charges, waits, charges again.
    #[workflow]
    pub async fn fulfil(cx: &Cx, mut order: Order) -> Result<String, Error> {
        order.cents += 1;
        let first = charge(cx, order.clone(), String::new())
            .await
            .map_err(|_| Error::new("declined"))?;
        cx.sleep(seconds(1)).await?;
        let (second, _) = join!(charge(cx, order, first.clone()), async {
            inner(cx, None).await
        });
        let mut all = vec![many(cx, true, true, true, 1, 1, ()).await?, false];
        all.push(true);
        if all.contains(&true) && unit(cx, ()).await.is_ok() {
            nothing(cx).await?;
        }
        let count = select! {
            _ = cx.sleep(seconds(1)) => 0,
            count = blocking(cx, vec![1], (1, true)) => count.map_err(|_| Error::new("declined"))?,
        };
        helper(cx, &order_id(count)).await;
        Ok(second.map_err(|_| Error::new("declined"))? + &first)
    }

    /// Changed twice since its first release.
    #[workflow]
    pub async fn changed(cx: &Cx, cents: u64) -> Result<bool, Error> {
        if cents > 10 && cx.patched("note") {
            nothing(cx).await?;
        }
        if cx.patched("check") && cents > 100 && cents.is_multiple_of(2) {
            unit(cx, ()).await?;
        }
        Ok(match cx.version("answer", 0..=1) {
            0 => cents > 1,
            1 => many(cx, true, true, true, 1, 1, ()).await?,
        })
    }

    fn order_id(count: usize) -> String {
        count.to_string()
    }

    /// Nothing but a result.
    #[workflow]
    pub async fn empty(_cx: &Cx) -> Result<(), Error> {
        Ok(())
    }

    /// An owned context.
    #[workflow(name = "of-its-own")]
    pub async fn owned(cx: Cx, _ignored: u8, list: Vec<u8>) -> Result<usize, Error> {
        for _ in &list {
            nothing(&cx).await?;
        }
        Ok(list.len())
    }

    /// A helper that returns nothing.
    #[durable]
    pub async fn helper(cx: &Cx, text: &str) {
        if !text.is_empty() {
            drop(inner(cx, Some(Box::new(1))).await);
        }
    }

    /// A helper with everything.
    ///
    /// # Errors
    ///
    /// The activities'.
    #[durable]
    pub async fn generic<T>(
        cx: &Cx,
        mut n: T,
        (a, _b): (u32, u8),
        _unused: u8,
    ) -> Result<u32, Error>
    where
        T: Into<u32> + Copy + From<u16> + Send,
    {
        if a > 1 {
            n = T::from(1);
        }
        Ok(inner(cx, Some(Box::new(n.into()))).await?)
    }

    impl Order {
        /// A method.
        ///
        /// # Errors
        ///
        /// The activities'.
        #[durable]
        pub async fn check(&self, cx: &Cx) -> Result<bool, Error> {
            Ok(many(cx, true, self.cents > 1, true, 1, 1, ()).await?)
        }
    }

    #[test]
    fn what_is_in_the_way_of_no_lint_has_its_name() {
        assert_eq!(fulfil::NAME, "fulfil");
        assert_eq!(owned::NAME, "of-its-own");
        assert_eq!(inner::NAME, "inner-one");
        assert_eq!(empty::GRAPH.callees, []);
    }
}
