//! The canonical form of values (S10): object members sorted, null members dropped, integers exact.

use std::fmt;

use serde_json::Value as Json;

use crate::prose::shorten;

/// The first place in which two values differ.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Difference {
    /// The path inside the value, as `.lines[2].price`; empty for the value itself.
    pub path: String,
    /// What the first value has there; `None` where it has nothing.
    pub left: Option<String>,
    /// What the second value has there; `None` where it has nothing.
    pub right: Option<String>,
}

/// The longest text of a side that an error keeps, in bytes.
const MAX_SIDE: usize = 400;

impl Difference {
    pub(crate) fn shortened(mut self) -> Self {
        self.path = shorten(self.path, MAX_SIDE);
        self.left = self.left.map(|text| shorten(text, MAX_SIDE));
        self.right = self.right.map(|text| shorten(text, MAX_SIDE));
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".into());
        let path = if self.path.is_empty() {
            "the value"
        } else {
            &self.path
        };
        write!(
            f,
            "{path}: {} became {}",
            side(&self.left),
            side(&self.right)
        )
    }
}

fn normal(json: Json) -> Json {
    match json {
        // serde_json keeps the members of an object sorted, unless another crate of the program has it built
        // to keep their order (`preserve_order`).
        Json::Object(members) => {
            let mut members: Vec<_> = members
                .into_iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(k, v)| (k, normal(v)))
                .collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Json::Object(members.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(normal).collect()),
        other => other,
    }
}

/// A text that is no JSON is its own canonical form: digests and comparisons never fail.
fn parse(text: &str) -> Json {
    serde_json::from_str(text).map_or_else(|_| Json::String(text.to_owned()), normal)
}

pub(super) fn canonical(text: &str) -> String {
    parse(text).to_string()
}

pub(super) fn difference(left: &str, right: &str) -> Option<Difference> {
    walk(Some(&parse(left)), Some(&parse(right)), &mut String::new())
}

fn walk(left: Option<&Json>, right: Option<&Json>, path: &mut String) -> Option<Difference> {
    match (left, right) {
        (Some(Json::Object(left)), Some(Json::Object(right))) => {
            let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
            names.sort();
            names.dedup();
            names.into_iter().find_map(|name| {
                nested(path, &format!(".{name}"), |path| {
                    walk(left.get(name), right.get(name), path)
                })
            })
        }
        (Some(Json::Array(left)), Some(Json::Array(right))) => (0..left.len().max(right.len()))
            .find_map(|at| {
                nested(path, &format!("[{at}]"), |path| {
                    walk(left.get(at), right.get(at), path)
                })
            }),
        (left, right) if left == right => None,
        (left, right) => Some(Difference {
            path: path.clone(),
            left: left.map(Json::to_string),
            right: right.map(Json::to_string),
        }),
    }
}

fn nested<T>(path: &mut String, step: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push_str(step);
    let result = inner(path);
    path.truncate(length);
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::value::Value;

    fn value(text: &str) -> Value {
        Value::from_json(text).unwrap()
    }

    #[test]
    fn order_of_members_and_null_members_do_not_matter() {
        assert!(
            value(r#"{"b":1,"a":[1,{"x":null}]}"#)
                .same(&value(r#"{ "a": [1, {}], "b": 1, "c": null }"#))
        );
        assert!(!value("[null]").same(&value("[]")));
        assert!(!value("1").same(&value("1.0")));
        assert!(!value("9007199254740993").same(&value("9007199254740992")));
        assert_eq!(
            value(r#"{"b":1,"a":2}"#).digest(),
            value(r#"{"a":2,"b":1}"#).digest()
        );
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let left = value(r#"{"lines":[{"sku":"a"},{"sku":"b","n":1}],"z":1}"#);
        let right = value(r#"{"lines":[{"sku":"a"},{"sku":"b","n":2}],"z":2}"#);
        assert_eq!(
            left.difference(&right).unwrap().to_string(),
            ".lines[1].n: 1 became 2"
        );
        assert_eq!(
            value("[1]").difference(&value("[]")).unwrap().to_string(),
            "[0]: 1 became nothing"
        );
        assert_eq!(left.difference(&left), None);
    }
}
