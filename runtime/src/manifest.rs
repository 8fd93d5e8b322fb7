//! What a program can run, as data: its manifest.

use std::collections::BTreeMap;

use perennial::history::{Channel, SEMANTICS};
use perennial::value::Value;
use perennial::{
    ActivityDefinition, ActivityOptions, CalleeKind, DataType, DataTypes, Handled, Publication,
    Publishes, Receives, WorkflowDefinition,
};
use serde::{Deserialize, Serialize};

use crate::registry::Registry;
use crate::store::MAX_TEXT_BYTES;

/// The number of the form that manifests have here.
const FORMAT: u64 = 1;

/// What a program can run (O49): which workflows, with which versions of which markers, and which activities.
///
/// A program can print its own ([`Builder::manifest`](crate::Builder::manifest)), and keeps it in the store that it
/// works on, so that it is known of a run which programs could go on with it.
///
/// # The JSON
///
/// ```text
/// {
///   "format": 1,
///   "artifact": "8c6d2a4f0b1e9d37",
///   "software": "perennial 0.1.0",
///   "semantics": 1,
///   "workflows": [{
///     "name": "order",
///     "version": 3,
///     "markers": [{ "id": "fraud-check", "lowest": 0, "highest": 1 }],
///     "retired": [{ "id": "rounding", "version": 2 }],
///     "structure": "..",
///     "activities": ["charge_card", "ship"],
///     "receives": [{ "channel": "message", "name": "approval", "type": { "name": "bool", "schema": { ".." } } }],
///     "receives_others": false,
///     "offers": [{ "name": "review", "input": { "name": "shop::Order" }, "result": { "name": "bool" } }],
///     "compare_inputs": true,
///     "types": {
///       "input": { "name": "shop::Order", "schema": { "$schema": ".." } },
///       "result": { "name": "u64" },
///       "error": { "name": "perennial::error::Error" }
///     }
///   }],
///   "activities": [{
///     "name": "charge_card",
///     "options": { "class": "idempotent", "attempt": { "secs": 30, "nanos": 0 }, "timeout": null, "retry": { ".." } },
///     "states": ["shop::Bank"],
///     "types": { ".." }
///   }]
/// }
/// ```
///
/// Workflows, activities and states stand in the order of their names. What is empty is left out where it is
/// read as empty again. Fields may come to it; a reader passes over those that it does not know. A form that an
/// older reader could misunderstand has a higher `format`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The number of the form: 1.
    pub format: u64,
    /// The name of the program in histories and errors: [`Builder::artifact`](crate::Builder::artifact).
    pub artifact: String,
    /// A digest of its executable, where a store has noted it (S16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Which version of Perennial is in it.
    pub software: String,
    /// The highest number of replay semantics that it knows.
    pub semantics: u32,
    /// Its workflows, by name.
    pub workflows: Vec<WorkflowManifest>,
    /// Its activities, by name.
    pub activities: Vec<ActivityManifest>,
}

/// A workflow of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkflowManifest {
    /// The name under which histories know it.
    pub name: String,
    /// Its label, `#[workflow(version = 3)]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The markers that it asks for, and the versions of them that it supports (S36).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<SupportedMarker>,
    /// The markers that it passes over: those that it asked for once (S36).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<PassedMarker>,
    /// What it waits for and decides, in order: a line each, as `perennial.lock` has them (S37).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub structure: String,
    /// The activities that it calls, by name, as far as its source tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activities: Vec<String>,
    /// The messages and signals that it waits for, by kind, name and type, as far as its source tells (S25).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receives: Vec<ReceiveManifest>,
    /// Whether it may wait for others too: under a name that is no constant, or in a function that it calls.
    #[serde(default, skip_serializing_if = "is_no")]
    pub receives_others: bool,
    /// The streams and views that it publishes, by kind and name, as far as its source tells (S28).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publishes: Vec<PublishManifest>,
    /// Whether it may publish others too: under a name that is no constant, or in a function that it calls. Yes where
    /// the program did not tell.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub publishes_others: bool,
    /// The updates that it handles, by name, as far as its source tells (S27).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<UpdateManifest>,
    /// Whether it may handle others too: under a name that is no constant, or in a function that it calls.
    #[serde(default, skip_serializing_if = "is_no")]
    pub updates_others: bool,
    /// The stubs that it offers, by name, as far as its source tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<OfferManifest>,
    /// Whether a replay compares inputs (S10).
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub compare_inputs: bool,
    /// The types of its data.
    #[serde(default, skip_serializing_if = "TypeManifests::is_empty")]
    pub types: TypeManifests,
}

/// A marker, and the versions of it that a workflow supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SupportedMarker {
    /// What the code calls the change.
    pub id: String,
    /// The lowest version; 0 is the code before the marker.
    pub lowest: u32,
    /// The highest version, which new runs get.
    pub highest: u32,
}

/// A message or a signal that a workflow waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReceiveManifest {
    /// Which of them.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// The type of what it says.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data: Option<TypeManifest>,
}

/// A stream or a view that a workflow publishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PublishManifest {
    /// Which of them.
    pub kind: Publication,
    /// The name.
    pub name: String,
    /// The type of its items or values.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data: Option<TypeManifest>,
}

/// An update that a workflow handles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UpdateManifest {
    /// The name.
    pub name: String,
    /// The type of what is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<TypeManifest>,
    /// The type of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<TypeManifest>,
    /// The type of why it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<TypeManifest>,
}

/// A stub that a workflow offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OfferManifest {
    /// The name under which histories know it.
    pub name: String,
    /// The type of what whoever fulfils it is told, where the source tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<TypeManifest>,
    /// The type of what it is fulfilled with, where the source tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TypeManifest>,
}

/// A marker that is not asked for any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PassedMarker {
    /// What the code called the change.
    pub id: String,
    /// The version whose code has stayed.
    pub version: u32,
}

/// An activity of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActivityManifest {
    /// The name under which histories know it.
    pub name: String,
    /// What it declares: its class, deadlines and retries.
    pub options: ActivityOptions,
    /// The types of the application state that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The types of its data.
    #[serde(default, skip_serializing_if = "TypeManifests::is_empty")]
    pub types: TypeManifests,
}

/// The types of data of a workflow or an activity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypeManifests {
    /// Of the input: `()`, the one parameter, or a tuple of the parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<TypeManifest>,
    /// Of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TypeManifest>,
    /// Of the error; of an activity that is what it rejects with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TypeManifest>,
}

/// A type of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypeManifest {
    /// Its path, for people: a compiler may write it in another way than another one.
    pub name: String,
    /// Its JSON Schema, where it implements `schemars::JsonSchema` and the program was built with the feature
    /// `schemars` of the crate `perennial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl Manifest {
    pub(crate) fn of(registry: &Registry, artifact: &str) -> Self {
        let workflows: BTreeMap<_, _> = registry.workflows.iter().collect();
        let activities: BTreeMap<_, _> = registry.activities.iter().collect();
        Self {
            format: FORMAT,
            artifact: artifact.to_owned(),
            build: None,
            software: format!("perennial {}", env!("CARGO_PKG_VERSION")),
            semantics: SEMANTICS,
            workflows: workflows.into_values().map(WorkflowManifest::of).collect(),
            activities: activities.into_values().map(ActivityManifest::of).collect(),
        }
    }

    /// The workflow of that name.
    #[must_use]
    pub fn workflow(&self, name: &str) -> Option<&WorkflowManifest> {
        self.workflows.iter().find(|workflow| workflow.name == name)
    }

    /// The activity of that name.
    #[must_use]
    pub fn activity(&self, name: &str) -> Option<&ActivityManifest> {
        self.activities
            .iter()
            .find(|activity| activity.name == name)
    }

    /// As JSON for people and programs, over several lines and with a line end; a schema stands on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // It has nothing that JSON has not: texts, whole numbers, and schemas that are JSON already.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|_| "null".to_owned());
        text.push('\n');
        text
    }

    /// As a value, to be kept.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::encode(self).unwrap_or_else(|_| Value::null())
    }

    /// As a store keeps it, which takes texts up to a length: schemas are told only where there is room.
    pub(crate) fn to_record(&self) -> Value {
        let whole = self.to_value();
        if whole.as_json().len() <= MAX_TEXT_BYTES {
            return whole;
        }
        let mut bare = self.clone();
        let of_workflows = bare
            .workflows
            .iter_mut()
            .map(|workflow| &mut workflow.types);
        let of_activities = bare
            .activities
            .iter_mut()
            .map(|activity| &mut activity.types);
        of_workflows
            .chain(of_activities)
            .for_each(|types| *types = TypeManifests::default());
        let receives = bare.workflows.iter_mut();
        let receives = receives.flat_map(|workflow| &mut workflow.receives);
        receives.for_each(|one| one.data = None);
        let publishes = bare.workflows.iter_mut();
        let publishes = publishes.flat_map(|workflow| &mut workflow.publishes);
        publishes.for_each(|one| one.data = None);
        let updates = bare.workflows.iter_mut();
        let updates = updates.flat_map(|workflow| &mut workflow.updates);
        updates.for_each(|one| (one.input, one.answer, one.refused) = (None, None, None));
        let offers = bare.workflows.iter_mut();
        let offers = offers.flat_map(|workflow| &mut workflow.offers);
        offers.for_each(|one| (one.input, one.result) = (None, None));
        bare.to_value()
    }

    /// The manifest that a value holds; `None` where it is none, or one of newer software that may mean
    /// something else.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let manifest: Self = value.decode().ok()?;
        (manifest.format <= FORMAT).then_some(manifest)
    }
}

impl WorkflowManifest {
    fn of(workflow: &WorkflowDefinition) -> Self {
        let graph = workflow.graph;
        let marker = |marker: &perennial::MarkerRange| SupportedMarker {
            id: marker.id.to_owned(),
            lowest: marker.lowest,
            highest: marker.highest,
        };
        let retired = |marker: &perennial::RetiredMarker| PassedMarker {
            id: marker.id.to_owned(),
            version: marker.version,
        };
        let called = graph.callees.iter();
        let called = called.filter(|callee| callee.kind == CalleeKind::Activity);
        let mut activities: Vec<_> = called.map(|callee| callee.name.to_owned()).collect();
        activities.sort();
        activities.dedup();
        let mut receives = graph.receives();
        // One name may stand for two types: that is two waits.
        let wait = |one: &Receives| (one.channel, one.name, one.data().name);
        receives.sort_by_key(wait);
        receives.dedup_by_key(|one| wait(one));
        let mut publishes = graph.publishes();
        publishes.sort_by_key(|one| (one.kind, one.name));
        publishes.dedup_by_key(|one| (one.kind, one.name));
        let mut updates = graph.handled();
        updates.sort_by_key(|one| one.name);
        updates.dedup_by_key(|one| one.name);
        Self {
            name: workflow.name.to_owned(),
            version: graph.version,
            markers: graph.markers.iter().map(marker).collect(),
            retired: graph.retired.iter().map(retired).collect(),
            structure: graph.structure.to_owned(),
            activities,
            receives: receives.iter().map(ReceiveManifest::of).collect(),
            receives_others: graph.listens_for_others,
            publishes: publishes.iter().map(PublishManifest::of).collect(),
            publishes_others: graph.publishes_others,
            updates: updates.iter().map(UpdateManifest::of).collect(),
            updates_others: graph.handles_others,
            offers: OfferManifest::all(graph),
            compare_inputs: graph.compare_inputs,
            types: TypeManifests::of((workflow.types)()),
        }
    }

    /// Whether it goes on with a run that has this version of a marker.
    #[must_use]
    pub fn supports(&self, id: &str, version: u32) -> bool {
        let asked_for = |marker: &SupportedMarker| {
            marker.id == id && (marker.lowest..=marker.highest).contains(&version)
        };
        let passed_over = |marker: &PassedMarker| marker.id == id && marker.version == version;
        self.markers.iter().any(asked_for) || self.retired.iter().any(passed_over)
    }
}

impl ReceiveManifest {
    fn of(one: &Receives) -> Self {
        Self {
            channel: one.channel,
            name: one.name.to_owned(),
            data: Some(TypeManifest::of(one.data())),
        }
    }
}

impl PublishManifest {
    fn of(one: &Publishes) -> Self {
        Self {
            kind: one.kind,
            name: one.name.to_owned(),
            data: Some(TypeManifest::of(one.data())),
        }
    }
}

impl UpdateManifest {
    fn of(one: &Handled) -> Self {
        Self {
            name: one.name.to_owned(),
            input: Some(TypeManifest::of(one.input())),
            answer: Some(TypeManifest::of(one.answer())),
            refused: Some(TypeManifest::of(one.refused())),
        }
    }
}

impl OfferManifest {
    fn all(graph: &perennial::Graph) -> Vec<Self> {
        let typed = graph.offers().into_iter().map(|stub| Self {
            name: stub.name.to_owned(),
            input: Some(TypeManifest::of(stub.input)),
            result: Some(TypeManifest::of(stub.result)),
        });
        let called = graph.callees.iter();
        let called = called.filter(|callee| callee.kind == CalleeKind::Stub);
        let named = called.map(|callee| Self {
            name: callee.name.to_owned(),
            input: None,
            result: None,
        });
        // The first of each name stays: that with its types.
        let mut offers: Vec<_> = typed.chain(named).collect();
        offers.sort_by(|a, b| a.name.cmp(&b.name));
        offers.dedup_by(|later, first| later.name == first.name);
        offers
    }
}

impl ActivityManifest {
    fn of(activity: &ActivityDefinition) -> Self {
        let states = (activity.states)();
        let mut states: Vec<_> = states.iter().map(|state| state.name().to_owned()).collect();
        states.sort();
        Self {
            name: activity.name.to_owned(),
            options: activity.options,
            states,
            types: TypeManifests::of((activity.types)()),
        }
    }
}

impl TypeManifests {
    fn of(types: DataTypes) -> Self {
        let of = |data: DataType| Some(TypeManifest::of(data));
        Self {
            input: of(types.input),
            result: of(types.result),
            error: of(types.error),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl TypeManifest {
    fn of(data: DataType) -> Self {
        Self {
            name: data.name.to_owned(),
            schema: data.schema,
        }
    }
}

fn is_no(yes: &bool) -> bool {
    !*yes
}

fn yes() -> bool {
    true
}

fn is_yes(yes: &bool) -> bool {
    *yes
}
