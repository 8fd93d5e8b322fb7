//! By which id a fork knows itself, and forks of forks.

use perennial_runtime::RunHandle;

use crate::support::each_place;
use crate::world::*;

async fn names(run: &RunHandle<ids>, count: usize) -> Vec<String> {
    let mut items = run.stream(NAMES);
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(soon(items.next()).await.unwrap().unwrap().value);
    }
    all
}

#[tokio::test]
async fn m43_a_fork_knows_itself_by_the_other_id_up_to_its_beginning_in_each_process() {
    each_place(async |place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let client = first.client();
        let one = client.start(ids, "one", ()).await.unwrap();
        one.send(A, &1).await.unwrap();
        // Events 1 to 3, and then 4 to 7.
        has_events(&one, 7).await;
        let two = one.fork(7, "two").await.unwrap();
        two.send(A, &1).await.unwrap();
        has_events(&two, 11).await;
        let three = two.fork(11, "three").await.unwrap();
        let before = two.fork(7, "before").await.unwrap();
        let first_only = two.fork(3, "first-only").await.unwrap();
        for run in [&three, &before, &first_only] {
            run.send(A, &1).await.unwrap();
        }
        assert_eq!(names(&two, 3).await, ["one", "one", "two"]);
        assert_eq!(names(&three, 4).await, ["one", "one", "two", "three"]);
        assert_eq!(names(&before, 3).await, ["one", "one", "before"]);
        assert_eq!(names(&first_only, 2).await, ["one", "first-only"]);
        drop((one, two, three, before, first_only));
        drop(first);

        // What was made of the ids is compared when the runs are replayed.
        let second = runtime(place.open(), &world).await;
        let client = second.client();
        for (id, expected) in [
            ("one", vec!["one", "one"]),
            ("two", vec!["one", "one", "two"]),
            ("three", vec!["one", "one", "two", "three"]),
            ("before", vec!["one", "one", "before"]),
            ("first-only", vec!["one", "first-only"]),
        ] {
            let run = client.run(ids, id).unwrap();
            run.send(A, &0).await.unwrap();
            assert_eq!(soon(run.result()).await.unwrap(), expected, "{id}");
        }
        drop(second);
    })
    .await;
}
