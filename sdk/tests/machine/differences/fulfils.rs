//! The same of what is fulfilled of what runs offer (S3, S9).

use super::*;
use perennial::OperationId;

#[stub]
async fn review(cx: &Cx, order: String) -> u64;

#[stub]
async fn inject(cx: &Cx) -> u64;

fn asked(number: u64) -> OperationId {
    OperationId {
        run: RunId::new("desk").unwrap(),
        number,
    }
}

change! { inserted_a_fulfilment,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: activity ship / fulfil "review""# }

change! { removed_a_fulfilment,
|cx| { charge(cx, 1).await?; cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @r#"
H204 removed at 4: fulfil "review" / activity ship
H201 changed at 4: fulfil "review" / activity ship
"# }

change! { another_stub,
|cx| { cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.fulfil(&asked(1), inject, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H201 changed at 2: fulfil "review" / fulfil "inject""# }

change! { another_offer,
|cx| { cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.fulfil(&asked(2), review, &1).await?; Ok(ship(cx, 2).await?) }, @r#"H202 changed input at 2: fulfil "review" / fulfil "review""# }

change! { another_value,
|cx| { cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }
=> { cx.fulfil(&asked(1), review, &2).await?; Ok(ship(cx, 2).await?) }, @r#"H202 changed input at 2: fulfil "review" / fulfil "review""# }

change! { swapped_a_fulfilment_and_an_activity,
|cx| { cx.fulfil(&asked(1), review, &1).await?; Ok(ship(cx, 2).await?) }
=> { let n = ship(cx, 2).await?; cx.fulfil(&asked(1), review, &1).await?; Ok(n) }, @r#"
H205 reordered at 2: fulfil "review" / activity ship
H203 inserted at 2: fulfil "review" / activity ship
"# }

/// With what, and which offer, is shown part by part.
#[test]
fn another_offer_is_told_by_its_place() {
    #[allow(dead_code)]
    mod old {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            cx.fulfil(&asked(1), review, &1).await?;
            Ok(1)
        }
    }
    #[allow(dead_code)]
    mod new {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            cx.fulfil(&asked(2), review, &1).await?;
            Ok(1)
        }
    }
    let error = differences::<old::flow, new::flow>().remove(0);
    insta::assert_snapshot!(placeless(&error.to_string()));
}
