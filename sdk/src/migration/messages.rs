//! The messages that the run has not taken, as the migration sees them (S25, M42).

use std::collections::BTreeSet;

use super::old::decode;
use super::{OldRun, Refuse};
use crate::history::{Channel, Decision, Observation, Told};
use crate::{Data, Message};

impl OldRun {
    /// What the messages of that name say that the run has not taken, in the order in which they came: those in its
    /// history, and those that it was not told. They stay with the old run, where they can be listed; a new run that
    /// has to know of them gets them as a part of its input.
    ///
    /// ```
    /// use perennial::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// const NOTE: Message<String> = Message::new("note");
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Order {
    ///     id: String,
    ///     notes: Vec<String>,
    /// }
    ///
    /// # #[workflow]
    /// # async fn order_v1(cx: &Cx, id: String) -> Result<(), Error> { let _ = (cx.receive(NOTE).await?, id); Ok(()) }
    /// # #[workflow]
    /// # async fn order_v2(_cx: &Cx, order: Order) -> Result<(), Error> { let _ = order; Ok(()) }
    /// #[migration(from = order_v1, to = order_v2)]
    /// fn to_v2(old: &OldRun) -> Result<Order, Refuse> {
    ///     Ok(Order {
    ///         id: old.input()?,
    ///         notes: old.messages(NOTE)?,
    ///     })
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`]: one of them is not of the type.
    pub fn messages<T: Data>(&self, message: Message<T>) -> Result<Vec<T>, Refuse> {
        self.unread()
            .into_iter()
            .filter(|told| told.name == message.name())
            .map(|told| {
                let what = || format!("message #{} \"{}\"", told.number, told.name.escape_debug());
                decode(what, &told.payload)
            })
            .collect()
    }

    /// All messages that the run has not taken, in the order in which they came.
    #[must_use]
    pub fn unread(&self) -> Vec<&Told> {
        let units = &self.history().units;
        let taken: BTreeSet<u64> = units
            .iter()
            .flat_map(|unit| &unit.decisions)
            .filter_map(|decision| match decision {
                Decision::Received {
                    channel: Channel::Message,
                    number,
                    ..
                } => Some(*number),
                _ => None,
            })
            .collect();
        // Those that a run was told of which this one is a fork are not its own (M43).
        let inherited = self.started().inherited();
        let own = units.iter().filter(|unit| unit.number > inherited);
        let told = own.map(|unit| &unit.observation);
        told.chain(self.arrived())
            .filter_map(|observation| match observation {
                Observation::MessageArrived(told) if !taken.contains(&told.number) => Some(told),
                _ => None,
            })
            .collect()
    }
}
