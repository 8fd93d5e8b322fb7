//! What does not show: refactors, and whatever runs in flight can go on with.

use super::{BASE, changed, found, shown};

type Edits = &'static [(&'static str, &'static str)];

const HARMLESS: &[(&str, Edits)] = &[
    ("nothing", &[]),
    ("a variable is renamed", &[("receipt", "paid")]),
    ("the context is renamed", &[("cx", "context")]),
    (
        "an input is renamed",
        &[("order:", "it:"), ("order.", "it."), ("&order", "&it")],
    ),
    (
        "a variable of a loop is renamed",
        &[
            ("item.", "thing."),
            ("for item", "for thing"),
            ("|item|", "|thing|"),
        ],
    ),
    ("a condition's variable is renamed", &[("limit", "most")]),
    ("all on one line", &[("\n    ", " ")]),
    (
        "comments",
        &[(
            "    cx.sleep(days(1))",
            "    // A day.\n    cx.sleep(/* one */ days(1))",
        )],
    ),
    (
        "documentation",
        &[(
            "#[workflow]",
            "/// Fulfils.\n#[workflow]\n#[allow(dead_code)]",
        )],
    ),
    (
        "pure code before",
        &[(
            "    let receipt",
            "    let total = order.total * 2;\n    let receipt",
        )],
    ),
    (
        "pure code between",
        &[(
            "    cx.sleep(days(1))",
            "    let week = days(7).max(days(1));\n    cx.sleep(days(1))",
        )],
    ),
    (
        "pure code in a loop",
        &[(
            "        match item.kind {",
            "        count += item.count;\n        match item.kind {",
        )],
    ),
    (
        "a log",
        &[(
            "    cx.sleep(days(1))",
            "    cx.log(format!(\"{receipt:?}\"));\n    cx.sleep(days(1))",
        )],
    ),
    (
        "tracing",
        &[(
            "    cx.sleep(days(1))",
            "    tracing::info!(%order, \"charged\");\n    cx.sleep(days(1))",
        )],
    ),
    (
        "the time is read",
        &[(
            "    cx.sleep(days(1))",
            "    let now = cx.now();\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a retry",
        &[(
            "order.total).await?",
            "order.total).retry(Retry::exponential()).await?",
        )],
    ),
    (
        "two options",
        &[(
            "review(cx, order.id)",
            "review(cx, order.id).timeout(days(2)).attempt(hours(1))",
        )],
    ),
    ("another duration", &[("days(1)", "days(3)")]),
    ("a duration by name", &[("days(1)", "PATIENCE")]),
    (
        "another argument",
        &[(
            "order.clone(), order.total",
            "order.without_notes(), order.total + fee(&order)",
        )],
    ),
    (
        "an argument more",
        &[("ask(cx, code)", "ask(cx, code, \"please\")")],
    ),
    (
        "a path in front",
        &[
            ("review(cx", "crate::desk::review(cx"),
            ("join!(", "perennial::join!("),
        ],
    ),
    ("generics", &[("track(cx", "track::<Item>(cx")]),
    (
        "the context is lent again",
        &[("review(cx,", "review(&cx,")],
    ),
    (
        "the context is cloned",
        &[("review(cx,", "review(&cx.clone(),")],
    ),
    (
        "the context has a second name",
        &[(
            "    cx.sleep(days(1))",
            "    let c = cx;\n    c.sleep(days(1))",
        )],
    ),
    (
        "a future in a variable",
        &[(
            "charge(cx, order.clone(), order.total).await?",
            "{ let call = charge(cx, order.clone(), order.total); call.await? }",
        )],
    ),
    (
        "a future in a variable, after others",
        &[
            (
                "    let receipt",
                "    let later = review(cx, order.id);\n    let receipt",
            ),
            ("review(cx, order.id).await?", "later.await?"),
        ],
    ),
    (
        "a future in a box",
        &[(
            "review(cx, order.id).await",
            "Box::pin(review(cx, order.id)).await",
        )],
    ),
    (
        "what was awaited in a variable",
        &[(
            "review(cx, order.id).await?;",
            "let reviewed = review(cx, order.id).await;\n        reviewed?;",
        )],
    ),
    (
        "another error",
        &[(
            "review(cx, order.id).await?",
            "review(cx, order.id).await.map_err(|_| Error::new(\"no\"))?",
        )],
    ),
    ("types", &[("let receipt =", "let receipt: Receipt =")]),
    (
        "parentheses",
        &[(
            "review(cx, order.id).await?",
            "((review(cx, order.id)).await)?",
        )],
    ),
    (
        "a branch that waits for nothing",
        &[(
            "    cx.sleep(days(1))",
            "    if order.total > 5 { total += 1; } else { total = 2; }\n    cx.sleep(days(1))",
        )],
    ),
    (
        "an `else` that waits for nothing",
        &[(
            "        review(cx, order.id).await?;\n    }",
            "        review(cx, order.id).await?;\n    } else {\n        small += 1;\n    }",
        )],
    ),
    (
        "a loop that waits for nothing",
        &[(
            "    cx.sleep(days(1))",
            "    for item in &order.items { total += item.total; }\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a match that waits for nothing",
        &[(
            "    cx.sleep(days(1))",
            "    let fee = match order.kind { Kind::A => 1, _ => 2 };\n    cx.sleep(days(1))",
        )],
    ),
    (
        "an arm that waits for nothing",
        &[(
            "            Kind::Download => {}",
            "            Kind::Download => {}\n            Kind::Nothing => total += 1,",
        )],
    ),
    (
        "an arm that waits for nothing is gone",
        &[("            Kind::Download => {}\n", "")],
    ),
    (
        "an arm that waits for nothing has moved",
        &[
            ("            Kind::Download => {}\n", ""),
            (
                "Kind::Letter => post(cx, item.clone()).await?,",
                "Kind::Letter => post(cx, item.clone()).await?,\n            Kind::Download => {}",
            ),
        ],
    ),
    (
        "an arm with braces",
        &[(
            "Kind::Parcel => ship(cx, item.clone()).await?,",
            "Kind::Parcel => { ship(cx, item.clone()).await?; }",
        )],
    ),
    (
        "a block",
        &[(
            "    cx.sleep(days(1)).await?;",
            "    { cx.sleep(days(1)).await?; }",
        )],
    ),
    (
        "pure code in a function",
        &[("order.items.iter()", "wanted(&order.items).iter()")],
    ),
    (
        "statements change places",
        &[(
            "    let code = cx.random::<u32>();",
            "    let a = 1;\n    let b = 2;\n    let code = cx.random::<u32>();\n    let c = b + a;",
        )],
    ),
    (
        "a type of a draw",
        &[(
            "let code = cx.random::<u32>()",
            "let code: u32 = cx.random()",
        )],
    ),
    (
        "what is recorded",
        &[("|| \"monday\".to_owned()", "|| today().to_string()")],
    ),
    (
        "the name of the macro's arm",
        &[("answer = ask", "said = ask"), ("=> answer?", "=> said?")],
    ),
    (
        "an arm of a join in a block",
        &[(
            "print_label(cx, order.id),",
            "async { print_label(cx, order.id).await },",
        )],
    ),
    (
        "all of them in a vector",
        &[(
            "join_all(order.items.iter().map(|item| track(cx, item.id))).await",
            "{ let calls: Vec<_> = order.items.iter().map(|item| track(cx, item.id)).collect(); join_all(calls).await }",
        )],
    ),
    (
        "a return at the end",
        &[(
            "    archive(cx, &order, invoice).await\n",
            "    return archive(cx, &order, invoice).await;\n",
        )],
    ),
    (
        "`continue` at the end of a loop",
        &[(
            "Answer::None => cx.sleep(minutes(5)).await?,",
            "Answer::None => { cx.sleep(minutes(5)).await?; continue; }",
        )],
    ),
    (
        "an activity's function has another name",
        &[
            ("fn charge(", "fn charge_card("),
            ("= charge(", "= charge_card("),
        ],
    ),
    (
        "an `else` with an `if` in it",
        &[(
            "        review(cx, order.id).await?;\n    }",
            "        review(cx, order.id).await?;\n    } else { if order.total > 9 { big += 1; } }",
        )],
    ),
    (
        "visibility and attributes",
        &[(
            "pub async fn fulfil",
            "#[must_use]\npub(crate) async fn fulfil",
        )],
    ),
    (
        "a helper's types",
        &[(
            "-> Result<Shipped, Error> {\n    let stored",
            "-> crate::Outcome {\n    let stored: Stored",
        )],
    ),
    (
        "a function of its own inside",
        &[(
            "    cx.sleep(days(1))",
            "    fn double(n: u64) -> u64 { n * 2 }\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a constant inside",
        &[(
            "    cx.sleep(days(1))",
            "    const DAY: u64 = 1;\n    cx.sleep(days(1))",
        )],
    ),
    ("numbers with signs between", &[("days(1)", "days(1_000)")]),
    (
        "an opt-out",
        &[(
            "    cx.sleep(days(1))",
            "    #[allow_nondeterminism(clock, reason = \"for a log\")]\n    let t = Instant::now();\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a new workflow",
        &[(
            "#[durable]",
            "#[workflow]\nasync fn other(cx: &Cx) -> R { ship(cx).await }\n#[durable]",
        )],
    ),
];

#[test]
fn refactors_do_not_show() {
    assert!(HARMLESS.len() > 50);
    for (what, edits) in HARMLESS {
        let text = changed(edits);
        let found = found(BASE, &text);
        assert!(found.is_empty(), "{what}:\n{}", shown(&found));
    }
}
