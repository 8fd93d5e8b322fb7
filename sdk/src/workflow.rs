//! Workflows as the runtime sees them.

use std::any::{TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;

use crate::handles::Handled;
use crate::history::Channel;
use crate::listens::Receives;
use crate::publishes::Publishes;
use crate::types::Schemas;
use crate::value::{DecodeError, EncodeError, Value};
use crate::{Cx, Data, DataTypes, StubDefinition};

/// A function with `#[workflow]`. Implemented by the attribute.
pub trait Workflow: 'static {
    /// The name under which histories know it.
    const NAME: &'static str;
    /// What the attribute saw in its body.
    const GRAPH: &'static Graph;
    /// The input: `()`, the one parameter, or a tuple of the parameters.
    type Input: Data;
    /// What the function returns.
    type Output: WorkflowResult;

    #[doc(hidden)]
    #[must_use]
    fn schemas() -> Schemas {
        Schemas::default()
    }

    /// The function.
    fn body(cx: &'static Cx, input: Self::Input) -> impl Future<Output = Self::Output>;
}

/// What a workflow returns: `Result<T, E>`, both of which can be stored.
#[diagnostic::on_unimplemented(
    message = "a workflow cannot return `{Self}`: it returns a `Result`, and recorded values need `serde::Serialize` and `serde::Deserialize`",
    label = "expected a `Result` of types that can be stored",
    note = "derive both serde traits on the value and on the error; the error is also `Display`",
    note = "`perennial::Error` takes any error through `?`; if nothing can go wrong, `perennial::Never` is an error that cannot be"
)]
pub trait WorkflowResult: 'static {
    /// The result.
    type Value: Data;
    /// The error.
    type Error: Data + fmt::Display;

    /// As a plain result.
    ///
    /// # Errors
    ///
    /// The workflow's own.
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Data, E: Data + fmt::Display> WorkflowResult for Result<T, E> {
    type Value = T;
    type Error = E;

    fn into_result(self) -> Self {
        self
    }
}

/// What `#[workflow]` saw in a function.
#[derive(Debug)]
pub struct Graph {
    /// The workflow's name.
    pub name: &'static str,
    /// The file it is in, as the compiler names it.
    pub file: &'static str,
    /// The line it is in.
    pub line: u32,
    /// The folder of its package, where the compiler was told.
    pub manifest_dir: Option<&'static str>,
    /// What it calls with its `cx`.
    pub callees: &'static [Callee],
    /// Its label, `#[workflow(version = 3)]`: recorded and shown, never compared (S37).
    pub version: Option<u32>,
    /// Whether a replay compares the inputs of activities, and the results (S10).
    pub compare_inputs: bool,
    /// The markers that it asks for, and those that the `#[durable]` functions of its package ask for which it calls,
    /// each once (S36).
    pub markers: &'static [MarkerRange],
    /// The markers that it asked for once: a recorded one is passed over (S36).
    pub retired: &'static [RetiredMarker],
    /// What it waits for and decides, in order: a line each, as `perennial.lock` has them (S37).
    pub structure: &'static str,
    /// What it waits for that a run is told, each once; see [`receives`](Self::receives).
    #[doc(hidden)]
    pub listens: &'static [fn() -> Option<Receives>],
    /// Whether it may wait for messages and signals besides those: under a name that is no constant, or in a function
    /// that it calls.
    pub listens_for_others: bool,
    /// The streams and views that it publishes, each once; see [`publishes`](Self::publishes).
    #[doc(hidden)]
    pub published: &'static [fn() -> Option<Publishes>],
    /// Whether it may publish others besides those: under a name that is no constant, or in a function that it calls.
    pub publishes_others: bool,
    /// The updates that it handles, each once; see [`handled`](Self::handled).
    #[doc(hidden)]
    pub handles: &'static [fn() -> Option<Handled>],
    /// Whether it may handle updates besides those: under a name that is no constant, or in a function that it calls.
    pub handles_others: bool,
    /// Stubs that it offers, each once; see [`offers`](Self::offers).
    #[doc(hidden)]
    pub stubs: &'static [fn() -> StubDefinition],
}

/// A marker in the code, and the versions that the code supports: `cx.version("rounding", 1..=2)` (S36).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerRange {
    /// What the code calls the change.
    pub id: &'static str,
    /// The lowest version that it supports.
    pub lowest: u32,
    /// The highest one, which runs get that ask for the first time.
    pub highest: u32,
}

impl MarkerRange {
    /// Whether it guards nothing: with one supported version there is nothing to choose, and runs that have another
    /// one are blocked. Retire it once no run needs the check: `perennial lock --accept`.
    #[must_use]
    pub const fn is_dead(&self) -> bool {
        self.lowest >= self.highest
    }
}

/// A marker that was taken out of the code, and the version whose code has stayed (S36).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetiredMarker {
    /// What the code called the change.
    pub id: &'static str,
    /// The version.
    pub version: u32,
}

impl Graph {
    /// The graph of the workflow whose name is the tokens that call this.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn here(
        name: &'static str,
        manifest_dir: Option<&'static str>,
        callees: &'static [Callee],
    ) -> Self {
        let place = Location::caller();
        Self {
            name,
            file: place.file(),
            line: place.line(),
            manifest_dir,
            callees,
            version: None,
            compare_inputs: true,
            markers: &[],
            retired: &[],
            structure: "",
            listens: &[],
            listens_for_others: false,
            published: &[],
            publishes_others: false,
            handles: &[],
            handles_others: false,
            stubs: &[],
        }
    }

    /// The stubs that its body offers by their names, in the order of these, with the types of their data. Those that
    /// it offers through functions that it calls, or that were imported in a way that the attribute cannot follow, are
    /// among the [`callees`](Self::callees) alone, where they are known at all.
    #[must_use]
    pub fn offers(&self) -> Vec<StubDefinition> {
        let mut offers: Vec<_> = self.stubs.iter().map(|stub| stub()).collect();
        offers.sort_by_key(|offer| offer.name);
        offers.dedup_by_key(|offer| offer.name);
        offers
    }

    /// The messages and signals that it waits for, as far as its body names them: `cx.receive(names::APPROVAL)`. It
    /// may wait for others where [`listens_for_others`](Self::listens_for_others) says so.
    #[must_use]
    pub fn receives(&self) -> Vec<Receives> {
        self.listens.iter().filter_map(|listen| listen()).collect()
    }

    /// The streams and views that it publishes, as far as its body names them: `cx.emit(names::OUTPUT, ..)`. It
    /// may publish others where [`publishes_others`](Self::publishes_others) says so.
    #[must_use]
    pub fn publishes(&self) -> Vec<Publishes> {
        let published = self.published.iter();
        published.filter_map(|published| published()).collect()
    }

    /// The updates that it handles, as far as its body names them: `cx.handle(names::SET_LIMIT, ..)`. It may handle
    /// others where [`handles_others`](Self::handles_others) says so.
    #[must_use]
    pub fn handled(&self) -> Vec<Handled> {
        self.handles
            .iter()
            .filter_map(|handled| handled())
            .collect()
    }

    /// Whether it handles updates of that name somewhere; `None` where that cannot be told (M38).
    #[must_use]
    pub fn handles_update(&self, name: &str) -> Option<bool> {
        let mut known = self.handles.iter().filter_map(|handled| handled());
        match known.any(|known| known.name == name) {
            true => Some(true),
            false if self.handles_others => None,
            false => Some(false),
        }
    }

    /// Whether it waits for messages, or signals, of that name; `None` where that cannot be told (M38).
    #[must_use]
    pub fn declares(&self, channel: Channel, name: &str) -> Option<bool> {
        let is_it = |known: Receives| known.channel == channel && known.name == name;
        let mut known = self.listens.iter().filter_map(|listen| listen());
        match known.any(is_it) {
            true => Some(true),
            false if self.listens_for_others => None,
            false => Some(false),
        }
    }
}

/// A function that a workflow calls with its `cx`, as far as the source tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    /// The name of the activity or stub, or the function's.
    pub name: &'static str,
    /// What it is.
    pub kind: CalleeKind,
}

/// What a called function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalleeKind {
    /// An activity.
    Activity,
    /// A stub.
    Stub,
    /// Something else, or not known.
    Unknown,
}

/// A place in a workflow where it waits, begins something, or draws a value.
#[doc(hidden)]
pub struct Site {
    pub id: &'static str,
    pub function: &'static str,
    /// What is asked for, as errors call it: `activity charge_card`. With a `?` behind it:
    /// probably. Several lines: perhaps one after the other. Empty: not known.
    pub asks: &'static str,
    /// The branches, loops and blocks that it stands in: `1.0 2*` is a loop in the first branch of something.
    pub scope: &'static str,
    /// Its place in `all`.
    pub at: usize,
    /// All sites of the function, in source order.
    pub all: &'static [Self],
    pub file: &'static str,
    pub line: u32,
    pub column: u32,
}

impl Site {
    /// The site at the tokens that call this.
    #[must_use]
    #[track_caller]
    pub const fn here(
        id: &'static str,
        function: &'static str,
        asks: &'static str,
        scope: &'static str,
        at: usize,
        all: &'static [Self],
    ) -> Self {
        let place = Location::caller();
        Self {
            id,
            function,
            asks,
            scope,
            at,
            all,
            file: place.file(),
            line: place.line(),
            column: place.column(),
        }
    }
}

/// Without the other sites, which have it among theirs.
impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            function,
            id,
            file,
            line,
            column,
            ..
        } = self;
        write!(f, "{function}/{id} at {file}:{line}:{column}")
    }
}

/// A call of a workflow by a workflow. It cannot be waited for: start the other workflow with the client,
/// or make the code a `#[durable]` helper. The type exists so that a workflow's name can stand for it:
/// `client.start(order, "order-42", input)`.
#[must_use = "a workflow is started with the client"]
pub struct Child<W: Workflow> {
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow> Child<W> {
    #[doc(hidden)]
    pub fn new(_: &Cx, _: W::Input) -> Self {
        Self {
            workflow: PhantomData,
        }
    }
}

impl<W: Workflow> fmt::Debug for Child<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&W::NAME).finish()
    }
}

/// So that `.await` on it is judged by the workflow's rules and not called "no future".
impl<W: Workflow> IntoFuture for Child<W> {
    type Output = W::Output;
    type IntoFuture = std::future::Pending<W::Output>;

    fn into_future(self) -> Self::IntoFuture {
        std::future::pending()
    }
}

/// The name of a workflow's function, as in `client.start(order, ..)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow",
    label = "not a workflow",
    note = "put `#[workflow]` on the function"
)]
pub trait WorkflowFn<M> {
    /// The workflow that it names.
    type W: Workflow;
}

macro_rules! workflow_fn {
    ($($arg:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, W: Workflow, $($arg),*> WorkflowFn<fn($($arg),*) -> W> for F
        where
            F: Fn(&Cx, $($arg),*) -> Child<W>,
        {
            type W = W;
        }
    };
}

workflow_fn!();
workflow_fn!(A1);
workflow_fn!(A1 A2);
workflow_fn!(A1 A2 A3);
workflow_fn!(A1 A2 A3 A4);
workflow_fn!(A1 A2 A3 A4 A5);
workflow_fn!(A1 A2 A3 A4 A5 A6);
workflow_fn!(A1 A2 A3 A4 A5 A6 A7);
workflow_fn!(A1 A2 A3 A4 A5 A6 A7 A8);

/// How a workflow's function ended: its result or its error, or that one of them cannot be stored.
pub type BodyEnd = Result<Result<Value, Value>, EncodeError>;

/// A workflow's function at work.
pub type BodyFuture = Pin<Box<dyn Future<Output = BodyEnd>>>;

/// A workflow without its types: what drivers work with.
#[derive(Clone, Copy, Debug)]
pub struct WorkflowDefinition {
    /// Which function it is, whatever its name.
    pub id: TypeId,
    /// The name under which histories know it.
    pub name: &'static str,
    /// What the attribute saw in its body.
    pub graph: &'static Graph,
    /// Makes the future that runs the function over an input.
    pub build: fn(&'static Cx, &Value) -> Result<BodyFuture, DecodeError>,
    /// Whether an input decodes.
    pub accepts: fn(&Value) -> Result<(), DecodeError>,
    /// The types of its data.
    pub types: fn() -> DataTypes,
}

impl WorkflowDefinition {
    /// The definition of `W`.
    #[must_use]
    pub fn of<W: Workflow>() -> Self {
        fn build<W: Workflow>(cx: &'static Cx, input: &Value) -> Result<BodyFuture, DecodeError> {
            let input = W::Input::from_value(input)?;
            Ok(Box::pin(async move {
                match W::body(cx, input).await.into_result() {
                    Ok(value) => value.to_value().map(Ok),
                    Err(error) => error.to_value().map(Err),
                }
            }))
        }
        fn accepts<W: Workflow>(input: &Value) -> Result<(), DecodeError> {
            W::Input::from_value(input).map(drop)
        }
        fn types<W: Workflow>() -> DataTypes {
            let names = [
                type_name::<W::Input>(),
                type_name::<<W::Output as WorkflowResult>::Value>(),
                type_name::<<W::Output as WorkflowResult>::Error>(),
            ];
            DataTypes::new(names, W::schemas())
        }
        Self {
            id: TypeId::of::<W>(),
            name: W::NAME,
            graph: W::GRAPH,
            build: build::<W>,
            accepts: accepts::<W>,
            types: types::<W>,
        }
    }
}

/// One workflow, `fulfil`, or several, `(fulfil, refund)`: a tuple of up to twelve, which may be tuples again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a workflow nor a tuple of workflows",
    label = "expected a workflow's name or a tuple such as `(fulfil, refund)`, of at most twelve",
    note = "`#[workflow]` makes a workflow of a function; more than twelve go into tuples of tuples"
)]
pub trait WorkflowSet<M> {
    /// Their definitions.
    fn definitions(&self) -> Vec<WorkflowDefinition>;
}

#[diagnostic::do_not_recommend]
impl<F: WorkflowFn<M>, M> WorkflowSet<fn(M)> for F {
    fn definitions(&self) -> Vec<WorkflowDefinition> {
        vec![WorkflowDefinition::of::<F::W>()]
    }
}

macro_rules! workflow_set {
    ($($f:ident $m:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($f: WorkflowSet<$m>, $m),*> WorkflowSet<($($m,)*)> for ($($f,)*) {
            #[allow(non_snake_case)]
            fn definitions(&self) -> Vec<WorkflowDefinition> {
                let ($($f,)*) = self;
                [$($f.definitions()),*].concat()
            }
        }
    };
}

workflow_set!(F1 M1);
workflow_set!(F1 M1 F2 M2);
workflow_set!(F1 M1 F2 M2 F3 M3);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10 F11 M11);
workflow_set!(F1 M1 F2 M2 F3 M3 F4 M4 F5 M5 F6 M6 F7 M7 F8 M8 F9 M9 F10 M10 F11 M11 F12 M12);
