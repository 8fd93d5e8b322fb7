//! What the attributes expand to, as snapshots.

#![allow(clippy::unwrap_used)]

use proc_macro2::TokenStream;

#[test]
fn an_activity() {
    insta::assert_snapshot!(activity(
        r#"idempotent, attempt = "30s", retry(attempts = 5, initial = "200ms", cap = "1m", factor = 2)"#,
        "
        /// Charges the card.
        pub async fn charge_card(acx: &ActivityCx, mut order: Order, _note: String) -> Result<Receipt, Failure<Declined>> {
            let bank = acx.state::<Bank>();
            order.cents += 1;
            Ok(bank.charge(&order).await?)
        }
        ",
    ));
}

#[test]
fn a_blocking_activity_without_inputs() {
    insta::assert_snapshot!(activity(
        "pure, blocking",
        "fn count(acx: ActivityCx) -> Result<u64, Failure> { Ok(1) }"
    ));
}

#[test]
fn a_workflow() {
    insta::assert_snapshot!(workflow(
        "",
        "
        /// Fulfils an order.
        pub async fn fulfil(cx: &Cx, order: Order) -> Result<Shipped, OrderError> {
            let receipt = charge_card(cx, order.clone()).retry(Retry::new()).await?;
            for item in order.items {
                ship(cx, item).await?;
            }
            let (a, b) = perennial::join!(cx.sleep(D), async { ship(cx, 1).await });
            let all = vec![ship(cx, 1).await, (&mut later).await];
            select! {
                x = cx.sleep(D) => { notify(cx).await? }
                Some(_) | None = set.next() => 2,
            }
            set.submit(ship(cx, 2));
            Ok(Shipped { receipt })
        }
        ",
    ));
}

#[test]
fn a_workflow_with_markers() {
    insta::assert_snapshot!(workflow(
        "version = 3, compare_inputs = false",
        r#"
        async fn fulfil(cx: &Cx, order: Order) -> Result<u32, Error> {
            if cx.patched("fraud-check") {
                check(cx, order).await?;
            }
            Ok(match cx.version("rounding", 1..=2) {
                1 => 1,
                2 => round(cx).await?
            })
        }
        "#,
    ));
}

#[test]
fn a_durable_method() {
    insta::assert_snapshot!(durable(
        "",
        "
        pub(crate) async fn helper<T: Data>(&self, cx: &Cx, mut name: &str, (a, _b): (u8, u8)) -> Result<T, Error> {
            #![allow(unused)]
            name = self.name(cx).await?;
            return get(cx, name).await;
        }
        ",
    ));
}

#[test]
fn conditional_arguments() {
    insta::assert_snapshot!(activity(
        "pure",
        r#"async fn a(acx: &ActivityCx, x: u32, #[cfg(feature = "gone")] gone: Missing, (y, z): (u8, u8)) -> Result<u32, E> { Ok(x) }"#,
    ));
}

#[test]
fn a_test_of_workflows() {
    let item = r#"
        /// Refused.
        #[ignore = "slow"]
        fn refused_after_a_week(t: &mut TestRun) -> Result<(), Error> {
            #![allow(unused)]
            let run = t.start(fulfil, order());
            t.advance(days(7));
            assert!(run.result()?.is_none());
            Ok(())
        }
    "#;
    let expanded = perennial_codegen::test(tokens("strict, crate = other"), tokens(item));
    insta::assert_snapshot!(formatted(expanded));
}

#[test]
fn a_migration() {
    let item = r#"
        /// Orders got lines.
        #[allow(clippy::too_many_lines)]
        pub fn to_v2(old: &OldRun) -> Result<OrderV2, Refuse> {
            let order: Order = old.input()?;
            old.stop_timers();
            Ok(order.into())
        }
    "#;
    let expanded =
        |options: &str| formatted(perennial_codegen::migration(tokens(options), tokens(item)));
    insta::assert_snapshot!(expanded("from = shop::order, to = order_v2"));
    // Only how it is known differs.
    let of_a_name = expanded(r#"from = "order", to = order_v2, name = "to-v2", crate = other"#);
    let line = of_a_name.lines().find(|line| line.contains("FROM"));
    assert_eq!(
        line.map(str::trim),
        Some(r#"const FROM: &'static str = "order";"#)
    );
}

#[test]
fn a_stub() {
    let item = "
        /// A person looks at an order.
        #[cfg(feature = \"people\")]
        pub async fn review(cx: &Cx, order: Order, _note: String) -> Verdict;
    ";
    let options = tokens("name = \"second look\"");
    insta::assert_snapshot!(formatted(perennial_codegen::stub(options, tokens(item))));
}

fn activity(options: &str, item: &str) -> String {
    formatted(perennial_codegen::activity(tokens(options), tokens(item)))
}

fn workflow(options: &str, item: &str) -> String {
    formatted(perennial_codegen::workflow(tokens(options), tokens(item)))
}

fn durable(options: &str, item: &str) -> String {
    let expanded = perennial_codegen::durable(tokens(options), tokens(item));
    // A method may stand in an `impl` only.
    match syn::parse2::<syn::File>(expanded.clone()) {
        Ok(_) => formatted(expanded),
        Err(_) => formatted(quote::quote!(impl Shop { #expanded })),
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// Parsed again, because prettyplease knows the syntax tree only and rewritten parts are tokens.
fn formatted(expanded: TokenStream) -> String {
    let file = syn::parse_file(&expanded.to_string()).unwrap();
    prettyplease::unparse(&file)
}

#[test]
fn opt_outs() {
    insta::assert_snapshot!(durable(
        "",
        "
        async fn helper(cx: &Cx, map: HashMap<u8, u8>) -> Result<u64, Error> {
            #[allow_nondeterminism(clock, reason = \"only for a log line\")]
            let begun = Instant::now();
            #[allow_nondeterminism(output, reason = \"for debugging\")]
            println!(\"{begun:?}\");
            #[allow_nondeterminism(hash_order, reason = \"a sum\")]
            for n in map.values() {
                sum += ship(cx, n).await?;
            }
            #[allow_nondeterminism(env, reason = \"never read\")]
            sum += std::env::args().count();
            ship(cx, #[allow_nondeterminism(env, reason = \"never read\")] std::env::args().count()).await?;
            match sum {
                #[allow_nondeterminism(random, reason = \"any is good\")]
                n if rand::random() => rand::random(),
                _ => {}
            }
            #[allow_nondeterminism(statics, reason = \"never read\")]
            static COUNT: AtomicU64 = AtomicU64::new(0);
            let s = S {
                #[allow_nondeterminism(random, reason = \"any is good\")]
                at: rand::random(),
            };
            #[allow_nondeterminism(clock, reason = \"only for a log line\")]
            Ok(begun.elapsed().as_secs())
        }
        ",
    ));
}

#[test]
fn a_durable_function_that_waits_for_nothing() {
    insta::assert_snapshot!(durable(
        "",
        "
        /// Adds.
        pub(crate) const fn helper<'a, T: Data>(&self, mut a: u8, b: &'a str) -> u8 {
            a += 1;
            a
        }
        ",
    ));
}
