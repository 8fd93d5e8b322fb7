//! What runs give out in their streams and show in their views, for a test to look at (S28).

use super::drive::or_fail;
use super::failure::TestFailure;
use super::run::Run;
use crate::history::Decision;
use crate::{Data, Stream, View, Workflow};

impl<W: Workflow> Run<W> {
    /// The items that the run has given out in a stream, in their order. This lets nothing happen.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// const OUTPUT: Stream<u64> = Stream::new("output");
    ///
    /// #[workflow]
    /// async fn count(cx: &Cx, to: u64) -> Result<(), Error> {
    ///     for number in 1..=to {
    ///         cx.emit(OUTPUT, number);
    ///         cx.sleep(hours(1)).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(count, 3);
    /// t.advance(hours(1));
    /// assert_eq!(run.stream(OUTPUT), [1, 2]);
    /// # assert!(run.result().is_ok());
    /// # }); }
    /// ```
    ///
    /// # Panics
    ///
    /// When an item is not of the type of the stream, as where the workflow knows the name under another type
    /// ([`TestFailure::Refused`], B18).
    #[must_use]
    #[track_caller]
    pub fn stream<T: Data>(&self, stream: Stream<T>) -> Vec<T> {
        let decoded = self.items(stream);
        or_fail(&self.shared, decoded)
    }

    /// What a view of the run shows; `None` where the run has not set it. It does not stand in the history. This lets
    /// nothing happen.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// const STATUS: View<String> = View::new("status");
    ///
    /// #[workflow]
    /// async fn order(cx: &Cx) -> Result<(), Error> {
    ///     cx.set(STATUS, "waits".to_owned());
    ///     cx.sleep(hours(1)).await?;
    ///     cx.set(STATUS, "done".to_owned());
    ///     Ok(())
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(order, ());
    /// t.advance(minutes(1));
    /// assert_eq!(run.view(STATUS).as_deref(), Some("waits"));
    /// # assert!(run.result().is_ok());
    /// # }); }
    /// ```
    ///
    /// # Panics
    ///
    /// When the value is not of the type of the view ([`TestFailure::Refused`]).
    #[must_use]
    #[track_caller]
    pub fn view<T: Data>(&self, view: View<T>) -> Option<T> {
        let value = self.shared.borrow().runs[self.index]
            .views
            .get(view.name())
            .cloned();
        let decoded = T::from_value(&value?).map_err(|error| TestFailure::Refused {
            reason: format!("view \"{}\": {error}", view.name().escape_debug()),
        });
        Some(or_fail(&self.shared, decoded))
    }

    fn items<T: Data>(&self, stream: Stream<T>) -> Result<Vec<T>, TestFailure> {
        let driver = self.shared.borrow();
        let units = &driver.runs[self.index].recording.units;
        let decisions = units.iter().flat_map(|unit| &unit.decisions);
        let items = decisions.filter_map(|decision| match decision {
            Decision::Emitted {
                stream: name,
                number,
                value,
                ..
            } if name == stream.name() => Some((number, value)),
            _ => None,
        });
        items
            .map(|(number, value)| {
                T::from_value(value).map_err(|error| TestFailure::Refused {
                    reason: format!(
                        "item {number} of stream \"{}\": {error}",
                        stream.name().escape_debug()
                    ),
                })
            })
            .collect()
    }
}
