-- 0016_roles - who may do what: prescient_enqueuer calls the functions of applications and sees no
-- table, nor does prescient_operator, who changes what is there; prescient_engine runs checks,
-- prescient_reader reads the views.
--
-- 0001_tables has made the roles, or there are none. init and migrate repair these rights each time
-- (`things` in store_pg.sql has them, too; a test finds what is missing here).

-- Every new function is open to everybody until this.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA prescient_schema FROM PUBLIC;
-- A table is not, unless the database's default privileges make it so.
REVOKE ALL ON prescient.setting, prescient.future_job, prescient.future_job_history,
    prescient.future_job_run, prescient.event, prescient.slot_pass, prescient.slot_lease,
    prescient.generation, prescient.schedule, prescient.pause, prescient.cursor, prescient.engine_seen,
    prescient.slot_load, prescient.place, prescient.concurrency_limit, prescient.run_hour, prescient.run_now,
    prescient.run_note, prescient.request, prescient.token, prescient.tally, prescient.change,
    prescient.audit,
    prescient.pending, prescient.history, prescient.runs, prescient.run_hours, prescient.running,
    prescient.tallies,
    prescient.events,
    prescient.slots, prescient.passes, prescient.schedules, prescient.pauses, prescient.consumers,
    prescient.places, prescient.concurrency_limits, prescient.engines
    FROM PUBLIC;

DO $$
DECLARE
    of_all CONSTANT text[] := '{slot_length_s,slot_floor,slot_ceil,slot_next,slot_for,slot_fine_next,'
        'bucket_of,pace,pace_s,pending,schema_state,request_of,jobs_noted,'
        'tokens}';
    of_enqueuer CONSTANT text[] := '{enqueue,enqueue_now,enqueue_many,enqueue_each,reschedule,resolve,'
        'resolve_doubt,filed_at,post_checks,schedule,schedule_set,schedule_on,schedule_off,unschedule,'
        'ask_loads,slot_loads}';
    of_operator CONSTANT text[] := '{change_checks,change_schedule,change_delivery,pause,resume,schedule,'
        'schedule_set,schedule_on,schedule_off,unschedule}';
    -- the view of events calls generation_now with the rights of its reader
    of_reader CONSTANT text[] := '{events_after,generation_now,refuse_cursor_ahead,newest_rows,slot_count,'
        'open_work,delivery_backlog,events_withheld,event_of,class_us,runs_by,row_events}';
    given record;
BEGIN
    -- by their names, for which there is an index: a look through all functions of the database
    -- takes longer than the rights themselves
    FOR given IN
        SELECT w.role, (SELECT string_agg(p.oid::regprocedure::text, ', ')
                          FROM pg_catalog.pg_proc p
                         WHERE p.proname = ANY (w.names)
                           AND p.pronamespace = 'prescient_schema'::regnamespace) AS calls
          FROM (VALUES ('prescient_enqueuer', of_all || of_enqueuer),
                       ('prescient_operator', of_all || of_operator),
                       ('prescient_reader', of_all || of_reader)) w (role, names)
         WHERE pg_catalog.to_regrole(w.role) IS NOT NULL LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', given.calls, given.role);
    END LOOP;

    IF pg_catalog.to_regrole('prescient_enqueuer') IS NOT NULL THEN
        GRANT USAGE ON SCHEMA prescient_schema TO prescient_enqueuer;
    END IF;
    IF pg_catalog.to_regrole('prescient_operator') IS NOT NULL THEN
        GRANT USAGE ON SCHEMA prescient_schema TO prescient_operator;
    END IF;
    IF pg_catalog.to_regrole('prescient_reader') IS NOT NULL THEN
        GRANT USAGE ON SCHEMA prescient_schema TO prescient_reader;
        GRANT SELECT ON prescient.pending, prescient.history, prescient.runs, prescient.run_hours,
            prescient.running, prescient.events, prescient.slots, prescient.passes, prescient.schedules,
            prescient.pauses, prescient.consumers, prescient.places, prescient.concurrency_limits,
            prescient.engines, prescient.tallies, prescient.audit
            TO prescient_reader;
    END IF;
    IF pg_catalog.to_regrole('prescient_engine') IS NOT NULL THEN
        GRANT USAGE ON SCHEMA prescient_schema TO prescient_engine;
        GRANT SELECT, INSERT, UPDATE, DELETE ON prescient.setting, prescient.future_job,
            prescient.future_job_history, prescient.future_job_run, prescient.event, prescient.slot_pass,
            prescient.slot_lease, prescient.schedule, prescient.pause, prescient.cursor,
            prescient.engine_seen, prescient.slot_load, prescient.place, prescient.concurrency_limit,
            prescient.run_hour, prescient.run_now, prescient.run_note, prescient.request,
            prescient.token, prescient.tally, prescient.change
            TO prescient_engine;
        GRANT SELECT ON prescient.migration, prescient.generation, prescient.pending, prescient.history,
            prescient.runs, prescient.run_hours, prescient.running, prescient.events, prescient.slots,
            prescient.passes,
            prescient.schedules, prescient.pauses, prescient.consumers, prescient.places,
            prescient.concurrency_limits, prescient.engines, prescient.tallies, prescient.audit
            TO prescient_engine;
        GRANT USAGE ON SEQUENCE prescient.future_job_id_seq, prescient.event_id_seq,
            prescient.slot_lease_token_seq, prescient.change_id_seq TO prescient_engine;
        -- which they had from the moment they were made, but where the role was made meanwhile
        IF NOT has_function_privilege('prescient_engine', 'prescient.slot_length_s()', 'EXECUTE') THEN
            GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA prescient_schema TO prescient_engine;
        END IF;
        ALTER DEFAULT PRIVILEGES IN SCHEMA prescient_schema
            REVOKE EXECUTE ON FUNCTIONS FROM prescient_engine;
        REVOKE EXECUTE ON FUNCTION prescient.set_slot_length(integer), prescient.refuse_key_change(),
            prescient.require_schedule(), prescient.note_restored(),
            prescient.begin_generation(bigint, integer, timestamptz, boolean),
            prescient.mend_sequences(boolean) FROM prescient_engine;
    END IF;
END $$;
