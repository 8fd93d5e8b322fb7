//! Which recorded programs can serve a run, by what is recorded of both.

use std::collections::BTreeMap;

use perennial::Timestamp;

use super::{Because, Server};
use crate::cli::judge::Evidence;
use crate::manifest::{Manifest, WorkflowManifest};

/// The recorded programs but `artifact` that can serve such runs, the best one first.
pub(super) fn servers(
    evidence: &Evidence,
    artifact: &str,
    programs: &BTreeMap<String, (Timestamp, Option<Manifest>)>,
) -> Vec<Server> {
    if evidence.workflow.is_empty() {
        return Vec::new();
    }
    let workflow = |name: &str| {
        let (_, manifest) = programs.get(name)?;
        manifest.as_ref()?.workflow(&evidence.workflow)
    };
    let structure = workflow(&evidence.began_by).map(|workflow| &*workflow.structure);
    let structure = structure.filter(|structure| !structure.is_empty());
    let others = programs
        .iter()
        .filter(|(name, _)| *name != artifact && !evidence.unfit.contains(*name));
    let mut servers: Vec<_> = others
        .filter_map(|(name, (at, manifest))| {
            let began = *name == evidence.began_by;
            let because = match manifest {
                Some(manifest) if !can_serve(evidence, manifest) => return None,
                _ if began => Because::Began,
                Some(_) if structure.is_some() && workflow(name).map(structure_of) == structure => {
                    Because::SameStructure
                }
                Some(_) => Because::Untried,
                // Of newer software, which says it in a way that is not understood here.
                None => return None,
            };
            let server = Server {
                artifact: name.clone(),
                because,
            };
            Some((because, std::cmp::Reverse(*at), server))
        })
        .collect();
    servers.sort();
    servers.into_iter().map(|(_, _, server)| server).collect()
}

fn structure_of(workflow: &WorkflowManifest) -> &str {
    &workflow.structure
}

/// Whether what a program says of itself does not speak against it.
fn can_serve(evidence: &Evidence, manifest: &Manifest) -> bool {
    let Some(workflow) = manifest.workflow(&evidence.workflow) else {
        return false;
    };
    let mut markers = evidence.markers.iter();
    let mut activities = evidence.activities.iter();
    evidence.semantics <= manifest.semantics
        && markers.all(|(id, version)| workflow.supports(id, *version))
        && activities.all(|name| manifest.activity(name).is_some())
}
