//! Typed names: what a run can be told and what it tells, declared once and shared by all sides.
//!
//! | name | reaches | is kept |
//! |---|---|---|
//! | [`Message`] | one run; one wait of that run takes it, first in first out per name | until it is taken |
//! | [`Signal`] | all waits of that name that the run has when it arrives | not at all |
//! | [`Stream`] | whoever reads it, each from where they like; items stay in order and have numbers | with the history |
//! | [`View`] | whoever looks: what the run has set last | with the run, the last value alone |
//! | [`Update`] | the run itself, which answers: it changes something, or refuses | with the history, if it was accepted |

use std::fmt;
use std::marker::PhantomData;

/// The longest name, in bytes.
pub const MAX_CHANNEL_NAME: usize = 128;
/// How many streams a run may give out items in, over all of its generations: they stand in its head (S15).
pub const MAX_STREAMS: usize = 16;
/// How many views a run may have (S15).
pub const MAX_VIEWS: usize = 16;
/// How many updates a run may handle (S15).
pub const MAX_UPDATES: usize = 64;

/// The name of messages to a run, and their type. A message is kept until the run takes it, before or after the run
/// waits for it, exactly once, first in first out per name (S25).
///
/// ```
/// use perennial::prelude::*;
///
/// const APPROVAL: Message<bool> = Message::new("approval");
///
/// #[workflow]
/// async fn purchase(cx: &Cx, cents: u64) -> Result<bool, Error> {
///     Ok(cx.receive(APPROVAL).await?)
/// }
/// # fn main() { assert_eq!(APPROVAL.name(), "approval"); }
/// ```
///
/// A name has 1 to [`MAX_CHANNEL_NAME`] characters of `A-Z a-z 0-9 . _ : -`; another one does not compile where it
/// is a `const`:
///
/// ```compile_fail
/// const APPROVAL: perennial::Message<bool> = perennial::Message::new("approval of a purchase");
/// # fn main() { APPROVAL.name(); }
/// ```
pub struct Message<T> {
    name: &'static str,
    data: PhantomData<fn(T) -> T>,
}

/// The name of signals to a run, and their type. A signal reaches whoever waits for it at that moment, all of them,
/// and is dropped where nobody does (M54). What must not be missed is a [`Message`].
pub struct Signal<T> {
    name: &'static str,
    data: PhantomData<fn(T) -> T>,
}

/// The name of a stream of items that a run gives out while it runs, and their type: its outbox (S28). Each item has
/// a number, from 1 and without gaps, also over the generations of a run; it is there exactly once, however often the
/// run is replayed or its process stopped, and it is seen once it is durable.
///
/// ```
/// use perennial::prelude::*;
///
/// const OUTPUT: Stream<String> = Stream::new("output");
///
/// #[workflow]
/// async fn greet(cx: &Cx, names: Vec<String>) -> Result<(), Error> {
///     for name in names {
///         cx.emit(OUTPUT, format!("hello, {name}"));
///         cx.sleep(minutes(1)).await?;
///     }
///     Ok(())
/// }
/// # fn main() { assert_eq!(OUTPUT.name(), "output"); }
/// ```
///
/// A name is as one of [messages](Message); a run has at most [`MAX_STREAMS`].
pub struct Stream<T> {
    name: &'static str,
    data: PhantomData<fn(T) -> T>,
}

/// The name of something that a run shows of itself, and its type: how it stands, for whoever looks, while it runs and
/// afterwards (S28). It shows the value that the run has [set](crate::Cx::set) last. Reading it does not touch the run:
/// no code of the workflow runs, and nothing can be done to the run by it (O20).
///
/// ```
/// use perennial::prelude::*;
///
/// const STATUS: View<String> = View::new("status");
///
/// #[workflow]
/// async fn order(cx: &Cx) -> Result<(), Error> {
///     cx.set(STATUS, "waiting for the payment".to_owned());
///     cx.sleep(days(1)).await?;
///     cx.set(STATUS, "shipped".to_owned());
///     Ok(())
/// }
/// # fn main() { assert_eq!(STATUS.name(), "status"); }
/// ```
///
/// A name is as one of [messages](Message); a run has at most [`MAX_VIEWS`].
#[doc(alias = "query")]
pub struct View<T> {
    name: &'static str,
    data: PhantomData<fn(T) -> T>,
}

/// The name of a change that can be asked of a run while it goes on, and its types: what is asked, what is answered, and
/// why it may be refused (S27). The run [handles](crate::Cx::handle) it: what it refuses leaves no trace in its history,
/// what it accepts is recorded with the answer, and is there again when it is replayed (O21).
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// use perennial::prelude::*;
///
/// const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
///
/// #[workflow]
/// async fn budget(cx: &Cx, limit: u64) -> Result<u64, Error> {
///     let limit = Rc::new(Cell::new(limit));
///     let set = Rc::clone(&limit);
///     cx.handle(
///         SET_LIMIT,
///         |new: &u64| if *new < 10 { Err("at least 10".to_owned()) } else { Ok(()) },
///         move |new: u64| set.replace(new),
///     );
///     let reached = Rc::clone(&limit);
///     cx.until(move || reached.get() >= 500).await;
///     Ok(limit.get())
/// }
/// # fn main() { assert_eq!(SET_LIMIT.name(), "set-limit"); }
/// ```
///
/// A name is as one of [messages](Message); a run handles at most [`MAX_UPDATES`].
pub struct Update<In, Out, Refused> {
    name: &'static str,
    data: PhantomData<fn(In) -> (Out, Refused)>,
}

macro_rules! name {
    ($kind:ident<$($data:ident),+>, $text:literal) => {
        impl<$($data),+> $kind<$($data),+> {
            /// The name under which runs know it.
            ///
            /// # Panics
            ///
            /// When that is no name; at compile time where it is a `const`.
            #[must_use]
            #[track_caller]
            pub const fn new(name: &'static str) -> Self {
                check(name);
                Self {
                    name,
                    data: PhantomData,
                }
            }

            /// The name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                self.name
            }
        }

        impl<$($data),+> Clone for $kind<$($data),+> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($data),+> Copy for $kind<$($data),+> {}

        impl<$($data),+> fmt::Debug for $kind<$($data),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple($text).field(&self.name).finish()
            }
        }
    };
}

name!(Message<T>, "Message");
name!(Signal<T>, "Signal");
name!(Stream<T>, "Stream");
name!(View<T>, "View");
name!(Update<In, Out, Refused>, "Update");

#[track_caller]
const fn check(name: &str) {
    assert!(
        is_channel_name(name),
        "a name has 1 to 128 characters of A-Z a-z 0-9 . _ : -"
    );
}

/// Whether it can be the name of messages, signals, a stream, a view or an update.
#[must_use]
pub const fn is_channel_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let known =
            bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'.' | b'_' | b':' | b'-');
        if !known {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= MAX_CHANNEL_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_shells_and_urls_as_they_are() {
        assert!(
            is_channel_name("approval")
                && is_channel_name("a.B_9:-")
                && is_channel_name(&"n".repeat(128))
        );
        assert!(
            !is_channel_name("")
                && !is_channel_name("a b")
                && !is_channel_name("ä")
                && !is_channel_name(&"n".repeat(129))
        );
        assert_eq!(
            format!("{:?}", Signal::<u64>::new("refresh")),
            "Signal(\"refresh\")"
        );
    }
}
