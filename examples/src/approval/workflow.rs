//! The workflow.

use perennial::prelude::*;

use super::{APPROVAL, Answer, Order, Outcome, Person, place_order, tell};

/// A purchase that the boss has to approve of.
#[workflow]
pub async fn purchase(cx: &Cx, order: Order) -> Result<Outcome, Error> {
    let question = format!("may we buy {} for {}?", order.item, order.price);
    tell(cx, Person::Boss, question.clone()).await?;
    let outcome = match answer(cx, &question, cx.now() + order.within).await? {
        Some(Answer { by, yes: true, .. }) => {
            let order = place_order(cx, order).await?;
            Outcome::Bought { order, by }
        }
        Some(Answer { by, because, .. }) => Outcome::Refused { by, because },
        None => Outcome::Unanswered,
    };
    tell(cx, Person::Buyer, outcome.to_string()).await?;
    Ok(outcome)
}

/// The first answer that is one; `None`: there was none until the deadline.
#[durable]
async fn answer(cx: &Cx, question: &str, deadline: Timestamp) -> Result<Option<Answer>, Error> {
    loop {
        // However often it is asked again, the boss has no more time than at first.
        let left = deadline.since(cx.now());
        match cx.receive(APPROVAL).timeout(left).await {
            Ok(answer) => return Ok(answer),
            // Who sends it may be of another version, or in another language. It is taken, and does not come again.
            Err(ReceiveError::Invalid { .. }) => {
                let again = format!("that was no answer; {question}");
                tell(cx, Person::Boss, again).await?;
            }
            Err(other) => return Err(other.into()),
        }
    }
}
