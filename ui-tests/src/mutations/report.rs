//! The matrix: who finds which mutation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::judged::Judged;
use super::lock::Locks;
use super::mutant::Mutant;
use super::package::Mutated;
use super::protocol::{Differs, Line};
use crate::AnyError;

/// Who finds which mutation.
#[derive(Debug)]
pub struct Report {
    workflows: Vec<Section>,
    /// What the machine made, by kind.
    made: BTreeMap<String, Made>,
}

/// A workflow and what was made of it by hand.
#[derive(Debug)]
struct Section {
    workflow: String,
    runs: usize,
    prefixes: usize,
    by_hand: Vec<(Mutant, Judged)>,
    by_machine: Vec<(Mutant, Judged)>,
}

/// What became of the mutants of one kind that were made by machine.
#[derive(Debug, Default)]
struct Made {
    made: usize,
    /// Those that compile and come to an end.
    ran: usize,
    /// Those of them that decide something else with one of the prefixes: all of these are refused there.
    differ: Noticed,
    /// Those that decide the same with all of them.
    same: Noticed,
    /// What the replays said.
    codes: BTreeSet<String>,
}

/// What the lock says of mutants.
#[derive(Debug, Default)]
struct Noticed {
    errors: usize,
    /// A condition changed (L310).
    warnings: usize,
    not: usize,
}

impl Report {
    /// `made`: how many were made by machine, by kind, those that do not compile included.
    pub(super) fn of(
        originals: Vec<Mutated>,
        lines: &[Line],
        locks: &Locks,
        made: BTreeMap<String, usize>,
    ) -> Result<Self, AnyError> {
        let mut report = Self {
            workflows: Vec::new(),
            made: made
                .into_iter()
                .map(|(kind, made)| {
                    (
                        kind,
                        Made {
                            made,
                            ..Made::default()
                        },
                    )
                })
                .collect(),
        };
        for (original, mutants) in originals {
            let declared = |module: &str| {
                let mutant = mutants.iter().find(|mutant| mutant.module == module)?;
                mutant.expected.as_ref()?.at
            };
            let mut judged = BTreeMap::<&str, Judged>::new();
            let mut recorded = BTreeMap::<&str, &[u64]>::new();
            let mut section = Section {
                workflow: original.name.clone(),
                runs: 0,
                prefixes: 0,
                by_hand: Vec::new(),
                by_machine: Vec::new(),
            };
            for line in lines {
                match line {
                    Line::Recorded {
                        workflow,
                        run,
                        units,
                        ..
                    } if *workflow == original.name => {
                        recorded.insert(run, units);
                        section.runs += 1;
                        section.prefixes += units.len();
                    }
                    Line::NotRecorded { workflow, run, why } if *workflow == original.name => {
                        return Err(format!(
                            "{workflow}: the run \"{run}\" is not recorded\n{why}"
                        )
                        .into());
                    }
                    Line::Replayed {
                        workflow,
                        mutant,
                        run,
                        differs,
                        replays,
                        astray,
                    } if *workflow == original.name => {
                        let declared = declared(mutant).map(|event| {
                            let units = recorded.get(&**run).copied().unwrap_or_default();
                            Differs {
                                unit: units.iter().take_while(|last| **last < event).count(),
                                event,
                                what: "as declared".to_owned(),
                            }
                        });
                        let differs = declared.as_ref().or(differs.as_ref());
                        let judged = judged.entry(mutant).or_default();
                        judged.note(run, differs, replays);
                        judged.note_astray(run, astray);
                    }
                    _ => {}
                }
            }
            for mutant in mutants {
                let mut judged = judged.remove(&*mutant.module).unwrap_or_default();
                judged.lock = locks.codes(&original.name, &mutant.module);
                judged.compare(&mutant);
                if mutant.expected.is_some() {
                    section.by_hand.push((mutant, judged));
                    continue;
                }
                report
                    .made
                    .entry(mutant.kind.clone())
                    .or_default()
                    .count(&judged);
                section.by_machine.push((mutant, judged));
            }
            report.workflows.push(section);
        }
        Ok(report)
    }

    /// What is not as it has to be: one text for each mutant.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for section in &self.workflows {
            for (mutant, judged) in section.by_hand.iter().chain(&section.by_machine) {
                if judged.wrong.is_empty() {
                    continue;
                }
                texts.push(format!(
                    "{}, {} ({}): {}",
                    section.workflow,
                    mutant.title(),
                    mutant.module,
                    judged.wrong.join("\n")
                ));
            }
        }
        texts
    }

    /// How many workflows there are, and how many mutations of them were written by hand.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.workflows.len(), self.by_hand().count())
    }

    /// How many mutations of each kind were written by hand.
    #[must_use]
    pub fn kinds(&self) -> BTreeMap<&str, usize> {
        let mut kinds = BTreeMap::new();
        for (mutant, _) in self.by_hand() {
            *kinds.entry(&*mutant.kind).or_default() += 1;
        }
        kinds
    }

    fn by_hand(&self) -> impl Iterator<Item = &(Mutant, Judged)> {
        self.workflows.iter().flat_map(|section| &section.by_hand)
    }
}

impl Made {
    fn count(&mut self, judged: &Judged) {
        self.ran += 1;
        let noticed = match judged.differ {
            0 => &mut self.same,
            _ => &mut self.differ,
        };
        *match judged.lock.iter().find(|code| *code != "L310") {
            Some(_) => &mut noticed.errors,
            None if !judged.lock.is_empty() => &mut noticed.warnings,
            None => &mut noticed.not,
        } += 1;
        self.codes.extend(judged.replay.iter().cloned());
    }
}

impl fmt::Display for Noticed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            errors,
            warnings,
            not,
        } = self;
        let all = errors + warnings + not;
        write!(f, "{all:>6} {errors:>7} {warnings:>7} {not:>7}")
    }
}

fn codes(codes: &BTreeSet<String>) -> String {
    codes
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for section in &self.workflows {
            writeln!(
                f,
                "{}: {} runs, {} prefixes",
                section.workflow, section.runs, section.prefixes
            )?;
            for (mutant, judged) in &section.by_hand {
                let lock = match judged.lock.is_empty() {
                    true => "-".to_owned(),
                    false => codes(&judged.lock),
                };
                write!(f, "  {:<9} {:<52} {lock:<10}", mutant.kind, mutant.what)?;
                match judged.first {
                    None => writeln!(f, " -")?,
                    Some(first) => writeln!(
                        f,
                        " {} at {} of {}, first at event {first}",
                        codes(&judged.replay),
                        judged.refused,
                        judged.prefixes
                    )?,
                }
            }
            writeln!(f)?;
        }
        writeln!(
            f,
            "by machine              decide something else, all refused    decide the same\n\
             {:<9} {:>5} {:>5}   {:>6} {:>7} {:>7} {:>7}   {:>6} {:>7} {:>7} {:>7}   replay",
            "",
            "made",
            "ran",
            "all",
            "lock",
            "warned",
            "neither",
            "all",
            "lock",
            "warned",
            "neither"
        )?;
        for (kind, made) in &self.made {
            writeln!(
                f,
                "{kind:<9} {:>5} {:>5}   {}   {}   {}",
                made.made,
                made.ran,
                made.differ,
                made.same,
                codes(&made.codes)
            )?;
        }
        writeln!(
            f,
            "\nby machine, and the lock does not notice that they decide something else"
        )?;
        for section in &self.workflows {
            let made = section.by_machine.iter();
            for (mutant, _) in made.filter(|(_, judged)| judged.is_for_replay_alone()) {
                let name = &section.workflow;
                writeln!(f, "  {name:<12} {:<9} {}", mutant.kind, mutant.what)?;
            }
        }
        Ok(())
    }
}
