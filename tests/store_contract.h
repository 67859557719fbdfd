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
    /* contract_token.c */                                                                                   \
    X(a_token_is_kept_until_it_is_revoked)                                                                   \
    X(a_name_has_one_token)                                                                                  \
    X(a_token_that_has_expired_is_there_and_not_in_force)                                                    \
    X(what_is_no_token_is_refused)                                                                           \
    /* contract_tenant.c */                                                                                  \
    X(a_check_keeps_its_tenant_while_it_waits_and_in_its_runs)                                               \
    X(a_tenant_comes_beside_a_concurrency_key)                                                               \
    X(history_says_whose_a_check_was)                                                                        \
    X(retry_puts_a_check_back_for_its_tenant)                                                                \
    X(replace_brings_another_tenant)                                                                         \
    X(a_check_that_begins_anew_keeps_its_tenant)                                                             \
    X(an_impossible_tenant_is_refused)                                                                       \
    X(what_is_asked_for_at_once_has_its_tenant)                                                              \
    X(what_comes_of_a_check_is_of_its_tenant)                                                                \
    X(a_load_brings_tenants)                                                                                 \
    X(the_check_of_a_schedule_has_its_tenant)                                                                \
    /* contract_urgent.c */                                                                                  \
    X(a_split_slot_says_whether_it_has_urgent_checks)                                                        \
    X(a_slot_that_is_one_lease_does_not_say_it)                                                              \
    X(only_buckets_with_urgent_checks_are_taken_where_it_is_asked_for)                                       \
    X(a_read_of_urgent_checks_brings_no_others_the_most_urgent_first)                                        \
    X(a_read_of_urgent_checks_may_be_of_some_jobs_only)                                                      \
    X(late_slots_with_urgent_checks_are_found_beside_the_first_late_one)                                     \
    X(what_was_run_under_leases_that_are_given_back_counts_in_their_slot)                                    \
    /* contract_small.c */                                                                                   \
    X(a_slot_says_whether_small_tenants_wait_beside_large_ones)                                              \
    X(tenants_of_one_size_are_not_small)                                                                     \
    X(checks_of_no_tenant_are_their_entitys)                                                                 \
    X(each_bucket_with_small_tenants_is_named_and_brings_them)                                               \
    X(small_tenants_may_be_asked_for_only_where_checks_were_slow)                                            \
    X(pages_of_small_tenants_follow_one_another)                                                             \
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
    X(a_page_of_some_jobs_holds_rows_of_these_only)                                                          \
    X(a_pass_that_read_some_jobs_finishes_without_the_others_and_names_them)                                 \
    X(a_pass_told_to_leave_finishes_whatever_is_left)                                                        \
    X(finishing_under_a_lease_taken_over_is_refused)                                                         \
    X(a_finish_looks_behind_the_last_row_read_only)                                                          \
    X(a_read_says_whether_there_is_more)                                                                     \
    X(a_closed_slot_that_is_taken_again_is_open_again)                                                       \
    /* contract_fine.c */                                                                                    \
    X(at_once_is_the_next_second)                                                                            \
    X(at_once_leaves_the_second_of_a_full_slot_to_its_checks)                                                \
    X(at_once_moves_a_check_that_waits)                                                                      \
    X(at_once_moves_no_check_into_the_full_slot_of_the_next_second)                                          \
    X(at_once_beside_a_running_check_is_remembered)                                                          \
    X(a_wish_for_a_second_that_has_begun_is_for_the_next_one)                                                \
    X(what_is_wrong_with_a_check_is_told_at_once_too)                                                        \
    X(a_fine_slot_is_opened_run_and_closed_like_another)                                                     \
    X(a_fine_slot_that_has_not_begun_is_not_opened)                                                          \
    X(a_late_fine_slot_is_found_in_its_turn)                                                                 \
    X(a_check_of_a_fine_slot_moves_by_seconds)                                                               \
    X(a_check_of_a_fine_slot_leaves_it_whatever_the_clock_says)                                              \
    X(an_attempt_that_comes_too_late_goes_to_a_full_slot)                                                    \
    X(a_check_of_a_full_slot_may_move_to_a_fine_one)                                                         \
    X(a_pulse_lists_fine_slots_that_nobody_has_opened)                                                       \
    X(a_pulse_lists_what_an_engine_without_the_job_has_left)                                                 \
    X(a_pulse_leaves_the_second_that_runs_to_engines_with_its_jobs)                                          \
    X(a_pulse_lists_no_more_than_it_has_room_for)                                                            \
    X(a_pulse_does_not_look_ahead_of_the_clock)                                                              \
    X(passes_of_fine_slots_are_dropped_after_a_day_and_others_stay)                                          \
    X(what_is_due_by_now_counts_the_seconds_that_have_begun)                                                 \
    X(what_waits_in_a_fine_slot_stays_there_when_the_length_changes)                                         \
    X(where_slots_are_a_second_long_at_once_is_the_next_slot)                                                \
    X(pull_forward_moves_what_waits_and_files_nothing)                                                       \
    X(checks_of_a_key_tell_their_lease)                                                                      \
    /* contract_place.c */                                                                                   \
    X(a_place_is_taken_once)                                                                                 \
    X(a_place_given_back_is_free)                                                                            \
    X(an_expired_place_is_taken_and_not_renewed)                                                             \
    X(a_key_has_as_many_places_as_its_limit_says)                                                            \
    X(a_place_above_the_limit_comes_to_its_end)                                                              \
    X(of_several_patterns_the_longest_one_counts)                                                            \
    X(who_has_a_place_asks_nobody_for_his)                                                                   \
    X(keys_of_one_call_are_told_apart)                                                                       \
    X(limits_that_make_no_sense_are_refused)                                                                 \
    X(a_check_keeps_its_concurrency_key_while_it_waits)                                                      \
    X(retry_puts_a_check_back_with_its_concurrency_key)                                                      \
    X(replace_brings_another_concurrency_key)                                                                \
    X(a_busy_check_moves_by_seconds_and_counts_for_nothing)                                                  \
    X(keys_are_listed_with_who_holds_them_and_who_waits)                                                     \
    /* contract_settle.c */                                                                                  \
    X(done_archives_the_check)                                                                               \
    X(again_moves_counts_and_leaves_one_run_row)                                                             \
    X(a_deferral_is_remembered_beside_the_check)                                                             \
    X(a_check_put_off_remembers_when_it_was_due_until_it_has_run)                                            \
    X(what_was_put_off_is_recalled_by_an_engine_that_has_its_job)                                            \
    X(a_new_life_has_not_been_put_off)                                                                       \
    X(what_was_put_off_is_overdue_since_it_was_due)                                                          \
    X(checks_put_off_are_reported_by_job)                                                                    \
    X(a_failure_that_ends_keeps_its_payload)                                                                 \
    X(a_check_put_off_without_a_run_leaves_no_run_row)                                                       \
    X(the_run_log_can_be_kept_for_problems_or_not_at_all)                                                    \
    X(what_the_runs_took_adds_up)                                                                            \
    X(a_move_is_clamped_to_the_first_slot_that_has_not_begun)                                                \
    X(a_check_that_was_answered_leaves_its_slot_whatever_the_clock_says)                                     \
    X(a_page_of_several_priorities_is_settled_and_no_other_row)                                              \
    X(a_mixed_page_is_settled_in_one_go)                                                                     \
    X(a_settle_under_a_lease_taken_over_changes_nothing)                                                     \
    X(a_settle_after_the_lease_was_given_back_changes_nothing)                                               \
    X(a_settle_shows_owner_and_token)                                                                        \
    X(a_settle_twice_touches_nothing_the_second_time)                                                        \
    X(a_check_that_left_its_slot_is_not_touched_though_its_counts_are_the_same)                              \
    X(rows_changed_meanwhile_are_superseded)                                                                 \
    X(a_row_replaced_into_the_same_slot_is_superseded)                                                       \
    /* contract_schedule.c */                                                                                \
    X(a_schedule_files_its_check_in_the_next_slot)                                                           \
    X(a_cron_text_travels_with_its_zone)                                                                     \
    X(a_name_with_quotes_comes_back_as_it_was)                                                               \
    X(a_schedule_that_is_as_it_was_is_not_touched)                                                           \
    X(a_changed_schedule_starts_its_check_anew)                                                              \
    X(set_leaves_what_is_not_given)                                                                          \
    X(add_refuses_a_name_that_is_there_and_set_one_that_is_not)                                              \
    X(a_check_has_one_schedule)                                                                              \
    X(a_schedule_of_another_check_ends_the_old_one)                                                          \
    X(a_one_off_that_waits_becomes_the_check_of_the_schedule)                                                \
    X(bad_schedules_are_refused_in_words)                                                                    \
    X(a_zone_for_every_is_refused_in_words_about_zones)                                                      \
    X(an_occurrence_that_is_over_starts_the_check_anew)                                                      \
    X(counts_begin_anew_with_each_occurrence)                                                                \
    X(an_occurrence_that_fails_leaves_history_and_the_check_goes_on)                                         \
    X(a_missed_occurrence_leaves_a_run_row_that_says_skipped)                                                \
    X(a_check_that_moves_to_its_first_occurrence_leaves_no_row)                                              \
    X(a_late_settle_keeps_the_nominal_slot)                                                                  \
    X(a_renewal_is_written_once)                                                                             \
    X(ends_moves_and_renewals_of_one_page_are_settled_together)                                              \
    X(effects_of_a_renewed_check_are_written)                                                                \
    X(resolve_switches_the_schedule_off_with_the_reason)                                                     \
    X(resolve_of_another_job_leaves_the_schedule_on)                                                         \
    X(a_schedule_is_switched_off_and_on)                                                                     \
    X(why_a_schedule_was_switched_is_bounded)                                                                \
    X(a_schedule_that_is_removed_ends_its_check)                                                             \
    X(a_settle_after_the_schedule_was_switched_off_changes_nothing)                                          \
    X(the_full_look_files_what_an_active_schedule_lacks)                                                     \
    /* contract_schedule_edits.c */                                                                          \
    X(an_edit_while_the_check_runs_holds_from_the_next_slot_on)                                              \
    X(an_edit_pulls_a_check_that_is_to_look_again_later)                                                     \
    X(an_edit_where_a_first_occurrence_is_to_be_found_leaves_it_to_be_found)                                 \
    X(an_edit_beside_an_occurrence_that_was_found_leaves_that_alone)                                         \
    X(replace_and_reschedule_keep_the_rule)                                                                  \
    X(a_load_that_replaces_keeps_the_rule)                                                                   \
    X(the_check_of_a_schedule_has_its_concurrency_key)                                                       \
    X(a_concurrency_key_given_to_a_schedule_while_its_check_runs_stays)                                      \
    X(a_schedule_that_takes_over_a_check_brings_its_concurrency_key)                                         \
    X(a_schedule_with_an_impossible_concurrency_key_is_refused)                                              \
    X(a_payload_that_replace_brings_is_that_of_one_occurrence)                                               \
    X(a_payload_of_one_occurrence_stays_while_that_is_not_over)                                              \
    X(a_payload_of_one_occurrence_that_fails_is_kept_in_history_alone)                                       \
    X(an_edit_takes_the_payload_of_one_occurrence_back)                                                      \
    X(a_load_that_replaces_brings_payloads_for_one_occurrence)                                               \
    X(a_check_that_was_asked_for_again_keeps_the_rule_when_it_ends)                                          \
    X(a_first_occurrence_is_still_to_be_found_when_the_slot_length_changes)                                  \
    X(a_second_edit_in_a_later_slot_finds_its_first_time_in_the_next_one)                                    \
    X(an_edit_is_still_to_be_looked_at_when_the_slot_length_changes)                                         \
    X(an_occurrence_that_was_found_stays_found_when_the_slot_length_changes)                                 \
    X(a_run_asked_for_where_a_rule_begins_is_an_occurrence)                                                  \
    X(keep_leaves_a_rule_to_find_its_first_occurrence)                                                       \
    X(a_run_asked_for_behind_the_first_slot_of_a_rule_is_not_lost)                                           \
    X(a_check_that_is_pulled_into_a_second_has_found_its_first_occurrence)                                   \
    X(a_run_asked_for_beside_an_edit_is_an_occurrence)                                                       \
    X(a_retry_of_a_schedules_failure_runs_beside_its_occurrences)                                            \
    X(a_retry_behind_the_next_occurrence_leaves_that_alone)                                                  \
    X(a_failure_whose_schedule_has_run_well_since_is_not_retried)                                            \
    X(a_retry_pulls_an_occurrence_forward_that_has_begun)                                                    \
    /* contract_attempts.c */                                                                                \
    X(all_attempts_of_a_look_have_one_key_and_a_row_each)                                                    \
    X(no_attempt_is_made_of_a_check_that_was_resolved)                                                       \
    X(a_check_between_two_attempts_is_kept_moved_or_replaced_as_any)                                         \
    X(what_has_failed_is_found_with_its_last_error_and_put_back_from_the_beginning)                          \
    /* contract_pause.c */                                                                                   \
    X(a_pause_has_a_slot_that_is_one_at_every_length)                                                        \
    X(who_paused_what_when_and_why_is_kept)                                                                  \
    X(pauses_that_are_over_are_counted_and_all_dropped)                                                      \
    X(paused_checks_are_counted_to_a_bound)                                                                  \
    X(what_is_paused_already_stays_so)                                                                       \
    X(a_schedule_is_paused_by_its_name)                                                                      \
    X(a_tenant_is_paused_by_its_name)                                                                        \
    X(an_entity_that_no_check_has_is_told)                                                                   \
    X(no_time_comes_to_the_slot_of_a_pause_that_is_on)                                                       \
    X(the_number_of_a_change_is_its_time)                                                                    \
    X(a_change_to_pauses_comes_with_the_fine_slots)                                                          \
    X(a_pause_is_of_one_thing)                                                                               \
    X(a_change_to_pauses_is_told_once)                                                                       \
    X(the_slot_of_a_pause_is_not_used_again)                                                                 \
    X(no_check_is_asked_for_where_paused_ones_wait)                                                          \
    X(a_check_is_moved_into_a_pause_that_is_on)                                                              \
    X(a_check_is_not_moved_into_a_pause_that_was_resumed)                                                    \
    X(an_occurrence_that_comes_upon_a_pause_just_resumed_is_not_missed)                                      \
    X(a_page_goes_to_pauses_and_to_slots_of_both_kinds)                                                      \
    X(a_wish_comes_before_a_pause)                                                                           \
    X(the_slot_of_a_pause_is_opened_when_it_was_resumed)                                                     \
    X(a_pause_is_over_when_its_slot_is_empty_and_closed)                                                     \
    X(a_pause_that_never_held_a_check_is_over_at_once)                                                       \
    X(prune_drops_pauses_that_are_over)                                                                      \
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
    /* contract_delivery.c */                                                                                \
    X(each_event_has_one_delivery_for_each_that_hears_it)                                                    \
    X(a_delivery_without_now_is_filed_by_the_clock_of_the_store)                                             \
    X(a_settle_that_touches_no_row_files_no_delivery)                                                        \
    X(a_settle_that_is_sent_again_files_no_other_delivery)                                                   \
    X(an_event_whose_delivery_is_there_is_written_beside_it)                                                 \
    X(the_data_of_an_event_arrive_whole)                                                                     \
    X(an_event_without_data_has_deliveries_without)                                                          \
    X(a_check_that_moves_files_deliveries_too)                                                               \
    X(nobody_asks_for_a_delivery)                                                                            \
    X(a_delivery_can_be_moved_and_stays_what_it_is)                                                          \
    X(a_delivery_can_be_resolved)                                                                            \
    X(retry_leaves_deliveries_alone)                                                                         \
    /* contract_digest.c */                                                                                  \
    X(a_digest_is_one_delivery_of_what_its_listener_hears)                                                   \
    X(the_key_of_an_event_in_a_digest_follows_from_its_listener_and_cursor)                                  \
    X(a_new_digest_begins_with_what_comes)                                                                   \
    X(each_digest_has_what_came_since_the_last)                                                              \
    X(a_digest_that_is_settled_again_files_no_other_delivery)                                                \
    X(a_digest_whose_lease_is_lost_files_nothing)                                                            \
    X(a_digest_reads_ten_thousand_events_and_comes_again)                                                    \
    X(a_digest_is_cut_at_48_kib_on_whole_events)                                                             \
    X(the_check_of_a_digest_follows_the_settings)                                                            \
    X(a_digest_that_was_resolved_begins_anew)                                                                \
    X(a_digest_whose_check_was_gone_reads_on_where_it_was)                                                   \
    X(a_digest_that_no_settings_had_for_the_horizon_begins_anew)                                             \
    X(a_resolve_of_another_job_leaves_a_digest_its_cursor)                                                   \
    X(a_digest_says_that_events_were_pruned_before_it_read_them)                                             \
    X(a_digest_that_has_failed_is_sent_again_from_its_history)                                               \
    X(a_digest_that_was_delivered_is_not_sent_again)                                                         \
    X(retry_leaves_digests_alone)                                                                            \
    X(nobody_asks_for_a_digest)                                                                              \
    X(a_digest_can_be_moved_and_stays_what_it_is)                                                            \
    /* contract_cursor.c */                                                                                  \
    X(a_consumer_begins_with_the_oldest_event)                                                               \
    X(of_two_consumers_by_one_name_one_has_the_lease)                                                        \
    X(a_lease_that_has_expired_is_taken)                                                                     \
    X(a_lease_that_was_watched_unchanged_is_taken)                                                           \
    X(each_take_has_a_token_of_its_own)                                                                      \
    X(a_consumer_that_was_forgotten_is_not_found)                                                            \
    X(a_cursor_moves_from_where_it_was_read)                                                                 \
    X(a_consumer_that_was_taken_over_moves_no_cursor)                                                        \
    X(what_was_skipped_is_counted)                                                                           \
    X(a_reset_takes_the_lease_away)                                                                          \
    X(a_cursor_is_found_by_the_time_of_its_event)                                                            \
    X(a_prune_tells_consumers_what_it_drops_unread)                                                          \
    X(a_prune_of_what_was_read_is_no_loss)                                                                   \
    /* contract_note.c */                                                                                    \
    X(what_an_engine_notes_takes_the_place_of_what_it_had_noted)                                             \
    X(jobs_that_engines_have_noted_are_known_for_as_long_as_the_notes_are_there)                             \
    X(a_note_counts_for_its_time)                                                                            \
    X(other_engines_are_counted_while_their_notes_count)                                                     \
    X(a_note_that_has_counted_for_nothing_for_a_day_is_dropped)                                              \
    X(a_note_without_listeners_is_refused)                                                                   \
    /* contract_metrics.c */                                                                                 \
    X(what_notes_have_tallied_is_added_up)                                                                   \
    X(a_note_that_comes_again_is_tallied_once)                                                               \
    X(what_was_tallied_outlives_every_prune)                                                                 \
    X(tallies_come_in_the_order_in_which_they_came_up)                                                       \
    X(metrics_count_what_waits_by_its_state)                                                                 \
    X(metrics_count_leases_and_date_the_last_pass)                                                           \
    /* contract_run_hours.c */                                                                               \
    X(notes_are_added_up)                                                                                    \
    X(a_note_that_comes_again_counts_once)                                                                   \
    X(a_note_of_long_ago_is_not_added)                                                                       \
    X(which_notes_were_added_is_remembered_for_a_day)                                                        \
    X(hours_of_several_engines_are_one_row)                                                                  \
    X(notes_of_two_engines_at_once_lose_nothing)                                                             \
    X(a_note_that_is_sent_twice_at_once_counts_once)                                                         \
    X(the_classes_of_notes_are_added_up)                                                                     \
    X(hours_are_added_up_by_tenant)                                                                          \
    X(hours_before_the_one_asked_for_do_not_count)                                                           \
    X(percentiles_are_within_a_tenth)                                                                        \
    X(no_percentile_is_above_the_longest)                                                                    \
    X(classes_have_the_same_middle_everywhere)                                                               \
    X(prune_drops_hours_that_are_old)                                                                        \
    X(names_may_be_as_long_as_they_are_together)                                                             \
    X(runs_that_go_on_are_those_that_were_noted_last)                                                        \
    /* contract_pace.c */                                                                                    \
    X(slots_are_not_spread_before_somebody_says_so)                                                          \
    X(engines_hear_over_how_many_seconds_slots_are_spread)                                                   \
    X(an_impossible_pace_is_refused)                                                                         \
    X(the_first_parts_of_a_slot_are_read_alone)                                                              \
    /* contract_post.c */                                                                                    \
    X(what_is_posted_is_filed_and_told)                                                                      \
    X(a_repeat_is_answered_as_before_and_files_nothing)                                                      \
    X(another_request_under_a_uniqid_is_told)                                                                \
    X(of_all_or_none_none_is_filed)                                                                          \
    X(a_value_that_is_refused_files_none_of_them)                                                            \
    X(a_time_from_now_is_counted_by_the_stores_clock)                                                        \
    X(what_may_be_late_is_drawn)                                                                             \
    X(what_became_of_a_request_can_be_asked)                                                                 \
    X(requests_are_forgotten_when_they_need_not_be_kept)                                                     \
    X(a_request_that_is_over_is_answered_beside_a_new_one)                                                   \
    /* contract_spread.c */                                                                                  \
    X(nobody_counts_before_somebody_draws)                                                                   \
    X(checks_of_the_next_slots_are_counted_once_a_minute)                                                    \
    /* contract_change.c */                                                                                  \
    X(a_check_that_is_resolved_for_somebody_leaves_a_row)                                                    \
    X(a_repeat_of_a_resolve_changes_nothing)                                                                 \
    X(without_a_job_all_checks_of_the_row_are_ended)                                                         \
    X(a_check_in_another_life_than_was_seen_is_left_alone)                                                   \
    X(a_schedule_whose_check_is_ended_is_switched_off)                                                       \
    X(a_check_is_moved_once)                                                                                 \
    X(a_time_from_now_on_counts_from_the_stores_clock)                                                       \
    X(run_now_is_the_next_second_and_leaves_what_has_begun)                                                  \
    X(a_change_that_is_wrong_changes_nothing)                                                                \
    X(what_failed_is_filed_again_once)                                                                       \
    X(a_failure_is_found_by_its_name_alone)                                                                  \
    X(a_failure_that_has_ended_well_since_is_not_filed_again)                                                \
    X(deliveries_and_digests_are_not_changed)                                                                \
    X(a_pause_for_somebody_says_for_whom)                                                                    \
    X(a_schedule_is_changed_for_somebody)                                                                    \
    X(commands_that_change_schedules_are_in_the_audit)                                                       \
    X(the_audit_is_read_in_pages_and_by_what_is_sought)                                                      \
    X(changes_are_pruned_with_the_history)                                                                   \
    /* contract_report.c */                                                                                  \
    X(reports_have_the_documented_columns)                                                                   \
    X(columns_know_what_they_hold)                                                                           \
    X(a_report_that_does_not_exist_is_not_found)                                                             \
    X(list_is_filtered_sorted_and_limited)                                                                   \
    X(list_says_where_a_bounded_look_ended)                                                                  \
    X(a_list_goes_on_behind_a_cursor)                                                                        \
    X(a_list_is_filtered_by_state_and_tenant)                                                                \
    X(the_past_goes_on_behind_a_cursor)                                                                      \
    X(history_and_runs_are_filtered_and_newest_first)                                                        \
    X(slots_go_from_pending_to_closed)                                                                       \
    X(slots_that_are_over_are_told_from_a_moment_on)                                                         \
    X(status_counts_what_waits)                                                                              \
    X(counts_of_status_and_doctor_end_at_a_bound)                                                            \
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
