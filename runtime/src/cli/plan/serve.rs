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
    if evidence.workflow.is_empty() || evidence.damaged {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use perennial::value::Value;

    use super::*;

    /// A manifest that has one workflow with these fields.
    fn manifest(workflow: &str) -> Option<Manifest> {
        let text = format!(
            r#"{{"format":1,"artifact":"","software":"","semantics":1,"activities":[],
            "workflows":[{{{workflow}}}]}}"#
        );
        let manifest = Manifest::from_value(&Value::from_json(text).unwrap());
        assert!(manifest.is_some());
        manifest
    }

    fn evidence() -> Evidence {
        Evidence {
            workflow: "order".into(),
            began_by: "one".into(),
            semantics: 1,
            ..Evidence::default()
        }
    }

    fn order(more: &str) -> Option<Manifest> {
        manifest(&format!(r#""name":"order"{more}"#))
    }

    fn of(evidence: &Evidence, programs: &[(&str, Option<Manifest>)]) -> Vec<(String, Because)> {
        let programs = (1..)
            .zip(programs)
            .map(|(at, (name, manifest))| {
                let at = Timestamp::from_millis(at);
                ((*name).to_owned(), (at, manifest.clone()))
            })
            .collect();
        let servers = servers(evidence, "this", &programs);
        let servers = servers.into_iter();
        servers
            .map(|server| (server.artifact, server.because))
            .collect()
    }

    #[test]
    fn the_one_that_began_comes_first_then_the_same_structure_then_the_newest() {
        let programs = [
            ("one", order(r#","structure":"charge""#)),
            ("old", order(r#","structure":"ship""#)),
            ("same", order(r#","structure":"charge""#)),
            ("new", order("")),
            ("this", order(r#","structure":"charge""#)),
        ];
        let expected = [
            ("one", Because::Began),
            ("same", Because::SameStructure),
            ("new", Because::Untried),
            ("old", Because::Untried),
        ];
        let expected = expected.map(|(name, because)| (name.to_owned(), because));
        assert_eq!(of(&evidence(), &programs), expected);
    }

    #[test]
    fn what_speaks_against_a_program_leaves_it_out() {
        let programs = [
            ("one", order("")),
            ("other", manifest(r#""name":"refund""#)),
            ("newer", None),
        ];
        let names = |evidence: &Evidence| {
            let servers = of(evidence, &programs).into_iter();
            servers.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&evidence()), ["one"]);
        let mut unfit = evidence();
        unfit.unfit.insert("one".into());
        let mut marked = evidence();
        marked.markers.insert(("fraud".into(), 1));
        let mut waiting = evidence();
        waiting.activities.insert("ship".into());
        let newer = Evidence {
            semantics: 2,
            ..evidence()
        };
        let damaged = Evidence {
            damaged: true,
            ..evidence()
        };
        for evidence in [unfit, marked, waiting, newer, damaged] {
            assert!(names(&evidence).is_empty(), "{evidence:?}");
        }
    }

    #[test]
    fn a_marker_within_the_range_speaks_for_a_program() {
        let range = r#","markers":[{"id":"fraud","lowest":0,"highest":1}]"#;
        let programs = [("one", order("")), ("two", order(range))];
        let mut marked = evidence();
        marked.markers.insert(("fraud".into(), 1));
        assert_eq!(of(&marked, &programs), [("two".into(), Because::Untried)]);
    }

    #[test]
    fn a_program_whose_manifest_is_not_understood_serves_what_it_began() {
        let programs = [("one", None)];
        assert_eq!(of(&evidence(), &programs), [("one".into(), Because::Began)]);
    }
}
