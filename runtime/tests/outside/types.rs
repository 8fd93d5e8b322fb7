//! What is typed by hand and is not what the program takes.

use perennial::{Workflow, WorkflowFn};

use crate::*;

/// Waits for the same name, in words, where nobody sees it.
#[durable]
async fn in_words(cx: &Cx) -> Result<String, Error> {
    const SPELT: Message<String> = Message::new("approval");
    Ok(cx.receive(SPELT).await?)
}

#[workflow]
async fn both(cx: &Cx) -> Result<String, Error> {
    let said = in_words(cx).await?;
    let approved = cx.receive(APPROVAL).await?;
    Ok(format!("{said}, {approved}"))
}

const IN_WORDS: Message<String> = Message::new("approval");

/// Waits for the same name twice, for another type each time.
#[workflow]
async fn twice(cx: &Cx) -> Result<String, Error> {
    let said = cx.receive(IN_WORDS).await?;
    let approved = cx.receive(APPROVAL).await?;
    Ok(format!("{said}, {approved}"))
}

fn tell(payload: &str, key: Option<&str>) -> Request {
    let Request::Send(tell) = send("order-1", payload) else {
        unreachable!()
    };
    let key = key.map(str::to_owned);
    Request::Send(Tell { key, ..tell })
}

#[tokio::test]
async fn a_message_that_the_workflow_could_not_read_is_refused_and_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).control_socket().start();
    let runtime = runtime.await.unwrap();
    let client = runtime.client();
    let run = client.start(order, "order-1", ()).await.unwrap();
    for key in [None, Some("a")] {
        let refused = ask(folder.path(), tell("\"yes\"", key)).await.unwrap_err();
        let AskError::Refused(refused) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(refused.code, Refused::WRONG_TYPE);
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused, @r#"
            "approval" was not sent, since workflow `order` takes it with a value of type `bool`, and this is none: invalid type: string "yes", expected a boolean

            help: nothing was stored; send a value of that type
            "#);
        }
    }
    let stored = run.list_messages().page().await.unwrap();
    assert!(stored.messages.is_empty());
    // The key was not used.
    ask(folder.path(), tell("true", Some("a"))).await.unwrap();
    assert!(run.result().await.unwrap());
}

/// As `order` was before.
#[workflow(name = "order")]
async fn order_in_words(cx: &Cx) -> Result<String, Error> {
    const APPROVAL: Message<String> = Message::new("approval");
    Ok(cx.receive(APPROVAL).await?)
}

/// It was of the type that the program before took.
#[tokio::test]
async fn what_was_taken_before_has_its_receipt_though_it_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let first = Runtime::builder(folder.path()).durability(Durability::Os);
    let first = first.workflow(order_in_words).start().await.unwrap();
    let client = first.client();
    client.start(order_in_words, "order-1", ()).await.unwrap();
    drop(client);
    drop(first);
    let request = || tell("\"yes\"", Some("a"));
    let (whereabouts, before) = ask(folder.path(), request()).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Stopped);
    let second = program(folder.path()).control_socket();
    let second = second.start().await.unwrap();
    let (whereabouts, again) = ask(folder.path(), request()).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Program);
    let (Answer::Sent(before), Answer::Sent(again)) = (before, again) else {
        panic!("it has a receipt");
    };
    assert_eq!((again.number, again.duplicate), (before.number, true));
    drop(second);
}

/// What the programs of a store have declared is enough for that.
#[tokio::test]
async fn what_no_program_could_read_is_refused_where_none_is_there_too() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).start().await.unwrap();
    runtime.client().start(order, "order-1", ()).await.unwrap();
    drop(runtime);
    let refused = ask(folder.path(), tell("\"yes\"", None)).await;
    let AskError::Refused(refused) = refused.unwrap_err() else {
        panic!("it is refused");
    };
    assert_eq!(refused.code, Refused::WRONG_TYPE);
    let (whereabouts, _) = ask(folder.path(), tell("true", None)).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Stopped);
    let runtime = program(folder.path()).start().await.unwrap();
    let run = runtime.client().run(order, "order-1").unwrap();
    assert!(run.result().await.unwrap());
    let stored = run.list_messages().page().await.unwrap();
    assert_eq!(stored.messages.len(), 1);
}

/// Both with the program at work and without.
async fn takes_words_and_then_a_decision<W, M>(workflow: W)
where
    W: WorkflowFn<M, W: Workflow<Input = (), Output = Result<String, Error>>> + Copy,
{
    for stopped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let start = || {
            let builder = Runtime::builder(folder.path()).durability(Durability::Os);
            builder.workflow(workflow).control_socket().start()
        };
        let mut runtime = Some(start().await.unwrap());
        let client = runtime.as_ref().unwrap().client();
        client.start(workflow, "order-1", ()).await.unwrap();
        drop(client);
        if stopped {
            drop(runtime.take());
        }
        for payload in ["\"yes\"", "true"] {
            let (whereabouts, _) = ask(folder.path(), tell(payload, None)).await.unwrap();
            assert_eq!(whereabouts == Whereabouts::Stopped, stopped);
        }
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => start().await.unwrap(),
        };
        let run = runtime.client().run(workflow, "order-1").unwrap();
        assert_eq!(run.result().await.unwrap(), "yes, true");
    }
}

#[tokio::test]
async fn what_another_wait_may_take_is_not_refused() {
    takes_words_and_then_a_decision(both).await;
    takes_words_and_then_a_decision(twice).await;
}

/// It is said what is the matter with the run, and not with the value.
#[tokio::test]
async fn of_a_run_that_has_ended_the_end_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = program(folder.path()).control_socket().start();
    let runtime = runtime.await.unwrap();
    let run = runtime.client().start(order, "order-1", ()).await.unwrap();
    run.send(APPROVAL, &true).await.unwrap();
    run.result().await.unwrap();
    match ask(folder.path(), tell("\"yes\"", None)).await {
        Err(AskError::Refused(refused)) => assert_eq!(refused.code, Refused::RUN_FINISHED),
        other => panic!("{:?}", other.map(|answer| answer.1)),
    }
}
