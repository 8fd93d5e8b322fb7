//! What a machine keeps of the unit it is at, of the operations that are open, and in replay of what the
//! history has next.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::Location;
use std::sync::Arc;
use std::task::Waker;

use rustc_hash::FxBuildHasher;

use super::core::SITE;
use super::decide::Apart;
use super::inbox::Inbox;
use super::markers::MarkerValue;
use super::probe::Probe;
use super::step::{LogLine, Offered, Scheduled};
use super::untils::Untils;
use super::updates::Updates;
use super::view::Views;
use super::waits::passed;
use super::{ActivityEnd, MAX_COMMANDS, MAX_OPEN, MAX_POLLS, MAX_UNIT_BYTES};
use crate::history::{CallSite, Channel, Decision, ForkedFrom, RecordSource, SlotResult};
use crate::value::Value;
use crate::workflow::{Graph, Site};
use crate::{Blocked, Panicked, RunKey, Runaway, Timestamp};

/// What an operation came to.
#[derive(Debug)]
pub(crate) enum Resolution {
    Activity(ActivityEnd),
    Timer,
    Arrived(Arrived),
    Stub(Value),
    Slot(SlotResult),
}

/// A message or a signal, as the wait gets it that takes it.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) number: u64,
    pub(crate) payload: Value,
    /// The event that brought it.
    pub(crate) event: u64,
}

/// What an operation came to, and the number of the event that said so.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) end: Resolution,
    pub(crate) event: u64,
}

/// About how many bytes the future has that waits for an operation, with its waker: mostly it is on the heap
/// of the workflow's own, as the members of `join_all` are.
const WAITER: usize = 256;

pub(super) struct Operation {
    pub(super) kind: Kind,
    /// There once the world has answered and the future has not been polled since.
    pub(super) end: Option<Resolved>,
    pub(super) waker: Option<Waker>,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Activity(&'static str),
    Timer(Timestamp),
    Receive(Channel, &'static str),
    Stub(&'static str),
    /// The result comes with the commit, for what is called like this.
    Slot(Slotted, &'static str),
}

/// What the commit of a decision does that has its result then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slotted {
    /// It tells a run something.
    Send,
    /// It fulfils an offer.
    Fulfil,
}

impl Slotted {
    /// Whether that can be what it came to.
    pub(super) fn has(self, result: &SlotResult) -> bool {
        match result {
            SlotResult::Sent(_) | SlotResult::NotSent(_) => self == Self::Send,
            SlotResult::Fulfilled(_) | SlotResult::NotFulfilled(_) => self == Self::Fulfil,
        }
    }
}

/// What a live unit led to.
#[derive(Default)]
pub(super) struct Made {
    pub(super) decisions: Vec<Decision>,
    pub(super) scheduled: Vec<Scheduled>,
    pub(super) stopped_timers: Vec<(u64, Timestamp)>,
    pub(super) offers: Vec<Offered>,
    pub(super) logs: Vec<LogLine>,
}

pub(super) struct State {
    pub(super) workflow: &'static str,
    pub(super) graph: &'static Graph,
    pub(super) artifact: Arc<str>,
    /// `None` before the first event.
    pub(super) run: Option<RunKey>,
    /// The runs whose histories this one begins with, from the one on that the unit at hand was one of.
    pub(super) forked_from: VecDeque<ForkedFrom>,
    pub(super) started_by: String,
    pub(super) started_version: Option<u32>,
    pub(super) now: Timestamp,
    pub(super) clock: Timestamp,
    /// In replay: the decisions of the unit that were not made yet. `None`: live.
    pub(super) expected: Option<VecDeque<Decision>>,
    /// In replay: what is asked for is kept too, also what is not compared.
    pub(super) told: bool,
    pub(super) made: Made,
    /// The number of the unit's observation.
    pub(super) unit: u64,
    /// How many decisions this unit has made.
    pub(super) commands: usize,
    /// How many bytes the unit has at most.
    pub(super) bytes: usize,
    /// How often this unit did what neither decides anything nor waits.
    steps: usize,
    /// How often code went on regardless after an error.
    ignored: usize,
    /// Which code of the user's is running that may not use the `Cx`.
    pub(super) inside: Option<&'static Apart>,
    pub(super) next_operation: u64,
    /// In no order: whoever needs one sorts.
    pub(super) operations: HashMap<u64, Operation, FxBuildHasher>,
    /// Activities whose futures were dropped and whose results have not come.
    pub(super) abandoned: BTreeMap<u64, &'static str>,
    /// Messages that no wait has taken, and the waits that have none.
    pub(super) inbox: Inbox,
    /// The changes that the run lets others ask of it.
    pub(super) updates: Updates,
    /// The conditions that are waited for.
    pub(super) untils: Untils,
    /// What the run shows of itself.
    pub(super) views: Views,
    /// The number of the last item of each stream.
    pub(super) streams: BTreeMap<String, u64>,
    /// What the generation has for the markers that were asked for.
    pub(super) markers: HashMap<&'static str, MarkerValue, FxBuildHasher>,
    /// In replay: the last marker that got version 0 in this unit, since the history has none.
    pub(super) unrecorded: Option<(&'static str, &'static Location<'static>)>,
    /// The versions that a test gives to markers.
    #[cfg(feature = "testing")]
    pub(super) pins: std::rc::Rc<super::Pins>,
    pub(super) error: Option<Blocked>,
    /// After a first difference: what the code goes on to ask for.
    pub(super) probe: Option<Probe>,
    /// In replay: the draws that were compared last, one directly after the other.
    pub(super) drawn: Vec<(RecordSource, &'static Location<'static>)>,
}

impl State {
    pub(super) fn new(workflow: &'static str, graph: &'static Graph, artifact: Arc<str>) -> Self {
        Self {
            workflow,
            graph,
            artifact,
            run: None,
            forked_from: VecDeque::new(),
            started_by: String::new(),
            started_version: None,
            now: Timestamp::default(),
            clock: Timestamp::default(),
            expected: None,
            told: false,
            made: Made::default(),
            unit: 0,
            commands: 0,
            bytes: 0,
            steps: 0,
            ignored: 0,
            inside: None,
            next_operation: 1,
            operations: HashMap::default(),
            abandoned: BTreeMap::new(),
            inbox: Inbox::default(),
            updates: Updates::default(),
            untils: Untils::default(),
            views: Views::default(),
            streams: BTreeMap::new(),
            markers: HashMap::default(),
            unrecorded: None,
            #[cfg(feature = "testing")]
            pins: std::rc::Rc::default(),
            error: None,
            probe: None,
            drawn: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, unit: u64, at: Timestamp) {
        self.unit = unit;
        self.now = self.now.max(at);
        self.commands = 0;
        self.bytes = 0;
        self.steps = 0;
        self.drawn.clear();
        self.views.begin();
        self.made = Made::default();
        self.unrecorded = None;
    }

    /// A unit with this last event is over. Where the history of another run ends with it, of which this one is a fork,
    /// the messages that no wait has returned were told to that one, and the run waits as if they had not come (M43).
    pub(super) fn end(&mut self, last: u64) {
        while self
            .forked_from
            .front()
            .is_some_and(|from| from.last <= last)
        {
            self.forked_from.pop_front();
            self.forget_messages();
        }
    }

    /// Lets go of all messages that no wait has returned, those among them that one has got and not been polled since.
    pub(super) fn forget_messages(&mut self) {
        self.inbox.forget_pending();
        for (number, operation) in &mut self.operations {
            if let Kind::Receive(Channel::Message, name) = operation.kind
                && operation.end.take().is_some()
            {
                self.inbox.wait(Channel::Message, name, *number);
            }
        }
    }

    /// The run as the code knows it: where it was forked from another, that one up to the place of the fork, since what
    /// the code has made of its id is compared.
    pub(super) fn known_as(&self) -> Option<RunKey> {
        let run = self.run.as_ref()?;
        Some(match self.forked_from.front() {
            Some(from) => RunKey::new(run.namespace.clone(), from.run.clone()),
            None => run.clone(),
        })
    }

    /// The number that the next decision gets.
    pub(super) fn event(&self) -> u64 {
        self.unit.saturating_add(1 + self.commands as u64)
    }

    pub(super) fn run_text(&self) -> String {
        // Before its first event a machine has not been told.
        let run = self.run.as_ref().map(ToString::to_string);
        run.unwrap_or_else(|| "(not begun)".to_owned())
    }

    // ---- bounds --------------------------------------------------------------------------------------

    /// `None` when nothing may be decided: an error has stopped the machine, or this does.
    pub(super) fn may_decide(&mut self) -> Option<()> {
        if self.error.is_some() {
            return None;
        }
        if let Some(inside) = self.inside {
            return self.misused(inside);
        }
        if self.commands >= MAX_COMMANDS {
            return self.run_away("commands after one event", MAX_COMMANDS as u64);
        }
        Some(())
    }

    /// As [`may_decide`](Self::may_decide), for what begins an operation.
    pub(super) fn may_open(&mut self) -> Option<()> {
        self.may_decide()?;
        if self.operations.len() >= MAX_OPEN {
            return self.run_away("open operations", MAX_OPEN as u64);
        }
        Some(())
    }

    /// Counts something that neither decides anything nor waits, so that a loop of it ends too.
    pub(super) fn step(&mut self, what: &'static str) -> Option<()> {
        self.steps += 1;
        if self.steps > MAX_COMMANDS && self.error.is_none() {
            self.run_away::<()>(what, MAX_COMMANDS as u64);
        }
        self.go_on()
    }

    /// Things wake each other, or one is asked again and again, without end.
    pub(super) fn polled_too_often(&mut self) {
        if self.error.is_none() {
            self.run_away::<()>("polls after one event", MAX_POLLS as u64);
        }
    }

    /// `None` after an error. Code that goes on regardless and never waits gives nobody else a chance to stop
    /// it, so it is stopped by unwinding once it has had its share of chances.
    pub(super) fn go_on(&mut self) -> Option<()> {
        if self.error.is_none() {
            return Some(());
        }
        self.ignored += 1;
        if self.ignored > MAX_COMMANDS && !std::thread::panicking() {
            std::panic::resume_unwind(Box::new(""));
        }
        None
    }

    pub(super) fn run_away<T>(&mut self, what: &'static str, limit: u64) -> Option<T> {
        self.error = Some(Blocked::Runaway(self.runaway(what, limit)));
        None
    }

    pub(super) fn misused<T>(&mut self, inside: &'static Apart) -> Option<T> {
        let Apart { what, why, help } = inside;
        self.error = Some(Blocked::Panicked(Box::new(Panicked {
            run: self.run_text(),
            workflow: self.workflow,
            event: self.unit.saturating_sub(1),
            site: passed().map(|site| self.call_site(site)),
            message: format!("the `Cx` was used inside {what}, {why}\n\nhelp: {help}"),
        })));
        None
    }

    // ---- decisions -----------------------------------------------------------------------------------

    /// Live: `None`. In replay: the next recorded decision of the unit, where there is one.
    pub(super) fn next_expected(&mut self) -> Option<Option<Decision>> {
        while self.pass_retired().is_some() {}
        self.expected.as_mut().map(VecDeque::pop_front)
    }

    /// Adds a decision that was made live. A unit that is too large is not committed, so it may be made.
    pub(super) fn push(&mut self, decision: Decision) {
        self.bytes = self.bytes.saturating_add(decision.size());
        self.made.decisions.push(decision);
        if self.bytes > MAX_UNIT_BYTES && self.error.is_none() {
            let mut error = self.runaway("bytes after one event", MAX_UNIT_BYTES as u64);
            error.count = self.bytes as u64;
            self.error = Some(Blocked::Runaway(error));
        }
    }

    pub(super) fn open(&mut self, kind: Kind) -> u64 {
        let number = self.next_operation;
        self.next_operation += 1;
        self.commands += 1;
        self.drawn.clear();
        let operation = Operation {
            kind,
            end: None,
            waker: None,
        };
        self.operations.insert(number, operation);
        number
    }

    /// Forgets an operation, and gives back what a crowd of them has needed.
    pub(super) fn close(&mut self, number: u64) -> Option<Operation> {
        let operation = self.operations.remove(&number);
        let (open, room) = (self.operations.len(), self.operations.capacity());
        if room > 64 && open < room / 8 {
            self.operations.shrink_to(open * 2);
        }
        operation
    }

    /// About how many bytes are held here.
    pub(super) fn memory(&self) -> usize {
        let operations = self.operations.capacity() * size_of::<(u64, Operation)>()
            + self.operations.len() * WAITER;
        let markers = self.markers.capacity() * size_of::<(&str, MarkerValue)>();
        operations
            + markers
            + self.inbox.memory()
            + self.updates.memory()
            + self.untils.memory()
            + self.views.memory()
            + self.abandoned.len() * size_of::<(u64, &str)>() * 2
            + self.started_by.len()
    }

    pub(super) fn runaway(&self, what: &'static str, limit: u64) -> Runaway {
        Runaway {
            run: self.run_text(),
            workflow: self.workflow,
            event: self.event(),
            what,
            count: limit + 1,
            limit,
        }
    }

    // ---- places --------------------------------------------------------------------------------------

    /// The await that is being polled.
    pub(super) fn site(&self) -> Option<CallSite> {
        SITE.get().map(|site| self.call_site(site))
    }

    pub(super) fn call_site(&self, site: &'static Site) -> CallSite {
        CallSite {
            file: self.relative(site.file).into(),
            line: site.line,
            column: site.column,
            function: site.function.into(),
        }
    }

    /// The workflow's function.
    pub(super) fn place(&self) -> CallSite {
        CallSite {
            file: self.relative(self.graph.file).into(),
            line: self.graph.line,
            column: 1,
            function: self.graph.name.into(),
        }
    }

    pub(super) fn location(&self, place: &'static Location<'static>) -> CallSite {
        CallSite {
            file: self.relative(place.file()).into(),
            line: place.line(),
            column: place.column(),
            // The await that is being polled may be one of another function.
            function: "".into(),
        }
    }

    /// Files are recorded relative to the package where the compiler names them in full.
    fn relative(&self, file: &'static str) -> &'static str {
        let inside = self
            .graph
            .manifest_dir
            .and_then(|folder| file.strip_prefix(folder))
            .and_then(|rest| rest.strip_prefix(['/', '\\']));
        inside.unwrap_or(file)
    }
}
