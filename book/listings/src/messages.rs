//! *Messages and signals*.

// ANCHOR: imports
use std::fmt::Write as _;

use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::{
    Client, MessageState, ReadError, Receipt, RunHandle, SendError, StartError,
};
use serde::{Deserialize, Serialize};
// ANCHOR_END: imports

/// Asks for what a workflow then waits for.
#[activity(pure)]
pub async fn ask_boss(_acx: &ActivityCx, _question: String) -> Result<(), Failure> {
    Ok(())
}

// ANCHOR: name
/// What somebody says about a purchase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub by: String,
    pub yes: bool,
}

pub const APPROVAL: Message<Answer> = Message::new("approval");
// ANCHOR_END: name

// ANCHOR: receive
/// Who has approved of a purchase; `None`: it was refused.
#[workflow]
pub async fn purchase(cx: &Cx, cents: u64) -> Result<Option<String>, Error> {
    ask_boss(cx, format!("may I spend {cents}?")).await?;
    let answer = cx.receive(APPROVAL).await?;
    Ok(answer.yes.then_some(answer.by))
}
// ANCHOR_END: receive

// ANCHOR: send
pub async fn approve(client: &Client, run: &RunId) -> Result<Receipt, SendError> {
    let answer = Answer {
        by: "Grace".to_owned(),
        yes: true,
    };
    client.send(run, APPROVAL, &answer).await
}
// ANCHOR_END: send

// ANCHOR: timeout
#[workflow]
pub async fn purchase_within_a_week(cx: &Cx, cents: u64) -> Result<Option<String>, Error> {
    ask_boss(cx, format!("may I spend {cents}?")).await?;
    match cx.receive(APPROVAL).timeout(days(7)).await? {
        Some(answer) => Ok(answer.yes.then_some(answer.by)),
        None => Ok(None), // nobody has said anything
    }
}
// ANCHOR_END: timeout

// ANCHOR: votes
/// How many of three voters say yes, if they say it within a week.
#[workflow]
pub async fn vote(cx: &Cx) -> Result<usize, Error> {
    let end = cx.now() + days(7);
    let mut yes = 0;
    for _ in 0..3 {
        let left = end.since(cx.now());
        match cx.receive(APPROVAL).timeout(left).await? {
            Some(answer) => yes += usize::from(answer.yes),
            None => break,
        }
    }
    Ok(yes)
}
// ANCHOR_END: votes

// ANCHOR: select
pub const WITHDRAWN: Message<String> = Message::new("withdrawn");

/// What was decided, by whoever was first.
#[workflow]
pub async fn purchase_or_not(cx: &Cx) -> Result<String, Error> {
    select! {
        answer = cx.receive(APPROVAL) => Ok(format!("{} has answered", answer?.by)),
        why = cx.receive(WITHDRAWN) => Ok(format!("withdrawn: {}", why?)),
    }
}
// ANCHOR_END: select

// ANCHOR: key
/// Grace clicks, and the answer is lost, so she clicks again: it is one message.
pub async fn approve_once(client: &Client, run: &RunId) -> Result<(), SendError> {
    let answer = Answer {
        by: "Grace".to_owned(),
        yes: true,
    };
    let send = || {
        let message = client.send(run, APPROVAL, &answer);
        message.idempotency_key("answer of Grace")
    };
    let first = send().await?;
    let again = send().await?;
    assert_eq!((again.number, again.duplicate), (first.number, true));
    Ok(())
}
// ANCHOR_END: key

// ANCHOR: key_from
/// A sender that has noted, durably, what it sends and when it first did.
pub async fn send_noted(
    client: &Client,
    run: &RunId,
    answer: &Answer,
    (key, first): (&str, Timestamp),
) -> Result<Receipt, SendError> {
    let message = client.send(run, APPROVAL, answer);
    message.idempotency_key_from(key, first).await
}
// ANCHOR_END: key_from

// ANCHOR: start
pub async fn start_approved(client: &Client) -> Result<RunHandle<purchase>, StartError> {
    let answer = Answer {
        by: "Grace".to_owned(),
        yes: true,
    };
    client
        .start(purchase, "purchase-42", 1_200)
        .send_with_key(APPROVAL, &answer, "answer of Grace")
        .await
}
// ANCHOR_END: start

// ANCHOR: errors
pub async fn explain(client: &Client, run: &RunId, answer: &Answer) -> String {
    match client.send(run, APPROVAL, answer).await {
        Ok(receipt) => format!("answer {} is there", receipt.number),
        Err(SendError::RunNotFound { .. }) => "there is no such purchase".to_owned(),
        Err(SendError::RunFinished { finished, .. }) => format!("it was decided at {finished}"),
        Err(SendError::Unacknowledged { .. }) => "it may be there; try again".to_owned(),
        Err(other) => other.to_string(),
    }
}
// ANCHOR_END: errors

// ANCHOR: invalid
#[workflow]
pub async fn patient_purchase(cx: &Cx) -> Result<bool, Error> {
    loop {
        match cx.receive(APPROVAL).await {
            Ok(answer) => return Ok(answer.yes),
            Err(ReceiveError::Invalid { problem, .. }) => {
                ask_boss(cx, format!("what do you mean? {problem}")).await?;
            }
            Err(other) => return Err(other.into()),
        }
    }
}
// ANCHOR_END: invalid

// ANCHOR: json
/// The same messages, for a sender that has only JSON.
const ANY_APPROVAL: Message<Value> = Message::new(APPROVAL.name());

pub async fn send_json(client: &Client, run: &RunId, json: Value) -> Result<Receipt, SendError> {
    client.send(run, ANY_APPROVAL, &json).await
}
// ANCHOR_END: json

// ANCHOR: list
/// What has become of all messages of a run, a line each.
pub async fn tell(client: &Client, run: &RunId) -> Result<String, ReadError> {
    let mut text = String::new();
    let all = client.list_messages(run).limit(50);
    let mut page = all.page().await?;
    loop {
        for message in &page.messages {
            let state = match &message.state {
                MessageState::Consumed { operation, .. } => format!("taken by ~{operation}"),
                MessageState::Unread => "left unread".to_owned(),
                _ => "not taken yet".to_owned(),
            };
            let _ = writeln!(text, "#{} {}: {state}", message.number, message.name);
        }
        let Some(last) = page.messages.last().filter(|_| page.more) else {
            return Ok(text);
        };
        page = all.clone().after(last.number).page().await?;
    }
}
// ANCHOR_END: list

// ANCHOR: signal
pub const REFRESH: Signal<String> = Signal::new("refresh");

/// Writes a report each hour, and whenever somebody asks for one.
#[workflow]
pub async fn report(cx: &Cx, times: u32) -> Result<(), Error> {
    for _ in 0..times {
        let asked = cx.wait_for(REFRESH).timeout(hours(1)).await?;
        let by = asked.unwrap_or("the clock".to_owned());
        write(cx, format!("asked for by {by}")).await?;
    }
    Ok(())
}
// ANCHOR_END: signal

#[activity(pure)]
pub async fn write(_acx: &ActivityCx, _text: String) -> Result<(), Failure> {
    Ok(())
}

// ANCHOR: signal_send
pub async fn refresh(client: &Client, run: &RunId) -> Result<(), SendError> {
    client.signal(run, REFRESH, &"Ada".to_owned()).await
}
// ANCHOR_END: signal_send
