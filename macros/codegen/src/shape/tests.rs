#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use super::{Shape, Surroundings};
use crate::index::Index;
use crate::names::Names;
use crate::parse::{Body, Function};

/// Activities with other names in histories.
const CRATE: &str = r#"
    #[activity(pure, name = "send-mail")]
    async fn notify(acx: &ActivityCx) {}
    #[activity(pure, name = "send-mail")]
    async fn tell(acx: &ActivityCx) {}
    #[activity(pure, name = "parcel service: ship")]
    async fn send_parcel(acx: &ActivityCx) {}
    #[stub(name = "second look")]
    async fn review(cx: &Cx, order: Order) -> bool;
    #[stub]
    async fn inject(cx: &Cx) -> String;
"#;

pub(crate) fn shape_of(function: &str) -> Shape {
    let function: Function = syn::parse_str(function).unwrap();
    let Body::Parsed(body) = &function.body else {
        panic!("it is not parsed");
    };
    let mut index = Index::default();
    index.add(std::path::Path::new("src/lib.rs"), CRATE);
    let names = Names::default();
    let surroundings = Surroundings {
        index: &index,
        names: &names,
        file: None,
    };
    let context = crate::expand::durable_context(&function.sig);
    Shape::of(&function.sig, body, context, &surroundings, true)
}

/// The lines of a workflow with this body.
fn text(body: &str) -> String {
    shape_of(&format!(
        "async fn order(cx: &Cx, order: Order, limit: u64) -> R {{ {body} }}"
    ))
    .text()
}

#[test]
fn each_form_has_its_lines() {
    let mut report = String::new();
    for body in [
        "let a = charge(cx, order.clone()).retry(R).await?; cx.sleep(days(1)).await; ship(cx, a).await",
        "let a = charge(cx, 1); let b = ship(cx, 2); b.await?; let r = a.await; r?; Ok(1)",
        "if order.total > limit { charge(cx, 1).await?; } else if x { } else { refund(cx).await?; return Ok(1); }",
        "match charge(cx).await { Ok(a) => a, Err(e) => return Err(e) }; x.parse()?; ship(cx).await",
        "loop { match charge(cx).await { Ok(a) => break a, Err(_) => { cx.sleep(x).await; } } if done { break } }",
        "let n = cx.random::<u8>(); let w = cx.record(\"who\", || 5); cx.log(format!(\"{n}\")); notify(cx).await?; send_parcel(cx).await",
        "let (a, b) = join!(charge(cx), async { ship(cx).await?; Ok(1) }); a?; b?; join_all(ids.iter().map(|n| ship(cx, *n))).await;",
        "select! { r = charge(cx) => { r?; ship(cx).await? } _ = cx.sleep(x) => refund(cx).await?, }",
        "let mut calls = vec![]; for id in ids { calls.push(ship(cx, id)); } for r in join_all(calls).await { r? }",
        "let mut set = JoinSet::new(cx); set.submit(async move { charge(cx).await }); while let Some(x) = set.next().await { x?; } let t = cx.spawn(ship(cx)); t.await",
        "if cx.patched(\"a\") { fraud(cx).await?; } match cx.version(\"b\", 0..=2) { 0 => {} 1 | 2 => ship(cx).await? }",
        "let a = review(cx, order).await?; let b = review(cx, a).timeout(days(7)).await?; let o = review(cx, b).open()?; notify(cx, o.reference()).await?; o.timeout(d).await",
        "let mail = Mailbox::open(cx, crate::inject); let mut set = JoinSet::named(cx, \"turn\"); set.submit(review(cx, 1)); select! { m = mail.next() => ship(cx, m?).await?, _ = set.next() => {} }",
        "let mut set = JoinSet::named(cx, TURN).on_close(Close::Detach); set.submit(ship(cx)); let b = JoinSet::<u8>::named(cx, name).on_close(close); let c = JoinSet::named(cx, \"c\").on_close(Close::Drop); set.next().await; drop((b, c));",
        "let f = |n| async move { ship(cx, n).await }; f(1).await; f(2).await; let d = pick(cx, 3); self.helper(cx).await; let Ok(x) = other(cx).await else { return Ok(1) };",
        "if a(cx).await? && b(cx).await? { c(cx).await; } 'outer: loop { for x in y { if z { s(cx).await; break 'outer } } }",
        "let (a, b) = (charge(cx), ship(cx)); b.await?; a.await; let c: Call = if x { charge(cx) } else { ship(cx) }; c.await",
        "twice(cx, |cx| charge(cx, 1)).await?; let c = &self.cx; let a = ship(c); a.await; self.cx.sleep(d).await; handed(cx, f).await",
        "retry!(charge(cx)); assert!(charge(cx).await.is_ok()); if matches!(ship(cx).await, Err(_)) { return Ok(1) } vec![a(cx).await, b(cx).await]",
        "let by = cx.receive(names::APPROVAL).await?; cx.wait_for((Self::BELL)).timeout(days(1)).await?; cx.receive(channel).await?; cx.receive(Message::new(\"a\")).await",
        "let wait = cx.receive(A); let wait = wait.timeout(d); select! { a = wait => a?, b = cx.receive(B) => ship(cx, b).timeout(d).await? } let (a, b) = join!(cx.receive(A).timeout(d), cx.receive(A)); a?; b?; while let Some(n) = cx.receive(A).timeout(d).await? { ship(cx, n).await?; }",
        "cx.send(&to, names::RESERVED, &n).await?; let ring = cx.signal(&cx.run_id(), (BELL), &1); ring.await?; cx.send(&to, channel, &n).await; join_all(runs.iter().map(|to| cx.send(to, A, &1))).await;",
        "cx.fulfil(&asked, review, &true).await?; let given = cx.fulfil(&asked, crate::inject, &n); given.await?; cx.fulfil(&asked, pick(n), &n).await; join_all(all.iter().map(|asked| cx.fulfil(asked, review, &1))).await;",
        "let mut timer = cx.sleep(d); loop { select! { _ = &mut timer => break, m = set.next() => handle(cx, m).await? } }",
    ] {
        writeln!(report, "{body}\n{}", text(body)).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_future_that_is_pinned_is_shown_where_it_is_waited_for() {
    for made in [
        "pin!(charge(cx, 1).retry(R))",
        "std::pin::pin!(charge(cx, 1))",
        "Box::pin(charge(cx, 1))",
        "Box::pin(pin!((charge(cx, 1))))",
    ] {
        let body = format!("let mut call = {made}; ship(cx).await; call.as_mut().await?;");
        assert_eq!(text(&body), "ship\ncharge?\n", "{made}");
    }
    assert_eq!(text("pin! { let call = charge(cx); }"), "pin!\n");
}

#[test]
fn the_lines_of_pure_code_are_none() {
    for body in [
        "Ok(1)",
        "if order.total > limit { return Err(e) } Ok(order.total.parse()?)",
        "let now = cx.now(); cx.log(\"x\"); for i in 0..3 { if i > 2 { break } } Ok(now)",
        "let f = |n: u64| n + 1; let v: Vec<_> = items.iter().map(|i| f(i)).collect(); Ok(v)",
        "let set = JoinSet::<u8>::new(cx); Ok(set.len())",
        "fn inner(cx: &Cx) { charge(cx).await } Ok(1)",
    ] {
        assert_eq!(text(body), "", "{body}");
    }
}

/// Variables that hold each other would be 2^40 lines.
#[test]
fn conditions_have_the_names_that_histories_have() {
    let flow = |name: &str| {
        let shape = shape_of(&format!(
            "async fn order(cx: &Cx) -> R {{ match {name}(cx).await {{ Ok(1) => ship(cx).await, _ => Ok(1) }} }}"
        ));
        let flow = shape.whole().flow.into_iter();
        flow.map(|(hash, _)| hash).collect::<Vec<_>>()
    };
    assert_eq!(flow("notify"), flow("tell"));
    assert_ne!(flow("notify"), flow("send_parcel"));
}

#[test]
fn futures_in_futures_in_futures_come_to_an_end() {
    let mut body = "let a0 = async { charge(cx).await };".to_owned();
    for n in 1..40 {
        let before = n - 1;
        write!(
            body,
            "let a{n} = async {{ a{before}.await; a{before}.await }};"
        )
        .unwrap();
    }
    body.push_str("a39.await");
    assert!(text(&body).lines().count() < 200_000);
}
