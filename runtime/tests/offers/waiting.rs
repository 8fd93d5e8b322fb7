//! What runs wait for from people is seen, each wait by itself (case RW-47).

use perennial::value::Value;
use perennial_runtime::{FulfilError, OfferPage, OfferStatus};

use crate::support::clock::Set;
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn rw47_1_2_each_wait_of_a_loop_has_an_address_of_its_own() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(in_turn, "rw47", 3).await.unwrap();
        let mut before: Vec<String> = Vec::new();
        for round in 0..3 {
            let mut waits = Vec::new();
            until(async || {
                waits = waiting(&client).await;
                !waits.is_empty()
            })
            .await;
            let [wait] = &waits[..] else {
                panic!("one is waited for: {waits:?}")
            };
            assert_eq!(
                wait.input,
                Some(Value::encode(&format!("question {round}")).unwrap())
            );
            let reference = wait.reference.to_string();
            assert!(!before.contains(&reference));
            // What was answered is not answered again, and nothing else is answered by it.
            for answered in &before {
                assert!(matches!(
                    client.fulfil(answered, review, &text("again")).await,
                    Err(FulfilError::Conflict { .. })
                ));
            }
            assert_eq!(waiting(&client).await, waits);
            client
                .fulfil(&reference, review, &format!("answer {round}"))
                .await
                .unwrap();
            let now = waiting(&client).await;
            assert!(
                now.iter()
                    .all(|wait| wait.reference.to_string() != reference)
            );
            before.push(reference);
        }
        assert_eq!(
            soon(run.result()).await.unwrap(),
            ["answer 0", "answer 1", "answer 2"]
        );
    })
    .await;
}

#[tokio::test]
async fn rw47_3_what_is_waited_for_is_listed_with_its_age_and_its_deadline() {
    each_place(async |place: Place| {
        let clock = Set::new();
        let process = async || {
            let builder = builder(place.open(), &World::new()).clock(clock.clone());
            builder.start().await.unwrap()
        };
        let first = process().await;
        let client = first.client();
        client.start(limited, "rw47-a", ()).await.unwrap();
        clock.at(60);
        client.start(once, "rw47-b", text("why?")).await.unwrap();
        client.start(agent, "rw47-c", 1).await.unwrap();
        let listed = waiting(&client).await;
        let shown: Vec<String> = listed
            .iter()
            .map(|wait| {
                format!(
                    "{} {} {} since {} until {:?} {:?}",
                    wait.run,
                    wait.reference,
                    wait.stub,
                    wait.since,
                    wait.deadline.map(|at| at.to_string()),
                    wait.input.as_ref().map(Value::as_json),
                )
            })
            .collect();
        insta::assert_snapshot!("rw47_3", shown.join("\n"));
        assert!(listed.iter().all(|wait| wait.state == OfferStatus::Open));
        // Page by page.
        let mut found = Vec::new();
        let mut list = client.waiting().limit(1);
        loop {
            let page = list.page().await.unwrap();
            found.extend(page.offers);
            if !page.more {
                break;
            }
            list = list.after(found.last().unwrap().reference.clone());
        }
        assert_eq!(found, listed);
        drop((client, first));
        // No runtime is there.
        let store = place.open();
        let page = OfferPage::waiting(&*store, &Default::default(), None, 9).unwrap();
        assert_eq!((page.offers, page.more), (listed.clone(), false));
        drop(store);
        let second = process().await;
        assert_eq!(waiting(&second.client()).await, listed);
    })
    .await;
}

#[tokio::test]
async fn rw47_5_an_answer_of_the_wrong_type_is_refused_and_the_task_stays_open() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(once, "rw47-5", text("why?")).await.unwrap();
        let before = waiting(&client).await;
        let wrong = Value::encode(&42).unwrap();
        let error = client.fulfil_json("rw47-5~1", "review", wrong).await;
        let error = error.unwrap_err();
        assert!(matches!(
            &error,
            FulfilError::WrongType { expected, .. } if expected.ends_with("String")
        ));
        insta::assert_snapshot!("rw47_5", error);
        assert_eq!(waiting(&client).await, before);
        let right = Value::encode(&"so").unwrap();
        client
            .fulfil_json("rw47-5~1", "review", right)
            .await
            .unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), "so");
    })
    .await;
}

#[tokio::test]
async fn the_offers_of_a_run_are_listed_with_what_became_of_them() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(in_turn, "listed", 3).await.unwrap();
        for number in 1..3 {
            until(async || {
                let open = run.offers().open().page().await.unwrap();
                open.offers
                    .iter()
                    .any(|offer| offer.reference.number == number)
            })
            .await;
            client
                .fulfil(format!("listed~{number}"), review, &text("a"))
                .await
                .unwrap();
        }
        until(async || run.offers().page().await.unwrap().offers.len() == 3).await;
        let all = run.offers().page().await.unwrap();
        let is_open = |state: &OfferStatus| *state == OfferStatus::Open;
        let states: Vec<bool> = all
            .offers
            .iter()
            .map(|offer| is_open(&offer.state))
            .collect();
        assert_eq!((states, all.more), (vec![false, false, true], false));
        let page = run.offers().after(1).limit(1).page().await.unwrap();
        assert_eq!((&page.offers[..], page.more), (&all.offers[1..2], true));
        let open = run.offers().open().limit(1).page().await.unwrap();
        assert_eq!((&open.offers[..], open.more), (&all.offers[2..], false));
        assert!(
            client
                .offers(&"nobody".parse().unwrap())
                .page()
                .await
                .is_err()
        );
    })
    .await;
}
