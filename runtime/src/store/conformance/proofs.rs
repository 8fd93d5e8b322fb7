//! Which properties stand for which claim (O62).

use super::Factory;
use crate::profile::NOT_OFFERED;

/// The properties that show one value of one claim.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Proof {
    /// The name of the claim.
    pub claim: &'static str,
    /// The name of its value.
    pub value: &'static str,
    /// The properties: subject and function. All of them hold for a store that makes the claim.
    pub properties: &'static [&'static str],
}

const REOPENED: &[&str] = &[
    "profile::it_keeps_what_its_durability_says",
    "durable::what_was_acknowledged_is_there_after_reopening",
];

macro_rules! proofs {
    ($($claim:ident $value:ident: $properties:expr;)+) => {
        /// What is shown of a store for each claim that a [profile](crate::profile::Profile) can make. A claim
        /// that is not offered needs no proof. One that has none here cannot be made.
        pub const PROOFS: &[Proof] = &[$(Proof {
            claim: stringify!($claim),
            value: stringify!($value),
            properties: $properties,
        }),+];
    };
}

proofs! {
    durability memory: &["profile::it_keeps_what_its_durability_says"];
    durability process: REOPENED;
    // That it survives the end of the power is shown by a harness that cuts it, in tests of the store's own.
    durability device: REOPENED;
    scheduling listed: &[
        "claim::runs_with_something_to_do_are_claimable",
        "claim::a_run_that_only_waits_for_time_is_not",
        "claim::unfit_runs_are_left_out",
        "claim::claimable_runs_come_in_pages",
        "claim::an_ended_run_is_claimable_for_its_tasks_alone",
        "pause::a_paused_run_has_nothing_to_do_but_its_tasks",
    ];
    timer listed: &[
        "timers::timers_are_due_in_their_order",
        "timers::due_timers_come_in_pages",
        "timers::a_timer_is_replaced_and_removed",
    ];
    lease one_process: &[
        "guards::of_two_owners_only_the_last_can_write",
        "guards::a_fence_of_another_owner_is_refused",
        "guards::a_claim_fences_what_was_handed_over_after_it",
        "claim::owners_are_told_apart",
        "migrate::guards_of_a_migration_hold",
    ];
    replay numbered: &[
        "profile::it_checks_histories_as_it_says",
        "history::pages_go_on_where_the_last_ended",
        "history::a_lost_unit_is_noticed",
        "history::a_lost_end_is_noticed",
        "history::a_lost_beginning_is_noticed",
    ];
    replay checked: &[
        "profile::it_checks_histories_as_it_says",
        "history::pages_go_on_where_the_last_ended",
        "history::a_lost_unit_is_noticed",
        "history::a_lost_end_is_noticed",
        "history::a_lost_beginning_is_noticed",
        "history::a_changed_byte_is_noticed",
        "history::newer_software_is_noticed",
    ];
    retention purged: &[
        "profile::it_retains_as_it_says",
        "purge::a_purge_leaves_the_head_alone",
        "purge::a_purge_may_take_the_head_too",
        "purge::a_purge_is_done_in_slices",
        "purge::an_interrupted_purge_is_gone_on_with",
        "inbox::m42_unread_messages_are_kept_with_the_run",
        "purge::finished_runs_are_listed_in_the_order_of_their_ends",
    ];
    tenancy namespaces: &[
        "create::namespaces_are_worlds_of_their_own",
        "slots::m52_a_run_reaches_its_own_namespace_alone",
        "list::prefixes_and_namespaces_are_kept_apart",
        "list::namespaces_are_listed",
    ];
    recovery whole: &[
        "profile::it_recovers_as_it_says",
        "durable::writes_go_on_after_reopening",
        "durable::an_owner_is_new_after_reopening",
        "migrate::both_runs_are_there_after_reopening",
        "keys::m13_m19_a_repeated_send_is_the_same_one",
        "slots::what_was_sent_is_there_after_reopening",
    ];
    observation acknowledged: &[
        "commit::a_commit_changes_all_that_it_says",
        "commit::an_ack_may_read_and_write",
        "migrate::a_migration_changes_both_runs",
        "migrate::a_refused_migration_changes_neither_run",
        "queue::rows_are_numbered_and_stamped",
        "inbox::m03_m04_m22_a_send_wakes_those_who_wait_for_it",
        "slots::m47_what_is_sent_and_what_that_came_to_are_one_write",
        "slots::a_send_wakes_those_who_wait_for_it",
        "tasks::attempts_are_told_in_their_order",
        "list::runs_are_picked_by_workflow_status_and_blocked",
    ];
}

/// Shows that each claim of the store's profile has a proof, and that its tests run all that a proof names.
/// `tested` has the names of those, by subject. [`store_conformance!`](crate::store_conformance) calls this.
///
/// # Panics
///
/// Where that is not so.
pub fn check_claims(factory: Factory<'_>, tested: &[(&str, &[&str])]) {
    for proof in PROOFS {
        for property in proof.properties {
            let runs = |(subject, names): &(&str, &[&str])| {
                names
                    .iter()
                    .any(|name| format!("{subject}::{name}") == *property)
            };
            assert!(
                tested.iter().any(runs),
                "`{property}`, which proves that {} is {}, is not run",
                proof.claim,
                proof.value
            );
        }
    }
    for claim in factory().store().profile().claims() {
        let proves = |proof: &&Proof| (proof.claim, proof.value) == (claim.name, claim.value);
        let proved = PROOFS
            .iter()
            .find(proves)
            .is_some_and(|proof| !proof.properties.is_empty());
        assert!(
            proved || claim.value == NOT_OFFERED,
            "nothing proves this claim: {claim}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Lease;
    use crate::store::conformance::{Damage, Fixture};
    use crate::store::{MemoryStore, Store};
    use std::panic::catch_unwind;
    use std::sync::Arc;

    struct Memory;

    impl Fixture for Memory {
        fn store(&self) -> Arc<dyn Store> {
            Arc::new(MemoryStore::new())
        }
        fn reopen(&mut self) -> bool {
            false
        }
        fn damage(&self, _: Damage<'_>) -> bool {
            false
        }
    }

    #[test]
    fn a_proof_that_is_not_run_is_noticed() {
        let refused = catch_unwind(|| {
            check_claims(&|| Box::new(Memory) as Box<dyn Fixture>, &[]);
        });
        assert!(refused.is_err());
    }

    #[test]
    fn a_claim_that_no_store_has_shown_has_no_proof() {
        let mut profile = MemoryStore::new().profile();
        profile.lease = Lease::ManyProcesses;
        let claims = profile.claims();
        let unproved = claims.iter().filter(|claim| {
            !PROOFS
                .iter()
                .any(|proof| (proof.claim, proof.value) == (claim.name, claim.value))
        });
        let unproved: Vec<_> = unproved.map(|claim| (claim.name, claim.value)).collect();
        let not_offered = [("encryption", NOT_OFFERED), ("recovery", NOT_OFFERED)];
        assert_eq!(
            unproved,
            [("lease", "many_processes"), not_offered[0], not_offered[1]]
        );
    }
}
