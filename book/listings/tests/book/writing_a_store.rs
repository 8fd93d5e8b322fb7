//! *Writing a store*: the store of the chapter has all properties of one.

use perennial_book::running::{Greeting, give_up, greet, welcome};
use perennial_book::writing_a_store::Queued;
use perennial_runtime::Runtime;
use perennial_runtime::store::MemoryStore;

// ANCHOR: suite
mod queued {
    use std::sync::Arc;

    use perennial_book::writing_a_store::Queued;
    use perennial_runtime::store::conformance::{Damage, Fixture};
    use perennial_runtime::store::{MemoryStore, Store};

    struct InMemory(Arc<Queued<MemoryStore>>);

    impl Fixture for InMemory {
        fn store(&self) -> Arc<dyn Store> {
            Arc::clone(&self.0) as Arc<dyn Store>
        }

        /// It leaves nothing behind, and claims nothing else.
        fn reopen(&mut self) -> bool {
            false
        }

        /// It claims to notice a unit that is lost, so the suite loses one.
        fn damage(&self, damage: Damage<'_>) -> bool {
            match damage {
                Damage::Lose(run, generation, number) => {
                    self.0.behind().lose_unit(run, generation, number)
                }
                _ => false,
            }
        }
    }

    fn store() -> Box<dyn Fixture> {
        Box::new(InMemory(Arc::new(Queued::new(MemoryStore::new()))))
    }

    perennial_runtime::store_conformance!(store);
}
// ANCHOR_END: suite

#[tokio::test]
async fn a_runtime_works_over_it() {
    let store = Queued::new(MemoryStore::new());
    let runtime = Runtime::builder(store)
        .workflow(welcome)
        .workflow(give_up)
        .activity(greet)
        .state(Greeting("Hello"))
        .start()
        .await
        .unwrap();
    let run = runtime.client().start(welcome, "ada", "Ada".to_owned());
    assert_eq!(run.await.unwrap().result().await.unwrap(), "Hello, Ada!");
}
