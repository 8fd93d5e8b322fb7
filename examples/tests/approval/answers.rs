//! Answers, each by a process of its own.

use crate::world::World;

const BUY: &str = "buy desk-42 300 a standing desk";

#[test]
fn a_purchase_is_asked_for_approved_and_made() {
    let world = World::new();
    let asked = world.done(BUY);
    assert_eq!(world.orders(), [""; 0]);
    let listed = world.done("list");
    let approved = world.done("approve desk-42 --by Grace");
    assert_eq!(world.orders(), ["a standing desk for 300\n"]);
    let shown = world.done("show desk-42");
    let said = format!("{asked}\n{listed}\n{approved}\n{shown}");
    insta::assert_snapshot!("approved", said);
    assert_eq!(
        world.done(BUY),
        world.done("list"),
        "it is the same purchase"
    );
}

#[test]
fn a_purchase_is_refused() {
    let world = World::new();
    world.done(BUY);
    let refused = world.done("refuse desk-42 --by Grace we have three");
    assert_eq!(
        refused,
        "desk-42: answer 1 is stored\n\
         desk-42: letter to the buyer: refused by Grace: we have three\n"
    );
    assert_eq!(world.orders(), [""; 0]);
}

#[test]
fn an_answer_may_be_given_twice_and_not_be_changed() {
    let world = World::new();
    world.lose_letters();
    let mut running = world.start();
    running.type_line(BUY);
    running.type_line("approve desk-42 --by Grace");
    running.until("answer 1 is stored");
    running.type_line("approve desk-42 --by Grace");
    let twice = running.until("desk-42");
    running.kill();
    let changed = world.not_done("refuse desk-42 --by Grace");
    world.find_letters();
    let mut running = world.start();
    running.until("letter to the buyer");
    running.end();
    // Also now that the purchase has ended.
    let ended = world.done("approve desk-42 --by Grace");
    assert_eq!(twice, ended);
    let shown = world.done("show desk-42");
    insta::assert_snapshot!("twice", format!("{twice}\n{changed}\n{shown}"));
    assert_eq!(world.orders().len(), 1);
}

#[test]
fn an_answer_that_comes_too_late_is_refused() {
    let world = World::new();
    let mut running = world.start();
    running.type_line(&format!("{BUY} --within 0s"));
    running.until("letter to the buyer: not bought, since nobody answered in time");
    running.end();
    let late = world.not_done("approve desk-42 --by Grace");
    insta::assert_snapshot!("late", late);
    assert_eq!(world.orders(), [""; 0]);
}

#[test]
fn what_is_no_answer_is_answered_with_the_question() {
    let world = World::new();
    world.done(BUY);
    let wrong = world.done(r#"send desk-42 {"by": "Grace", "yes": "sure"}"#);
    let right = world.done(r#"send desk-42 {"by": "Grace", "yes": true}"#);
    let shown = world.done("show desk-42");
    insta::assert_snapshot!("wrong", format!("{wrong}\n{right}\n{shown}"));
}

#[test]
fn an_answer_can_come_with_the_purchase() {
    let world = World::new();
    let bought = world.done(&format!("{BUY} --approved-by Grace"));
    assert!(bought.ends_with("approved by Grace\n"), "{bought}");
    let again = world.done("approve desk-42 --by Grace");
    assert!(again.contains("Grace has said so before"), "{again}");
    assert_eq!(world.orders().len(), 1);
}
