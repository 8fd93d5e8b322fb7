//! What stubs are fulfilled with and told, and where they are used.

use perennial::prelude::*;
use perennial::testing::Run;

struct NotStored(u64);

#[stub]
async fn not_stored(cx: &Cx, n: u64) -> NotStored;

#[stub]
async fn review(cx: &Cx, order: String) -> bool;

#[stub]
async fn inject(cx: &Cx) -> u64;

#[activity(pure)]
async fn count(_acx: &ActivityCx) -> Result<u64, Failure> {
    Ok(1)
}

#[workflow]
async fn of_another_type(cx: &Cx) -> Result<u64, Error> {
    Ok(review(cx, String::new()).await?)
}

#[workflow]
async fn an_input_is_missing(cx: &Cx) -> Result<bool, Error> {
    Ok(review(cx).await?)
}

#[workflow]
async fn a_mailbox_of_what_has_an_input(cx: &Cx) -> Result<bool, Error> {
    let mailbox = Mailbox::open(cx, review);
    Ok(mailbox.next().await?)
}

#[workflow]
async fn a_mailbox_of_an_activity(cx: &Cx) -> Result<(), Error> {
    let mailbox = Mailbox::open(cx, count);
    mailbox.next().await?;
    Ok(())
}

#[workflow]
async fn gives_another_type(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    cx.fulfil(&asked, review, &5).await?;
    Ok(())
}

#[workflow]
async fn gives_to_an_activity(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    cx.fulfil(&asked, count, &5).await?;
    Ok(())
}

#[workflow]
async fn gives_and_does_not_wait(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    cx.fulfil(&asked, review, &true);
    let order: RunId = asked.run.clone();
    cx.fulfil(&order, review, &true).await?;
    Ok(())
}

fn fulfils(run: &Run<of_another_type>) {
    run.fulfil(review, 5);
    run.fulfil(count, 5);
}

fn main() {}
