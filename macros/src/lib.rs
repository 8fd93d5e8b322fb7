//! The attributes of Perennial. No logic lives here; see `perennial-codegen`.
//!
//! They are re-exported by the crate `perennial`, under whose paths the generated code names
//! everything. Where that crate has another name, each attribute takes it: `crate = other_name`.
//!
//! `PERENNIAL_EXPAND=charge_card cargo check` prints what the attribute on `charge_card` made of it.

#![warn(missing_docs)]

use proc_macro::TokenStream;

/// A workflow: a function that is replayed from its history and goes on where it stopped.
///
/// ```ignore
/// /// Charges and ships.
/// #[workflow]
/// pub async fn fulfil(cx: &Cx, order: Order) -> Result<Shipped, OrderError> {
///     let receipt = charge_card(cx, order.clone()).await?;
///     cx.sleep(days(1)).await?;
///     ship(cx, order, receipt).await
/// }
///
/// runtime.client().start(fulfil, "order-42", order).await?;
/// assert_eq!(fulfil::NAME, "fulfil");
/// ```
///
/// It takes `cx: &Cx` and then at most eight inputs: owned data that serde can read and write. It
/// returns a `Result`, which is written to the history. These types are at least as visible as the
/// function.
///
/// It may wait only for what its history records: activities, what `cx` offers, functions with
/// [`#[durable]`](macro@durable), and `async` blocks, `perennial::join!`, `try_join!` and `select!`
/// over such. Any other `.await` does not compile, and the error says what to use instead.
///
/// Nor does what is not the same at each replay: reading a clock, random numbers, threads, files, the
/// environment, printing, iterating over a hash map, and so on. Each error has a code and names what to use
/// instead; [`#[allow_nondeterminism]`](macro@allow_nondeterminism) is for what does no harm. Names are
/// resolved through the imports of the function and of its file. What a name cannot tell is left to clippy
/// and to the test kit.
///
/// # Options
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `name = ".."` | the name in histories; keep it when the function is renamed | the function's name |
/// | `lock = false` | it is not compared with `perennial.lock` | once it is released, a change that runs in flight could not follow does not compile |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
///
/// # What it becomes
///
/// A function that creates the call and, under the same name, a type with the constants `NAME` and
/// `GRAPH`. So a module of that name cannot stand beside it.
#[proc_macro_attribute]
pub fn workflow(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::workflow(attr.into(), item.into()).into()
}

/// An activity: code that touches the world, called by workflows and run by the runtime.
///
/// ```ignore
/// /// Charges the card. The provider deduplicates by key, so running twice is harmless.
/// #[activity(idempotent, attempt = "30s", retry(attempts = 5, initial = "200ms", cap = "1m"))]
/// async fn charge_card(acx: &ActivityCx, order: Order) -> Result<Receipt, Failure<Declined>> {
///     let bank = acx.state::<Bank>();
///     match bank.charge(&order, acx.idempotency_key()).await? {
///         Charge::Done(receipt) => Ok(receipt),
///         Charge::Declined(why) => Err(Failure::reject(Declined { why })),
///     }
/// }
///
/// let receipt = charge_card(cx, order).await?;        // in a workflow
/// let receipt = charge_card::run(&acx, order).await?; // in a test of the activity itself
/// ```
///
/// It takes `acx: &ActivityCx` and then at most eight inputs: owned data that serde can read and
/// write. It returns `Result<T, Failure<R>>`, or `Result<T, R>` if every error is final. These types
/// are at least as visible as the function.
///
/// # Options
///
/// What happens when it runs twice has to be said, by one of the first two.
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `pure` | it has no effect: it is run again | |
/// | `idempotent` | it has one, and with the same `acx.idempotency_key()` no second one: it is run again | |
/// | `name = ".."` | the name in histories; keep it when the function is renamed | the function's name |
/// | `attempt = "30s"` | the deadline of one attempt | none |
/// | `timeout = "10m"` | the deadline of all attempts together | none |
/// | `retry(attempts = 5, initial = "200ms", cap = "1m", factor = 2)` | how often, and after which waits, a transient failure is tried again; each part is optional | as often as it takes, after 100 ms, 200 ms, 400 ms … up to a minute |
/// | `blocking` | it is a plain `fn` and runs on a thread where it may block | it is an `async fn` |
/// | `state(Bank, Mailer)` | application state that functions it calls ask for; `acx.state::<Bank>()` in its own body is found without it | |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
///
/// Durations are written as numbers with units: `"200ms"`, `"30s"`, `"1m 30s"`, `"2h"`.
///
/// # What it becomes
///
/// A function that creates the call and, under the same name, a type with the constant `NAME` and
/// the function `run`, which is the code. So a module of that name cannot stand beside it. Lint
/// levels act on both, documentation and `#[deprecated]` on the call, other attributes on the code.
#[proc_macro_attribute]
pub fn activity(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::activity(attr.into(), item.into()).into()
}

/// A stub: an operation of a workflow whose result somebody outside of the run gives, by its reference.
///
/// ```ignore
/// /// A person looks at an order.
/// #[stub]
/// pub async fn review(cx: &Cx, order: Order) -> Verdict;
///
/// // In a workflow. The verdict is there once somebody has given it, however long that takes.
/// let verdict = review(cx, order).await?;
///
/// // Or with the reference in hand, and a time limit.
/// let offer = review(cx, order).open()?;
/// ask_for_review(cx, offer.reference().to_string()).await?;
/// let verdict = offer.timeout(days(7)).await?; // None: nobody has
///
/// // Outside of it.
/// client.fulfil(&reference, review, &Verdict::Good).await?;
/// ```
///
/// It is a signature that ends with `;`: `cx: &Cx`, then at most eight inputs, which are for whoever fulfils it, and
/// what it is fulfilled with: owned data that serde can read and write. These types are at least as visible as the
/// function. A call of it returns `Result<T, StubError>`.
///
/// # Options
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `name = ".."` | the name in histories; keep it when the function is renamed | the function's name |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
///
/// # What it becomes
///
/// A function that creates the call and, under the same name, a type with the constant `NAME`. So a module of that
/// name cannot stand beside it.
#[proc_macro_attribute]
pub fn stub(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::stub(attr.into(), item.into()).into()
}

/// A function that a workflow may call, because it was checked too.
///
/// ```ignore
/// #[durable]
/// async fn charge_twice(cx: &Cx, order: &Order) -> Result<(), Error> {
///     charge_card(cx, order.clone()).await?;
///     charge_card(cx, order.clone()).await?;
///     Ok(())
/// }
/// ```
///
/// It goes on any `async fn`, which a workflow may then wait for: generic, borrowing, a method, a method of
/// a trait or its implementation. A recursive call is boxed: `Box::pin(again(cx, n - 1)).await`.
///
/// It also goes on any `fn`, which stays as it was: what it does is checked by the same rules.
///
/// # Options
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `lock = false` | it is not compared with `perennial.lock` | as of a workflow |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
#[proc_macro_attribute]
pub fn durable(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::durable(attr.into(), item.into()).into()
}

/// A test of workflows: an ordinary `#[test]` whose function takes the test kit.
///
/// ```ignore
/// use perennial::testing::TestRun;
///
/// #[perennial::test]
/// fn refused_after_a_week(t: &mut TestRun) {
///     t.mock(charge_card, |order| Ok(Receipt::for_test(&order)));
///     t.mock(refund, |_| Ok(()));
///     let run = t.start(fulfil, order());
///     t.advance(days(7));
///     assert!(matches!(run.result(), Err(OrderError::NotApproved)));
/// }
/// ```
///
/// The function is a plain `fn` and returns nothing or a `Result`. When it returns, the checks at the end of
/// the test follow. Other attributes (`#[should_panic]`, `#[ignore]`, `#[cfg]`) act as on any test; `#[test]`
/// is not written.
///
/// # Options
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `strict` | a workflow that asks the operating system for anything fails the test; needs `perennial-sandbox` | only what changes decisions fails it |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
#[proc_macro_attribute]
pub fn test(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::test(attr.into(), item.into()).into()
}

/// A migration: a function that makes the input of a new run out of an old one, which ends there.
///
/// ```ignore
/// /// Orders got lines.
/// #[migration(from = order, to = order_v2)]
/// fn to_v2(old: &OldRun) -> Result<OrderV2, Refuse> {
///     let order: Order = old.input()?;
///     let receipt = old.last_result(charge_card)?;
///     old.keep(send_mail);
///     old.stop_timers();
///     Ok(OrderV2::with_receipt(order, receipt))
/// }
///
/// runtime.client().migrate("order-42", to_v2, "order-42-v2").await?;
/// ```
///
/// It takes `old: &OldRun`, which has the old run's input, what was recorded of it and what is open. It says of
/// each open operation what becomes of it, or the run is not moved. It returns the input of the workflow `to`
/// (a tuple where that takes several) or says why not. It is run once, outside of any workflow, and writes
/// nothing itself: the end of the old run and the beginning of the new one are one write.
///
/// `to_v2::run(&old)` runs the code directly, for tests.
///
/// # Options
///
/// | option | meaning | if it is left out |
/// |---|---|---|
/// | `from = order` | the workflow of the old run; `from = "order"` where its function is not in the program any more | it cannot be |
/// | `to = order_v2` | the workflow of the new run | the same workflow, over another input |
/// | `name = ".."` | the name in histories | the function's name |
/// | `crate = path` | where the crate `perennial` is | `::perennial` |
#[proc_macro_attribute]
pub fn migration(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::migration(attr.into(), item.into()).into()
}

/// Says that something nondeterministic in a workflow does no harm, and why.
///
/// ```ignore
/// #[workflow]
/// async fn fulfil(cx: &Cx, order: Order) -> Result<(), Error> {
///     #[allow_nondeterminism(clock, reason = "only for a log line")]
///     let begun = std::time::Instant::now();
///     charge_card(cx, order).await?;
///     #[allow_nondeterminism(clock, reason = "only for a log line")]
///     cx.log(format_args!("charged after {:?}", begun.elapsed()));
///     Ok(())
/// }
/// ```
///
/// It stands on a statement, a block, an expression or the arm of a `match`, inside of a function with
/// [`#[workflow]`](macro@workflow) or [`#[durable]`](macro@durable). What it stands on may then do what
/// the categories name, and only that. Several categories are separated by commas. The reason is for
/// those who read the code later, and cannot be left out. A category of which nothing is found is an error.
///
/// | category | what it allows | rule |
/// |---|---|---|
/// | `clock` | reading a clock | D101 |
/// | `random` | random numbers and ids | D102 |
/// | `threads` | threads, blocking channels, locks | D103 |
/// | `tasks` | spawned tasks, async channels, `block_on` | D104 |
/// | `timers` | sleeping, timers | D105 |
/// | `files` | files and folders | D106 |
/// | `env` | environment, arguments, working folder | D107 |
/// | `network` | sockets, clients, name look-up | D108 |
/// | `processes` | other processes, signals, `exit` | D109 |
/// | `output` | `println!` and kin, standard output | D110 |
/// | `hash_order` | iterating over a `HashMap` or `HashSet` | D111 |
/// | `addresses` | addresses as text or numbers, thread ids | D112 |
/// | `statics` | statics that change | D113 |
/// | `thread_locals` | thread-local variables | D114 |
///
/// The sandbox of the test kit also looks away while such code runs.
#[proc_macro_attribute]
pub fn allow_nondeterminism(attr: TokenStream, item: TokenStream) -> TokenStream {
    perennial_codegen::allow_nondeterminism(attr.into(), item.into()).into()
}
