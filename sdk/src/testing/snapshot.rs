//! Snapshots of histories.

use super::Recorded;
use super::redact::{self, Redaction, RedactionError};
use crate::history::{Render, render};

/// How [`assert_history!`](crate::assert_history) shows a history.
///
/// Without anything else the text is the same each time and on each machine as long as the workflow does the
/// same: it has no times, ids, random draws or lines of source. What flows into values may still differ, as a
/// time that an activity returned; [`redact`](Self::redact) shows a word in its place.
///
/// ```
/// use perennial::history::History;
/// use perennial::testing::Snapshot;
///
/// # let json = r#"{"run":{"namespace":"default","id":"order-42"},"generation":1,"units":[{"number":1,
/// # "at":1700000000000,"observation":{"started":{"workflow":"fulfil","input":{"id":"A-1","card":
/// # {"number":"4000 1"}},"semantics":1,"artifact":"first","namespace":"default","run":"order-42",
/// # "generation":1,"first_operation":1}},"decisions":[{"activity_scheduled":{"operation":1,"name":
/// # "charge_card","input":{"number":"4000 1"}}}]}]}"#;
/// # let run: History = serde_json::from_str(json).unwrap();
/// let text = Snapshot::new().redact("**.number", "[card]").text(&run).unwrap();
/// assert_eq!(text, r#" 1 started      fulfil {"card":{"number":"[card]"},"id":"A-1"}
///  2   activity   ~1 charge_card {"number":"[card]"}
/// "#);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Snapshot {
    render: Render,
    uuids: bool,
    redactions: Vec<Redaction>,
}

impl Snapshot {
    /// Nothing but what is the same each time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows `shown` in place of what `selector` matches.
    ///
    /// A selector is the name of an activity, of the workflow or of a recorded value; then which value of
    /// theirs, `input`, `result`, `error` or (of a recorded one) `value`; then the way into it:
    ///
    /// | selector | matches |
    /// |---|---|
    /// | `charge_card.input.card.number` | the member `number` of the member `card` of its input |
    /// | `charge_card.result.lines[0].sku`, `…lines[*].sku` | a member of the first item, of each item |
    /// | `charge_card.error` | all that it rejected with, and what its last attempt said |
    /// | `fulfil.input.customer.*` | each member or item |
    /// | `*.input.token` | the member `token` of the input of whatever has one |
    /// | `**.token` | members of this name wherever they are |
    /// | `limits["per.day"].value` | a name with dots |
    ///
    /// A selector that matches nothing is an error of the test, so that it does not outlive what it hid.
    pub fn redact(mut self, selector: impl Into<String>, shown: impl Into<String>) -> Self {
        self.redactions.push(Redaction {
            selector: selector.into(),
            shown: shown.into(),
        });
        self
    }

    /// Shows each value that `cx.uuid()` gave as `[uuid 1]`, `[uuid 2]` and so on, wherever it stands. A test
    /// run draws the same ones each time; other histories do not.
    pub fn uuids(mut self) -> Self {
        self.uuids = true;
        self
    }

    /// Leaves out the numbers of events, and numbers the operations among those of their name
    /// (`charge_card#2`). A step more or less then does not change the lines after it, and a diff shows that
    /// step alone.
    pub fn unnumbered(mut self) -> Self {
        self.render.unnumbered = true;
        self
    }

    /// Shows when each observation was made, and until when timers run.
    pub fn times(mut self) -> Self {
        self.render.times = true;
        self
    }

    /// Shows `file:line:column` of call sites in place of the file alone.
    pub fn lines(mut self) -> Self {
        self.render.lines = true;
        self
    }

    /// The text of a history.
    ///
    /// # Errors
    ///
    /// [`RedactionError`]: a selector cannot be read or matches nothing.
    pub fn text(&self, run: &impl Recorded) -> Result<String, RedactionError> {
        let mut history = run.history();
        for redaction in &self.redactions {
            redaction.apply(&mut history.units, &history.run)?;
        }
        if self.uuids {
            redact::uuids(&mut history.units, &history.run)?;
        }
        Ok(render(&history.units, self.render))
    }

    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub fn text_or_panic(&self, run: &impl Recorded) -> String {
        // Not in a closure, whose place would be this file.
        match self.text(run) {
            Ok(text) => text,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Compares a run's history with the snapshot of it, and fails with a diff where they differ.
///
/// The snapshots are those of [insta](https://insta.rs): a file in `snapshots/` beside the test, named after
/// the test function, or a text in the test itself. The first time there is none, and the test fails with what
/// it would be; `cargo insta review` or `INSTA_UPDATE=always cargo test` accepts it, and the same later on for
/// what has changed. In CI (where `CI` is set) nothing is written. A test needs no insta of its own; one that
/// has it shares its settings.
///
/// | form | snapshot |
/// |---|---|
/// | `assert_history!(run)` | in a file that is named after the test |
/// | `assert_history!("name", run)` | in a file of this name |
/// | `assert_history!(run, @"")` | in the test: `cargo insta review` fills it in |
///
/// `run` is anything that is [`Recorded`](crate::testing::Recorded), also a
/// [`History`](crate::history::History). Each form takes a [`Snapshot`](crate::testing::Snapshot) after the
/// run, for redactions, times and lines.
///
/// ```
/// use perennial::assert_history;
/// use perennial::history::History;
/// use perennial::testing::Snapshot;
///
/// # let json = r#"{"run":{"namespace":"default","id":"order-42"},"generation":1,"units":[{"number":1,
/// # "at":1700000000000,"observation":{"started":{"workflow":"fulfil","input":{"id":"A-1","cents":1200},
/// # "semantics":1,"artifact":"first","namespace":"default","run":"order-42","generation":1,
/// # "first_operation":1}},"decisions":[{"activity_scheduled":{"operation":1,"name":"charge_card",
/// # "input":1200,"site":{"file":"src/orders.rs","line":31,"column":9,"function":"fulfil"}}}]}]}"#;
/// # let run: History = serde_json::from_str(json).unwrap();
/// assert_history!(run, Snapshot::new().redact("fulfil.input.id", "[order]"), @r#"
///  1 started      fulfil {"cents":1200,"id":"[order]"}
///  2   activity   ~1 charge_card 1200                              orders.rs fulfil
/// "#);
/// ```
///
/// # Panics
///
/// Where the text is another than the snapshot, there is no snapshot, or a redaction matches nothing.
#[macro_export]
macro_rules! assert_history {
    ($name:literal, $run:expr $(,)?) => {
        $crate::assert_history!($name, $run, $crate::testing::Snapshot::new())
    };
    ($name:literal, $run:expr, $snapshot:expr $(,)?) => {
        $crate::__assert_history!(($name,) &$snapshot, &$run, ())
    };
    ($run:expr, @$text:literal $(,)?) => {
        $crate::assert_history!($run, $crate::testing::Snapshot::new(), @$text)
    };
    ($run:expr, $snapshot:expr, @$text:literal $(,)?) => {
        $crate::__assert_history!(() &$snapshot, &$run, (, @$text))
    };
    ($run:expr $(,)?) => {
        $crate::assert_history!($run, $crate::testing::Snapshot::new())
    };
    ($run:expr, $snapshot:expr $(,)?) => {
        $crate::__assert_history!(() &$snapshot, &$run, ())
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __assert_history {
    (($($name:tt)*) $snapshot:expr, $run:expr, ($($text:tt)*)) => {{
        let __text = $crate::testing::Snapshot::text_or_panic($snapshot, $run);
        // The expression says nothing that the name of the test does not.
        $crate::__private::insta::with_settings!({ omit_expression => true }, {
            $crate::__private::insta::assert_snapshot!($($name)* __text $($text)*)
        })
    }};
}
