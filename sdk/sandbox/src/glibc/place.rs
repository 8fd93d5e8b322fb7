//! From the stack of a call to the place in the user's code, and what is not told.

use std::env;
use std::path::Path;

use perennial::testing::Touched;

use super::frames::{self, Frame, Owner};
use super::watch::{Hit, Seen};

/// What was seen, as it is told: the same rule at the same place once.
pub(super) fn told(seen: Seen) -> Vec<Touched> {
    let here = env::current_dir().unwrap_or_default();
    let mut told: Vec<Told> = Vec::new();
    for hit in &seen.hits {
        let Some(new) = Told::of(hit, &here) else {
            continue;
        };
        match told.iter_mut().find(|old| old.is_at_the_place_of(&new)) {
            None => told.push(new),
            // What reads the environment to make a thread is told as what makes the thread.
            Some(old) if !old.exact && new.exact => *old = new,
            Some(_) => {}
        }
    }
    let told = told.into_iter().map(|told| told.touched);
    let more = seen
        .more
        .map(|rule| Touched::new(rule, "more calls than are told", String::new()));
    told.chain(more).collect()
}

struct Told {
    touched: Touched,
    /// Whether the rule is that of the call, and not that of the function which made it.
    exact: bool,
}

impl Told {
    fn of(hit: &Hit, here: &Path) -> Option<Self> {
        let frames = frames::parse(&hit.stack.to_string(), here);
        let stack = Stack::new(hit.call, &frames);
        if stack.is_another_matter() {
            return None;
        }
        let rule = stack.rule(hit.rule);
        let place: Vec<_> = stack
            .users()
            .iter()
            .map(|frame| frame.shown(here))
            .collect();
        Some(Self {
            touched: Touched::new(rule, hit.call, place.join("\n")),
            exact: rule == hit.rule,
        })
    }

    fn is_at_the_place_of(&self, other: &Self) -> bool {
        let (own, other) = (&self.touched, &other.touched);
        (own.rule, &own.place) == (other.rule, &other.place)
    }
}

/// The part of a stack that lies between the call and the watch.
struct Stack<'a> {
    frames: &'a [Frame],
}

impl<'a> Stack<'a> {
    fn new(call: &'static str, frames: &'a [Frame]) -> Self {
        // The innermost frames are ours, up to the function of C; ours again is `watch`. Where a program has no
        // names there is neither, and no place.
        let function = call.split('(').next().unwrap_or(call);
        let hook = frames.iter().position(|frame| frame.name == function);
        let inner = frames.get(hook.map_or(0, |hook| hook + 1)..);
        let inner = inner.unwrap_or_default();
        let watch = inner
            .iter()
            .position(|frame| frame.owner() == Owner::Sandbox);
        Self {
            frames: inner.get(..watch.unwrap_or(0)).unwrap_or_default(),
        }
    }

    /// The user's frames. Of crates in between the function alone that is called from outside of them.
    fn users(&self) -> Vec<Frame> {
        let mut users: Vec<Frame> = Vec::new();
        for frame in self.frames {
            if frame.owner() != Owner::Other {
                continue;
            }
            let frame = frame.clone();
            match users.last_mut() {
                Some(inner) if inner.is_in_registry() && frame.is_in_registry() => *inner = frame,
                _ => users.push(frame),
            }
        }
        // The attribute puts a workflow's code into a function of its own.
        if let [.., code, body] = users.as_mut_slice()
            && code.function().ends_with("::_::__body")
            && let Some(workflow) = body.workflow()
        {
            code.name = workflow.to_owned();
            users.pop();
        }
        users
    }

    /// The frames of the standard library that lead to the call, and the one that they were called from.
    fn entered(&self) -> (&'a [Frame], Option<&'a Frame>) {
        let is_standard = |frame: &&Frame| frame.owner() == Owner::Standard;
        let inner = self.frames.iter().take_while(is_standard).count();
        let standard = self.frames.get(..inner).unwrap_or_default();
        (standard, self.frames.get(inner))
    }

    /// Whether the call is none of the workflow's.
    fn is_another_matter(&self) -> bool {
        let (_, from) = self.entered();
        // Not the user's code, however it is reached.
        let perennial = from.is_some_and(|frame| frame.owner() == Owner::Perennial);
        perennial
            || self.frames.iter().any(|frame| {
                is_backtrace(frame) || is_allocator(frame) || is_log(frame) || is_hasher(frame)
            })
    }

    /// The rule that speaks of what the user called, where `rule` is that of a call far below.
    fn rule(&self, rule: &'static str) -> &'static str {
        let (standard, from) = self.entered();
        let within = |module| standard.iter().any(|frame| frame.is_in_standard(module));
        match rule {
            // Seeds.
            "D101"
                if from.is_some_and(|from| {
                    matches!(from.crate_name().as_str(), "fastrand" | "uuid")
                }) =>
            {
                "D102"
            }
            "D106" | "D107" if within("thread") => "D103",
            "D106" if within("env") => "D107",
            _ if within("net") => "D108",
            _ if within("process") => "D109",
            rule => rule,
        }
    }
}

/// Errors keep a backtrace where the environment asks for it.
fn is_backtrace(frame: &Frame) -> bool {
    frame.is_in_standard("backtrace") || frame.crate_name() == "backtrace"
}

/// Some allocators look at a clock, or draw a number.
fn is_allocator(frame: &Frame) -> bool {
    [
        "GlobalAlloc>::",
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
    ]
    .iter()
    .any(|part| frame.name.contains(part))
}

/// Whoever listens to logs looks at the clock and writes, not the workflow.
fn is_log(frame: &Frame) -> bool {
    match frame.crate_name().as_str() {
        // It also runs the code that it is given.
        "tracing_core" => !frame.name.contains("with_default"),
        "log" => frame.name.contains("__private_api"),
        _ => false,
    }
}

/// The keys of maps are like those of the standard library: to make a map is no violation.
fn is_hasher(frame: &Frame) -> bool {
    matches!(frame.crate_name().as_str(), "ahash" | "foldhash")
}
