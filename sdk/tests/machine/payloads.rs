//! Types that change while runs are in flight (S10): what a replay takes, and where it says no. The book has the
//! table.

use perennial::history::Unit;
use perennial::{Blocked, Incompatible};

use crate::story::{Story, replay};

fn misfit(blocked: &Blocked) -> &Incompatible {
    match blocked {
        Blocked::Incompatible(error) => error,
        other => panic!("{other}"),
    }
}

/// A workflow that hands its input to an activity and returns the activity's result, with types of its own.
macro_rules! code {
    ($name:ident { $($types:tt)* }) => {
        #[allow(dead_code)]
        mod $name {
            use perennial::prelude::*;
            use serde::{Deserialize, Serialize};

            $($types)*

            #[activity(idempotent)]
            async fn charge(_acx: &ActivityCx, order: Order) -> Result<Receipt, Failure> {
                let _ = order;
                Err(Failure::transient("a machine runs no activity"))
            }

            #[workflow]
            pub(super) async fn flow(cx: &Cx, order: Order) -> Result<Receipt, Error> {
                Ok(charge(cx, order).await?)
            }
        }
    };
}

code!(first {
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub(super) struct Order { pub(super) id: u64, pub(super) cents: u64 }
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub(super) enum Receipt { Paid { number: u64 } }
});

/// A history of the first code: started, scheduled, completed, ended.
fn told() -> Vec<Unit> {
    let mut story = Story::of::<first::flow>(first::Order { id: 7, cents: 500 });
    story.complete(1, first::Receipt::Paid { number: 12 });
    story.units
}

/// In flight: the result has come after the old program had been stopped.
fn in_flight() -> Vec<Unit> {
    told()[..1].to_vec()
}

#[test]
fn an_optional_field_that_was_added_fits() {
    code!(added {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64, note: Option<String> }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64, fee: Option<u64> } }
    });
    // What is asked for has nulls, which the canonical form drops.
    replay::<added::flow>(&told()).unwrap();
}

#[test]
fn a_field_with_a_default_fits_where_it_is_not_written() {
    code!(skipped {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order {
            id: u64,
            cents: u64,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            lines: Vec<String>,
        }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    replay::<skipped::flow>(&told()).unwrap();
}

#[test]
fn h202_a_field_whose_default_is_written_is_another_input() {
    code!(written {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64, #[serde(default)] currency: String }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    let blocked = replay::<written::flow>(&in_flight()).unwrap_err();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H202", 2));
    assert_eq!(error.difference.as_ref().unwrap().path, ".currency");
}

#[test]
fn h202_a_renamed_field_with_an_alias_is_read_and_then_written_under_its_new_name() {
    code!(alias {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, #[serde(alias = "cents")] amount: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    let blocked = replay::<alias::flow>(&in_flight()).unwrap_err();
    assert_eq!(misfit(&blocked).kind.code(), "H202");

    // In what activities return an alias is enough.
    code!(alias_in_results {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { #[serde(alias = "number")] id: u64 } }
    });
    let mut machine = Story::untold::<alias_in_results::flow>().into_machine();
    let told = told();
    machine.replay(told[0].clone()).unwrap();
    let unit = &told[1];
    machine
        .observe(unit.observation.clone(), unit.at, unit.at)
        .unwrap();
}

#[test]
fn a_field_that_was_renamed_in_the_code_alone_fits() {
    code!(renamed {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, #[serde(rename = "cents")] amount: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { #[serde(rename = "number")] id: u64 } }
    });
    replay::<renamed::flow>(&told()).unwrap();
}

#[test]
fn h210_a_field_that_is_missing_or_of_another_type_is_named_before_any_activity_runs() {
    code!(missing {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64, currency: String }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    code!(typed {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: String, cents: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    for (blocked, said) in [
        (
            replay::<missing::flow>(&in_flight()).unwrap_err(),
            "currency",
        ),
        (replay::<typed::flow>(&in_flight()).unwrap_err(), "`.id`"),
    ] {
        let error = misfit(&blocked);
        assert_eq!((error.kind.code(), error.event), ("H210", 1));
        assert!(blocked.to_string().contains(said), "{blocked}");
    }
}

#[test]
fn a_variant_that_was_added_fits_and_one_that_was_taken_out_is_named() {
    code!(more {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 }, Refused }
    });
    replay::<more::flow>(&told()).unwrap();

    code!(less {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Settled { number: u64 } }
    });
    let blocked = replay::<less::flow>(&told()).unwrap_err();
    let error = misfit(&blocked);
    // The event that has the result.
    assert_eq!((error.kind.code(), error.event), ("H210", 3));
    assert!(blocked.to_string().contains("Paid"), "{blocked}");
}

#[test]
fn h210_a_result_of_another_type_is_named_at_the_event_that_has_it() {
    code!(narrow {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64, cents: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: bool } }
    });
    let blocked = replay::<narrow::flow>(&told()).unwrap_err();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H210", 3));
    assert!(blocked.to_string().contains("`.Paid.number`"), "{blocked}");
}

#[test]
fn a_field_that_was_taken_out_is_another_input_unless_it_was_null() {
    code!(less {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Order { id: u64 }
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) enum Receipt { Paid { number: u64 } }
    });
    let blocked = replay::<less::flow>(&in_flight()).unwrap_err();
    let error = misfit(&blocked);
    assert_eq!((error.kind.code(), error.event), ("H202", 2));
    assert_eq!(error.difference.as_ref().unwrap().path, ".cents");
}
