//! What is said about a function that is not as it was released.

use super::compare::{Change, Comparison, Difference};
use crate::shape::{Place, UnknownMarker};

/// The whole text: `lines` is what follows the headline, if anything does.
pub(super) fn text(code: &str, headline: &str, lines: &str, helps: &[String]) -> String {
    let mut text = format!("[{code}] {headline}\n\n");
    if !lines.is_empty() {
        text.push_str(lines);
        text.push('\n');
    }
    for help in helps {
        text.push_str(&format!("help: {help}\n"));
    }
    text + &format!("see: lock#{} in the book", code.to_lowercase())
}

fn difference(
    code: &'static str,
    place: Place,
    headline: &str,
    lines: &str,
    helps: &[String],
) -> Difference {
    Difference {
        code,
        place,
        text: text(code, headline, lines, helps),
    }
}

/// Lines that only say how others are nested.
fn is_header(line: &str) -> bool {
    let line = line.trim_start();
    let word = line.split(' ').next().unwrap_or_default();
    matches!(
        line,
        "if" | "else"
            | "else if"
            | "let else"
            | "loop"
            | "while"
            | "for"
            | "async"
            | "closure"
            | "&&"
            | "||"
            | "join_all"
            | "submit"
            | "cx.spawn"
    ) || matches!(
        word,
        "match" | "join!" | "try_join!" | "select!" | "version" | "version_each"
    ) && line.contains(' ')
}

fn is_exit(line: &str) -> bool {
    let word = line.trim_start().split(' ').next().unwrap_or_default();
    matches!(word, "?" | "return" | "break" | "continue")
}

/// A line as one names it: without the `?` behind it.
fn named(line: &str) -> String {
    let line = line.trim_start();
    let name = match line.strip_suffix('?') {
        Some(name) if !name.is_empty() => name,
        _ => line,
    };
    format!("`{name}`")
}

/// `waits for`, or what else the line is about.
fn verb(line: &str) -> &'static str {
    let line = line.trim_start();
    let decides = ["cx.emit", "cx.random", "cx.record", "cx.uuid"];
    if decides.iter().any(|decision| line.starts_with(decision)) {
        "decides"
    } else if line == "set" || line.starts_with("set ") {
        "has"
    } else if is_exit(line) {
        "leaves by"
    } else if is_header(line) {
        "has"
    } else {
        "waits for"
    }
}

fn past(line: &str) -> &'static str {
    match verb(line) {
        "decides" => "decided",
        "leaves by" => "left by",
        "has" => "had",
        _ => "waited for",
    }
}

/// The line that says most: the first that is no header.
fn telling<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let telling = lines.iter().find(|line| !is_header(line) && !is_exit(line));
    telling.or_else(|| lines.first()).copied()
}

/// `add-fraud-check`, and another if that is taken.
fn suggested(comparison: &Comparison<'_>, verb: &str, line: &str) -> String {
    let name: String = line
        .trim_matches(['?', ' '])
        .trim_start_matches("cx.")
        .chars()
        .map(|character| {
            if character.is_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .collect();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    let id = match words.is_empty() {
        true => format!("{verb}-step"),
        false => format!("{verb}-{}", words.join("-")),
    };
    let is_taken = |id: &str| {
        comparison.known.contains_key(id)
            || comparison
                .section
                .retired
                .iter()
                .any(|retired| retired.id == id)
            || comparison
                .shape
                .markers()
                .iter()
                .any(|marker| marker.id == id)
    };
    let mut number = 1;
    let mut free = id.clone();
    while is_taken(&free) {
        number += 1;
        free = format!("{id}-{number}");
    }
    free
}

/// What to do where one step only has another name, which may be all that changed.
fn renamed(new: &[&str], old: &[&str]) -> Option<String> {
    let ([new], [old]) = (new, old) else {
        return None;
    };
    let name = |line: &str| line.trim_matches(['?', ' ']).to_owned();
    let (new, old) = (name(new), name(old));
    let is_plain = |name: &str| {
        let plain = |character: char| character.is_alphanumeric() || "_-".contains(character);
        !name.is_empty() && name.chars().all(plain) && !is_header(name) && !is_exit(name)
    };
    (new != old && is_plain(&new) && is_plain(&old)).then(|| {
        format!(
            "if it is the same activity and only its name is new, it keeps the one that is recorded: `#[activity(.., name = {old:?})]`"
        )
    })
}

fn accept(comparison: &Comparison<'_>) -> String {
    format!(
        "if no run is in flight, accept the new structure: `perennial lock --accept {}`",
        quoted(&comparison.key.name)
    )
}

/// As an argument in a shell.
pub(super) fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-./:".contains(character);
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

/// The first lines that differ (L301–L305).
pub(super) fn changed(
    comparison: &Comparison<'_>,
    change: &Change<'_>,
    all_removed: &[&str],
    all_added: &[&str],
    place: Place,
    lines: &dyn Fn() -> String,
) -> Difference {
    let name = comparison.name();
    let context = comparison.context();
    let (new, old) = (telling(&change.added), telling(&change.removed));
    let steps = |lines: &[&str]| -> Vec<String> {
        let steps = lines.iter().filter(|line| !is_header(line));
        steps.map(|line| (*line).to_owned()).collect()
    };
    let is_reordered = all_removed == all_added
        || match (change.removed.as_slice(), change.added.as_slice()) {
            ([], [line, ..]) => all_removed.contains(&line.trim_start()),
            ([line, ..], []) => all_added.contains(&line.trim_start()),
            _ => false,
        };
    let nesting_only = steps(all_removed) == steps(all_added);
    let guard = |id: &str, new: &str, old: &str| {
        format!(
            "keep the old path for runs in flight: `if {context}.patched({id:?}) {{ {new} }} else {{ {old} }}`"
        )
    };
    let (code, headline, help) = if is_reordered && !nesting_or_same(change) {
        let new = new.or(old).unwrap_or_default();
        let help = guard(
            &suggested(comparison, "reorder", new),
            "/* new order */",
            "/* as before */",
        );
        (
            "L303",
            format!(
                "`{name}` {} {} in another order than the released version",
                verb(new),
                named(new)
            ),
            help,
        )
    } else if nesting_only
        && !all_removed
            .iter()
            .chain(all_added)
            .all(|line| is_exit(line))
    {
        let about = new.or(old).unwrap_or_default();
        let help = guard(
            &suggested(comparison, "change", about),
            "/* new */",
            "/* as before */",
        );
        let headline = match (new, old) {
            (Some(new), Some(old)) if is_header(new) && is_header(old) => format!(
                "`{name}` has {} where the released version had {}",
                named(new),
                named(old)
            ),
            _ => format!(
                "`{name}` {} {} under other control flow than the released version",
                verb(about),
                named(about)
            ),
        };
        ("L304", headline, help)
    } else {
        match (new, old) {
            (Some(new), Some(old))
                if new.trim_matches(['?', ' ']) == old.trim_matches(['?', ' ']) =>
            {
                let ends = |line: &str| line.ends_with('?');
                let headline = match (ends(new), ends(old)) {
                    (true, false) => format!(
                        "`{name}` now ends where {} fails (`?`), and the released version went on",
                        named(new)
                    ),
                    (false, true) => format!(
                        "`{name}` goes on where {} fails, and the released version ended (`?`)",
                        named(new)
                    ),
                    _ => format!(
                        "`{name}` {} {} under other control flow than the released version",
                        verb(new),
                        named(new)
                    ),
                };
                let id = suggested(comparison, "change", new);
                ("L304", headline, guard(&id, "/* new */", "/* as before */"))
            }
            (Some(new), None) => (
                "L301",
                format!(
                    "`{name}` now {} {}, which the released version did not",
                    verb(new),
                    named(new)
                ),
                guard(
                    &suggested(comparison, "add", new),
                    "/* new */",
                    "/* as before */",
                ),
            ),
            (None, Some(old)) => (
                "L302",
                format!(
                    "`{name}` no longer {} {}, which the released version did here",
                    verb(old),
                    named(old)
                ),
                format!(
                    "keep it for runs in flight: `if !{context}.patched({:?}) {{ /* as before */ }}`",
                    suggested(comparison, "drop", old)
                ),
            ),
            (Some(new), Some(old)) => (
                "L304",
                format!(
                    "`{name}` now {} {} where the released version {} {}",
                    verb(new),
                    named(new),
                    past(old),
                    named(old)
                ),
                guard(
                    &suggested(comparison, "change", new),
                    "/* new */",
                    "/* as before */",
                ),
            ),
            (None, None) => ("L304", format!("`{name}` changed"), String::new()),
        }
    };
    let lines = format!("runs in flight would not replay:\n{}", lines());
    let renamed = renamed(&change.added, &change.removed);
    let helps: Vec<_> = renamed
        .into_iter()
        .chain([help, accept(comparison)])
        .collect();
    difference(code, place, &headline, &lines, &helps)
}

/// A released arm is not what it was (L305).
pub(super) fn edited(
    comparison: &Comparison<'_>,
    (id, version): &(String, u32),
    change: &Change<'_>,
    place: Place,
    lines: &str,
) -> Difference {
    let (name, context) = (comparison.name(), comparison.context());
    let what = match (telling(&change.added), telling(&change.removed)) {
        (Some(new), None) => format!("it now {} {}", verb(new), named(new)),
        (None, Some(old)) => format!("it no longer {} {}", verb(old), named(old)),
        (Some(new), Some(old)) if named(new) == named(old) => {
            format!("it now {} {} in another way", verb(new), named(new))
        }
        (Some(new), Some(old)) => format!(
            "it now {} {}, where it {} {}",
            verb(new),
            named(new),
            past(old),
            named(old)
        ),
        (None, None) => "it changed".to_owned(),
    };
    let (low, highest) = comparison.arms(id).unwrap_or((*version, *version));
    let next = highest.saturating_add(1);
    let patched = match next {
        2 if low == 0 => ", where 1 is what `patched` was",
        _ => "",
    };
    let headline = format!("version {version} of {id:?} in `{name}` is released, and {what}");
    let help = format!(
        "leave the released arm as it was, and add one: `match {context}.version({id:?}, {low}..={next}) {{ .., {next} => /* new */ }}`{patched}"
    );
    let lines = format!("runs in flight would not replay:\n{lines}");
    let renamed = renamed(&change.added, &change.removed);
    let helps: Vec<_> = renamed
        .into_iter()
        .chain([help, accept(comparison)])
        .collect();
    difference("L305", place, &headline, &lines, &helps)
}

/// Whether only the indentation, or only a `?`, differs in the first lines.
fn nesting_or_same(change: &Change<'_>) -> bool {
    match (change.removed.as_slice(), change.added.as_slice()) {
        ([old, ..], [new, ..]) => old.trim_start() == new.trim_start(),
        _ => false,
    }
}

/// A released marker for which the code does not ask (L306).
pub(super) fn marker_gone(comparison: &Comparison<'_>, id: &str, place: Place) -> Difference {
    let name = comparison.name();
    let back = back(comparison, id);
    let headline = format!(
        "`{name}` no longer asks for the marker {id:?}, and the released version did: runs in flight have recorded it"
    );
    let helps = [
        format!("put it back: {back}"),
        format!(
            "if all runs in flight have taken the way that is left, accept that: `perennial lock --accept {}`",
            quoted(&comparison.key.name)
        ),
    ];
    difference("L306", place, &headline, "", &helps)
}

/// The code that asks for a released marker.
fn back(comparison: &Comparison<'_>, id: &str) -> String {
    let context = comparison.context();
    match comparison.arms(id).unwrap_or_default() {
        (0, 1) => format!("`if {context}.patched({id:?}) {{ .. }} else {{ .. }}`"),
        (low, high) => format!("`match {context}.version({id:?}, {low}..={high}) {{ .. }}`"),
    }
}

/// A released marker for which a function asks now that the code calls (L306).
pub(super) fn marker_moved(
    comparison: &Comparison<'_>,
    id: &str,
    helper: &str,
    place: Place,
) -> Difference {
    let name = comparison.name();
    let headline = format!(
        "`{name}` no longer asks for the marker {id:?} itself; `{helper}`, which it calls, does now"
    );
    let helps = [
        format!(
            "if a run comes to it at the same point as before, accept that for both: `perennial lock --accept {}`",
            quoted(&comparison.key.name)
        ),
        format!("if not, put it back: {}", back(comparison, id)),
    ];
    difference("L306", place, &headline, "", &helps)
}

/// Released arms that the code does not have (L306).
pub(super) fn arms_gone(
    comparison: &Comparison<'_>,
    id: &str,
    gone: &[u32],
    place: Place,
) -> Difference {
    let name = comparison.name();
    let list: Vec<String> = gone.iter().map(u32::to_string).collect();
    let (versions, them, are) = match gone {
        [_] => ("version", "it", "is"),
        _ => ("versions", "them", "are"),
    };
    let list = list.join(" and ");
    let headline = format!(
        "{versions} {list} of {id:?} in `{name}` {are} released, and {are} gone: runs in flight that go by {them} would not replay"
    );
    let helps = [
        format!("put the arm back: `{} => ..`", gone[0]),
        format!(
            "if no run in flight goes by {them} any more, retire {them}: `perennial lock --accept {}`",
            quoted(&comparison.key.name)
        ),
    ];
    difference("L306", place, &headline, "", &helps)
}

/// A marker that the lock does not know, and that does not start at 0 (L307).
pub(super) fn starts_late(comparison: &Comparison<'_>, marker: &UnknownMarker) -> Difference {
    let name = comparison.name();
    let UnknownMarker { id, lowest, place } = marker;
    let lowest = lowest.map_or("no arm".to_owned(), |lowest| format!("version {lowest}"));
    let headline = format!(
        "the marker {id:?} in `{name}` is not released and starts at {lowest}: runs in flight are at version 0, the code before the marker"
    );
    let helps = ["start at 0, with the code as it was: `0 => /* as before */`".to_owned()];
    difference("L307", *place, &headline, "", &helps)
}

/// A marker that was retired and is asked for again (L307).
pub(super) fn retired_again(comparison: &Comparison<'_>, id: &str, place: Place) -> Difference {
    let name = comparison.name();
    let headline = format!(
        "the marker {id:?} in `{name}` was retired: runs in flight may have recorded it for another change"
    );
    let other = suggested(comparison, id, "2");
    let helps = [format!("take another name: {other:?}")];
    difference("L307", place, &headline, "", &helps)
}

/// A marker that is new in one function of a run, and was released in another (L307).
pub(super) fn shared(
    comparison: &Comparison<'_>,
    id: &str,
    new: &str,
    released: &str,
    place: Place,
) -> Difference {
    let headline = format!(
        "the marker {id:?} is new in `{new}`, and was released in `{released}`: a run has one answer for both"
    );
    let other = suggested(comparison, id, "2");
    let helps = [format!("take another name in `{new}`: {other:?}")];
    difference("L307", place, &headline, "", &helps)
}

/// A condition that is not what it was (L310).
pub(super) fn flow(
    comparison: &Comparison<'_>,
    is_new: bool,
    is_gone: bool,
    place: Place,
) -> Difference {
    let (name, context) = (comparison.name(), comparison.context());
    let headline = if is_new {
        format!(
            "`{name}` has a condition or an early end here that the released version did not have"
        )
    } else if is_gone {
        format!(
            "`{name}` lacks a condition or an early end that the released version had before this"
        )
    } else {
        format!("`{name}` decides by another condition here than the released version")
    };
    let lines =
        "what it waits for stands in the same order, but a run in flight may now go another way\n";
    let id = suggested(comparison, "change", "condition");
    let helps = [
        format!(
            "if it may, keep the old path for runs in flight: `if {context}.patched({id:?}) {{ /* new */ }} else {{ /* as before */ }}`"
        ),
        format!(
            "if it cannot, say so: `perennial lock --accept {}`",
            quoted(&comparison.key.name)
        ),
    ];
    difference("L310", place, &headline, lines, &helps)
}
