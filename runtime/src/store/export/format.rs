//! The lines: how each kind of them stands in the file.

use perennial::history::Unit;
use perennial::value::Digest;
use perennial::{RunKey, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::inbox::{self, KeyText, is_none};
use super::offers::OfferText;
use crate::store::purge::Purged;
use crate::store::{
    AttemptRecord, BlockedRecord, Fence, Head, Inbox, KeyRecord, Offer, Owner, ProgramRecord,
    Queued, Status, StreamRange, Task, ViewRecord,
};

/// The format that this version writes, and the highest that it understands.
pub(super) const FORMAT: u64 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct First {
    pub(super) export: Begin,
}

/// What the first line says of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Begin {
    /// The number of the format: 1.
    pub format: u64,
    /// The software that wrote it.
    pub producer: String,
    /// When it was begun.
    pub at: Timestamp,
}

/// Only what must be understood of a first line before all else.
#[derive(Debug, Deserialize)]
pub(super) struct FirstOfAny {
    pub(super) export: FormatOfAny,
}

#[derive(Debug, Deserialize)]
pub(super) struct FormatOfAny {
    pub(super) format: u64,
}

/// The line of a program, as it is written.
#[derive(Debug, Serialize)]
pub(super) struct WrittenProgram<'a> {
    pub(super) program: &'a ProgramRecord,
}

/// A line of a run, as it is written.
#[derive(Debug, Serialize)]
pub(super) struct Written<'a> {
    pub(super) run: RunText,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generation: Option<u64>,
    #[serde(flatten)]
    pub(super) content: WrittenContent<'a>,
    /// Of a line that begins a run: the checksum of all lines before, cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sum: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenContent<'a> {
    Head(HeadText),
    Partial(Partial),
    Task(&'a Task),
    Timer(Timer),
    Row(&'a Queued),
    Blocked(&'a BlockedRecord),
    View(&'a ViewRecord),
    Key(KeyText),
    Offer(OfferText),
    Unit(&'a Unit),
    Attempt(&'a AttemptRecord),
    Withdrawn(&'static str),
}

/// The last line, as it is written.
#[derive(Debug, Serialize)]
pub(super) struct Last<'a> {
    pub(super) end: &'a Counts,
    pub(super) sha256: String,
}

/// A line after the first, as it is read. What is not known here is passed over, like unknown fields of a
/// record.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a line of an export")]
pub(super) struct Read {
    pub(super) run: Option<RunText>,
    pub(super) generation: Option<u64>,
    pub(super) sum: Option<String>,
    pub(super) program: Option<ProgramRecord>,
    head: Option<HeadText>,
    partial: Option<Partial>,
    task: Option<Task>,
    timer: Option<Timer>,
    row: Option<Queued>,
    blocked: Option<BlockedRecord>,
    view: Option<ViewRecord>,
    key: Option<KeyText>,
    offer: Option<OfferText>,
    unit: Option<Unit>,
    attempt: Option<AttemptRecord>,
    withdrawn: Option<String>,
    pub(super) end: Option<Counts>,
    pub(super) sha256: Option<String>,
}

/// What a line says of a run.
#[derive(Debug)]
pub(crate) enum Content {
    Head(Box<Head>),
    Partial(Box<Partial>),
    Task(Box<Task>),
    Timer(Timer),
    Row(Box<Queued>),
    Blocked(BlockedRecord),
    View(ViewRecord),
    Key(Box<KeyRecord>),
    Offer(Box<Offer>),
    Unit(u64, Box<Unit>),
    Attempt(u64, AttemptRecord),
    Withdrawn,
}

impl Read {
    /// The one thing that the line says; `None` when it says none or several of those that are known here.
    pub(super) fn content(&mut self) -> Option<Content> {
        let generation = self.generation;
        let mut found = [
            self.head
                .take()
                .map(|HeadText(head)| Content::Head(Box::new(head))),
            self.partial
                .take()
                .map(|partial| Content::Partial(Box::new(partial))),
            self.task.take().map(|task| Content::Task(Box::new(task))),
            self.timer.take().map(Content::Timer),
            self.row.take().map(|row| Content::Row(Box::new(row))),
            self.blocked.take().map(Content::Blocked),
            self.view.take().map(Content::View),
            self.key
                .take()
                .map(|KeyText(key)| Content::Key(Box::new(key))),
            self.offer
                .take()
                .map(|OfferText(offer)| Content::Offer(Box::new(offer))),
            self.unit
                .take()
                .and_then(|unit| Some(Content::Unit(generation?, Box::new(unit)))),
            self.attempt
                .take()
                .and_then(|attempt| Some(Content::Attempt(generation?, attempt))),
            self.withdrawn.take().map(|_| Content::Withdrawn),
        ]
        .into_iter()
        .flatten();
        let content = found.next()?;
        found.next().is_none().then_some(content)
    }
}

/// How many there are of each kind, in runs that are whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Runs that are whole.
    pub runs: u64,
    /// Runs of which a salvage could not read everything. Nothing else counts them.
    pub partial: u64,
    /// Generations.
    pub generations: u64,
    /// Units of histories.
    pub units: u64,
    /// Events in those.
    pub events: u64,
    /// Attempts that brought no result.
    pub attempts: u64,
    /// Open tasks.
    pub tasks: u64,
    /// Timers.
    pub timers: u64,
    /// Rows of queues.
    pub rows: u64,
    /// Blocked records.
    pub blocked: u64,
    /// Runs that were begun and then taken back, since they were purged meanwhile.
    pub withdrawn: u64,
    /// Sends that runs know by their idempotency keys. An export without any does not count them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub keys: u64,
    /// Views of runs. An export without any does not count them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub views: u64,
    /// Offers. An export without any does not count them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub offers: u64,
    /// Programs. An export without any does not count them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub programs: u64,
    /// Lines before the last one.
    pub lines: u64,
}

/// A run that is not whole: what is wrong with it, in words. Its other lines hold what could be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Partial {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) head: Option<HeadText>,
    pub(crate) problems: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timer {
    pub(super) operation: u64,
    pub(super) deadline: Timestamp,
}

/// A run as people write it: `order-42`, or `namespace/order-42` outside the default namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunText(pub(super) RunKey);

impl Serialize for RunText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let run = text.parse();
        run.map(Self)
            .map_err(|_| serde::de::Error::custom("it does not name a run"))
    }
}

/// A head as the file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HeadText(#[serde(with = "HeadFields")] pub(in crate::store) Head);

/// A head, field by field: what the file holds does not change with the names in the code.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Head")]
struct HeadFields {
    workflow: String,
    #[serde(with = "hex")]
    input: Digest,
    status: Status,
    generation: u64,
    sequence: u64,
    owner: Owner,
    fence: Fence,
    arrivals: u64,
    stamp: Timestamp,
    next_operation: u64,
    created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    blocked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purged: Option<Purged>,
    kept_from: u64,
    #[serde(default, skip_serializing_if = "inbox::is_empty", with = "inbox::text")]
    inbox: Inbox,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    streams: Vec<StreamRange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    migrated_to: Option<perennial::RunId>,
}

/// A digest as 64 hexadecimal digits.
pub(crate) mod hex {
    use perennial::value::Digest;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        digest: &Digest,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(digest)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut digest = [0; 32];
        let whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let read = whole.then(|| {
            for (at, byte) in digest.iter_mut().enumerate() {
                *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
            }
            Some(())
        });
        match read.flatten() {
            Some(()) => Ok(Digest(digest)),
            None => Err(serde::de::Error::custom("it is not a digest")),
        }
    }
}
