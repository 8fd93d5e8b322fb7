//! What to do about an incompatibility, as data and as a line each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Incompatible, IncompatibleKind, Side};
use crate::history::TEST_ARTIFACT;
use crate::prose::safe;

/// One way for a blocked run to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remedy", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remedy {
    /// Put the change under a marker, so that runs in flight keep their path (S36).
    AddMarker {
        /// A name for the change.
        id: String,
        /// The code around it.
        code: String,
    },
    /// Put back what the history has and the code does not ask for any more.
    PutBack {
        /// What, as `activity charge_card`.
        what: String,
    },
    /// The activity has got another name: let histories know it by the old one.
    RenameActivity {
        /// The attribute.
        code: String,
    },
    /// Inputs need not be the same: replay only compares what is called (S10).
    IgnoreInputs {
        /// The attribute.
        code: String,
    },
    /// Support the recorded version of a marker again (S36).
    SupportVersion {
        /// The marker.
        id: String,
        /// The call.
        code: String,
    },
    /// Say that a marker is no longer asked for, and which version has stayed (S36).
    RetireMarker {
        /// The marker.
        id: String,
        /// The workflow.
        #[serde(default)]
        workflow: String,
    },
    /// Register what is missing.
    Register {
        /// The name.
        name: String,
        /// The registered one whose name is most like it.
        closest: Option<String>,
    },
    /// Let the type read what was stored.
    ReadableType {
        /// Attributes that do so.
        code: String,
    },
    /// Start a program again that fits.
    StartArtifact {
        /// Those that are known, the likeliest first.
        artifacts: Vec<String>,
    },
    /// Move the run to a new one (S38).
    Migrate {
        /// The run.
        run: String,
    },
    /// Start the newer software again.
    NewerSoftware,
    /// Let the store give back what it was given, as from a backup.
    RestoreStore,
    /// Newer software knows this one. It is read, and never made.
    #[serde(other)]
    Other,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddMarker { code, .. } => {
                write!(f, "keep the old path for runs in flight: `{}`", safe(code))
            }
            Self::PutBack { what } => write!(f, "put back {}", safe(what)),
            Self::RenameActivity { code } => {
                write!(f, "if it has only got another name: `{}`", safe(code))
            }
            Self::IgnoreInputs { code } => write!(
                f,
                "if it may go on with the recorded input: `{}`",
                safe(code)
            ),
            Self::SupportVersion { code, .. } => {
                write!(f, "support the recorded version again: `{}`", safe(code))
            }
            Self::RetireMarker { id, workflow } => write!(
                f,
                "put the marker \"{}\" back; or, if it was released and the code of its version has stayed, retire \
                 it: `perennial lock --accept {}`",
                id.escape_debug(),
                safe(workflow)
            ),
            Self::Register { name, closest } => {
                write!(f, "register `{}`", safe(name))?;
                match closest {
                    Some(closest) => write!(
                        f,
                        "; if `{0}` is what it is called now: `name = \"{1}\"` in the attribute of `{0}`",
                        safe(closest),
                        safe(name)
                    ),
                    None => Ok(()),
                }
            }
            Self::ReadableType { code } => {
                write!(f, "let the type read what was stored: {}", safe(code))
            }
            Self::StartArtifact { artifacts } => {
                let artifacts: Vec<_> = artifacts.iter().map(|name| safe(name)).collect();
                write!(f, "start artifact {} again", artifacts.join(" or "))
            }
            Self::Migrate { .. } => f.write_str("move it to a new run by a `#[migration]`"),
            Self::NewerSoftware => f.write_str("start the newer software again"),
            Self::RestoreStore => f.write_str(
                "keep a copy of the store before anything else, then restore a backup that has the record",
            ),
            Self::Other => f.write_str("one that newer software knows"),
        }
    }
}

/// A name as a marker may have it: `charge_card` is `charge-card`.
fn kebab(name: &str) -> String {
    let mut id = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() {
            id.extend(c.to_lowercase());
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    match id.trim_end_matches('-') {
        "" => "change".to_owned(),
        id => id.to_owned(),
    }
}

/// What a marker that is about a side may be called.
fn id_of(side: &Side) -> String {
    kebab(side.name.as_deref().unwrap_or(&side.what))
}

impl Incompatible {
    /// Finds the remedies anew, after the kind or a side has changed.
    pub(super) fn advise(&mut self) {
        use IncompatibleKind as Kind;
        let served = self.served();
        let mut remedies = match self.kind {
            Kind::Changed
            | Kind::ChangedInput
            | Kind::Inserted
            | Kind::Removed
            | Kind::Reordered
            | Kind::LeftOver => self.of_code(),
            Kind::MarkerRemoved => {
                let id = self.recorded.as_ref().and_then(|side| side.name.clone());
                let workflow = self.workflow.clone();
                let of = |id: String| match self.marker_stands() {
                    true => Remedy::PutBack {
                        what: format!("{} where it was", Side::marker_name(&id)),
                    },
                    false => Remedy::RetireMarker { id, workflow },
                };
                id.map(of).into_iter().collect()
            }
            Kind::DoesNotDecode => vec![Remedy::ReadableType {
                code:
                    "`#[serde(default)]` for a new field, `#[serde(alias = \"..\")]` for an old name"
                        .to_owned(),
            }],
            Kind::UnknownEvent | Kind::Newer | Kind::Unknown => vec![Remedy::NewerSoftware],
            Kind::Gap | Kind::Damaged => vec![Remedy::RestoreStore],
            Kind::MarkerUnsupported => self.supported_again(),
            Kind::NotRegistered => {
                let known = self.remedies.iter();
                let known = known.filter(|known| matches!(known, Remedy::Register { .. }));
                known.cloned().collect()
            }
        };
        let in_store = matches!(self.kind, Kind::Gap | Kind::Damaged);
        if !served.is_empty() && !in_store {
            let start = Remedy::StartArtifact { artifacts: served };
            // Mostly an older program has taken the place of the one that recorded it.
            let at = match self.kind {
                Kind::MarkerRemoved | Kind::NotRegistered => 0,
                _ => remedies.len(),
            };
            remedies.insert(at, start);
        }
        if self.can_migrate() {
            remedies.push(Remedy::Migrate {
                run: self.run.clone(),
            });
        }
        self.remedies = remedies;
    }

    /// A migration reads the run's history, so it needs one that can be read (S38), and a run in a store.
    fn can_migrate(&self) -> bool {
        use IncompatibleKind as Kind;
        self.started_by != TEST_ARTIFACT
            && !matches!(
                self.kind,
                Kind::NotRegistered
                    | Kind::UnknownEvent
                    | Kind::Gap
                    | Kind::Damaged
                    | Kind::Newer
                    | Kind::Unknown
            )
    }

    /// Programs that are known to fit: those that a driver has found, or the one that began the run.
    fn served(&self) -> Vec<String> {
        let found = self.remedies.iter().find_map(|remedy| match remedy {
            Remedy::StartArtifact { artifacts } => Some(artifacts.clone()),
            _ => None,
        });
        let began = || {
            let is_other = !self.started_by.is_empty()
                && self.started_by != TEST_ARTIFACT
                && self.started_by != self.artifact;
            is_other.then(|| vec![self.started_by.clone()])
        };
        found.or_else(began).unwrap_or_default()
    }

    /// The call of a marker that supports the recorded version too.
    fn supported_again(&self) -> Vec<Remedy> {
        let Some(marker) = &self.marker else {
            return Vec::new();
        };
        let asked = self.asked.as_ref().and_then(|side| side.name.as_ref());
        if asked != Some(&marker.id) {
            // It was retired: its name cannot be asked for again, since runs without it came after.
            return Vec::new();
        }
        let recorded = marker.recorded.unwrap_or(0);
        let (lowest, highest) = marker.supported.unwrap_or((recorded, recorded));
        let range = format!("{}..={}", lowest.min(recorded), highest.max(recorded));
        vec![Remedy::SupportVersion {
            code: format!(
                "match cx.version(\"{}\", {range}) {{ .. }}",
                marker.id.escape_debug()
            ),
            id: marker.id.clone(),
        }]
    }

    /// What can be done in the code.
    fn of_code(&self) -> Vec<Remedy> {
        use IncompatibleKind as Kind;
        let recorded = self.recorded.as_ref();
        let asked = self.asked.as_ref();
        let marker = |id: String, before: &str, after: &str| Remedy::AddMarker {
            code: format!("if {before}cx.patched(\"{id}\") {after}"),
            id,
        };
        let mut remedies = Vec::new();
        if let Some(code) = &self.renamed {
            remedies.push(Remedy::RenameActivity { code: code.clone() });
        }
        match (self.kind, recorded, asked) {
            (Kind::Inserted, _, Some(asked)) => {
                let id = format!("add-{}", id_of(asked));
                remedies.push(marker(id, "", "{ .. }"));
            }
            (Kind::Removed, Some(recorded), _) => {
                let id = format!("drop-{}", id_of(recorded));
                remedies.push(marker(id, "!", "{ .. }"));
            }
            (Kind::Reordered, Some(recorded), None) => {
                let id = format!("reorder-{}", id_of(recorded));
                remedies.push(marker(id, "", "{ .. } else { .. }"));
            }
            (Kind::Reordered, _, Some(asked)) => {
                let id = format!("reorder-{}", id_of(asked));
                remedies.push(marker(id, "", "{ .. } else { .. }"));
            }
            (Kind::ChangedInput, Some(recorded), Some(asked)) => {
                let is_end = asked.is_end();
                let id = if is_end {
                    "result".to_owned()
                } else {
                    id_of(asked)
                };
                let id = format!("change-{id}");
                remedies.push(marker(id, "", "{ .. } else { .. }"));
                if !is_end && recorded.name.is_some() {
                    let code = "#[workflow(compare_inputs = false)]".to_owned();
                    remedies.push(Remedy::IgnoreInputs { code });
                }
            }
            (Kind::LeftOver, Some(recorded), _) if recorded.what != "drop" => {
                let id = format!("end-before-{}", id_of(recorded));
                remedies.push(marker(id, "", "{ return .. }"));
            }
            (_, Some(recorded), Some(asked)) if !recorded.is_end() || !asked.is_end() => {
                let id = if asked.is_end() {
                    format!("drop-{}", id_of(recorded))
                } else {
                    format!("change-{}", id_of(asked))
                };
                remedies.push(marker(id, "", "{ .. } else { .. }"));
            }
            (_, Some(recorded), _) => remedies.push(Remedy::PutBack {
                what: recorded.what.clone(),
            }),
            _ => {}
        }
        remedies
    }
}

#[cfg(test)]
mod tests {
    use super::kebab;

    #[test]
    fn names_become_ids_of_markers() {
        let names = ["charge_card", "Orders::Ship", "random draw", "_", "Größe 2"];
        let ids = names.map(kebab);
        assert_eq!(
            ids,
            [
                "charge-card",
                "orders-ship",
                "random-draw",
                "change",
                "größe-2"
            ]
        );
    }
}
