/* store_contract.h - what every store promises, one behaviour a test; the suites of the backends
 * run them all. */
#ifndef PRESCIENT_STORE_CONTRACT_H
#define PRESCIENT_STORE_CONTRACT_H

#include "store_fixture.h"

#define STORE_CONTRACT(X)                                                                                    \
    /* contract_schema.c */                                                                                  \
    X(a_second_init_applies_nothing)                                                                         \
    X(a_dry_init_says_what_it_would_apply_and_makes_nothing)                                                 \
    X(without_a_schema_the_words_say_init)                                                                   \
    X(hello_tells_clock_length_and_version)                                                                  \
    X(a_slot_length_that_differs_from_the_settings_is_refused)                                               \
    X(init_does_not_change_the_slot_length_unasked)                                                          \
    X(a_slot_length_that_does_not_divide_a_day_is_refused)                                                   \
    X(changing_the_slot_length_reslots_what_is_pending)                                                      \
    X(after_a_change_checks_are_filed_under_the_new_slots)                                                   \
    X(ids_are_not_used_again_after_a_change_of_the_slot_length)                                              \
    /* contract_enqueue.c */                                                                                 \
    X(a_time_rounds_up_to_its_slot)                                                                          \
    X(a_time_on_the_boundary_stays)                                                                          \
    X(a_time_in_the_past_goes_to_the_next_slot)                                                              \
    X(nothing_is_put_into_a_slot_that_has_begun)                                                             \
    X(without_now_the_clock_of_the_database_counts)                                                          \
    X(keep_leaves_what_is_pending)                                                                           \
    X(earlier_only_moves_to_an_earlier_slot)                                                                 \
    X(replace_starts_a_new_life)                                                                             \
    X(keep_beside_a_running_check_is_remembered)                                                             \
    X(earlier_beside_a_running_check_keeps_the_earlier_wish)                                                 \
    X(replace_of_a_running_check_takes_it_out_of_its_slot)                                                   \
    X(checks_of_other_jobs_and_rows_do_not_meet)                                                             \
    X(resolve_ends_all_checks_of_a_row)                                                                      \
    X(resolve_of_one_job_leaves_the_others)                                                                  \
    X(resolve_without_a_row_is_refused)                                                                      \
    X(reschedule_starts_a_new_life_with_the_same_payload)                                                    \
    X(reschedule_of_nothing_says_not_found)                                                                  \
    X(names_have_1_to_1024_bytes)                                                                            \
    X(payloads_have_at_most_64_kib)                                                                          \
    X(payloads_are_valid_json)                                                                               \
    X(payloads_that_jobs_cannot_read_are_refused)                                                            \
    X(quotes_newlines_and_letters_of_all_kinds_come_back_as_they_were)                                       \
    X(text_that_is_not_utf8_is_refused)                                                                      \
    X(times_lie_between_1970_and_9999)                                                                       \
    X(an_unknown_word_for_the_conflict_is_refused)                                                           \
    X(an_id_is_never_used_again)                                                                             \
    X(a_load_counts_what_it_did)                                                                             \
    X(a_load_keeps_payload_priority_and_rounding)                                                            \
    X(a_bad_row_leaves_nothing_of_its_chunk)                                                                 \
    X(a_load_of_nothing_does_nothing)                                                                        \
    /* contract_slot.c */                                                                                    \
    X(opening_a_slot_counts_its_rows_once)                                                                   \
    X(a_slot_that_has_not_begun_is_not_opened)                                                               \
    X(an_empty_slot_waits_for_its_relook_and_has_nothing_to_take)                                            \
    X(a_large_slot_is_split_where_the_store_splits)                                                          \
    X(a_lease_is_taken_once)                                                                                 \
    X(no_lease_is_taken_when_none_is_wanted)                                                                 \
    X(an_expired_lease_is_taken_over_with_another_token)                                                     \
    X(a_lease_watched_unchanged_is_taken_over)                                                               \
    X(a_lease_renewed_under_watch_stays)                                                                     \
    X(renewing_moves_the_expiry)                                                                             \
    X(renewing_a_lost_lease_says_so)                                                                         \
    X(a_lease_given_back_is_free)                                                                            \
    X(giving_back_a_lost_lease_leaves_the_new_one)                                                           \
    X(a_slot_that_was_run_is_not_taken_again_unasked)                                                        \
    X(a_slot_is_taken_again_only_for_jobs_known_here)                                                        \
    X(a_relook_closes_what_is_done_and_empty)                                                                \
    X(a_relook_removes_an_expired_lease_on_a_closed_slot)                                                    \
    X(a_relook_returns_a_slot_that_was_never_finished)                                                       \
    X(a_relook_returns_a_slot_that_holds_rows_again)                                                         \
    X(late_slots_are_found_from_the_mark_on)                                                                 \
    X(a_full_look_finds_what_lies_below_the_mark)                                                            \
    X(a_mark_ahead_of_the_clock_counts_for_nothing)                                                          \
    X(a_full_look_is_noted_when_the_mark_is_moved)                                                           \
    X(the_mark_of_the_sweep_only_moves_up)                                                                   \
    X(days_are_kept_ahead)                                                                                   \
    /* contract_pass.c */                                                                                    \
    X(pages_bring_everything_once_and_in_order)                                                              \
    X(a_page_spans_priorities)                                                                               \
    X(a_page_stops_at_its_bytes_but_has_one_row)                                                             \
    X(a_page_of_a_slot_holds_no_other_slots_rows)                                                            \
    X(a_pass_does_not_finish_while_rows_are_left)                                                            \
    X(a_finished_pass_keeps_its_counts)                                                                      \
    X(a_pass_finishes_with_jobs_that_are_unknown_here)                                                       \
    X(a_pass_told_to_leave_finishes_whatever_is_left)                                                        \
    X(finishing_under_a_lease_taken_over_is_refused)                                                         \
    X(a_finish_looks_behind_the_last_row_read_only)                                                          \
    X(a_read_says_whether_there_is_more)                                                                     \
    X(a_closed_slot_that_is_taken_again_is_open_again)                                                       \
    /* contract_settle.c */                                                                                  \
    X(done_archives_the_check)                                                                               \
    X(again_moves_counts_and_leaves_one_run_row)                                                             \
    X(a_deferral_is_remembered_beside_the_check)                                                             \
    X(a_check_put_off_remembers_when_it_was_due_until_it_has_run)                                            \
    X(a_new_life_has_not_been_put_off)                                                                       \
    X(what_was_put_off_is_overdue_since_it_was_due)                                                          \
    X(checks_put_off_are_reported_by_job)                                                                    \
    X(a_failure_that_ends_keeps_its_payload)                                                                 \
    X(a_check_put_off_without_a_run_leaves_no_run_row)                                                       \
    X(the_run_log_can_be_kept_for_problems_or_not_at_all)                                                    \
    X(what_the_runs_took_adds_up)                                                                            \
    X(a_move_is_clamped_to_the_first_slot_that_has_not_begun)                                                \
    X(a_page_of_several_priorities_is_settled_and_no_other_row)                                              \
    X(a_mixed_page_is_settled_in_one_go)                                                                     \
    X(a_settle_under_a_lease_taken_over_changes_nothing)                                                     \
    X(a_settle_after_the_lease_was_given_back_changes_nothing)                                               \
    X(a_settle_shows_owner_and_token)                                                                        \
    X(a_settle_twice_touches_nothing_the_second_time)                                                        \
    X(a_check_that_left_its_slot_is_not_touched_though_its_counts_are_the_same)                              \
    X(rows_changed_meanwhile_are_superseded)                                                                 \
    X(a_row_replaced_into_the_same_slot_is_superseded)                                                       \
    /* contract_new_life.c */                                                                                \
    X(a_check_asked_for_again_starts_anew_when_it_ends)                                                      \
    X(a_new_life_does_not_inherit_counts)                                                                    \
    X(a_wish_that_has_passed_starts_in_the_next_slot)                                                        \
    X(a_wish_stays_beside_a_check_that_moves)                                                                \
    X(a_check_that_moves_goes_where_it_was_asked_for_meanwhile)                                              \
    X(a_move_to_a_time_asked_for_is_clamped_too)                                                             \
    X(what_an_answer_declares_has_one_key_however_often_it_is_written)                                       \
    X(a_new_life_has_a_key_that_follows_from_the_old_one)                                                    \
    /* contract_effect.c */                                                                                  \
    X(effects_happen_once_with_their_answer)                                                                 \
    X(effects_of_a_row_not_touched_do_not_happen)                                                            \
    X(its_own_resolve_beats_an_again)                                                                        \
    X(an_effect_may_ask_for_the_same_check_again)                                                            \
    X(an_effect_is_not_put_into_a_slot_that_has_begun)                                                       \
    X(an_effect_that_the_database_refuses_undoes_the_settle)                                                 \
    /* contract_report.c */                                                                                  \
    X(reports_have_the_documented_columns)                                                                   \
    X(columns_know_what_they_hold)                                                                           \
    X(a_report_that_does_not_exist_is_not_found)                                                             \
    X(list_is_filtered_sorted_and_limited)                                                                   \
    X(list_says_where_a_bounded_look_ended)                                                                  \
    X(history_and_runs_are_filtered_and_newest_first)                                                        \
    X(slots_go_from_pending_to_closed)                                                                       \
    X(slots_that_are_over_are_told_from_a_moment_on)                                                         \
    X(status_counts_what_waits)                                                                              \
    X(leases_and_jobs_are_listed)                                                                            \
    X(doctor_finds_overdue_checks)                                                                           \
    X(retry_leaves_out_what_has_ended_well_since)                                                            \
    X(retry_enqueues_what_ended_in_trouble)                                                                  \
    X(events_are_read_from_a_cursor_on)                                                                      \
    X(a_cursor_ahead_of_everything_is_refused) X(a_dry_prune_drops_nothing)                                  \
        X(prune_drops_what_is_old_and_leaves_what_is_pending) X(what_grows_is_told)                          \
            X(of_all_engines_one_prunes) X(a_step_of_a_prune_is_of_one_table) X(prune_leaves_what_is_young)  \
                X(prune_leaves_slots_that_are_not_over)

#define TEST_ROW(name) TEST(name),
#define DECLARE_TEST(name) void name(void);
STORE_CONTRACT(DECLARE_TEST)

#endif
