//! The record of a run: its head and, beside it in the same value, as many of its tasks, rows and timers as
//! fit. A key costs sled more than its bytes do, and a step of a workflow takes one task away and adds
//! another: like this the two cost no key. What does not fit has keys of its own, and is counted here, so
//! that nobody looks for it in vain.

use std::collections::BTreeMap;

use perennial::value::Digest;
use perennial::wire::{FieldWriter, Fields, RecordError};
use perennial::{RunKey, Timestamp};

use super::effects::Effects;
use super::inbox::{read_inbox, write_inbox};
use super::keys::{self, Key};
use super::problem::damaged;
use super::records::{self, ROW_VERSION, TASK_VERSION, TIMER_VERSION};
use super::value::content;
use crate::store::rules;
use crate::store::{
    Fence, Head, Inbox, Owner, Purged, Queued, Status, StoreError, Task, TaskChange, TimerChange,
};

/// The highest schema version of a run's record. To be raised with those of tasks, rows and timers, whose
/// contents it holds.
pub(super) const RUN_VERSION: u8 = 2;
/// The version of one whose head says nothing of an inbox, of streams or of views: older software understands it.
const AT_FIRST: u8 = 1;

/// The longest content that may stand beside the head, in bytes.
const MAX_BESIDE: usize = 1_024;
/// How much may stand beside the head in all, in bytes: with names of the longest kind the value stays far
/// below its bound.
const MAX_ALL_BESIDE: usize = 2_048;
/// What a content costs beside its own bytes.
const AROUND: usize = 12;

/// A kind of thing that a run has several of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Row,
    Timer,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Task, Self::Row, Self::Timer];

    pub(super) fn key(self) -> u8 {
        match self {
            Self::Task => keys::TASK,
            Self::Row => keys::ROW,
            Self::Timer => keys::TIMER,
        }
    }

    pub(super) fn version(self) -> u8 {
        match self {
            Self::Task => TASK_VERSION,
            Self::Row => ROW_VERSION,
            Self::Timer => TIMER_VERSION,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Row => "row",
            Self::Timer => "timer",
        }
    }
}

/// The things of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Things {
    /// Those beside the head: number and content, by number.
    pub(super) beside: Vec<(u64, Vec<u8>)>,
    /// How many have keys of their own.
    pub(super) apart: u64,
}

impl Things {
    fn position(&self, number: u64) -> Result<usize, usize> {
        self.beside
            .binary_search_by_key(&number, |(number, _)| *number)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.beside.is_empty() && self.apart == 0
    }

    pub(super) fn count(&self) -> u64 {
        self.beside.len() as u64 + self.apart
    }
}

/// A head and what stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunRecord {
    pub(super) head: Head,
    things: [Things; 3],
}

impl RunRecord {
    pub(super) fn new(head: Head) -> Self {
        Self {
            head,
            things: Default::default(),
        }
    }

    pub(super) fn with_head(self, head: Head) -> Self {
        Self { head, ..self }
    }

    pub(super) fn things(&self, kind: Kind) -> &Things {
        &self.things[kind as usize]
    }

    /// `None`: the run has nothing to do. Otherwise: whether it is blocked.
    pub(super) fn work(&self) -> Option<bool> {
        let [tasks, rows, _] = &self.things;
        rules::has_work(&self.head, !tasks.is_empty(), !rows.is_empty())
            .then_some(self.head.blocked)
    }

    fn beside(&self) -> usize {
        self.things
            .iter()
            .flat_map(|things| &things.beside)
            .map(|(_, content)| content.len() + AROUND)
            .sum()
    }

    /// Puts a thing, in place of the one with its number if there is one.
    fn put(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        kind: Kind,
        number: u64,
        content: Vec<u8>,
    ) -> Result<(), StoreError> {
        let key = || keys::numbered(kind.key(), run, number);
        if let Ok(at) = self.things[kind as usize].position(number) {
            self.things[kind as usize].beside.remove(at);
        } else if self.things[kind as usize].apart > 0 && effects.remove_with_chunks(key())? {
            self.things[kind as usize].apart -= 1;
        }
        let room =
            content.len() <= MAX_BESIDE && self.beside() + content.len() + AROUND <= MAX_ALL_BESIDE;
        let things = &mut self.things[kind as usize];
        if room {
            let at = things.position(number).unwrap_or_else(|at| at);
            things.beside.insert(at, (number, content));
        } else {
            effects.put(key(), kind.version(), &content);
            things.apart += 1;
        }
        Ok(())
    }

    /// Removes a thing and gives its content, if it was there.
    fn remove(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        kind: Kind,
        number: u64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let things = &mut self.things[kind as usize];
        if let Ok(at) = things.position(number) {
            return Ok(Some(things.beside.remove(at).1));
        }
        if things.apart == 0 {
            return Ok(None);
        }
        let removed = effects.take(keys::numbered(kind.key(), run, number), kind.version())?;
        if removed.is_some() {
            things.apart -= 1;
        }
        Ok(removed)
    }

    pub(super) fn change_tasks(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        changes: &[TaskChange],
    ) -> Result<(), StoreError> {
        // The last change of an operation counts; removals first: what they leave free beside the head is
        // there for those that come.
        let mut left: BTreeMap<u64, Option<&Task>> = BTreeMap::new();
        for change in changes {
            match change {
                TaskChange::Put(task) => left.insert(task.operation, Some(task)),
                TaskChange::Remove(operation) => left.insert(*operation, None),
            };
        }
        for (&operation, _) in left.iter().filter(|(_, task)| task.is_none()) {
            self.remove(effects, run, Kind::Task, operation)?;
        }
        for task in left.into_values().flatten() {
            self.put(
                effects,
                run,
                Kind::Task,
                task.operation,
                records::task_content(task),
            )?;
        }
        Ok(())
    }

    pub(super) fn take_rows(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        arrivals: &[u64],
    ) -> Result<(), StoreError> {
        for &arrival in arrivals {
            self.remove(effects, run, Kind::Row, arrival)?;
        }
        Ok(())
    }

    /// Takes the rows that are such.
    pub(super) fn take_rows_if(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        is_such: impl Fn(&Queued) -> bool,
    ) -> Result<(), StoreError> {
        let place = |arrival: u64| format!("row {arrival} of run {run}");
        let mut taken = Vec::new();
        for (arrival, content) in &self.things(Kind::Row).beside {
            let row = records::read_row(content);
            if is_such(&row.map_err(|problem| damaged(place(*arrival), problem))?) {
                taken.push(*arrival);
            }
        }
        if self.things(Kind::Row).apart > 0 {
            for key in effects.keys(&keys::all(keys::ROW, run), usize::MAX)? {
                let arrival = keys::last_number(&key).unwrap_or_default();
                let place = || place(arrival);
                let row = effects.read(&key, ROW_VERSION, place, records::read_row)?;
                if row.is_some_and(|row| is_such(&row)) {
                    taken.push(arrival);
                }
            }
        }
        self.take_rows(effects, run, &taken)
    }

    /// Puts a row whose arrival number is new.
    pub(super) fn put_row(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        arrival: u64,
        record: Vec<u8>,
    ) -> Result<(), StoreError> {
        self.put(effects, run, Kind::Row, arrival, record)
    }

    pub(super) fn change_timers(
        &mut self,
        effects: &mut Effects<'_>,
        run: &RunKey,
        changes: &[TimerChange],
    ) -> Result<(), StoreError> {
        for change in changes {
            let (operation, put) = match *change {
                TimerChange::Put {
                    operation,
                    deadline,
                } => (operation, Some(deadline)),
                TimerChange::Remove { operation, .. } => (operation, None),
            };
            if let Some(old) = self.remove(effects, run, Kind::Timer, operation)? {
                let old = records::read_number(&old).map_err(|problem| {
                    damaged(format!("timer {operation} of run {run}"), problem)
                })?;
                effects.remove(keys::due(run, operation, Timestamp::from_millis(old)));
            }
            if let Some(deadline) = put {
                let content = records::number_content(deadline.as_millis());
                self.put(effects, run, Kind::Timer, operation, content)?;
                effects.put(
                    keys::due(run, operation, deadline),
                    records::NUMBER_VERSION,
                    &[],
                );
            }
        }
        Ok(())
    }

    pub(super) fn key(run: &RunKey) -> Key {
        keys::one(keys::RUN, run)
    }

    /// Puts it in its place.
    pub(super) fn write(&self, effects: &mut Effects<'_>, run: &RunKey) {
        let Head {
            inbox,
            streams,
            views,
            paused,
            ..
        } = &self.head;
        let nothing = *inbox == Inbox::default()
            && streams.is_empty()
            && views.is_empty()
            && paused.is_none();
        let version = if nothing { AT_FIRST } else { RUN_VERSION };
        effects.put(Self::key(run), version, &self.content());
    }

    fn content(&self) -> Vec<u8> {
        content(|f| {
            write_head(f, &self.head);
            for (kind, things) in (0..).zip(&self.things) {
                for (number, content) in &things.beside {
                    f.nested(FIRST_KIND + kind, |f| {
                        f.number(1, *number);
                        f.bytes(2, content);
                    });
                }
                if things.apart > 0 {
                    f.number(FIRST_APART + kind, things.apart);
                }
            }
        })
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, RecordError> {
        let head = read_head(bytes)?;
        let mut things: [Things; 3] = Default::default();
        let mut fields = Fields::new(bytes);
        while let Some((field, content)) = fields.next_field()? {
            if let Some(things) = field
                .checked_sub(FIRST_KIND)
                .and_then(|kind| things.get_mut(kind as usize))
            {
                things.beside.push(read_thing(content.fields("beside")?)?);
            } else if let Some(things) = field
                .checked_sub(FIRST_APART)
                .and_then(|kind| things.get_mut(kind as usize))
            {
                things.apart = content.number("apart")?;
            }
        }
        Ok(Self { head, things })
    }
}

const FIRST_KIND: u32 = 32;
const FIRST_APART: u32 = 40;

fn read_thing(mut fields: Fields<'_>) -> Result<(u64, Vec<u8>), RecordError> {
    let (mut number, mut thing) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => number = Some(content.number("number")?),
            2 => thing = Some(content.bytes("thing")?.to_vec()),
            _ => {}
        }
    }
    Ok((
        number.ok_or(RecordError::Malformed { field: "number" })?,
        thing.ok_or(RecordError::Malformed { field: "thing" })?,
    ))
}

fn write_head(f: &mut FieldWriter<'_>, head: &Head) {
    f.text(1, &head.workflow);
    f.bytes(2, &head.input.0);
    f.number(
        3,
        match head.status {
            Status::Running => 0,
            Status::Completed => 1,
            Status::Failed => 2,
            Status::Migrated => 3,
        },
    );
    f.number(4, head.generation);
    f.number(5, head.sequence);
    f.number(6, head.owner.0);
    f.number(7, head.fence.0);
    f.number(8, head.arrivals);
    f.number(9, head.stamp.as_millis());
    f.number(10, head.next_operation);
    f.number(11, head.created.as_millis());
    f.optional_number(12, head.finished.map(Timestamp::as_millis));
    f.number(13, head.blocked.into());
    if let Some(Purged { at, complete }) = head.purged {
        f.number(14, at.as_millis());
        f.number(15, complete.into());
    }
    if head.kept_from != 1 {
        f.number(16, head.kept_from);
    }
    if let Some(run) = &head.migrated_to {
        f.text(17, run.as_str());
    }
    if head.inbox != Inbox::default() {
        f.nested(18, |f| write_inbox(f, &head.inbox));
    }
    for stream in &head.streams {
        records::write_stream(f, 19, stream);
    }
    for view in &head.views {
        f.text(20, view);
    }
    f.optional_number(21, head.paused.map(Timestamp::as_millis));
}

pub(super) fn read_head(bytes: &[u8]) -> Result<Head, RecordError> {
    let malformed = |field| RecordError::Malformed { field };
    let (mut workflow, mut input, mut status, mut finished) = (None, None, None, None);
    let (mut purged, mut complete, mut kept_from) = (None, false, 1);
    let (mut migrated_to, mut inbox) = (None, Inbox::default());
    let (mut streams, mut views, mut paused) = (Vec::new(), Vec::new(), None);
    let mut numbers = [None; 14];
    let mut fields = Fields::new(bytes);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            1 => workflow = Some(content.text("workflow")?.to_owned()),
            2 => input = content.bytes("input")?.try_into().ok(),
            3 => {
                status = match content.number("status")? {
                    0 => Some(Status::Running),
                    1 => Some(Status::Completed),
                    2 => Some(Status::Failed),
                    3 => Some(Status::Migrated),
                    _ => None,
                }
            }
            12 => finished = Some(Timestamp::from_millis(content.number("finished")?)),
            4..=13 => numbers[field as usize] = Some(content.number("number")?),
            14 => purged = Some(Timestamp::from_millis(content.number("purged")?)),
            15 => complete = content.number("complete")? != 0,
            16 => kept_from = content.number("kept_from")?,
            17 => {
                let run = content.text("migrated_to")?.parse();
                migrated_to = Some(run.map_err(|_| malformed("migrated_to"))?);
            }
            18 => inbox = read_inbox(content.fields("inbox")?)?,
            19 => streams.push(records::read_stream(content)?),
            20 => views.push(content.text("view")?.to_owned()),
            21 => paused = Some(Timestamp::from_millis(content.number("paused")?)),
            // The heads of many runs are read for a list; what stands beside them is not looked at.
            FIRST_KIND.. => break,
            _ => {}
        }
    }
    if (status == Some(Status::Migrated)) != migrated_to.is_some() {
        return Err(malformed("migrated_to"));
    }
    let number = |field: usize, name| numbers[field].ok_or(malformed(name));
    Ok(Head {
        workflow: workflow.ok_or(malformed("workflow"))?,
        input: Digest(input.ok_or(malformed("input"))?),
        status: status.ok_or(malformed("status"))?,
        generation: number(4, "generation")?,
        sequence: number(5, "sequence")?,
        owner: Owner(number(6, "owner")?),
        fence: Fence(number(7, "fence")?),
        arrivals: number(8, "arrivals")?,
        stamp: Timestamp::from_millis(number(9, "stamp")?),
        next_operation: number(10, "next_operation")?,
        inbox,
        streams,
        views,
        created: Timestamp::from_millis(number(11, "created")?),
        finished,
        blocked: number(13, "blocked")? != 0,
        purged: purged.map(|at| Purged { at, complete }),
        kept_from,
        migrated_to,
        paused,
    })
}
