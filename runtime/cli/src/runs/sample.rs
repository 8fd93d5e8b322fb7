//! What a message could say: JSON of its type, to be changed.

use perennial_runtime::TypeManifest;
use serde_json::{Map, Value as Json};

/// So deep types are looked into.
const DEPTH: u32 = 8;

/// JSON of that type; `None`: nobody knows what it looks like.
pub(super) fn sample(data: &TypeManifest) -> Option<String> {
    let json = match data.name.rsplit("::").next() {
        Some("bool") => Json::Bool(true),
        Some("()") => Json::Null,
        Some("String") => text(),
        Some("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize") => {
            Json::from(0)
        }
        Some("f32" | "f64") => Json::from(0.5),
        _ => {
            let schema = serde_json::from_str(data.schema.as_ref()?.as_json()).ok()?;
            of(&schema, &schema, DEPTH)?
        }
    };
    Some(json.to_string())
}

fn text() -> Json {
    Json::from("...")
}

/// What fits a schema, as far as it is one that derives make.
fn of(schema: &Json, whole: &Json, depth: u32) -> Option<Json> {
    let deeper = depth.checked_sub(1)?;
    if let Some(known) = schema.get("const") {
        return Some(known.clone());
    }
    if let Some(first) = first(schema, "enum") {
        return Some(first.clone());
    }
    if let Some(place) = schema.get("$ref") {
        let place = place.as_str()?.strip_prefix('#')?;
        return of(whole.pointer(place)?, whole, deeper);
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(first) = first(schema, several) {
            return of(first, whole, deeper);
        }
    }
    let kind = match schema.get("type")? {
        Json::Array(kinds) => kinds.first()?,
        kind => kind,
    };
    Some(match kind.as_str()? {
        "null" => Json::Null,
        "boolean" => Json::Bool(true),
        "integer" => Json::from(0),
        "number" => Json::from(0.5),
        "string" => text(),
        "array" => Json::Array(items(schema, whole, deeper)?),
        "object" => {
            let mut object = Map::new();
            for (name, member) in schema
                .get("properties")
                .and_then(Json::as_object)
                .into_iter()
                .flatten()
            {
                object.insert(name.clone(), of(member, whole, deeper)?);
            }
            Json::Object(object)
        }
        _ => return None,
    })
}

/// The items of a tuple; a list may be empty.
fn items(schema: &Json, whole: &Json, depth: u32) -> Option<Vec<Json>> {
    let items = schema.get("prefixItems").and_then(Json::as_array);
    items
        .into_iter()
        .flatten()
        .map(|item| of(item, whole, depth))
        .collect()
}

fn first<'a>(schema: &'a Json, name: &str) -> Option<&'a Json> {
    schema.get(name)?.as_array()?.first()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sample_of(name: &str, schema: Option<Json>) -> Option<String> {
        let manifest = serde_json::json!({ "name": name, "schema": schema });
        sample(&serde_json::from_value(manifest).unwrap())
    }

    #[test]
    fn types_of_the_language_are_known_without_a_schema() {
        let known = ["bool", "u64", "()", "alloc::string::String", "f64"];
        let samples = known.map(|name| sample_of(name, None).unwrap());
        assert_eq!(samples, ["true", "0", "null", "\"...\"", "0.5"]);
        assert_eq!(sample_of("shop::Approval", None), None);
    }

    #[test]
    fn a_schema_tells_what_others_look_like() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "approved": { "type": "boolean" },
                "by": { "$ref": "#/$defs/Who" },
                "note": { "type": ["string", "null"] },
                "pair": { "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "number" }] },
                "why": { "oneOf": [{ "const": "price" }, { "const": "time" }] },
            },
            "$defs": { "Who": { "type": "string", "enum": ["alice", "bob"] } },
        });
        assert_eq!(
            sample_of("shop::Approval", Some(schema)).unwrap(),
            r#"{"approved":true,"by":"alice","note":"...","pair":[0,0.5],"why":"price"}"#
        );
    }

    #[test]
    fn a_schema_without_an_end_and_one_that_says_nothing_have_no_sample() {
        let endless = serde_json::json!({ "$ref": "#" });
        assert_eq!(sample_of("shop::Tree", Some(endless)), None);
        assert_eq!(sample_of("shop::Any", Some(Json::Bool(true))), None);
    }
}
