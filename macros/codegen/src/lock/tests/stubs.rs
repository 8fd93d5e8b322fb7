//! Stubs: the name and a time limit show, and that it is one; mailboxes offer theirs where they are opened.

use super::{found, shown};

const BASE: &str = r#"
use perennial::prelude::*;

#[stub]
pub async fn review(cx: &Cx, order: String) -> bool;

#[stub(name = "put-in")]
pub async fn inject(cx: &Cx) -> u64;

#[workflow]
pub async fn purchase(cx: &Cx, order: String) -> Result<(), Error> {
    let mailbox = Mailbox::open(cx, inject);
    let offer = review(cx, order.clone()).open()?;
    notify(cx, offer.reference()).await?;
    if offer.timeout(days(7)).await?.is_none() {
        review(cx, order).await?;
    }
    mailbox.next().await?;
    Ok(())
}
"#;

type Edits = &'static [(&'static str, &'static str)];

fn changed(edits: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "`{from}` is not in the workflow");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn what_a_run_in_flight_offers_shows() {
    let changes: [(&str, Edits); 6] = [
        (
            "an activity of that name",
            &[(
                "#[stub]\npub async fn review(cx: &Cx, order: String) -> bool;",
                "#[activity(pure)]\npub async fn review(acx: &ActivityCx, order: String) -> Result<bool, Failure> { Ok(true) }",
            )],
        ),
        (
            "another name",
            &[("#[stub]\npub", "#[stub(name = \"second-look\")]\npub")],
        ),
        ("no time limit", &[(".timeout(days(7))", "")]),
        (
            "waited for where it is offered",
            &[
                (".open()?;", ".await?;"),
                ("offer.timeout(days(7)).await?", "offer"),
            ],
        ),
        (
            "another mailbox",
            &[("open(cx, inject)", "open(cx, review)")],
        ),
        (
            "one offer less",
            &[("        review(cx, order).await?;\n", "")],
        ),
    ];
    let mut texts = Vec::new();
    for (what, edits) in changes {
        let text = shown(&found(BASE, &changed(edits)));
        assert!(text.contains("L30"), "{what}: {text}");
        texts.push(format!("{what}\n{text}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn what_is_no_difference_to_a_run_in_flight_does_not_show() {
    let changes: [(&str, Edits); 4] = [
        ("another time limit", &[("days(7)", "PATIENCE")]),
        (
            "a function of another name",
            &[
                ("pub async fn inject", "pub async fn interrupt"),
                ("open(cx, inject)", "open(cx, interrupt)"),
            ],
        ),
        (
            "a path",
            &[(
                "review(cx, order.clone())",
                "crate::review(cx, order.clone())",
            )],
        ),
        (
            "a variable",
            &[(
                "review(cx, order.clone()).open()?;",
                "{ let call = review(cx, order.clone()); call.open()? };",
            )],
        ),
    ];
    for (what, edits) in changes {
        let found = found(BASE, &changed(edits));
        let breaking: Vec<_> = found
            .into_iter()
            .filter(|finding| finding.level == super::Level::Error)
            .collect();
        assert_eq!(shown(&breaking), "", "{what}");
    }
}
