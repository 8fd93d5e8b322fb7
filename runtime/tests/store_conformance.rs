//! Each property of a store, for each store.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;

use perennial_runtime::store::conformance::{Damage, Fixture};
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{Durability, MemoryStore, SledStore, Store};

struct Memory(Arc<MemoryStore>);

impl Fixture for Memory {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0) as Arc<dyn Store>
    }

    fn reopen(&mut self) -> bool {
        false
    }

    fn damage(&self, damage: Damage<'_>) -> bool {
        match damage {
            Damage::Lose(run, generation, number) => self.0.lose_unit(run, generation, number),
            _ => false,
        }
    }
}

struct Sled {
    folder: tempfile::TempDir,
    durability: Durability,
    store: Option<Arc<SledStore>>,
}

impl Sled {
    fn fixture(durability: Durability) -> Box<dyn Fixture> {
        let mut sled = Self {
            folder: folder(),
            durability,
            store: None,
        };
        sled.open();
        Box::new(sled)
    }

    fn open(&mut self) {
        let opened = SledStore::options()
            .durability(self.durability)
            .open(self.folder.path().join("store"));
        self.store = Some(Arc::new(opened.unwrap_or_else(|error| panic!("{error}"))));
    }

    fn sled(&self) -> &Arc<SledStore> {
        self.store.as_ref().unwrap()
    }
}

impl Fixture for Sled {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.sled()) as Arc<dyn Store>
    }

    fn reopen(&mut self) -> bool {
        self.sled().close().unwrap();
        self.store = None;
        self.open();
        true
    }

    fn damage(&self, damage: Damage<'_>) -> bool {
        let tamper = match damage {
            Damage::Lose(run, generation, number) => Tamper::LoseUnit(run, generation, number),
            Damage::Flip(run, generation, number) => Tamper::FlipUnit(run, generation, number),
            Damage::Raise(run, generation, number) => Tamper::RaiseUnit(run, generation, number),
            Damage::FlipBlocked(run, artifact) => Tamper::FlipBlocked(run, artifact),
            _ => return false,
        };
        self.sled().tamper(tamper).unwrap();
        true
    }
}

/// A folder that can have the synchronous attribute: the one for temporary files may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}

mod memory {
    use super::{Arc, Fixture, Memory, MemoryStore};

    fn store() -> Box<dyn Fixture> {
        Box::new(Memory(Arc::new(MemoryStore::new())))
    }

    perennial_runtime::store_conformance!(store);
}

mod sled_os {
    use super::{Durability, Fixture, Sled};

    fn store() -> Box<dyn Fixture> {
        Sled::fixture(Durability::Os)
    }

    perennial_runtime::store_conformance!(store);

    /// A property that the macro does not name would be shown of no store.
    #[test]
    fn no_property_is_forgotten() {
        for (subject, tested) in TESTED {
            let file = format!(
                "{}/src/store/conformance/{subject}.rs",
                env!("CARGO_MANIFEST_DIR")
            );
            let written = std::fs::read_to_string(file)
                .unwrap()
                .matches("\npub fn ")
                .count();
            assert_eq!(tested.len(), written, "{subject}");
        }
    }
}

#[cfg(target_os = "linux")]
mod sled_sync {
    use super::{Durability, Fixture, Sled};

    fn store() -> Box<dyn Fixture> {
        Sled::fixture(Durability::Sync)
    }

    perennial_runtime::store_conformance!(store);
}
