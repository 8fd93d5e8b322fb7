//! What is typed by hand and is not what the program takes.

use crate::*;

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

/// No program had the store open, and nobody knew the type.
#[tokio::test]
async fn what_was_taken_before_has_its_receipt_though_it_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let start = async || {
        let builder = program(folder.path()).control_socket();
        builder.start().await.unwrap()
    };
    let first = start().await;
    let client = first.client();
    client.start(order, "order-1", ()).await.unwrap();
    drop(client);
    drop(first);
    let request = || tell("\"yes\"", Some("a"));
    let (whereabouts, before) = ask(folder.path(), request()).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Stopped);
    let second = start().await;
    let (whereabouts, again) = ask(folder.path(), request()).await.unwrap();
    assert_eq!(whereabouts, Whereabouts::Program);
    let (Answer::Sent(before), Answer::Sent(again)) = (before, again) else {
        panic!("it has a receipt");
    };
    assert_eq!((again.number, again.duplicate), (before.number, true));
    drop(second);
}
