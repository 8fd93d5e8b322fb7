//! Values in the text of a history. The members of an object are sorted, since a map of the user's may give
//! them in another order each time. A short value stands on the line of its event; a longer one is broken, so
//! that what differs between two texts stands on a line of its own.

use serde_json::Value as Json;

use crate::value::Value;

/// How many characters a value, or a part of one that was broken, may have to stand on one line.
const WIDTH: usize = 100;
/// How many lines of a value are shown. Of what comes after them there is a digest, so that a difference
/// there is seen too.
const MAX_LINES: usize = 100;

/// A value, as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// On the line of its event.
    Short(String),
    /// On lines of its own.
    Long(Vec<String>),
}

/// `value`, as it is shown.
pub(super) fn value(value: &Value) -> Shown {
    let json = serde_json::from_str(value.as_json())
        .unwrap_or_else(|_| Json::String(value.as_json().to_owned()));
    let line = compact(&json);
    if fits(&line, 0) {
        return Shown::Short(line);
    }
    let mut lines = Lines(Vec::new());
    lines.put(&json, 0, "", "");
    Shown::Long(lines.cut(value))
}

/// A text that is no JSON, such as what the last attempt of an activity said.
pub(super) fn text(text: &str) -> Shown {
    let line = text.escape_debug().to_string();
    if fits(&line, 0) {
        return Shown::Short(line);
    }
    match Value::encode(text) {
        Ok(encoded) => value(&encoded),
        Err(_) => Shown::Short(line),
    }
}

fn fits(text: &str, indent: usize) -> bool {
    text.chars().take(WIDTH + 1).count() + indent <= WIDTH
}

/// On one line, without spaces.
fn compact(json: &Json) -> String {
    fn write(json: &Json, out: &mut String) {
        match json {
            Json::Object(_) => {
                out.push('{');
                for (at, (name, member)) in members(json).into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    *out += &quoted(name);
                    out.push(':');
                    write(member, out);
                }
                out.push('}');
            }
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write(item, out);
                }
                out.push(']');
            }
            Json::String(text) => *out += &quoted(text),
            other => *out += &other.to_string(),
        }
    }
    let mut out = String::new();
    write(json, &mut out);
    out
}

/// Sorted, whatever order serde_json was built to keep.
fn members(json: &Json) -> Vec<(&String, &Json)> {
    let mut members: Vec<_> = json.as_object().into_iter().flatten().collect();
    members.sort_by_key(|(name, _)| *name);
    members
}

fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

struct Lines(Vec<String>);

impl Lines {
    /// Puts down a value that stands `indent` deep, after its name and before a comma.
    fn put(&mut self, json: &Json, indent: usize, before: &str, after: &str) {
        let line = format!("{before}{}{after}", compact(json));
        if fits(&line, indent) {
            return self.line(indent, line);
        }
        match json {
            Json::Object(inner) if !inner.is_empty() => {
                self.line(indent, format!("{before}{{"));
                let last = inner.len() - 1;
                for (at, (name, member)) in members(json).into_iter().enumerate() {
                    let name = format!("{}: ", quoted(name));
                    self.put(member, indent + 2, &name, comma(at < last));
                }
                self.line(indent, format!("}}{after}"));
            }
            Json::Array(items) if !items.is_empty() => {
                self.line(indent, format!("{before}["));
                for (at, item) in items.iter().enumerate() {
                    self.put(item, indent + 2, "", comma(at + 1 < items.len()));
                }
                self.line(indent, format!("]{after}"));
            }
            Json::String(text) => self.string(text, indent, before, after),
            _ => self.line(indent, line),
        }
    }

    /// A text of some length, line by line; where its own lines are long, piece by piece.
    fn string(&mut self, text: &str, indent: usize, before: &str, after: &str) {
        let inner = if before.is_empty() {
            indent
        } else {
            self.line(indent, before.trim_end().to_owned());
            indent + 2
        };
        let pieces = pieces(text);
        for (at, piece) in pieces.iter().enumerate() {
            let after = if at + 1 < pieces.len() { "" } else { after };
            self.line(inner, format!("{}{after}", quoted(piece)));
        }
    }

    fn line(&mut self, indent: usize, text: String) {
        self.0.push(format!("{:indent$}{text}", ""));
    }

    /// Not more than there may be.
    fn cut(mut self, value: &Value) -> Vec<String> {
        let more = self.0.len().saturating_sub(MAX_LINES);
        if more > 0 {
            self.0.truncate(MAX_LINES);
            self.0.push(format!(
                "… {more} more lines; {} bytes in all, sha256 {:.8}",
                value.as_json().len(),
                value.digest().to_string()
            ));
        }
        self.0
    }
}

fn comma(more: bool) -> &'static str {
    if more { "," } else { "" }
}

fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for mut line in text.split_inclusive('\n') {
        while let Some((end, _)) = line.char_indices().nth(WIDTH - 20) {
            // Between words, where there are some.
            let space = line[..end].rfind(' ').map(|space| space + 1);
            let (piece, rest) = line.split_at(space.filter(|at| *at > end / 2).unwrap_or(end));
            pieces.push(piece);
            line = rest;
        }
        pieces.push(line);
    }
    pieces
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Shown, text, value};
    use crate::value::Value;

    fn lines(json: impl Into<String>) -> String {
        match value(&Value::from_json(json).unwrap()) {
            Shown::Short(line) => line,
            Shown::Long(lines) => lines.join("\n"),
        }
    }

    #[test]
    fn a_short_value_is_one_line_with_its_members_sorted() {
        let shown = lines("{ \"b\": [1, 2.50, null],\n \"a\": {\"d\":\"\\n\", \"c\": true} }");
        assert_eq!(shown, r#"{"a":{"c":true,"d":"\n"},"b":[1,2.5,null]}"#);
    }

    #[test]
    fn a_long_value_is_broken_where_it_has_parts() {
        let order = serde_json::json!({
            "id": "A-1",
            "lines": (0..3).map(|n| serde_json::json!({
                "sku": format!("sku-{n}"), "count": n, "note": "x".repeat(50 + 30 * n),
            })).collect::<Vec<_>>(),
            "letter": format!("Dear Alice,\n\nwe have got {} orders.\n", "many ".repeat(30)),
            "nothing": {},
        });
        insta::assert_snapshot!(lines(order.to_string()));
    }

    #[test]
    fn what_is_not_shown_has_a_digest() {
        let mut items: Vec<u32> = (0..30_000).collect();
        let shown = |items: &[u32]| lines(serde_json::to_string(items).unwrap());
        let before = shown(&items);
        items[29_999] = 7;
        let after = shown(&items);
        assert_eq!(before.lines().count(), 101);
        insta::assert_snapshot!(
            [before, after]
                .map(|shown| shown.lines().last().unwrap().to_owned())
                .join("\n")
        );
    }

    #[test]
    fn a_text_stands_as_it_is_or_piece_by_piece() {
        assert_eq!(
            text("refused\n(os error 111)"),
            Shown::Short("refused\\n(os error 111)".into())
        );
        let Shown::Long(lines) = text(&"no \"answer\" ".repeat(20)) else {
            panic!("it fits")
        };
        insta::assert_snapshot!(lines.join("\n"));
    }
}
