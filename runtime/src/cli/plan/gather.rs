//! Puts together what was found of many runs: those with the same error are one entry, however many they are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use perennial::value::Value;
use perennial::{Blocked, Timestamp};

use super::serve::servers;
use super::{Part, Plan, Recorded, Uncovered};
use crate::cli::judge::{Evidence, Finding, Judged, Told};
use crate::cli::place::Place;
use crate::manifest::Manifest;
use crate::store::ProgramRecord;

/// So many different errors are kept.
const ERRORS: usize = 1_000;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    ids: usize,
    ended: u64,
    open: u64,
    covered: u64,
    freed: u64,
    more: u64,
    groups: BTreeMap<(Place, Evidence), Group>,
    programs: BTreeMap<String, (Timestamp, Option<Manifest>)>,
}

/// Runs that do not fit at one place, and of which the same is known.
#[derive(Debug)]
struct Group {
    /// The number of the first among all that were found.
    first: u64,
    error: Error,
    count: u64,
    runs: Vec<String>,
}

#[derive(Debug)]
enum Error {
    Blocked(Blocked),
    Other(String),
}

impl Gathered {
    pub(super) fn new(ids: usize) -> Self {
        Self {
            ids,
            ..Self::default()
        }
    }

    fn uncovered(&mut self, place: Place, evidence: Evidence, run: String, error: Error) {
        self.open += 1;
        let full = self.groups.len() >= ERRORS;
        let key = (place, evidence);
        if full && !self.groups.contains_key(&key) {
            self.more += 1;
            return;
        }
        let first = self.open;
        let group = self.groups.entry(key).or_insert_with(|| Group {
            first,
            error,
            count: 0,
            runs: Vec::new(),
        });
        group.count += 1;
        if group.runs.len() < self.ids {
            group.runs.push(run);
        }
    }

    /// All of it, for `artifact`.
    pub(super) fn plan(self, artifact: &str, source: String) -> Plan {
        let mut recorded: Vec<_> = self
            .programs
            .iter()
            .filter(|(name, _)| *name != artifact)
            .map(|(name, (at, _))| Recorded {
                artifact: name.clone(),
                at: *at,
                serves: 0,
            })
            .collect();
        recorded.sort_by_key(|program| Reverse(program.at));
        let mut places: BTreeMap<Place, Vec<(Evidence, Group)>> = BTreeMap::new();
        for ((place, evidence), group) in self.groups {
            places.entry(place).or_default().push((evidence, group));
        }
        let mut uncovered = Vec::new();
        for (place, mut groups) in places {
            groups.sort_by_key(|(_, group)| group.first);
            let mut parts: Vec<Part> = Vec::new();
            for (evidence, group) in &groups {
                let served_by = servers(evidence, artifact, &self.programs);
                for server in &served_by {
                    let known = recorded.iter_mut();
                    known
                        .filter(|known| known.artifact == server.artifact)
                        .for_each(|known| known.serves += group.count);
                }
                let mut known = parts.iter_mut();
                match known.find(|part| part.served_by == served_by) {
                    Some(part) => {
                        part.count += group.count;
                        let room = self.ids.saturating_sub(part.runs.len());
                        part.runs.extend(group.runs.iter().take(room).cloned());
                    }
                    None => parts.push(Part {
                        count: group.count,
                        runs: group.runs.clone(),
                        served_by,
                    }),
                }
            }
            let Some((evidence, first)) = groups.into_iter().next() else {
                continue;
            };
            // Those that nobody can serve come first, then those of which there are most.
            parts.sort_by_key(|part| (!part.served_by.is_empty(), Reverse(part.count)));
            let (kind, error, details) = match first.error {
                Error::Other(error) => (None, error, None),
                Error::Blocked(Blocked::Incompatible(error)) if !self.programs.is_empty() => {
                    let servers = servers(&evidence, artifact, &self.programs).into_iter();
                    let servers = servers.map(|server| server.artifact).collect();
                    told(&Blocked::Incompatible(Box::new(error.served_by(servers))))
                }
                Error::Blocked(error) => told(&error),
            };
            uncovered.push(Uncovered {
                workflow: place.workflow,
                code: place.code,
                kind,
                count: parts.iter().map(|part| part.count).sum(),
                parts,
                error,
                details,
            });
        }
        uncovered.sort_by_key(|entry| (entry.lost() == 0, Reverse(entry.count)));
        Plan {
            format: 1,
            artifact: artifact.to_owned(),
            source,
            ended: self.ended,
            open: self.open,
            covered: self.covered,
            freed: self.freed,
            uncovered,
            more: self.more,
            programs: recorded,
        }
    }
}

/// The name that goes with an error's code, its text, and its fields.
fn told(error: &Blocked) -> (Option<String>, String, Option<Value>) {
    let kind = match error {
        Blocked::Incompatible(error) => Some(error.kind.name().to_owned()),
        _ => None,
    };
    (kind, error.to_string(), Value::encode(error).ok())
}

impl Told for Gathered {
    fn judged(&mut self, judged: Judged) {
        let Judged {
            run,
            evidence,
            blocked,
            finding,
            ..
        } = judged;
        let run = run.to_string();
        match finding {
            Finding::Ended => self.ended += 1,
            Finding::Fits { .. } => {
                self.open += 1;
                self.covered += 1;
                self.freed += u64::from(blocked);
            }
            Finding::Blocked(error) => {
                let place = Place::of(&evidence.workflow, &error);
                self.uncovered(place, evidence, run, Error::Blocked(error));
            }
            Finding::Withheld => {
                let place = Place::bare(&evidence.workflow, "unfit");
                let error = format!(
                    "the history fits this program now, but this same program was found unfit for the run before, so \
                     that it would not try\n\n\
                     help: build it again, which makes it another program, or call its command `unblock {run}` while \
                     nothing uses the store"
                );
                self.uncovered(place, evidence, run, Error::Other(error));
            }
            Finding::Partial(problems) => {
                let place = Place::bare("", "partial");
                let error = format!(
                    "not all of the run is there: the salvage that wrote this export could not read {}",
                    problems.join("; ")
                );
                self.uncovered(place, evidence, run, Error::Other(error));
            }
        }
    }

    fn program(&mut self, program: ProgramRecord) {
        let manifest = Manifest::from_value(&program.manifest);
        self.programs
            .insert(program.artifact, (program.at, manifest));
    }
}
