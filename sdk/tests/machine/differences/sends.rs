//! The same of sends to other runs (S3, S9).

use super::*;

const APPROVAL: Message<u64> = Message::new("approval");
const NOTE: Message<u64> = Message::new("note");
const BELL: Signal<u64> = Signal::new("bell");

fn desk() -> RunId {
    RunId::new("desk").unwrap()
}

fn shop() -> RunId {
    RunId::new("shop").unwrap()
}

change! { inserted_a_send,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: activity ship / send "note""# }

change! { removed_a_send,
|cx| { charge(cx, 1).await?; cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @r#"
H204 removed at 4: send "note" / activity ship
H201 changed at 4: send "note" / activity ship
"# }

change! { another_name_of_what_is_sent,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.send(&desk(), APPROVAL, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H201 changed at 2: send "note" / send "approval""# }

change! { a_signal_sent_for_a_message,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.signal(&desk(), BELL, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H201 changed at 2: send "note" / signal "bell""# }

change! { to_another_run,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.send(&shop(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H202 changed input at 2: send "note" / send "note""# }

change! { another_payload,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.send(&desk(), NOTE, &2).await?; Ok(ship(cx, 2).await?) }, @r#"H202 changed input at 2: send "note" / send "note""# }

change! { swapped_two_sends,
|cx| { cx.send(&desk(), NOTE, &1).await?; cx.send(&desk(), APPROVAL, &2).await?; Ok(1) }
=> { cx.send(&desk(), APPROVAL, &2).await?; cx.send(&desk(), NOTE, &1).await?; Ok(1) }, @r#"
H201 changed at 2: send "note" / send "approval"
H203 inserted at 2: send "note" / send "approval"
"# }

change! { swapped_a_send_and_an_activity,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { let n = ship(cx, 2).await?; cx.send(&desk(), NOTE, &1).await?; Ok(n) }, @r#"
H205 reordered at 2: send "note" / activity ship
H203 inserted at 2: send "note" / activity ship
"# }

change! { a_send_that_is_not_waited_for_any_more,
|cx| { cx.send(&desk(), NOTE, &1).await?; Ok(ship(cx, 2).await?) }
=> { let (sent, n) = join!(cx.send(&desk(), NOTE, &1), ship(cx, 2)); sent?; Ok(n?) }, @"
H205 reordered at 3: nothing / activity ship
  the history has it at event 4, after something that this code does not wait for here
H203 inserted at 3: nothing / activity ship
" }

change! { a_send_more_in_a_loop,
|cx| { for n in 0..2 { cx.send(&desk(), NOTE, &n).await?; } Ok(notify(cx, 1).await?) }
=> { for n in 0..3 { cx.send(&desk(), NOTE, &n).await?; } Ok(notify(cx, 1).await?) }, @r#"H203 inserted at 6: activity notify / send "note""# }

/// What it says, and to whom, is shown part by part.
#[test]
fn another_payload_is_told_by_its_place() {
    #[allow(dead_code)]
    mod old {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            cx.send(&desk(), NOTE, &1).await?;
            Ok(1)
        }
    }
    #[allow(dead_code)]
    mod new {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            cx.send(&shop(), NOTE, &1).await?;
            Ok(1)
        }
    }
    let error = differences::<old::flow, new::flow>().remove(0);
    insta::assert_snapshot!(placeless(&error.to_string()));
}
