//! What a workflow waits for, as it is known before anything runs (M38).

#![allow(clippy::unwrap_used)]

use perennial::Graph;
use perennial::history::Channel;
use perennial::prelude::*;

mod names {
    use super::*;

    pub(super) const APPROVAL: Message<bool> = Message::new("approval");
    pub(super) static NOTE: Message<Vec<String>> = Message::new("note");
    pub(super) const BELL: Signal<u64> = Signal::new("bell");
}

const APPROVAL: Signal<()> = Signal::new("approval");

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Waits for a message in each form in which that stands in a body.
#[workflow]
async fn purchase(cx: &Cx, cents: u64) -> Result<(), Error> {
    let mut set = JoinSet::new(cx);
    set.submit(cx.receive(names::NOTE));
    let note = charge(cx, cents);
    let (by, _) = join!(cx.receive(names::APPROVAL), note);
    select! {
        rung = cx.wait_for(names::BELL).timeout(days(1)) => drop(rung?),
        _ = cx.wait_for(self::APPROVAL) => {},
    }
    if by? {
        cx.receive(names::APPROVAL).await?;
    }
    Ok(())
}

#[workflow]
async fn quiet(cx: &Cx) -> Result<u64, Error> {
    Ok(charge(cx, 5).await?)
}

#[durable]
async fn helper(cx: &Cx) -> Result<bool, ReceiveError> {
    cx.receive(names::APPROVAL).await
}

#[durable]
async fn other_helper(cx: &Cx) -> Result<u64, Error> {
    Ok(charge(cx, 5).await?)
}

#[workflow]
async fn by_a_helper(cx: &Cx) -> Result<bool, Error> {
    cx.wait_for(APPROVAL).await?;
    Ok(helper(cx).await?)
}

#[workflow]
async fn by_a_helper_that_is_quiet(cx: &Cx) -> Result<u64, Error> {
    other_helper(cx).await
}

#[workflow]
async fn by_a_name_of_its_own(cx: &Cx) -> Result<bool, Error> {
    const BELL: Message<bool> = Message::new("of-its-own");
    Ok(cx.receive(BELL).await?)
}

#[workflow]
async fn by_a_variable(cx: &Cx, urgent: bool) -> Result<bool, Error> {
    let name = if urgent {
        names::APPROVAL
    } else {
        Message::new("later")
    };
    Ok(cx.receive(name).await?)
}

fn text(graph: &Graph) -> String {
    let mut lines: Vec<String> = graph
        .receives()
        .iter()
        .map(|one| {
            let data = one.data();
            format!(
                "{:?} {} {} {}",
                one.channel, one.name, one.constant, data.name
            )
        })
        .collect();
    if graph.listens_for_others {
        lines.push("others".to_owned());
    }
    lines.join("\n")
}

#[test]
fn constants_are_known_by_their_names_and_types() {
    insta::assert_snapshot!(text(purchase::GRAPH), @"
    Message note NOTE alloc::vec::Vec<alloc::string::String>
    Message approval APPROVAL bool
    Signal bell BELL u64
    Signal approval APPROVAL ()
    ");
    insta::assert_snapshot!(text(quiet::GRAPH), @"");
    insta::assert_snapshot!(text(by_a_helper_that_is_quiet::GRAPH), @"");
}

#[test]
fn what_cannot_be_seen_is_told_as_unknown() {
    insta::assert_snapshot!(text(by_a_helper::GRAPH), @"
    Signal approval APPROVAL ()
    others
    ");
    insta::assert_snapshot!(text(by_a_name_of_its_own::GRAPH), @"others");
    insta::assert_snapshot!(text(by_a_variable::GRAPH), @"others");
}

#[test]
fn m38_a_workflow_says_whether_it_waits_for_a_name() {
    let declares = |graph: &Graph, name| {
        [Channel::Message, Channel::Signal].map(|channel| graph.declares(channel, name))
    };
    assert_eq!(declares(purchase::GRAPH, "approval"), [Some(true); 2]);
    assert_eq!(declares(purchase::GRAPH, "bell"), [Some(false), Some(true)]);
    assert_eq!(declares(purchase::GRAPH, "aproval"), [Some(false); 2]);
    assert_eq!(declares(quiet::GRAPH, "approval"), [Some(false); 2]);
    assert_eq!(declares(by_a_helper::GRAPH, "approval"), [None, Some(true)]);
    assert_eq!(declares(by_a_variable::GRAPH, "approval"), [None; 2]);
}

mod stubs {
    use super::*;

    #[stub]
    pub(super) async fn review(cx: &Cx, order: String, cents: u64) -> bool;
}

#[stub(name = "put-in")]
async fn inject(cx: &Cx) -> Option<String>;

#[workflow]
async fn offering(cx: &Cx) -> Result<bool, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let order = mailbox.next().await?.unwrap_or_default();
    charge(cx, 5).await?;
    Ok(stubs::review(cx, order, 5)
        .timeout(days(1))
        .await?
        .unwrap_or(false))
}

#[test]
fn stubs_are_known_by_their_names_and_types() {
    let offers = offering::GRAPH.offers();
    let texts: Vec<_> = offers
        .iter()
        .map(|one| format!("{} {} -> {}", one.name, one.input.name, one.result.name))
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    put-in () -> core::option::Option<alloc::string::String>
    review (alloc::string::String, u64) -> bool
    ");
    assert!(!offering::GRAPH.listens_for_others);
    assert!(quiet::GRAPH.offers().is_empty());
}
