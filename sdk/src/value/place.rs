//! Where in a value something does not decode (S17). serde_json names a column; people look for a path.

use crate::prose::shorten;

/// The longest text of a problem, in bytes: it may quote the value.
const MAX_PROBLEM: usize = 400;

/// What `error` says about `text`, with the path of the place where it arose.
pub(super) fn problem(text: &str, error: &serde_json::Error) -> String {
    let said = error.to_string();
    // The path says the position.
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    let said = shorten(said.to_owned(), MAX_PROBLEM);
    match path(text, error.line(), error.column()) {
        Some(path) => format!("{said} at `{}`", shorten(path, MAX_PROBLEM)),
        None => said,
    }
}

/// The path of the last value that begins before the position; `None`: the whole.
fn path(text: &str, line: usize, column: usize) -> Option<String> {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let end = text.floor_char_boundary(before.saturating_add(column));
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut rest = &text[..end];
    let mut last = Vec::new();
    while let Some(c) = rest.chars().next() {
        let (token, after) = rest.split_at(length(rest));
        rest = after;
        match c {
            '{' | '[' => {
                last = steps(&open);
                open.push(if c == '{' {
                    Open::Object {
                        key: "",
                        value: false,
                    }
                } else {
                    Open::Array(0)
                });
            }
            '}' | ']' => {
                open.pop();
                last = steps(&open);
            }
            ':' => {
                if let Some(Open::Object { value, .. }) = open.last_mut() {
                    *value = true;
                }
            }
            ',' => match open.last_mut() {
                Some(Open::Object { value, .. }) => *value = false,
                Some(Open::Array(at)) => *at += 1,
                None => {}
            },
            c if c.is_whitespace() => {}
            _ => match open.last_mut() {
                Some(Open::Object { key, value: false }) => *key = token,
                _ => last = steps(&open),
            },
        }
    }
    (!last.is_empty()).then(|| last.concat())
}

enum Open<'a> {
    Object {
        /// With its quotes.
        key: &'a str,
        /// Whether what comes is the key's value.
        value: bool,
    },
    Array(usize),
}

fn steps(open: &[Open<'_>]) -> Vec<String> {
    open.iter()
        .map(|open| match open {
            Open::Object { key, .. } => {
                let key: Option<String> = serde_json::from_str(key).ok();
                format!(".{}", key.unwrap_or_default())
            }
            Open::Array(at) => format!("[{at}]"),
        })
        .collect()
}

/// The length of the token that `text` begins with.
fn length(text: &str) -> usize {
    let mut escaped = false;
    let string = text.starts_with('"');
    for (at, c) in text.char_indices().skip(1) {
        if string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return at + 1,
                _ => {}
            }
        } else if !text.starts_with(|c: char| c.is_alphanumeric() || c == '-')
            || !(c.is_alphanumeric() || matches!(c, '.' | '-' | '+'))
        {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use crate::value::Value;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Order {
        lines: Vec<Line>,
        #[serde(default)]
        notes: BTreeMap<String, Line>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Line {
        sku: String,
        count: u8,
    }

    #[test]
    fn what_does_not_decode_is_named_by_its_path() {
        let long = format!(r#"{{"lines":"{}"}}"#, "x".repeat(10_000));
        let texts = [
            r#"{"lines":[{"sku":"a","count":1},{"sku":"b","count":"two"}]}"#,
            r#"{"lines":[{"sku":"a","count":1},{"sku":7,"count":2}]}"#,
            r#"{"lines":[{"sku":"a","count":256}]}"#,
            r#"{"lines":[{"sku":"a"}]}"#,
            r#"{"lines":[],"notes":{"a \"b\" {[":{"sku":"}","count":null}}}"#,
            "{\"lines\":[],\n\"notes\":{\"x\":{\"sku\":1}}}",
            r#"{}"#,
            r#"7"#,
            r#"{"lines":7}"#,
            &long,
        ];
        let problems = texts.map(|text| {
            Value::from_json(text)
                .unwrap()
                .decode::<Order>()
                .unwrap_err()
                .to_string()
        });
        insta::assert_snapshot!(problems.join("\n"));
    }
}
