//! What can be asked from outside, and what is answered.

use perennial::history::{Channel, Unit};
use perennial::value::Value;
use perennial::{Namespace, Publication, RunId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::offers::{Fulfil, ListWaiting};
use super::publications::{ItemPage, ReadStream, Views};
use super::refused::Refused;
use crate::client::{
    Answered, Forked, MessagePage, OfferInfo, OfferPage, Paused, Receipt, Resumed, RunInfo, RunPage,
};
use crate::manifest::TypeManifest;
use crate::store::{AttemptRecord, Queued, Status, StreamRange, Task, ViewRecord};

/// What can be asked. As JSON it is an object with one member, whose name says what is asked:
/// `{"show":{"run":{"namespace":"default","id":"order-42"}}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Request {
    /// A message or a signal for a run. Answered with [`Answer::Sent`].
    Send(Tell),
    /// Nothing is to be told to a run any more. Answered with [`Answer::Paused`].
    Pause {
        /// The run.
        run: RunKey,
    },
    /// A run that was paused is to go on. Answered with [`Answer::Resumed`].
    Resume {
        /// The run.
        run: RunKey,
    },
    /// A new run is to go on from where another one was after an event. Answered with [`Answer::Forked`]; only by a
    /// program that has the code of the workflow, since that has to come to the same.
    Fork {
        /// The other run.
        run: RunKey,
        /// The number of the event, in the history of its last generation.
        event: u64,
        /// The id of the new run, in the same namespace.
        to: RunId,
    },
    /// A change that a run is asked for: only a running program can do that, since the run's own code says whether it
    /// may be. Answered with [`Answer::Updated`].
    Update(Ask),
    /// A page of runs. Answered with [`Answer::Runs`].
    List(ListRuns),
    /// How a run stands, and what is kept of it beside its history. Answered with [`Answer::Run`].
    Show {
        /// The run.
        run: RunKey,
    },
    /// A part of the history of a run's last generation. Answered with [`Answer::History`].
    History {
        /// The run.
        run: RunKey,
        /// The number of the first event that is asked for, from 1.
        from: u64,
    },
    /// A page of what a run was sent. Answered with [`Answer::Messages`].
    Messages(ListMessages),
    /// A value for a call of a stub. Answered with [`Answer::Fulfilled`].
    Fulfil(Fulfil),
    /// A page of what the runs of a namespace wait for from people. Answered with [`Answer::Offers`].
    Waiting(ListWaiting),
    /// A page of what a run has given out in a stream. Answered with [`Answer::Items`].
    Stream(ReadStream),
    /// What a run shows. Answered with [`Answer::Views`].
    View {
        /// The run.
        run: RunKey,
        /// Of which view; `None`: of all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

#[cfg(any(unix, test))]
impl Request {
    /// The names of the requests that this program knows, as they stand in JSON.
    pub(super) const NAMES: &[&str] = &[
        "send", "update", "pause", "resume", "fork", "list", "show", "history", "messages",
        "fulfil", "waiting", "stream", "view",
    ];
}

/// A message or a signal for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tell {
    /// The run.
    pub run: RunKey,
    /// Which of the two it is.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// What the sender calls it, so that it is not stored twice (S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When that key was first used; `None`: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
}

/// A change that a run is asked for: see [`Client::update`](crate::Client::update).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The run.
    pub run: RunKey,
    /// The name of the update.
    pub name: String,
    /// What is asked.
    pub input: Value,
    /// What the sender calls it, so that it is not done twice (S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When that key was first used; `None`: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
}

/// Which runs to list: see [`List`](crate::List).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListRuns {
    /// In which namespace.
    pub namespace: Namespace,
    /// Only runs of this workflow.
    pub workflow: Option<String>,
    /// Only runs that stand like this. A blocked run counts as running.
    pub status: Option<Status>,
    /// Only runs that are blocked, or only those that are not.
    pub blocked: Option<bool>,
    /// Only runs that are paused, or only those that are not.
    pub paused: Option<bool>,
    /// Only runs whose ids begin like this.
    pub prefix: String,
    /// At most so many; 0: 100.
    pub limit: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// Which messages of a run to list: see [`ListMessages`](crate::ListMessages).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListMessages {
    /// The run.
    pub run: RunKey,
    /// Only messages with greater numbers.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only messages with smaller numbers, the last of them.
    #[serde(default)]
    pub before: Option<u64>,
    /// At most so many; 0: 100.
    #[serde(default)]
    pub limit: usize,
    /// Only messages of this name.
    #[serde(default)]
    pub named: Option<String>,
}

/// What is answered. As JSON it is an object with one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// The run has it, durably.
    Sent(Receipt),
    /// The run is paused, durably.
    Paused(Paused),
    /// The run is not paused, durably.
    Resumed(Resumed),
    /// The new run is there, durably.
    Forked(Forked),
    /// The run has done it, durably, and this is its answer.
    Updated(Answered),
    /// A page of runs.
    Runs(RunPage),
    /// How a run stands.
    Run(Box<RunDetails>),
    /// A part of a history.
    History(HistoryPart),
    /// A page of what a run was sent.
    Messages(MessagePage),
    /// The call of a stub has the value, durably.
    Fulfilled(Receipt),
    /// A page of calls of stubs.
    Offers(OfferPage),
    /// What a run has given out in a stream.
    Items(ItemPage),
    /// What a run shows.
    Views(Views),
    /// Nothing more comes of what was [followed](super::Follow).
    Ended(super::Ended),
    /// It was not done.
    Refused(Refused),
}

/// How a run stands, and what is kept of it beside its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunDetails {
    /// The run.
    pub info: RunInfo,
    /// When this was so: of an export, when it was written.
    pub at: Timestamp,
    /// Activities that have no result that the run knows of.
    pub tasks: Vec<Task>,
    /// What waits to be told to it, in order, messages and signals that it does not wait for among them; as much as
    /// an answer has room for.
    pub queue: Vec<Queued>,
    /// How many rows more there are in the queue.
    pub more_queue: u64,
    /// What became of attempts that brought no result, by operation.
    pub attempts: Vec<Attempts>,
    /// The messages and signals that its workflow waits for anywhere, as far as the newest program tells that has
    /// had the store open and has the workflow.
    pub receives: Vec<Receives>,
    /// Whether it may wait for others too.
    pub receives_others: bool,
    /// The calls of stubs that it waits for, as far as an answer has room for them.
    #[serde(default)]
    pub offers: Vec<OfferInfo>,
    /// The stubs that its workflow calls anywhere, as far as that program tells.
    #[serde(default)]
    pub stubs: Vec<StubType>,
    /// What it shows.
    #[serde(default)]
    pub views: Vec<ViewRecord>,
    /// The streams in which it has given out items.
    #[serde(default)]
    pub streams: Vec<StreamRange>,
    /// The streams and views that its workflow publishes anywhere, as far as that program tells.
    #[serde(default)]
    pub publishes: Vec<Publishes>,
    /// The updates that its workflow handles anywhere, as far as that program tells.
    #[serde(default)]
    pub updates: Vec<UpdateType>,
}

/// What became of the attempts of an activity that brought no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempts {
    /// How many there were.
    pub count: u64,
    /// The last of them.
    pub last: AttemptRecord,
}

/// A message or a signal that a workflow waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receives {
    /// Which of the two it is.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// The type of what it says.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data: Option<TypeManifest>,
}

/// A stream or a view that a workflow publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Publishes {
    /// Which of the two it is.
    pub kind: Publication,
    /// The name.
    pub name: String,
}

/// A stub that a workflow calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StubType {
    /// The name.
    pub name: String,
    /// The type of what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TypeManifest>,
}

/// An update that a workflow handles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UpdateType {
    /// The name.
    pub name: String,
    /// The type of what is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<TypeManifest>,
}

/// A part of the history of a run's last generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryPart {
    /// Which generation it is; the first is 1.
    pub generation: u64,
    /// How many events that one has.
    pub events: u64,
    /// The units, from the one on that has the first event that was asked for. There is at least one, unless that
    /// is the end.
    pub units: Vec<Unit>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::follow::{Follow, FollowLine};
    use super::*;
    use crate::client::{Item, MessageInfo, MessageState};
    use crate::store::{Offer, OfferState};
    use perennial::history::{Decision, Observation, Told};

    fn run() -> RunKey {
        "order-42".parse().unwrap()
    }

    /// One of each kind. A match without `_` tells when one is missing here.
    fn requests() -> Vec<Request> {
        let send = Tell {
            run: run(),
            channel: Channel::Message,
            name: "approval".into(),
            payload: Value::from_json(r#"{"approved": true, "cents": 1.50}"#).unwrap(),
            key: Some("approve-42".into()),
            first: None,
        };
        let messages = ListMessages {
            run: run(),
            after: Some(7),
            before: None,
            limit: 0,
            named: None,
        };
        let update = Ask {
            run: run(),
            name: "set-limit".into(),
            input: Value::from_json("500").unwrap(),
            key: None,
            first: None,
        };
        let all = vec![
            Request::Send(send),
            Request::Update(update),
            Request::Pause { run: run() },
            Request::Resume { run: run() },
            Request::Fork {
                run: run(),
                event: 7,
                to: "order-42-b".parse().unwrap(),
            },
            Request::List(ListRuns::default()),
            Request::Show { run: run() },
            Request::History {
                run: run(),
                from: 1,
            },
            Request::Messages(messages),
            Request::Fulfil(Fulfil {
                run: run(),
                operation: 7,
                stub: "review".into(),
                value: Value::from_json("1.50").unwrap(),
            }),
            Request::Waiting(ListWaiting {
                after: Some("order-42~7".parse().unwrap()),
                ..ListWaiting::default()
            }),
            Request::Stream(ReadStream {
                run: run(),
                stream: "output".into(),
                after: 7,
                limit: 0,
            }),
            Request::View {
                run: run(),
                name: None,
            },
        ];
        for one in &all {
            match one {
                Request::Send(_)
                | Request::Pause { .. }
                | Request::Resume { .. }
                | Request::Fork { .. }
                | Request::Update(_)
                | Request::List(_)
                | Request::Show { .. }
                | Request::History { .. }
                | Request::Messages(_)
                | Request::Fulfil(_)
                | Request::Waiting(_)
                | Request::Stream(_)
                | Request::View { .. } => {}
            }
        }
        all
    }

    #[test]
    fn each_request_is_known_by_its_name_and_reads_back() {
        let mut names = Vec::new();
        for request in requests() {
            let json = serde_json::to_string(&request).unwrap();
            let object: serde_json::Map<_, _> = serde_json::from_str(&json).unwrap();
            names.extend(object.into_iter().map(|(name, _)| name));
            assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request);
        }
        assert_eq!(names, Request::NAMES);
    }

    #[test]
    fn what_is_followed_is_known_by_the_name_of_its_line_and_reads_back() {
        let follows = [
            Follow::Stream {
                run: run(),
                stream: "output".into(),
                after: 7,
            },
            Follow::View {
                run: run(),
                name: "status".into(),
            },
        ];
        for follow in follows {
            let line = serde_json::to_string(&FollowLine { follow: &follow }).unwrap();
            let wish = line
                .strip_prefix(&format!("{{\"{}\":", Follow::NAME))
                .unwrap();
            let wish = wish.strip_suffix('}').unwrap();
            assert_eq!(serde_json::from_str::<Follow>(wish).unwrap(), follow);
            assert!(!Request::NAMES.contains(&Follow::NAME));
        }
    }

    #[test]
    fn a_value_in_a_request_stays_as_it_is_to_the_byte() {
        let json = serde_json::to_string(&requests()[0]).unwrap();
        assert_eq!(
            json,
            r#"{"send":{"run":{"namespace":"default","id":"order-42"},"channel":"message","name":"approval","payload":{"approved": true, "cents": 1.50},"key":"approve-42"}}"#
        );
    }

    /// Each answer that has a value, with `null`.
    fn answers_of_null() -> Vec<Answer> {
        let at = Timestamp::from_millis(1_764_000_000_000);
        let null = Value::null;
        let offer = Offer {
            operation: 7,
            generation: 1,
            unit: 1,
            name: "hear".into(),
            at,
            deadline: None,
            state: OfferState::Open,
        };
        let view = ViewRecord {
            name: "status".into(),
            value: null(),
            data: "()".into(),
            artifact: "monday".into(),
            at,
            event: 1,
        };
        let told = Told {
            number: 1,
            name: "go".into(),
            payload: null(),
            key: None,
        };
        vec![
            Answer::Updated(Answered {
                value: null(),
                event: 7,
                at,
                duplicate: false,
            }),
            Answer::History(HistoryPart {
                generation: 1,
                events: 2,
                units: vec![Unit {
                    number: 1,
                    at,
                    observation: Observation::MessageArrived(told),
                    decisions: vec![Decision::Completed {
                        value: null(),
                        open: Vec::new(),
                    }],
                }],
            }),
            Answer::Messages(MessagePage {
                messages: vec![MessageInfo {
                    number: 1,
                    name: "go".into(),
                    payload: null(),
                    key: None,
                    at,
                    state: MessageState::Pending,
                }],
                more: false,
            }),
            Answer::Offers(OfferPage {
                offers: [Some(null()), None]
                    .map(|said| OfferInfo::new(&run(), offer.clone(), said))
                    .into(),
                more: false,
            }),
            Answer::Items(ItemPage {
                items: vec![Item {
                    number: 1,
                    at,
                    value: null(),
                }],
                more: false,
            }),
            Answer::Views(Views {
                views: vec![view],
                stale: false,
            }),
        ]
    }

    #[test]
    fn a_value_that_is_null_is_not_one_that_is_not_there() {
        for answer in answers_of_null() {
            let json = serde_json::to_string(&answer).unwrap();
            assert_eq!(
                serde_json::from_str::<Answer>(&json).unwrap(),
                answer,
                "{json}"
            );
            assert!(json.contains(":null"), "{json}");
        }
    }

    #[test]
    fn what_is_left_out_of_a_list_is_as_by_default() {
        let list: Request = serde_json::from_str(r#"{"list":{}}"#).unwrap();
        assert_eq!(list, Request::List(ListRuns::default()));
    }
}
