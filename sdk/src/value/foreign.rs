//! JSON that somebody else wrote: what serde_json would take and lose, or take and not read again, is refused
//! here (S10).

use super::{MAX_VALUE_BYTES, MAX_VALUE_DEPTH};

pub(super) fn check(text: &str) -> Result<(), String> {
    if text.len() > MAX_VALUE_BYTES {
        return Err(format!(
            "it is {} bytes long; at most {MAX_VALUE_BYTES} can be stored",
            text.len()
        ));
    }
    // Not `IgnoredAny`, which looks neither at the depth nor at the size of numbers.
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| {
        if error.to_string().starts_with("recursion limit") {
            format!("it is nested more than {MAX_VALUE_DEPTH} deep")
        } else {
            error.to_string()
        }
    })?;
    match integers(text)
        .find(|digits| digits.parse::<i64>().is_err() && digits.parse::<u64>().is_err())
    {
        None => Ok(()),
        Some(digits) => Err(format!(
            "the integer {} does not fit into 64 bits",
            crate::prose::shorten(digits.to_owned(), 80)
        )),
    }
}

/// The integers of a JSON text; serde_json reads large ones as floats.
fn integers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])?;
            rest = &rest[start..];
            if let Some(string) = rest.strip_prefix('"') {
                rest = &string[string_end(string)..];
                continue;
            }
            let end = rest
                .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
                .unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            rest = after;
            if !number.contains(['.', 'e', 'E']) {
                return Some(number);
            }
        }
    })
}

/// Where a string that has begun ends, its quote included.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_would_be_lost_or_could_not_be_read_again_is_refused() {
        let deep = "[".repeat(128) + &"]".repeat(128);
        let texts = [
            "",
            "1 2",
            "{\"a\":}",
            "NaN",
            "1e999",
            "18446744073709551616",
            "[\"1\", {\"n\": -9223372036854775809}]",
            &deep,
        ];
        let problems = texts.map(|text| check(text).err().unwrap_or_else(|| "taken".into()));
        insta::assert_snapshot!(problems.join("\n"));
    }

    #[test]
    fn what_is_exact_is_taken() {
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            "[1.5, -0.0, 1e300, 123456789012345678901234567890.0]",
            r#""99999999999999999999 \\\" 99999999999999999999""#,
            r#"{"99999999999999999999": "\\"}"#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
