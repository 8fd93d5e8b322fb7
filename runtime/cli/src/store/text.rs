//! Numbers and tables as people read them.

use std::fmt::Write as _;

/// A size in bytes.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes.saturating_mul(10) >> 10;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths >>= 10;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A number of things.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Rows of cells, the first one aligned left and the others right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let sizes = [
            0,
            1_023,
            1_024,
            1_536,
            10 << 20,
            (1 << 30) - 1,
            5 << 40,
            u64::MAX,
        ];
        let texts = sizes.map(size);
        assert_eq!(
            texts,
            [
                "0 B",
                "1023 B",
                "1.0 KiB",
                "1.5 KiB",
                "10.0 MiB",
                "1023.9 MiB",
                "5.0 TiB",
                "1677721.5 TiB"
            ]
        );
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [
            vec!["a".into(), "10".into()],
            vec!["long".into(), "1".into()],
        ];
        assert_eq!(table(&rows), "  a     10\n  long   1\n");
    }
}
