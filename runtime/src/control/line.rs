//! Lines of JSON on a stream: how long one may be, and how long it may take to come.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use perennial::value::MAX_VALUE_BYTES;
use serde::Serialize;

/// The longest line that a program takes, in bytes: the largest value, and what there is to say around it.
pub(super) const MAX_REQUEST: usize = MAX_VALUE_BYTES + (64 << 10);
/// The longest line that is taken from a program. An answer has some megabytes, and one unit of a history may have
/// 16 MiB, which JSON may write with more letters.
pub(super) const MAX_ANSWER: usize = 256 << 20;

/// A stream that can be told how long to wait.
pub(super) trait Wait: Read {
    /// How long the next read may take.
    fn wait_at_most(&self, time: Duration) -> io::Result<()>;
}

#[cfg(unix)]
impl Wait for std::os::unix::net::UnixStream {
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        // Zero would be for ever.
        self.set_read_timeout(Some(time.max(Duration::from_millis(1))))
    }
}

/// How long lines may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// Until the first byte of a line is there.
    pub(super) idle: Duration,
    /// From then on until the line is whole.
    pub(super) line: Duration,
}

/// Why there is no line.
#[derive(Debug)]
pub(super) enum NoLine {
    /// The other side has said all that it had to say.
    End,
    /// It has said nothing for a time.
    Idle,
    /// It has ended within a line.
    Cut,
    /// The rest of a line did not come in time.
    Slow,
    /// The line is longer than it may be.
    Long,
    /// The system said no.
    Io(io::Error),
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<S> {
    stream: S,
    longest: usize,
    patience: Patience,
    /// What was read and belongs to the next line.
    rest: Vec<u8>,
}

impl<S: Wait> Lines<S> {
    pub(super) fn new(stream: S, longest: usize, patience: Patience) -> Self {
        Self {
            stream,
            longest,
            patience,
            rest: Vec::new(),
        }
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self) -> Result<Vec<u8>, NoLine> {
        let mut line = std::mem::take(&mut self.rest);
        let mut looked_at = 0;
        let mut began = (!line.is_empty()).then(Instant::now);
        let mut chunk = vec![0; 8 << 10];
        loop {
            if let Some(end) = line[looked_at..].iter().position(|byte| *byte == b'\n') {
                let end = looked_at + end;
                self.rest = line.split_off(end + 1);
                line.truncate(end);
                return if end > self.longest {
                    Err(NoLine::Long)
                } else {
                    Ok(line)
                };
            }
            looked_at = line.len();
            if looked_at > self.longest {
                return Err(NoLine::Long);
            }
            let time = match began {
                None => self.patience.idle,
                Some(began) => self.patience.line.saturating_sub(began.elapsed()),
            };
            let late = || match began {
                None => NoLine::Idle,
                Some(_) => NoLine::Slow,
            };
            if time.is_zero() {
                return Err(late());
            }
            self.stream.wait_at_most(time).map_err(NoLine::Io)?;
            match self.stream.read(&mut chunk) {
                Ok(0) if line.is_empty() => return Err(NoLine::End),
                Ok(0) => return Err(NoLine::Cut),
                Ok(read) => line.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    return Err(late());
                }
                Err(error) => return Err(NoLine::Io(error)),
            }
            began = began.or_else(|| Some(Instant::now()));
        }
    }

    pub(super) fn stream(&mut self) -> &mut S {
        &mut self.stream
    }
}

/// Writes a line.
pub(super) fn write(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    // Within a value there may be line ends; between its parts they are as good as spaces, and within its texts
    // there are none.
    for byte in &mut line {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::VecDeque;

    use perennial::value::Value;

    /// Gives what it has, piece by piece, and then nothing for ever.
    struct Pieces {
        pieces: VecDeque<&'static str>,
        ends: bool,
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.pieces.pop_front() {
                Some(piece) => {
                    buffer[..piece.len()].copy_from_slice(piece.as_bytes());
                    Ok(piece.len())
                }
                None if self.ends => Ok(0),
                None => Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }

    impl Wait for Pieces {
        fn wait_at_most(&self, _: Duration) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(pieces: &[&'static str], ends: bool) -> String {
        let patience = Patience {
            idle: Duration::from_secs(60),
            line: Duration::from_secs(60),
        };
        let pieces = pieces.iter().copied().collect();
        let mut lines = Lines::new(Pieces { pieces, ends }, 8, patience);
        let mut said = Vec::new();
        loop {
            match lines.next() {
                Ok(line) => said.push(String::from_utf8(line).unwrap()),
                Err(end) => break format!("{} {end:?}", said.join(",")),
            }
        }
    }

    #[test]
    fn lines_come_in_whatever_pieces() {
        assert_eq!(lines(&["a\nbc", "d\n", "\ne\n"], true), "a,bcd,,e End");
        assert_eq!(lines(&["a\nbc\n"], false), "a,bc Idle");
    }

    #[test]
    fn a_line_that_does_not_end_is_told_from_one_that_is_cut() {
        assert_eq!(lines(&["a\nb"], true), "a Cut");
        assert_eq!(lines(&["a\nb"], false), "a Slow");
    }

    #[test]
    fn a_line_that_is_too_long_is_not_taken_whether_it_ends_or_not() {
        assert_eq!(lines(&["12345678\n"], true), "12345678 End");
        assert_eq!(lines(&["123456789\n"], true), " Long");
        assert_eq!(lines(&["12345", "6789"], false), " Long");
    }

    #[test]
    fn what_is_written_is_one_line() {
        let mut out = Vec::new();
        let value = Value::from_json("{\n \"text\": \"a\\nb\"\n}").unwrap();
        write(&mut out, &value).unwrap();
        assert_eq!(out, b"{  \"text\": \"a\\nb\" }\n");
    }
}
