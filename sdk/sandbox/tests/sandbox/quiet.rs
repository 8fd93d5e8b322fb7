//! What a workflow may do is not told.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use chrono::{DateTime, Utc};
use perennial::testing::World;
use serde::{Deserialize, Serialize};

use crate::cold_in;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Order {
    id: u64,
    lines: BTreeMap<String, f64>,
    tags: HashSet<String>,
    placed: DateTime<Utc>,
}

/// Nothing is told of `code`, in no world.
fn quiet<T: Send>(code: impl Fn() -> T + Send + Sync) {
    for world in [World::Real, World::Changed(1)] {
        let (_, touched) = cold_in(world, &code);
        assert_eq!(touched, [], "in {world:?}");
    }
}

#[test]
fn values_texts_and_collections() {
    quiet(|| {
        let mut map: HashMap<_, _> = (0..100).map(|n| (n.to_string(), n)).collect();
        map.entry("7".into()).and_modify(|n| *n += 1);
        let sorted: BTreeMap<_, _> = map.iter().collect();
        let mut vector: Vec<_> = sorted.values().map(|n| **n).collect();
        vector.sort_unstable();
        vector.shuffle_by(3);
        format!("{vector:?} {:>8.2} {:#?}", 1.5, map.get("7"))
    });
}

trait Turn {
    fn shuffle_by(&mut self, by: usize);
}

impl Turn for Vec<i32> {
    fn shuffle_by(&mut self, by: usize) {
        self.rotate_left(by);
    }
}

#[test]
fn json_there_and_back() {
    quiet(|| {
        let placed = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let order = Order {
            id: 7,
            lines: [("tea".to_owned(), 4.5)].into(),
            tags: ["gift".to_owned()].into(),
            placed,
        };
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<Order>(&text).unwrap(), order);
    });
}

#[test]
fn a_given_time() {
    quiet(|| {
        let time = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let later = time + Duration::from_secs(86_400);
        (later.to_rfc3339(), later.format("%A %d %B").to_string())
    });
}

#[test]
fn numbers_from_a_seed_and_ids_of_a_text() {
    quiet(|| {
        use rand::{Rng as _, SeedableRng as _};
        let mut numbers = rand::rngs::StdRng::seed_from_u64(7);
        let id = uuid::Uuid::from_u128(7).to_string();
        (numbers.next_u64(), fastrand::Rng::with_seed(7).u64(..), id)
    });
}

#[test]
fn memory_locks_that_are_free_and_things_made_once() {
    static ONCE: OnceLock<Vec<u8>> = OnceLock::new();
    quiet(|| {
        let shared = Arc::new(Mutex::new(vec![0_u8; 1 << 22]));
        shared.lock().unwrap().resize(1 << 23, 1);
        let (sender, receiver) = mpsc::channel();
        sender
            .send(ONCE.get_or_init(|| vec![1; 1 << 20]).len())
            .unwrap();
        receiver.recv().unwrap()
    });
}

#[test]
fn maps_with_other_hashers() {
    quiet(|| {
        let mut map = HashMap::with_hasher(foldhash::fast::RandomState::default());
        map.insert("order", 7);
        map.get("order").copied()
    });
}

/// Who listens looks at a clock, draws a number or writes, not the workflow.
#[test]
fn logs() {
    struct Listener;
    impl log::Log for Listener {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &log::Record<'_>) {
            let now = std::time::SystemTime::now();
            eprintln!("{now:?} {}", record.args());
        }
        fn flush(&self) {}
    }
    log::set_logger(&Listener).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    let quieter = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .finish();
    let subscriber = tracing::Dispatch::new(quieter);
    quiet(|| {
        log::info!("charged {} cents", 7);
        tracing::dispatcher::with_default(&subscriber, || {
            let span = tracing::info_span!("charge", cents = 7);
            span.in_scope(|| tracing::info!(cents = 7, "charged"));
        });
    });
}

#[test]
fn what_is_computed_for_a_log_is_the_workflows() {
    let subscriber = tracing::Dispatch::new(
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .finish(),
    );
    let (_, touched) = cold_in(World::Real, || {
        tracing::dispatcher::with_default(&subscriber, || {
            tracing::info_span!("charge").in_scope(|| {
                tracing::info!(at = ?std::time::SystemTime::now(), "charged");
            });
        });
    });
    assert_eq!(touched.len(), 1, "{touched:?}");
    assert_eq!(touched[0].rule, "D101");
}
