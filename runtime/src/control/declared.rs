//! What programs have told of their workflows, and what can be said by it of a store that no program has open.

use perennial::Timestamp;
use perennial::value::{DecodeError, Value};
use serde::de::DeserializeOwned;

use super::offers::Fulfil;
use super::refused::Refused;
use super::request::Tell;
use crate::client::{FulfilError, SendError};
use crate::manifest::{Manifest, TypeManifest, WorkflowManifest};
use crate::registry::closest;
use crate::store::{Head, Store, StoreError};

/// A workflow, as the newest program tells that has it.
pub(super) fn declared(
    store: &dyn Store,
    workflow: &str,
) -> Result<Option<WorkflowManifest>, StoreError> {
    let mut programs = store.programs()?.into_iter();
    Ok(programs.find_map(|program| {
        let manifest = Manifest::from_value(&program.manifest)?;
        manifest.workflow(workflow).cloned()
    }))
}

/// A workflow, as each program tells that has it: whichever of them goes on with a run. `None`: there is one of which
/// that cannot be read, or there is none.
pub(super) fn declarations(
    store: &dyn Store,
    workflow: &str,
) -> Result<Option<Vec<WorkflowManifest>>, StoreError> {
    let programs = store.programs()?.into_iter();
    let manifests: Option<Vec<_>> = programs
        .map(|program| Manifest::from_value(&program.manifest))
        .collect();
    let manifests = manifests.unwrap_or_default().into_iter();
    let declared = manifests.filter_map(|manifest| manifest.workflow(workflow).cloned());
    let declared: Vec<_> = declared.collect();
    Ok(Some(declared).filter(|declared| !declared.is_empty()))
}

/// Refuses what a run is known not to wait for, and what is of none of the types that it takes, as a program would
/// (M38).
pub(super) fn check_told(store: &dyn Store, tell: &Tell) -> Result<(), Refused> {
    // What is the matter with the run the store says when it gets it.
    let Some(head) = store.head(&tell.run)? else {
        return Ok(());
    };
    let Some(programs) = declarations(store, &head.workflow)? else {
        return Ok(());
    };
    if programs.iter().any(|workflow| workflow.receives_others) {
        return Ok(());
    }
    let known = programs.iter().flat_map(|workflow| &workflow.receives);
    let known = known.filter(|known| known.channel == tell.channel);
    let of_that_name = known.clone().filter(|known| known.name == tell.name);
    let of_that_name: Vec<_> = of_that_name.collect();
    if of_that_name.is_empty() {
        let mut declared: Vec<_> = known.map(|known| known.name.clone()).collect();
        declared.sort();
        declared.dedup();
        let error = SendError::NoSuchMessage {
            closest: closest(&tell.name, declared.iter().map(String::as_str)),
            workflow: head.workflow,
            channel: tell.channel,
            name: tell.name.clone(),
            declared,
        };
        return Err(error.into());
    }
    if may_be_read_otherwise(&head) {
        return Ok(());
    }
    let types = of_that_name.iter().map(|known| known.data.as_ref());
    match refuted(&tell.payload, types) {
        Some(error) => Err(Refused::wrong_type(&tell.name, &head.workflow, &error)),
        None => Ok(()),
    }
}

/// Refuses a value that is of none of the types of the call's stub. What the store says of the call comes first.
pub(super) fn check_given(
    store: &dyn Store,
    fulfil: &Fulfil,
    now: Timestamp,
) -> Result<(), Refused> {
    let Some(head) = store.head(&fulfil.run)? else {
        return Ok(());
    };
    let offer = store.offer(&fulfil.run, fulfil.operation)?;
    let waits = offer.is_some_and(|offer| {
        let in_time = offer.deadline.is_none_or(|deadline| now < deadline);
        offer.is_open() && in_time && offer.name == fulfil.stub
    });
    if !waits || may_be_read_otherwise(&head) {
        return Ok(());
    }
    let Some(programs) = declarations(store, &head.workflow)? else {
        return Ok(());
    };
    // A program may call it where its source does not tell.
    let types = programs.iter().map(|workflow| {
        let mut offers = workflow.offers.iter();
        let known = offers.find(|known| known.name == fulfil.stub);
        known.and_then(|known| known.result.as_ref())
    });
    let Some(error) = refuted(&fulfil.value, types) else {
        return Ok(());
    };
    let error = FulfilError::WrongType {
        reference: fulfil.reference(),
        stub: fulfil.stub.clone(),
        expected: error.expected,
        error,
    };
    Err(error.into())
}

/// Whether the run has ended, which the store says, or waits for another program, which may read what those before
/// could not.
pub(super) fn may_be_read_otherwise(head: &Head) -> bool {
    head.status.is_finished() || head.blocked
}

/// What is wrong with a value that is of none of the types, by the first of them, which is the newest program's. Those
/// that only code knows may be anything.
fn refuted<'a>(
    value: &Value,
    types: impl Iterator<Item = Option<&'a TypeManifest>>,
) -> Option<DecodeError> {
    let mut wrong = None;
    for known in types {
        let decode = of_the_language(&known?.name)?;
        match decode(value) {
            Ok(()) => return None,
            Err(error) => {
                wrong.get_or_insert(error);
            }
        }
    }
    wrong
}

type Decode = fn(&Value) -> Result<(), DecodeError>;

/// How a type is read that is known without its code.
fn of_the_language(name: &str) -> Option<Decode> {
    Some(match name {
        "()" => decode::<()>,
        "bool" => decode::<bool>,
        "char" => decode::<char>,
        "alloc::string::String" => decode::<String>,
        "u8" => decode::<u8>,
        "u16" => decode::<u16>,
        "u32" => decode::<u32>,
        "u64" => decode::<u64>,
        "usize" => decode::<usize>,
        "i8" => decode::<i8>,
        "i16" => decode::<i16>,
        "i32" => decode::<i32>,
        "i64" => decode::<i64>,
        "isize" => decode::<isize>,
        "f32" => decode::<f32>,
        "f64" => decode::<f64>,
        _ => return None,
    })
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<(), DecodeError> {
    value.decode::<T>().map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn is_refuted(json: &str, types: &[&str]) -> bool {
        let types: Vec<TypeManifest> = types
            .iter()
            .map(|name| serde_json::from_value(serde_json::json!({ "name": name })).unwrap())
            .collect();
        refuted(&Value::from_json(json).unwrap(), types.iter().map(Some)).is_some()
    }

    #[test]
    fn what_is_of_none_of_the_types_of_the_language_is_refuted() {
        assert!(is_refuted("\"yes\"", &["bool"]));
        assert!(is_refuted("300", &["bool", "u8"]));
        assert!(!is_refuted("300", &["bool", "u16"]));
        assert!(!is_refuted("true", &["bool"]));
        assert!(!is_refuted("null", &["()"]));
    }

    #[test]
    fn what_only_code_knows_may_be_anything() {
        for types in [
            &["shop::String"][..],
            &["bool", "shop::Verdict"],
            &["shop::Verdict", "bool"],
            &[],
        ] {
            assert!(!is_refuted("5", types), "{types:?}");
        }
        assert!(refuted(&Value::null(), [None].into_iter()).is_none());
    }

    #[test]
    fn the_type_that_is_named_is_the_newest() {
        let known = ["bool", "u32"].map(|name| {
            let known = serde_json::json!({ "name": name });
            serde_json::from_value::<TypeManifest>(known).unwrap()
        });
        let value = Value::from_json("\"yes\"").unwrap();
        let error = refuted(&value, known.iter().map(Some)).unwrap();
        assert_eq!(error.expected, "bool");
    }

    #[test]
    fn the_names_are_those_that_the_compiler_gives() {
        for (name, decodes) in [
            (std::any::type_name::<String>(), "\"a\""),
            (std::any::type_name::<()>(), "null"),
            (std::any::type_name::<char>(), "\"a\""),
            (std::any::type_name::<f64>(), "0.5"),
        ] {
            let decode = of_the_language(name).unwrap();
            decode(&Value::from_json(decodes).unwrap()).unwrap();
        }
    }
}
