//! What shows: whatever runs in flight could not follow.

use super::{BASE, Level, changed, found, shown};

type Edits = &'static [(&'static str, &'static str)];

/// What changes, the code, where the finding is, and the edits.
const BREAKING: &[(&str, &str, &str, Edits)] = &[
    (
        "a wait is new",
        "L301",
        "fraud_check(cx, 1).await",
        &[(
            "    cx.sleep(days(1))",
            "    fraud_check(cx, 1).await?;\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a wait at the beginning is new",
        "L301",
        "hello(cx).await",
        &[("    let receipt", "    hello(cx).await?;\n    let receipt")],
    ),
    (
        "a wait at the end is new",
        "L301",
        "bye(cx).await",
        &[(
            "    archive(cx, &order, invoice).await\n",
            "    let done = archive(cx, &order, invoice).await;\n    bye(cx).await?;\n    done\n",
        )],
    ),
    (
        "a wait is gone",
        "L302",
        "join",
        &[("    cx.sleep(days(1)).await?;\n", "")],
    ),
    (
        "the first wait is gone",
        "L302",
        "if",
        &[(
            "charge(cx, order.clone(), order.total).await?",
            "Receipt::default()",
        )],
    ),
    (
        "a wait in a branch is gone",
        "L302",
        "cx.sleep(days(1)).await",
        &[(
            "    if order.total > limit {\n        review(cx, order.id).await?;\n    }\n",
            "",
        )],
    ),
    (
        "two change places",
        "L303",
        "cx.sleep(days(1)).await",
        &[
            ("    cx.sleep(days(1)).await?;\n", ""),
            (
                "    if order.total",
                "    cx.sleep(days(1)).await?;\n    if order.total",
            ),
        ],
    ),
    (
        "the arms of a join change places",
        "L303",
        "",
        &[(
            "print_label(cx, order.id), async { bill(cx, &receipt).await }",
            "async { bill(cx, &receipt).await }, print_label(cx, order.id)",
        )],
    ),
    (
        "the arms of a match change places",
        "L303",
        "",
        &[
            ("Kind::Parcel => ship", "Kind::Parcel => other"),
            ("Kind::Letter => post", "Kind::Letter => ship"),
            ("Kind::Parcel => other", "Kind::Parcel => post"),
        ],
    ),
    (
        "another activity",
        "L304",
        "inspect(cx, order.id).await",
        &[("review(cx", "inspect(cx")],
    ),
    (
        "an activity in place of a timer",
        "L304",
        "sleep(cx, days(1)).await",
        &[("cx.sleep(days(1))", "sleep(cx, days(1))")],
    ),
    (
        "another name in histories",
        "L304",
        "",
        &[("\"charge-card\"", "\"charge\"")],
    ),
    (
        "unconditional",
        "L304",
        "review(cx, order.id).await",
        &[(
            "    if order.total > limit {\n        review(cx, order.id).await?;\n    }\n",
            "    review(cx, order.id).await?;\n",
        )],
    ),
    (
        "conditional",
        "L304",
        "if",
        &[(
            "    cx.sleep(days(1)).await?;",
            "    if order.late { cx.sleep(days(1)).await?; }",
        )],
    ),
    (
        "`if` becomes `while`",
        "L304",
        "while",
        &[(
            "    if order.total > limit {",
            "    while order.total > limit {",
        )],
    ),
    (
        "`for` becomes `while`",
        "L304",
        "while",
        &[(
            "    for item in &order.items {",
            "    while let Some(item) = items.next() {",
        )],
    ),
    (
        "in the other branch",
        "L304",
        "",
        &[(
            "        review(cx, order.id).await?;\n    }",
            "        small();\n    } else { review(cx, order.id).await?; }",
        )],
    ),
    (
        "a `?` is gone",
        "L304",
        "cx.sleep(days(1)).await",
        &[("cx.sleep(days(1)).await?", "cx.sleep(days(1)).await")],
    ),
    (
        "a `?` is new",
        "L304",
        "archive(cx, &order, invoice).await",
        &[(
            "archive(cx, &order, invoice).await",
            "Ok(archive(cx, &order, invoice).await?)",
        )],
    ),
    (
        "a `?` on a variable is gone",
        "L302",
        "for",
        &[("let label = label?;", "let label = label.ok();")],
    ),
    (
        "a `return` is gone",
        "L302",
        "",
        &[("                return Err(Error::new(\"no\"));\n", "")],
    ),
    (
        "the kind of a draw",
        "L304",
        "cx.uuid",
        &[("cx.random::<u32>()", "cx.uuid()")],
    ),
    (
        "a draw is new",
        "L301",
        "cx.uuid",
        &[("    let code", "    let id = cx.uuid();\n    let code")],
    ),
    (
        "a draw is gone",
        "L302",
        "cx.record",
        &[("    let code = cx.random::<u32>();\n", "")],
    ),
    (
        "the name of what is recorded",
        "L304",
        "cx.record",
        &[("\"day\"", "\"weekday\"")],
    ),
    (
        "all at once becomes one after the other",
        "L304",
        "",
        &[(
            "join_all(order.items.iter().map(|item| track(cx, item.id))).await",
            "{ for item in &order.items { track(cx, item.id).await; } }",
        )],
    ),
    (
        "a join becomes a race",
        "L304",
        "",
        &[(
            "join!(print_label(cx, order.id), async { bill(cx, &receipt).await })",
            "select! { a = print_label(cx, order.id) => a, b = bill(cx, &receipt) => b }",
        )],
    ),
    (
        "an arm of a select is new",
        "L301",
        "stop",
        &[(
            "            _ = cx.sleep(hours(1)) => Answer::None,",
            "            _ = cx.sleep(hours(1)) => Answer::None,\n            _ = stop(cx) => Answer::No,",
        )],
    ),
    (
        "a helper is called instead",
        "L304",
        "both(cx).await",
        &[("    cx.sleep(days(1)).await?;", "    both(cx).await?;")],
    ),
    (
        "awaited twice",
        "L301",
        "",
        &[(
            "    cx.sleep(days(1)).await?;",
            "    cx.sleep(days(1)).await?;\n    cx.sleep(days(1)).await?;",
        )],
    ),
    (
        "what was awaited decides about the end",
        "L304",
        "",
        &[(
            "    cx.sleep(days(1)).await?;",
            "    let slept = cx.sleep(days(1)).await;\n    let Ok(()) = slept else { return Ok(late) };\n    slept?;",
        )],
    ),
    (
        "a helper changes",
        "L301",
        "notify(cx).await",
        &[(
            "    let stored =",
            "    notify(cx).await?;\n    let stored =",
        )],
    ),
    (
        "a helper is called another way",
        "L304",
        "",
        &[
            ("fn archive", "fn put_away"),
            ("    archive(cx", "    put_away(cx"),
        ],
    ),
    (
        "a workflow has another name",
        "L308",
        "",
        &[("fn fulfil", "fn deliver")],
    ),
];

#[test]
fn what_runs_could_not_follow_shows_at_its_place() {
    let mut report = String::new();
    for (what, code, at, edits) in BREAKING {
        let text = changed(edits);
        let findings = found(BASE, &text);
        let first = findings
            .iter()
            .find(|finding| finding.level == Level::Error);
        let first = first.unwrap_or_else(|| panic!("{what}: not found\n{}", shown(&findings)));
        let meant: String = first
            .source
            .chars()
            .skip(first.column - 1)
            .take(first.width)
            .collect();
        report += &format!("# {what}\n{first}\n");
        assert_eq!(first.code, Some(*code), "{what}:\n{}", shown(&findings));
        assert!(
            meant.contains(at),
            "{what}: `{meant}` is underlined\n{}",
            shown(&findings)
        );
    }
    insta::assert_snapshot!(report);
}

/// What the lines cannot tell, which is a warning.
const FLOW: &[(&str, Edits)] = &[
    (
        "a condition",
        &[("order.total > limit", "order.total >= limit")],
    ),
    (
        "another input in a condition",
        &[("order.total > limit", "order.count > limit")],
    ),
    (
        "what a condition's variable is made of",
        &[(
            "    if order.total > limit {",
            "    let much = order.total > 2 * limit;\n    if much {",
        )],
    ),
    (
        "what a loop goes over",
        &[("in &order.items", "in order.items.iter().take(3)")],
    ),
    (
        "what an arm before all others takes",
        &[
            ("Kind::Letter =>", "_ =>"),
            ("Kind::Download =>", "Kind::Download | Kind::Nothing =>"),
        ],
    ),
    (
        "a pattern",
        &[("Kind::Parcel =>", "Kind::Parcel | Kind::Box =>")],
    ),
    (
        "an early end in pure code",
        &[(
            "    cx.sleep(days(1))",
            "    if order.is_old() { return Ok(old) }\n    cx.sleep(days(1))",
        )],
    ),
    (
        "a `?` in pure code",
        &[(
            "    cx.sleep(days(1))",
            "    let n: u32 = order.note.parse()?;\n    cx.sleep(days(1))",
        )],
    ),
];

#[test]
fn changed_conditions_give_a_warning() {
    let mut report = String::new();
    for (what, edits) in FLOW {
        let findings = found(BASE, &changed(edits));
        let [finding] = findings.as_slice() else {
            panic!("{what}:\n{}", shown(&findings));
        };
        assert_eq!(finding.code, Some("L310"), "{what}");
        assert_eq!(finding.level, Level::Warning, "{what}");
        report += &format!("# {what}\n{finding}\n");
    }
    insta::assert_snapshot!(report);
}

/// How many futures are made in a loop is nothing that the lines tell.
#[test]
fn what_decides_which_futures_are_made_is_a_condition_too() {
    let order =
        |body: &str| format!("#[workflow]\nasync fn order(cx: &Cx, n: u32) -> R {{\n{body}\n}}");
    for (was, is) in [
        ("for i in 0..n {", "for i in 0..n + 1 {"),
        ("for i in 0..n {", "for i in 0..n { if i == 3 { continue }"),
        ("if n > 1 {", "if n > 2 {"),
        ("if n > 1 {", "{"),
        ("while n > 5 {", "while n > 6 {"),
        ("match n { 7 =>", "match n { 8 =>"),
        ("let Some(_) = a.get(0) else", "let Some(_) = a.get(1) else"),
    ] {
        let base = "let mut calls = vec![];
            for i in 0..n {
                calls.push(ship(cx, i));
            }
            if n > 1 {
                calls.extend(a.iter().map(|i| post(cx, i)));
            }
            while n > 5 {
                let next = mail(cx);
                calls.push(next);
            }
            match n { 7 => calls.push(wrap(cx)), _ => {} }
            let Some(_) = a.get(0) else {
                calls.push(keep(cx));
                unreachable!()
            };
            join_all(calls).await";
        assert!(base.contains(was), "{was}");
        let base = order(base);
        let findings = found(&base, &base.replace(was, is));
        let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Some("L310")], "{was} {is}\n{}", shown(&findings));
    }
    // A future that is waited for beside is none that was made for elsewhere.
    let apart = order("for i in 0..n { let call = ship(cx, i); call.await?; } Ok(())");
    let together = order("for i in 0..n { ship(cx, i).await?; } Ok(())");
    assert!(found(&apart, &together).is_empty());
}

#[test]
fn a_future_that_nobody_waits_for_any_more_gives_a_warning() {
    let order = |body: &str| {
        format!("#[workflow]\nasync fn order(cx: &Cx, n: u32) -> R {{\n{body}\npost(cx).await\n}}")
    };
    for (was, is) in [
        ("let _ = ship(cx, n).await;", "let _ = ship(cx, n);"),
        ("ship(cx, n).await.ok();", "kept(ship(cx, n));"),
        (
            "let both = async { ship(cx).await; wrap(cx).await }; both.await;",
            "let both = async { ship(cx).await; wrap(cx).await }; drop(both);",
        ),
        (
            "join_all(calls.map(|n| ship(cx, n))).await;",
            "join_all(calls.map(|n| ship(cx, n)));",
        ),
    ] {
        let findings = found(&order(was), &order(is));
        let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Some("L310")], "{is}\n{}", shown(&findings));
    }
}

#[test]
fn a_condition_in_a_variable_is_the_same_condition() {
    for edits in [
        [(
            "    if order.total > limit {",
            "    let much = order.total > limit;\n    if much {",
        )],
        [(
            "    if order.total > limit {",
            "    let total = order.total;\n    if (total > limit) {",
        )],
    ] {
        let found = found(BASE, &changed(&edits));
        assert!(found.is_empty(), "{}", shown(&found));
    }
}
