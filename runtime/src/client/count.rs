//! How many runs are blocked, and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use perennial::{Namespace, RunKey};
use serde::Serialize;

use super::read;
use crate::engine::Shared;
use crate::error::ReadError;
use crate::store::{BlockedRecord, ListQuery};

/// How many runs of a namespace are blocked, and why. Each run counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BlockedCount {
    /// All of them.
    pub total: u64,
    /// By the names of their workflows and then by the codes of their errors: of the one that this program came
    /// to, and where it came to none, of the newest.
    pub workflows: BTreeMap<String, BTreeMap<String, u64>>,
}

pub(super) async fn blocked(
    shared: &Arc<Shared>,
    namespace: Namespace,
) -> Result<BlockedCount, ReadError> {
    const PAGE: usize = 1_000;
    read(shared, move |shared| {
        let mut count = BlockedCount::default();
        let mut query = ListQuery {
            namespace,
            blocked: Some(true),
            limit: PAGE,
            ..ListQuery::default()
        };
        loop {
            let page = shared.store.list(&query)?;
            query.after = page.runs.last().map(|(id, _)| id.clone());
            for (id, head) in page.runs {
                let run = RunKey::new(query.namespace.clone(), id);
                let records = shared.store.blocked(&run)?;
                // None where it has gone on meanwhile.
                if let Some(record) = telling(&records, &shared.artifact) {
                    count.total += 1;
                    let codes = count.workflows.entry(head.workflow).or_default();
                    *codes.entry(record.code.clone()).or_default() += 1;
                }
            }
            if !page.more {
                return Ok(count);
            }
        }
    })
    .await
}

/// The record that tells the most to this program.
fn telling<'a>(records: &'a [BlockedRecord], artifact: &str) -> Option<&'a BlockedRecord> {
    let own = records.iter().find(|record| record.artifact == artifact);
    own.or_else(|| records.iter().max_by_key(|record| record.at))
}
