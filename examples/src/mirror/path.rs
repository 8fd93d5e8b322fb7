//! Paths as they are stored and shown.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path as text that loses nothing: `%`, control characters and bytes that are not UTF-8 are written as
/// `%XX`. So a history and a manifest can hold every name, and a terminal can show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredPath(String);

impl StoredPath {
    /// The path as text.
    #[must_use]
    pub fn of(path: impl AsRef<OsStr>) -> Self {
        let mut text = String::new();
        for chunk in path.as_ref().as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                if c == '%' || c.is_control() {
                    c.encode_utf8(&mut [0; 4])
                        .bytes()
                        .for_each(|byte| push_hex(&mut text, byte));
                } else {
                    text.push(c);
                }
            }
            chunk
                .invalid()
                .iter()
                .for_each(|byte| push_hex(&mut text, *byte));
        }
        Self(text)
    }

    /// The path that was stored.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        let mut bytes = Vec::with_capacity(self.0.len());
        let mut rest = self.0.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            let hex = after
                .first_chunk::<2>()
                .filter(|_| byte == b'%')
                .and_then(byte_of);
            match hex {
                Some(decoded) => {
                    bytes.push(decoded);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(byte);
                    rest = after;
                }
            }
        }
        PathBuf::from(OsString::from_vec(bytes))
    }

    /// This path below `root`.
    #[must_use]
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(self.to_path())
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn push_hex(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

fn byte_of(hex: &[u8; 2]) -> Option<u8> {
    // A sign would be taken by `from_str_radix`.
    if !hex.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
}

impl fmt::Display for StoredPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.0.is_empty() { "." } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_as_it_was() {
        let names: [&[u8]; 7] = [
            b"a/b.txt",
            b"100%.txt",
            b"%41 looks encoded",
            b"line\nbreak\x1b[31m",
            b"\xff\xfe not utf-8 \xc3",
            "größe/日本/🦀".as_bytes(),
            b"ends with %",
        ];
        let shown: Vec<String> = names
            .iter()
            .map(|name| {
                let stored = StoredPath::of(OsStr::from_bytes(name));
                assert_eq!(stored.to_path().as_os_str().as_bytes(), *name);
                stored.to_string()
            })
            .collect();
        assert_eq!(
            shown,
            [
                "a/b.txt",
                "100%25.txt",
                "%2541 looks encoded",
                "line%0Abreak%1B[31m",
                "%FF%FE not utf-8 %C3",
                "größe/日本/🦀",
                "ends with %25",
            ]
        );
    }
}
