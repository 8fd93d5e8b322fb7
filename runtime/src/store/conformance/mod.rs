//! What a store has to be like: each function here shows one property of it, and panics if it is not there.
//!
//! A function gets a [`Factory`], which makes an empty store whenever it is called. A store of another make
//! runs all of them like this:
//!
//! ```ignore
//! fn my_store() -> Box<dyn Fixture> { .. }
//!
//! perennial_runtime::store_conformance!(my_store);
//! ```
//!
//! That makes one `#[test]` of each, and one more that each claim of the store's
//! [profile](crate::profile::Profile) is proved by some of them (see [`PROOFS`]). Properties of stores that
//! outlive their process, and the noticing of damage, are passed over where a fixture says that it cannot show
//! them; whether a store may do so stands in its profile, and is looked at too.

pub mod blocked;
pub mod claim;
pub mod commit;
pub mod create;
pub mod durable;
mod everything;
pub mod export;
pub mod fork;
pub mod fulfilments;
pub mod guards;
pub mod history;
pub mod inbox;
pub mod keys;
pub mod list;
pub mod migrate;
pub mod offers;
pub mod offers_kept;
pub mod pause;
pub mod profile;
pub mod programs;
mod proofs;
pub mod purge;
pub mod queue;
pub mod restore;
mod scene;
pub mod slots;
pub mod streams;
pub mod tasks;
pub mod timers;
pub mod update_keys;
pub mod views;

use std::sync::Arc;

use perennial::RunKey;

use super::Store;

pub use proofs::{PROOFS, Proof, check_claims};

/// Makes a fixture with an empty store.
pub type Factory<'a> = &'a dyn Fn() -> Box<dyn Fixture>;

/// A store to look at.
pub trait Fixture {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// Closes the store and opens what it left behind. `false`: this store leaves nothing behind.
    fn reopen(&mut self) -> bool;

    /// Does to what is stored what should not happen. `false`: that cannot be done here.
    fn damage(&self, damage: Damage<'_>) -> bool;
}

/// What should not happen to what is stored. Run, generation and number of the unit, where it is one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Damage<'a> {
    /// A unit gets lost.
    Lose(&'a RunKey, u64, u64),
    /// A byte of a unit changes.
    Flip(&'a RunKey, u64, u64),
    /// A unit turns out to be written by newer software.
    Raise(&'a RunKey, u64, u64),
    /// A byte changes of the record that a program has blocked the run with.
    FlipBlocked(&'a RunKey, &'a str),
}

/// Makes one `#[test]` of each property; the argument is a function that makes a
/// [`Fixture`](crate::store::conformance::Fixture).
#[macro_export]
macro_rules! store_conformance {
    ($factory:ident) => {
        $crate::store_conformance! { @tests $factory;
            create: a_run_is_made_once, its_first_unit_comes_with_it, its_first_row_comes_with_it,
                a_next_generation_follows_a_finished_one, a_next_generation_follows_nothing_else,
                namespaces_are_worlds_of_their_own;
            commit: a_commit_changes_all_that_it_says, a_refused_commit_changes_nothing,
                the_stamp_never_goes_back, acks_come_in_the_order_of_the_writes,
                a_write_that_changes_nothing_disturbs_no_other,
                commits_handed_over_together_stand_each_for_itself,
                writes_from_many_threads_are_all_kept, an_ack_may_read_and_write,
                large_units_are_kept, a_unit_beyond_its_bound_is_refused_as_a_whole,
                several_large_units_in_one_commit_are_kept, an_ended_run_takes_only_what_is_left_to_say;
            guards: a_run_that_is_not_there_is_refused, a_fence_of_another_owner_is_refused,
                an_old_sequence_is_refused, another_generation_is_refused, units_must_follow_on,
                guards_hold_against_what_is_not_durable_yet, a_chain_may_be_handed_over_at_once,
                a_claim_fences_what_was_handed_over_after_it, of_two_owners_only_the_last_can_write;
            queue: rows_are_numbered_and_stamped, a_row_does_not_move_the_history,
                taken_rows_are_gone, rows_from_all_sides_share_their_numbers,
                a_delivery_settles_tasks, nothing_is_delivered_to_nobody, many_and_large_rows_come_and_go;
            inbox: m20_what_is_sent_is_numbered_by_its_arrival,
                m03_m04_m22_a_send_wakes_those_who_wait_for_it, what_a_run_waits_for_stands_in_its_head,
                what_a_run_has_not_taken_is_counted, m12_an_inbox_has_its_bound,
                m43_a_run_that_begins_anew_has_an_empty_inbox, a_run_may_begin_with_a_message,
                m42_unread_messages_are_kept_with_the_run, signals_go_with_the_end_of_their_run,
                what_is_sent_has_bounds;
            keys: m13_m19_a_repeated_send_is_the_same_one, m14_senders_at_once_with_one_key_make_one_row,
                m15_a_key_stands_for_one_send, m16_m52_each_run_has_keys_of_its_own,
                m17_m18_a_key_is_known_after_all_is_over, a_message_that_comes_with_a_run_is_known_by_its_key,
                keys_are_known_for_their_window,
                keys_are_purged_in_slices, keys_come_in_pages, a_restored_run_knows_its_keys;
            update_keys: s27_the_key_of_an_accepted_update_is_noted_with_its_unit,
                s26_keys_of_updates_and_of_messages_are_two_kinds,
                s26_a_key_that_is_known_is_not_noted_again, updates_take_places_among_the_keys,
                keys_of_updates_go_with_their_run, a_restored_run_knows_its_updates;
            streams: b16_b17_items_are_read_from_any_number_on, b14_items_are_there_after_reopening,
                b17_an_item_out_of_turn_is_refused, s28_numbers_go_on_over_generations,
                items_are_purged_with_their_run,
                a_run_that_begins_anew_half_way_through_its_purge_shows_new_items_alone,
                an_item_that_is_lost_is_noticed, many_and_large_items_are_kept,
                a_restored_run_has_its_items;
            views: a_view_shows_the_last_value, a_view_has_bounds,
                views_stay_until_the_run_begins_anew_or_is_purged, a_restored_run_shows_the_same;
            slots: m47_what_is_sent_and_what_that_came_to_are_one_write,
                m48_the_same_operation_is_sent_once, m49_a_run_that_cannot_be_told_is_no_failure_of_the_commit,
                m50_a_run_may_tell_itself_something, m52_a_run_reaches_its_own_namespace_alone,
                a_refused_commit_sends_nothing, sends_of_one_commit_stand_each_for_itself,
                a_run_that_ends_has_sent_and_is_told_nothing, a_run_may_begin_with_a_send,
                a_send_wakes_those_who_wait_for_it, a_send_takes_a_place_among_the_keys,
                what_was_sent_is_there_after_reopening, large_and_many_sends_are_one_write;
            fulfilments: what_is_given_and_what_that_came_to_are_one_write,
                b03_b04_m48_the_same_value_is_given_once,
                b11_b12_m52_what_cannot_be_given_is_no_failure_of_the_commit,
                a_run_may_fulfil_what_it_offers_itself, an_offer_that_the_same_write_closes_takes_nothing,
                what_one_commit_gives_stands_each_for_itself, a_run_may_begin_and_end_with_what_it_gives,
                a_refused_commit_gives_nothing, what_was_given_is_there_after_reopening,
                large_and_many_values_are_one_write;
            offers: b02_a_value_is_a_row_of_the_queue, b03_the_same_value_again_is_one_delivery,
                b04_another_value_is_refused, b05_of_senders_at_once_one_wins,
                b06_an_offer_is_made_by_the_commit_that_takes_another,
                b07_a_stale_offer_is_known_by_its_value, b11_s11_the_end_closes_what_is_open,
                b11_whatever_ends_a_run_closes_its_offers, an_offer_that_is_dropped_is_closed,
                after_its_deadline_an_offer_takes_nothing,
                b12_b13_only_an_offer_of_that_stub_and_run_is_fulfilled, s16_a_blocked_run_is_given_values;
            offers_kept: open_offers_of_all_runs_come_in_pages, offers_of_a_run_come_in_pages,
                offers_are_kept_with_their_generation, offers_are_purged_in_slices,
                a_restored_run_has_its_offers, what_is_offered_has_bounds;
            tasks: a_task_is_put_changed_and_removed, the_last_change_of_a_task_counts,
                many_tasks_are_kept_whole, a_task_with_a_long_failure_is_kept, a_name_beyond_its_bound_is_refused,
                attempts_are_told_in_their_order;
            timers: timers_are_due_in_their_order, due_timers_come_in_pages, a_timer_is_replaced_and_removed,
                many_timers_of_one_run_are_kept;
            blocked: a_blocked_record_stands_until_it_is_cleared, a_new_record_takes_the_place_of_the_old,
                a_next_generation_is_not_blocked, a_large_record_comes_and_goes,
                blocked_runs_are_listed_apart, a_run_that_has_ended_is_not_blocked,
                a_record_takes_the_place_of_all, a_record_that_cannot_be_read_is_told_and_harms_nothing_else;
            pause: m45_a_paused_run_keeps_what_it_is_told, a_paused_run_has_nothing_to_do_but_its_tasks,
                a_pause_counts_from_its_beginning, paused_runs_are_listed_apart, an_end_is_the_end_of_a_pause, an_ended_run_is_not_paused,
                a_pause_is_there_after_reopening, a_pause_goes_over_to_the_run_that_goes_on;
            claim: a_claim_raises_the_fence, owners_are_told_apart, runs_with_something_to_do_are_claimable,
                a_run_that_only_waits_for_time_is_not, unfit_runs_are_left_out, claimable_runs_come_in_pages,
                an_ended_run_is_claimable_for_its_tasks_alone;
            list: runs_come_in_pages_in_their_order, a_page_knows_whether_there_is_more,
                prefixes_and_namespaces_are_kept_apart, namespaces_are_listed, runs_are_picked_by_workflow_status_and_blocked;
            migrate: a_migration_changes_both_runs, a_refused_migration_changes_neither_run,
                guards_of_a_migration_hold, a_target_that_is_there_is_refused,
                a_repeated_migration_is_answered_the_same, a_migrated_run_takes_only_what_is_left_to_say,
                a_migrated_run_begins_anew_like_any_other, a_new_run_is_made_once_by_two_migrations,
                a_large_migration_is_one_write, both_runs_are_there_after_reopening;
            fork: m43_a_fork_has_its_history_and_an_empty_inbox, m43_items_of_a_fork_are_counted_on,
                a_fork_is_made_once, a_fork_may_begin_with_a_send, a_large_fork_is_one_write,
                a_fork_ends_and_begins_anew_like_any_other;
            history: pages_go_on_where_the_last_ended, a_page_may_begin_inside_a_unit,
                there_is_nothing_beyond_the_end, a_lost_unit_is_noticed, a_lost_end_is_noticed,
                a_lost_beginning_is_noticed, a_changed_byte_is_noticed, newer_software_is_noticed,
                generations_have_histories_of_their_own;
            durable: what_was_acknowledged_is_there_after_reopening, an_owner_is_new_after_reopening,
                writes_go_on_after_reopening, a_closed_store_takes_nothing, closing_twice_does_no_harm;
            purge: a_purge_leaves_the_head_alone, a_purge_may_take_the_head_too, all_generations_are_purged,
                what_has_not_finished_is_not_purged, a_purge_of_another_state_is_refused,
                a_run_with_open_tasks_is_not_purged, a_purge_is_done_in_slices,
                an_interrupted_purge_is_gone_on_with, a_purged_run_begins_anew,
                a_run_may_begin_anew_half_way_through_its_purge, a_purged_run_takes_nothing,
                a_second_purge_changes_nothing, a_large_run_is_purged_in_slices,
                finished_runs_are_listed_in_the_order_of_their_ends,
                a_run_stands_in_one_list_of_finished_ones, a_run_that_ends_at_once_is_listed_too;
            restore: a_store_that_was_restored_tells_the_same, a_restored_run_goes_on,
                a_run_that_is_there_is_not_restored, a_run_is_not_there_before_all_of_it_is_restored,
                parts_must_follow_on, a_restore_can_be_given_up, an_owner_is_new_after_a_restore,
                what_contradicts_itself_is_not_restored;
            programs: a_program_is_noted_and_told, a_newer_record_takes_the_place_of_the_old,
                the_newest_programs_are_kept, a_program_beyond_its_bounds_is_refused,
                a_large_manifest_comes_and_goes, programs_are_there_after_reopening,
                programs_stand_in_exports;
            export: what_was_imported_is_exported_again_to_the_byte, there_may_be_nothing_to_export,
                a_store_is_exported_while_others_write, a_run_that_is_there_is_not_imported,
                a_damaged_run_is_not_passed_over;
            profile: it_keeps_what_its_durability_says, it_recovers_as_it_says,
                it_checks_histories_as_it_says, it_retains_as_it_says, its_bounds_are_those_that_it_says,
                its_profile_does_not_change;
        }
    };
    (@tests $factory:ident; $($subject:ident: $($property:ident),+;)+) => {
        $(mod $subject {
            $(#[test]
            fn $property() {
                $crate::store::conformance::$subject::$property(&super::$factory);
            })+
        })+

        /// The properties that there are tests for, by subject.
        const TESTED: &[(&str, &[&str])] = &[$((stringify!($subject), &[$(stringify!($property)),+])),+];

        #[test]
        fn every_claim_is_proved() {
            $crate::store::conformance::check_claims(&$factory, TESTED);
        }
    };
}
