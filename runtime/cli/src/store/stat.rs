//! `perennial store stat`.

use std::fmt::Write as _;
use std::path::Path;

use perennial_runtime::store::export::{self, Contents};
use perennial_runtime::store::{Census, Standing, Store as _};

use super::text::{count, size, table};
use super::{AnyError, open};

pub(super) fn run(path: &Path) -> Result<String, AnyError> {
    if path.is_file() {
        return of_export(path);
    }
    let store = open(path)?;
    let stat = store.stat()?;
    store.close()?;
    let mut text = format!(
        "{}: a store; the last commit is {}, of which sled has {}\n",
        path.display(),
        stat.commit,
        stat.applied
    );
    tell(&mut text, &stat.census);
    let mut rows = vec![["records", "number", "size"].map(String::from).to_vec()];
    for kind in &stat.kinds {
        rows.push(vec![
            kind.kind.into(),
            kind.records.to_string(),
            size(kind.bytes),
        ]);
    }
    let records: u64 = stat.kinds.iter().map(|kind| kind.records).sum();
    rows.push(vec!["all".into(), records.to_string(), size(stat.live())]);
    let disk = &stat.disk;
    let others = disk
        .total
        .saturating_sub(disk.journal + disk.sled + disk.copies);
    let files = [
        ("journal/", disk.journal),
        ("sled/", disk.sled),
        ("db.* (copies from before a recovery)", disk.copies),
        ("others", others),
        ("all", disk.total),
    ];
    let mut file_rows = vec![vec!["on the disk".into(), "size".into()]];
    file_rows.extend(files.map(|(name, bytes)| vec![name.into(), size(bytes)]));
    let _ = write!(text, "\n{}\n{}", table(&rows), table(&file_rows));
    Ok(text)
}

fn of_export(path: &Path) -> Result<String, AnyError> {
    let bytes = path.metadata()?.len();
    let contents = Contents::read(export::open(path)?)?;
    let (begin, counts) = (&contents.begin, &contents.counts);
    let mut text = format!(
        "{}: an export of {}, by {}, format {}\n",
        path.display(),
        begin.at,
        begin.producer,
        begin.format
    );
    tell(&mut text, &contents.census);
    let kinds = [
        ("runs that are not whole", counts.partial),
        ("generations", counts.generations),
        ("units of histories", counts.units),
        ("events in them", counts.events),
        ("attempts", counts.attempts),
        ("tasks", counts.tasks),
        ("rows of queues", counts.rows),
        ("blocked records", counts.blocked),
        ("idempotency keys", counts.keys),
        ("offers", counts.offers),
        ("programs", counts.programs),
        ("lines", counts.lines),
    ];
    let mut rows = vec![vec!["in it".into(), "number".into()]];
    let told = kinds.into_iter().filter(|(_, number)| *number > 0);
    rows.extend(told.map(|(name, number)| vec![name.into(), number.to_string()]));
    let _ = write!(text, "\n{}\n  on the disk: {}\n", table(&rows), size(bytes));
    Ok(text)
}

fn tell(text: &mut String, census: &Census) {
    let mut rows = vec![
        [
            "runs",
            "all",
            "running",
            "blocked",
            "completed",
            "failed",
            "migrated",
            "purged",
        ]
        .map(String::from)
        .to_vec(),
    ];
    let row = |name: &str, standing: &Standing| {
        let numbers = [
            standing.total(),
            standing.running,
            standing.blocked,
            standing.completed,
            standing.failed,
            standing.migrated,
            standing.purged,
        ];
        let mut row = vec![name.to_owned()];
        row.extend(numbers.map(|number| number.to_string()));
        row
    };
    for (workflow, standing) in &census.workflows {
        rows.push(row(workflow, standing));
    }
    rows.push(row("all", &census.all));
    let _ = write!(text, "\n{}", table(&rows));
    if census.namespaces.len() > 1 {
        let namespaces = census.namespaces.iter();
        let told: Vec<_> = namespaces
            .map(|(namespace, runs)| format!("{namespace} ({runs})"))
            .collect();
        let _ = writeln!(text, "\n  namespaces: {}", told.join(", "));
    }
    if let Some((run, since)) = &census.oldest_open {
        let _ = writeln!(text, "\n  open for the longest time: {run}, since {since}");
    }
    if census.timers > 0 {
        let timers = count(census.timers, "timer", "timers");
        let _ = writeln!(text, "\n  {timers}; due next:");
        for timer in &census.next {
            let _ = writeln!(
                text,
                "    {}  {}~{}",
                timer.deadline, timer.run, timer.operation
            );
        }
    }
}
