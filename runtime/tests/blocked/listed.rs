//! Finding blocked runs, and what is wrong with them.

use perennial::IncompatibleKind;
use perennial_runtime::RunState;

use super::meanwhile::{bad, leave_in_the_middle, naps, order};
use super::place::{Place, World, code};

#[tokio::test]
async fn s16_blocked_runs_are_listed_with_their_errors_and_counted() {
    for place in Place::both() {
        let world = World::new();
        leave_in_the_middle(&place, &world, &["order-1", "order-2", "order-3"]).await;
        for artifact in ["tuesday", "wednesday"] {
            let store = place.store();
            let runtime = bad(&store, &world, artifact).start().await.unwrap();
            for id in ["order-1", "order-2", "order-3"] {
                let run = runtime.client().run(order, id).unwrap();
                assert_eq!(code(run.result().await), "H202");
            }
        }
        let store = place.store();
        let runtime = bad(&store, &world, "wednesday").start().await.unwrap();
        let client = runtime.client();
        client.start(naps, "nap", 86_400_000).await.unwrap();

        let page = client.list().blocked(true).limit(2).page().await.unwrap();
        let ids: Vec<_> = page.runs.iter().map(|run| run.run.id.as_str()).collect();
        assert_eq!(ids, ["order-1", "order-2"]);
        for run in &page.runs {
            let RunState::Blocked { errors } = &run.state else {
                panic!("{run:?}")
            };
            let told: Vec<_> = errors
                .iter()
                .map(|one| (&one.artifact[..], &one.code[..]))
                .collect();
            assert_eq!(told, [("tuesday", "H202"), ("wednesday", "H202")]);
            assert!(errors[0].text.contains("[H202"), "{}", errors[0].text);
            // And as data, for programs.
            let error = errors[0].incompatible().unwrap();
            assert_eq!(
                (error.kind, error.event),
                (IncompatibleKind::ChangedInput, 2)
            );
            assert_eq!(error.to_string(), errors[0].text);
        }
        let rest = client.list().blocked(true).after(page.next.unwrap());
        assert_eq!(rest.page().await.unwrap().runs.len(), 1);
        let others = client.list().blocked(false).page().await.unwrap();
        assert_eq!(others.runs.len(), 1);
        let all = client.list().page().await.unwrap();
        let blocked = all
            .runs
            .iter()
            .filter(|run| matches!(&run.state, RunState::Blocked { errors } if errors.len() == 2));
        assert_eq!((all.runs.len(), blocked.count()), (4, 3));

        let count = client.count_blocked().await.unwrap();
        assert_eq!(
            serde_json::to_value(&count).unwrap(),
            serde_json::json!({ "total": 3, "workflows": { "order": { "H202": 3 } } })
        );
        let elsewhere = client.in_namespace("elsewhere".parse().unwrap());
        assert_eq!(elsewhere.count_blocked().await.unwrap().total, 0);
    }
}
