//! What becomes of a send, whatever its run is doing (M1 to M12, M52).

use perennial::history::{Channel, Observation, SEMANTICS, Started, Told};
use perennial::value::Value;
use perennial::{Message, Namespace, Timestamp};
use perennial_runtime::store::{Changes, Create, Deliver, MAX_INBOX, Status, Store};
use perennial_runtime::{MessageState, RunState, SendError, StartError};

use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m01_a_message_to_a_run_that_nobody_has_claimed_waits_for_it() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        first.client().start(busy, "m01", 1).await.unwrap();
        world.begun().await;
        drop(first);
        // Another process, which knows nothing of the run but what it has: a task that is run again.
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(busy, "m01").unwrap();
        run.send(A, &5).await.unwrap();
        world.begun().await;
        assert_eq!(messages(&run).await[0].state, MessageState::Pending);
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [5]);
    })
    .await;
}

/// Made by a program that has not come to run it: its first event is still in its queue.
fn never_claimed(store: &dyn Store, id: &str) {
    let run = key(id);
    let input = Value::encode(&1_u64).unwrap();
    let digest = input.digest();
    let started = Observation::Started(Started {
        workflow: "busy".to_owned(),
        input,
        semantics: SEMANTICS,
        artifact: "another".to_owned(),
        namespace: run.namespace.clone(),
        run: run.id.clone(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    });
    let create = Create {
        run,
        workflow: "busy".to_owned(),
        input: digest,
        after: None,
        owner: store.enroll().unwrap(),
        changes: Changes {
            enqueue: vec![started],
            ..Changes::default()
        },
        keys: Vec::new(),
    };
    let (made, answer) = std::sync::mpsc::channel();
    store.create(create, Box::new(move |result| made.send(result).unwrap()));
    answer.recv().unwrap().unwrap();
}

#[tokio::test]
async fn m01_also_where_no_program_has_ever_run_it() {
    each_place(async |place: Place| {
        let store = place.open();
        never_claimed(&*store, "m01-never");
        let told = Told {
            number: 0,
            name: A.name().to_owned(),
            payload: Value::encode(&5_u64).unwrap(),
            key: None,
        };
        let deliver = Deliver {
            run: key("m01-never"),
            observation: Observation::MessageArrived(told),
            at: Timestamp::default(),
            tasks: Vec::new(),
            key: None,
            stub: None,
        };
        let (sent, answer) = std::sync::mpsc::channel();
        store.deliver(deliver, Box::new(move |result| sent.send(result).unwrap()));
        let delivered = answer.recv().unwrap().unwrap();
        assert_eq!((delivered.arrival, delivered.wakes), (2, false));
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().run(busy, "m01-never").unwrap();
        world.begun().await;
        assert_eq!(messages(&run).await[0].state, MessageState::Pending);
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [5]);
    })
    .await;
}

#[tokio::test]
async fn m02_a_message_that_comes_before_its_wait_is_taken_by_it() {
    each_store(async |store| {
        let counted = Counted::from_now("m02");
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().start(busy, "m02", 2).await.unwrap();
        world.begun().await;
        let before = counted.now();
        run.send(A, &5).await.unwrap();
        run.send(A, &6).await.unwrap();
        assert_eq!(counted.now(), before, "nobody waits for it yet");
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [5, 6]);
    })
    .await;
}

#[tokio::test]
async fn m02_also_where_the_run_is_not_in_memory_while_it_does_something() {
    each_store(async |store| {
        let counted = Counted::from_now("m02-cold");
        let world = World::new();
        let runtime = builder(store, &world).warm_memory(0).start().await.unwrap();
        let run = runtime.client().start(busy, "m02-cold", 2).await.unwrap();
        world.begun().await;
        run.send(A, &5).await.unwrap();
        run.send(A, &6).await.unwrap();
        assert_eq!(counted.now(), (1, 0));
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [5, 6]);
        assert_eq!(counted.now().1, 1);
    })
    .await;
}

#[tokio::test]
async fn m04_a_message_wakes_the_run_that_is_parked_for_it() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(one, "m04", ()).await.unwrap();
        let receipt = client.send(run.id(), A, &7).await.unwrap();
        assert_eq!((receipt.number, receipt.duplicate), (1, false));
        assert_eq!(soon(run.result()).await, Ok(7));
        let listed = messages(&run).await;
        assert_eq!((listed.len(), is_taken(&listed[0])), (1, true));
    })
    .await;
}

#[tokio::test]
async fn m04_also_one_that_is_not_in_memory() {
    each_store(async |store| {
        let counted = Counted::from_now("m04-cold");
        let runtime = builder(store, &World::new())
            .warm_memory(0)
            .start()
            .await
            .unwrap();
        let run = runtime.client().start(one, "m04-cold", ()).await.unwrap();
        assert_eq!(counted.now(), (1, 0));
        run.send(A, &7).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok(7));
        assert_eq!(counted.now(), (2, 1));
    })
    .await;
}

#[tokio::test]
async fn m05_a_message_that_comes_while_the_worker_changes_is_delivered_by_the_next_one() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(several, "m05", 2).await.unwrap();
        run.send(A, &1).await.unwrap();
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(several, "m05").unwrap();
        run.send(A, &2).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn m06_a_run_that_is_not_there_is_told_nothing() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let client = runtime.client();
        let id = "m06".parse().unwrap();
        let expected = SendError::RunNotFound { run: key("m06") };
        assert_eq!(client.send(&id, A, &7).await, Err(expected.clone()));
        assert_eq!(client.signal(&id, BELL, &7).await, Err(expected));
        assert_eq!(store.head(&key("m06")).unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn m07_a_finished_run_is_told_nothing() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let client = runtime.client();
        for (id, well, expected) in [
            ("m07-completed", true, Status::Completed),
            ("m07-failed", false, Status::Failed),
        ] {
            let run = client.start(ends, id, Some(well)).await.unwrap();
            let _ = soon(run.result()).await;
            let before = store.load(&key(id)).unwrap();
            for result in [
                run.send(A, &7).await.map(drop),
                run.send(A, &7).idempotency_key("k").await.map(drop),
                run.signal(BELL, &7).await,
            ] {
                let Err(SendError::RunFinished { status, run, .. }) = result else {
                    panic!("{result:?}");
                };
                assert_eq!((status, run), (expected, key(id)));
            }
            assert_eq!(store.load(&key(id)).unwrap(), before, "nothing is stored");
        }
    })
    .await;
}

#[tokio::test]
async fn m08_a_run_takes_messages_while_its_activity_backs_off() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().start(backs_off, "m08", ()).await.unwrap();
        world.begun().await;
        run.send(A, &7).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 7);
    })
    .await;
}

#[tokio::test]
async fn m08_a_blocked_run_keeps_what_it_is_sent_until_it_goes_on() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(one, "m08-blocked", ()).await.unwrap();
        drop(first);
        // A program that lacks the workflow cannot go on with it.
        let lacking = perennial_runtime::Runtime::builder(place.open()).artifact("lacking");
        let lacking = lacking.start().await.unwrap();
        let client = lacking.client();
        client.send(run.id(), A, &7).await.unwrap();
        until(async || {
            let state = client.status(run.id()).await.unwrap().state;
            matches!(state, RunState::Blocked { .. })
        })
        .await;
        client.send(run.id(), A, &8).await.unwrap();
        let page = client.list_messages(run.id()).page().await.unwrap();
        let pending =
            |message: &perennial_runtime::MessageInfo| message.state == MessageState::Pending;
        assert_eq!(page.messages.len(), 2);
        assert!(page.messages.iter().all(pending));
        drop(lacking);
        let third = runtime(place.open(), &world).await;
        let run = third.client().run(one, "m08-blocked").unwrap();
        assert_eq!(soon(run.result()).await, Ok(7));
    })
    .await;
}

#[tokio::test]
async fn m10_a_message_that_says_nothing_is_a_message() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(nothing, "m10", ()).await.unwrap();
        run.send(NOTHING, &()).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok(true));
    })
    .await;
}

#[tokio::test]
async fn m11_what_is_too_large_is_not_stored() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let run = runtime.client().start(one, "m11", ()).await.unwrap();
        let before = store.load(&key("m11")).unwrap();
        let large = "x".repeat(1 << 20);
        assert_eq!(
            run.send(TEXTS, &large).await,
            Err(SendError::PayloadTooLarge {
                name: "a".into(),
                size: (1 << 20) + 2,
                limit: 1 << 20,
            })
        );
        let endless = run
            .send(perennial::Message::<f64>::new("a"), &f64::NAN)
            .await;
        assert!(
            matches!(endless, Err(SendError::Unstorable { .. })),
            "{endless:?}"
        );
        assert_eq!(store.load(&key("m11")).unwrap(), before);
    })
    .await;
}

#[tokio::test]
async fn m12_an_inbox_has_its_bound() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let run = runtime.client().start(busy, "m12", 1).await.unwrap();
        world.begun().await;
        for n in 0..MAX_INBOX {
            run.send(A, &n).await.unwrap();
        }
        let before = store.head(&key("m12")).unwrap();
        let full = SendError::InboxFull {
            run: key("m12"),
            limit: MAX_INBOX,
        };
        assert_eq!(run.send(A, &0).await, Err(full.clone()));
        assert_eq!(run.send(B, &0).idempotency_key("k").await, Err(full));
        assert_eq!(store.head(&key("m12")).unwrap(), before);
        run.signal(BELL, &1).await.unwrap();
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [0]);
    })
    .await;
}

#[tokio::test]
async fn m52_a_run_of_the_same_id_in_another_namespace_is_another_run() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let here = runtime.client();
        let there = here.in_namespace(Namespace::new("there").unwrap());
        let (one_here, one_there) = (
            here.start(one, "m52", ()).await.unwrap(),
            there.start(one, "m52", ()).await.unwrap(),
        );
        there
            .send(one_here.id(), A, &2)
            .idempotency_key("k")
            .await
            .unwrap();
        assert_eq!(soon(one_there.result()).await, Ok(2));
        assert_eq!(messages(&one_here).await, []);
        let receipt = one_here.send(A, &1).idempotency_key("k").await.unwrap();
        assert!(!receipt.duplicate);
        assert_eq!(soon(one_here.result()).await, Ok(1));
    })
    .await;
}

#[tokio::test]
async fn m38_what_a_workflow_is_known_not_to_wait_for_is_not_sent() {
    each_place(async |place: Place| {
        for (id, warm) in [("m38-warm", 1 << 20), ("m38-cold", 0)] {
            let store = place.open();
            let runtime = builder(store.clone(), &World::new()).warm_memory(warm);
            let runtime = runtime.start().await.unwrap();
            let client = runtime.client();
            let run = client.start(both_names, id, ()).await.unwrap();
            let before = store.load(&key(id)).unwrap();
            let mistyped = Message::<u64>::new("aa");
            let expected = |channel, name: &str, declared: &[&str]| SendError::NoSuchMessage {
                workflow: "both_names".into(),
                channel,
                name: name.into(),
                declared: declared.iter().copied().map(str::to_owned).collect(),
                closest: None,
            };
            // To names of one letter none is close.
            let no_message = expected(Channel::Message, "aa", &["a", "b"]);
            assert_eq!(run.send(mistyped, &1).await, Err(no_message.clone()));
            let no_signal = expected(Channel::Signal, "bell", &[]);
            assert_eq!(run.signal(BELL, &1).await, Err(no_signal));
            assert_eq!(store.load(&key(id)).unwrap(), before);
            let started = client.start(both_names, "m38-new", ()).send(mistyped, &1);
            assert_eq!(
                started.await.map(drop),
                Err(StartError::Message(Box::new(no_message)))
            );
            assert_eq!(store.head(&key("m38-new")).unwrap(), None);
            // Of a workflow that waits in a helper nobody knows all that it waits for.
            let run = client.start(one, format!("{id}-one"), ()).await.unwrap();
            run.send(mistyped, &1).await.unwrap();
        }
    })
    .await;
}
