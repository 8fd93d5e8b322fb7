//! What outlives a process: the runs that a store keeps.

use std::sync::Arc;

use tempfile::TempDir;

use super::super::watch::text;
use crate::store::{Durability, MemoryStore, SledStore, Store};

/// How a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Whether runs are kept in a folder.
    pub(super) embedded: bool,
    /// Whether runs stay in memory while nothing happens to them.
    pub(super) warm: bool,
}

/// See the module.
pub(super) enum Kept {
    Memory(Arc<MemoryStore>),
    /// The store is there while it is open. It is closed in order: what a kill and a power cut leave of its files is
    /// shown by harnesses of their own.
    Folder {
        folder: TempDir,
        store: Option<Arc<SledStore>>,
    },
}

impl Kept {
    pub(super) fn new(kind: Kind) -> Result<Self, String> {
        if !kind.embedded {
            return Ok(Self::Memory(Arc::default()));
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Self::Folder {
            folder,
            store: None,
        })
    }

    /// The next process opens it.
    pub(super) fn open(&mut self) -> Result<Arc<dyn Store>, String> {
        match self {
            Self::Memory(store) => Ok(Arc::clone(store) as Arc<dyn Store>),
            Self::Folder { folder, store } => {
                let options = SledStore::options().durability(Durability::Os);
                let opened = options.cache(1 << 20).open(folder.path());
                let opened = Arc::new(opened.map_err(|error| error.to_string())?);
                *store = Some(Arc::clone(&opened));
                Ok(opened)
            }
        }
    }

    /// The process that had it is gone.
    pub(super) fn let_go(&mut self) {
        if let Self::Folder { store, .. } = self {
            *store = None;
        }
    }

    /// Whether what is kept fits together.
    pub(super) fn verify(&self) -> Result<(), String> {
        let Self::Folder {
            store: Some(store), ..
        } = self
        else {
            return Ok(());
        };
        let problems = store.verify().map_err(text)?.problems;
        match problems.first() {
            None => Ok(()),
            Some(problem) => Err(format!("the store is damaged: {problem:?}")),
        }
    }
}
