//! How records are laid out in bytes: by the history here and by stores for what they keep beside it.
//!
//! A record is `version · checksum · fields`. The version (one byte) is that of the record's schema and is
//! raised only when an older reader could misunderstand what follows; the checksum is CRC-32 (IEEE, four
//! bytes, little-endian) over the version and the fields. A field is a tag (`number * 8 + type`, as a
//! varint) and its content: type 0 a varint, type 2 a length and that many bytes. This is the wire format
//! of protocol buffers, so common tools can look at it. A reader passes over fields that it does not know:
//! a field that must be understood comes with a raised version (S5).

use std::fmt;

/// Why bytes are not the record they should be (S5).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// Too short, or the checksum does not fit.
    Damaged {
        /// What is wrong.
        problem: &'static str,
    },
    /// Written by newer software.
    Newer {
        /// The schema version of the record.
        version: u8,
        /// The highest one that is understood here.
        understood: u8,
    },
    /// An event of a kind that is not known here.
    UnknownKind {
        /// The kind's number.
        kind: u64,
    },
    /// The checksum fits, but a field is missing or is not what it should be.
    Malformed {
        /// Which field, and of what.
        field: &'static str,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { problem } => write!(f, "the record is damaged: {problem}"),
            Self::Newer {
                version,
                understood,
            } => write!(
                f,
                "the record was written by newer software (schema {version}; this one understands up to {understood})"
            ),
            Self::UnknownKind { kind } => {
                write!(f, "the record holds an event of the unknown kind {kind}")
            }
            Self::Malformed { field } => {
                write!(f, "the record's field `{field}` is missing or malformed")
            }
        }
    }
}

impl std::error::Error for RecordError {}

/// The bytes before the fields.
const HEADER: usize = 5;

/// Writes one record.
#[derive(Debug)]
pub struct RecordWriter {
    bytes: Vec<u8>,
}

impl RecordWriter {
    /// Begins a record of schema `version`.
    #[must_use]
    pub fn new(version: u8) -> Self {
        let mut bytes = Vec::with_capacity(128);
        bytes.extend_from_slice(&[version, 0, 0, 0, 0]);
        Self { bytes }
    }

    /// Ends the record.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let checksum = checksum(&self.bytes);
        self.bytes[1..HEADER].copy_from_slice(&checksum.to_le_bytes());
        self.bytes
    }

    /// The fields.
    pub fn fields(&mut self) -> FieldWriter<'_> {
        FieldWriter {
            bytes: &mut self.bytes,
        }
    }
}

/// Writes fields, of a record or nested in a field.
#[derive(Debug)]
pub struct FieldWriter<'a> {
    bytes: &'a mut Vec<u8>,
}

impl FieldWriter<'_> {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }

    /// A number.
    pub fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// A number that may be missing.
    pub fn optional_number(&mut self, field: u32, value: Option<u64>) {
        if let Some(value) = value {
            self.number(field, value);
        }
    }

    /// Bytes.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// A text.
    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// Fields within a field.
    pub fn nested(&mut self, field: u32, write: impl FnOnce(&mut FieldWriter<'_>)) {
        let mut inner = Vec::with_capacity(64);
        write(&mut FieldWriter { bytes: &mut inner });
        self.bytes(field, &inner);
    }
}

fn checksum(record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&record[..1]);
    hasher.update(&record[HEADER..]);
    hasher.finalize()
}

/// Opens a record of at most schema `understood`: checks it and gives its version and its fields.
///
/// # Errors
///
/// [`RecordError::Damaged`] or [`RecordError::Newer`].
pub fn open(record: &[u8], understood: u8) -> Result<(u8, Fields<'_>), RecordError> {
    if record.len() < HEADER {
        return Err(RecordError::Damaged {
            problem: "it is cut short",
        });
    }
    let mut stored = [0; 4];
    stored.copy_from_slice(&record[1..HEADER]);
    if u32::from_le_bytes(stored) != checksum(record) {
        return Err(RecordError::Damaged {
            problem: "the checksum does not fit",
        });
    }
    let version = record[0];
    if version > understood {
        return Err(RecordError::Newer {
            version,
            understood,
        });
    }
    Ok((
        version,
        Fields {
            rest: &record[HEADER..],
        },
    ))
}

/// The fields of a record, in the order in which they were written.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

/// The content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A number.
    Number(u64),
    /// Bytes, a text, or nested fields.
    Bytes(&'a [u8]),
}

impl<'a> Content<'a> {
    /// The number.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when it is none; `field` names it.
    pub fn number(self, field: &'static str) -> Result<u64, RecordError> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bytes(_) => Err(RecordError::Malformed { field }),
        }
    }

    /// The number, of 32 bits.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when it is none; `field` names it.
    pub fn small(self, field: &'static str) -> Result<u32, RecordError> {
        self.number(field)?
            .try_into()
            .map_err(|_| RecordError::Malformed { field })
    }

    /// The bytes.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when it is a number; `field` names it.
    pub fn bytes(self, field: &'static str) -> Result<&'a [u8], RecordError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(RecordError::Malformed { field }),
        }
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when it is none; `field` names it.
    pub fn text(self, field: &'static str) -> Result<&'a str, RecordError> {
        std::str::from_utf8(self.bytes(field)?).map_err(|_| RecordError::Malformed { field })
    }

    /// The nested fields.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when it is a number; `field` names it.
    pub fn fields(self, field: &'static str) -> Result<Fields<'a>, RecordError> {
        Ok(Fields {
            rest: self.bytes(field)?,
        })
    }
}

impl<'a> Fields<'a> {
    /// Fields without a record around them.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field's number and content.
    ///
    /// # Errors
    ///
    /// [`RecordError::Malformed`] when what is left is not a field.
    pub fn next_field(&mut self) -> Result<Option<(u32, Content<'a>)>, RecordError> {
        const TAG: RecordError = RecordError::Malformed { field: "tag" };
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint().ok_or(TAG)?;
        let field = u32::try_from(tag >> 3).map_err(|_| TAG)?;
        let content = match tag & 7 {
            0 => Content::Number(self.varint().ok_or(TAG)?),
            2 => {
                let length = usize::try_from(self.varint().ok_or(TAG)?).map_err(|_| TAG)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(TAG)?;
                self.rest = rest;
                Content::Bytes(bytes)
            }
            _ => return Err(TAG),
        };
        Ok(Some((field, content)))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if at == 9 && bits > 1 {
                return None;
            }
            value |= bits << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_read_back_and_unknown_ones_are_passed_over() {
        let mut record = RecordWriter::new(1);
        let mut fields = record.fields();
        fields.number(1, u64::MAX);
        fields.text(99, "from the future");
        fields.nested(2, |inner| inner.number(1, 7));
        let bytes = record.finish();
        let (version, mut fields) = open(&bytes, 1).unwrap();
        assert_eq!(version, 1);
        let mut seen = Vec::new();
        while let Some((field, content)) = fields.next_field().unwrap() {
            match field {
                1 => seen.push(content.number("a").unwrap()),
                2 => {
                    seen.push(
                        content
                            .fields("b")
                            .unwrap()
                            .next_field()
                            .unwrap()
                            .unwrap()
                            .1
                            .number("c")
                            .unwrap(),
                    );
                }
                _ => {}
            }
        }
        assert_eq!(seen, [u64::MAX, 7]);
    }

    #[test]
    fn each_way_to_be_no_record_has_its_text() {
        let mut record = RecordWriter::new(9);
        record.fields().number(1, 1);
        let mut bytes = record.finish();
        let newer = open(&bytes, 1).unwrap_err();
        bytes[6] ^= 1;
        let texts = [
            newer,
            open(&bytes, 9).unwrap_err(),
            open(&bytes[..4], 9).unwrap_err(),
            RecordError::UnknownKind { kind: 77 },
            Fields::new(&[1]).next_field().unwrap_err(),
        ];
        insta::assert_snapshot!(texts.map(|text| text.to_string()).join("\n"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = open(&bytes, 255);
            let mut fields = Fields::new(&bytes);
            while let Ok(Some(_)) = fields.next_field() {}
        }

        #[test]
        fn a_flipped_bit_is_found(bit in 0_usize..40) {
            let mut record = RecordWriter::new(1);
            record.fields().number(1, 5);
            record.fields().text(2, "x");
            let mut bytes = record.finish();
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(open(&bytes, 1).is_err());
        }
    }
}
