//! Tables, times and values as people read them.

use std::time::Duration;

use perennial::Timestamp;
use perennial::value::Value;

use super::inert::line;

/// Rows of cells, all of them aligned left.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut out = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            out += &format!("{cell:<width$}  ");
        }
        text += out.trim_end();
        text.push('\n');
    }
    text
}

/// A point in time to the second, in UTC.
pub(super) fn time(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {}Z", time.get(..8).unwrap_or(time)),
        None => text,
    }
}

/// How long something took, in the two largest units.
pub(super) fn long(duration: Duration) -> String {
    let (milliseconds, seconds) = (duration.subsec_millis(), duration.as_secs());
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..10 => format!("{seconds}.{} s", milliseconds / 100),
        _ => {
            let parts = parts.iter().skip_while(|(number, _)| *number == 0).take(2);
            let parts = parts.filter(|(number, _)| *number > 0);
            let parts: Vec<_> = parts
                .map(|(number, unit)| format!("{number} {unit}"))
                .collect();
            parts.join(" ")
        }
    }
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str, most: usize) -> String {
    let text = line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The beginning of a value.
pub(super) fn value(value: &Value) -> String {
    short(value.as_json(), 100)
}

/// A number of things.
pub(super) fn count(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_their_two_largest_units() {
        let texts = [0, 250, 1_340, 59_000, 61_000, 3_600_000, 183_660_000]
            .map(|millis| long(Duration::from_millis(millis)));
        assert_eq!(
            texts,
            [
                "0 ms",
                "250 ms",
                "1.3 s",
                "59 s",
                "1 min 1 s",
                "1 h",
                "2 d 3 h"
            ]
        );
    }

    #[test]
    fn times_are_to_the_second() {
        let at = Timestamp::from_millis(1_764_000_000_999);
        assert_eq!(time(at), "2025-11-24 16:00:00Z");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(short("üüü", 2), "üü…");
        assert_eq!(short("a\u{7}", 9), "a\\u{7}");
    }
}
