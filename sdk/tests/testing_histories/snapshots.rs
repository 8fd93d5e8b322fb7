use perennial::history::History;
use perennial::prelude::*;
use perennial::testing::{Recorded, Snapshot};
use perennial::{Timestamp, Workflow, assert_history};

use crate::history;
use crate::story::Story;
use crate::workflows::{order, v1, v2};

/// A run of `fulfil` up to its end.
fn fulfilled<W: Workflow>(id: &str, begin: u64, checked: bool) -> History {
    let mut story = Story::untold::<W>();
    story.set_clock(Timestamp::from_millis(begin));
    story.observe(crate::story::started::<W>(order("A-1")));
    if checked {
        story.complete(1, ());
    }
    let first = u64::from(checked) + 1;
    story.advance(700);
    story.complete(first, "R-1");
    story.fire(first + 1);
    story.complete(first + 2, ());
    assert!(story.is_finished());
    history(id, &story)
}

/// The lines that only one of two texts has.
fn difference(old: &str, new: &str) -> String {
    let only = |these: &str, those: &str, mark: &str| -> Vec<String> {
        let those: Vec<_> = those.lines().collect();
        let only = these.lines().filter(|line| !those.contains(line));
        only.map(|line| format!("{mark} {line}")).collect()
    };
    [only(old, new, "-"), only(new, old, "+")]
        .concat()
        .join("\n")
}

/// What the kit's runs are to a test: something that has a history.
struct Run(History);

impl Recorded for Run {
    fn history(&self) -> History {
        self.0.clone()
    }
}

#[test]
fn the_snapshot_is_in_a_file_that_is_named_after_the_test() {
    let run = Run(fulfilled::<v1::fulfil>("order-42", 0, false));
    assert_history!(run);
    assert_history!(&run, Snapshot::new().lines().times(),);
}

#[test]
fn the_snapshot_may_have_a_name_or_stand_in_the_test() {
    let run = fulfilled::<v1::fulfil>("order-42", 0, false);
    let short = Snapshot::new()
        .redact("ship.input", "[shipment]")
        .redact("*.input.card", "[card]");
    assert_history!("a_name_of_its_own", run, short.clone());
    assert_history!(run, short, @r#"
    1 started      fulfil {"card":"[card]","cents":1200,"id":"A-1"}
    2   activity   ~1 charge_card {"card":"[card]","cents":1200,"id":"A-1"} workflows.rs fulfil
    3 completed    ~1 charge_card "R-1"
    4   sleep      ~2                                               workflows.rs fulfil
    5 fired        ~2 sleep
    6   uuid                                                        workflows.rs
    7   activity   ~3 ship "[shipment]"                             workflows.rs fulfil
    8 completed    ~3 ship null
    9 completed    "R-1"
    "#);
}

#[test]
fn other_ids_and_times_give_the_same_text() {
    let one = fulfilled::<v1::fulfil>("order-42", 0, false);
    let other = fulfilled::<v1::fulfil>("order-43", 1_600_000_000_000, false);
    assert_ne!(one, other);
    assert_eq!(one.text(), other.text());
}

#[test]
fn a_changed_workflow_differs_in_the_lines_that_it_changes() {
    let snapshot = Snapshot::new().unnumbered();
    let old = snapshot.text(&fulfilled::<v1::fulfil>("order-42", 0, false));
    let new = snapshot.text(&fulfilled::<v2::fulfil>("order-42", 0, true));
    insta::assert_snapshot!(difference(&old.unwrap(), &new.unwrap()), @r#"
    -             "article 0, in stock",
    -             "article 1, in stock",
    -             "article 2, in stock",
    -             "article 3, in stock"
    +   activity   check_fraud 1200                                    workflows.rs fulfil
    + completed    check_fraud null
    +             "article 0, 0 in stock",
    +             "article 1, 7 in stock",
    +             "article 2, 14 in stock",
    +             "article 3, 21 in stock"
    "#);
}

#[workflow]
async fn twice(cx: &Cx, receipt: String) -> Result<(), Error> {
    let both = join!(
        v1::give_back(cx, receipt.clone()),
        v1::give_back(cx, receipt)
    );
    assert!(matches!(both, (Ok(()), Ok(()))));
    cx.sleep(days(1)).await?;
    cx.sleep(days(2)).await?;
    Ok(())
}

#[test]
fn without_numbers_operations_of_one_name_are_told_apart() {
    let mut story = Story::of::<twice>("R-1");
    story.complete(2, ());
    story.complete(1, ());
    story.fire(3);
    story.fire(4);
    assert_history!(history("twice-1", &story), Snapshot::new().unnumbered().times(), @r#"
    started      twice "R-1"   2023-11-14T22:13:20.000Z
      activity   give.back "R-1"                                     snapshots.rs twice
      activity   give.back#2 "R-1"                                   snapshots.rs twice
    completed    give.back#2 null   2023-11-14T22:13:20.000Z
    completed    give.back null   2023-11-14T22:13:20.000Z
      sleep   until 2023-11-15T22:13:20.000Z                         snapshots.rs twice
    fired        sleep   2023-11-15T22:13:20.000Z
      sleep#2   until 2023-11-17T22:13:20.000Z                       snapshots.rs twice
    fired        sleep#2   2023-11-17T22:13:20.000Z
    completed    null
    "#);
}
