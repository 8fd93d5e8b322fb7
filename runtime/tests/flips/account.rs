//! Everything that a store tells when it is asked, in lines that can be compared.

use std::collections::BTreeMap;

use perennial::{RunKey, Timestamp};
use perennial_runtime::store::{ListQuery, Remains, Store, StoreError, StreamRange};
use sha2::{Digest as _, Sha256};

/// What was asked, and the digest of the answer or the error.
pub(crate) type Account = BTreeMap<String, Result<String, String>>;

const NAMESPACES: [&str; 2] = ["default", "other"];

/// Asks for everything. `also` are runs that there must be, whether the store lists them or not.
pub(crate) fn account(store: &dyn Store, also: &[RunKey]) -> Account {
    let mut account = Account::new();
    let mut runs = also.to_vec();
    for namespace in NAMESPACES {
        let query = ListQuery {
            namespace: namespace.parse().unwrap(),
            limit: usize::MAX,
            ..ListQuery::default()
        };
        let page = store.list(&query);
        for (run, _) in page.iter().flat_map(|page| &page.runs) {
            runs.push(RunKey::new(query.namespace.clone(), run.clone()));
        }
        note(&mut account, format!("list {namespace}"), page);
    }
    note(&mut account, "due".into(), store.due(None, usize::MAX));
    let claimable = store.claimable("first", None, usize::MAX);
    note(&mut account, "claimable".into(), claimable);
    for remains in [Remains::Whole, Remains::Head] {
        let finished = store.finished(remains, Timestamp::from_millis(u64::MAX), None, usize::MAX);
        note(&mut account, format!("finished {remains:?}"), finished);
    }
    runs.sort();
    runs.dedup();
    for run in runs {
        let loaded = store.load(&run);
        let generations = match &loaded {
            Ok(Some(loaded)) => loaded.head.kept_from..loaded.head.generation + 1,
            _ => 0..0,
        };
        let streams = match &loaded {
            Ok(Some(loaded)) => loaded.head.streams.clone(),
            _ => Vec::new(),
        };
        note(&mut account, format!("load {run}"), loaded);
        for StreamRange { name, .. } in streams {
            let items = store.stream(&run, &name, 0, usize::MAX);
            note(&mut account, format!("stream {run} {name}"), items);
        }
        note(&mut account, format!("views {run}"), store.views(&run));
        let keys = store.keys(&run, 0, usize::MAX);
        note(&mut account, format!("keys {run}"), keys);
        let offers = store.offers(&run, 0, usize::MAX);
        note(&mut account, format!("offers {run}"), offers);
        for generation in generations {
            let units = store.history(&run, generation, 1, usize::MAX);
            note(&mut account, format!("history {run} {generation}"), units);
            let attempts = store.attempts(&run, generation);
            note(
                &mut account,
                format!("attempts {run} {generation}"),
                attempts,
            );
        }
    }
    account
}

fn note<T: std::fmt::Debug>(account: &mut Account, what: String, answer: Result<T, StoreError>) {
    let answer = match answer {
        Ok(answer) => Ok(digest(&format!("{answer:?}"))),
        Err(error) => Err(error.to_string()),
    };
    account.insert(what, answer);
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// As lines.
pub(crate) fn write(account: &Account) -> String {
    let line = |(what, answer): (&String, &Result<String, String>)| {
        format!("{what}\t{}\n", answer.as_ref().unwrap())
    };
    account.iter().map(line).collect()
}

pub(crate) fn read(text: &str) -> Account {
    let line = |line: &str| {
        let (what, answer) = line.split_once('\t').unwrap();
        (what.to_owned(), Ok(answer.to_owned()))
    };
    text.lines().map(line).collect()
}

/// The runs that an account has.
pub(crate) fn runs(account: &Account) -> Vec<RunKey> {
    let run = |what: &String| {
        let run = what.strip_prefix("load ")?;
        let (namespace, id) = run.split_once('/').unwrap_or(("default", run));
        Some(RunKey::new(namespace.parse().ok()?, id.parse().ok()?))
    };
    account.keys().filter_map(run).collect()
}
