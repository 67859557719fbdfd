# chaos_store.sh - faults of the store in a storm: a primary and its standby (pair.sh), behind a
# pooler for one of the engines (bouncer.sh), on small disks if there can be any (disk.sh). Sourced
# after those and chaos.sh.
#
# Its actions take long, and each waits until it is undone; so they run beside those of the other
# loop, in a process of their own (chaos_apart). All of them are faults of the store: every engine
# feels them.

CHAOS_STORE="backend:10 backends:6 backend_crash:4 restart:6 restart_at_once:4 refusal:4 failover:8
    lossy_failover:4 frozen_standby:6 read_only:5 locks:6 crowd:5
    hasty_role:5 conflicts:8 pooler_restart:4 pooler_pause:4 rows_changed:14 rows_deleted:6"
CHAOS_STORE_ON_DISKS="disk_full:6"

# during WHAT COMMAND...
during() {
    local what=$1; shift
    fault_begins "$what" store
    "$@"
    fault_ends "$what" store
}
some_seconds() { sleep $((1 + RANDOM % $1)).$((RANDOM % 10)); }

# As the superuser, whatever sessions are given by default at this moment; an answer in bounded
# time.
admin() {
    local options='-c default_transaction_read_only=off -c statement_timeout=20s -c lock_timeout=0'
    PGOPTIONS="$options -c idle_session_timeout=0" timeout 30 \
        psql -qXAt -v ON_ERROR_STOP=1 "$(pair_url_of "$PRIMARY")" -c "$1" 2>>admin.err
}
primary_writes() { [ "$(admin 'SELECT NOT pg_is_in_recovery()')" = t ]; }
primary_is_back() {
    wait_until 60 primary_writes || fail "$CASE_NAME: the primary is back" \
        "$(tail -5 "$PAIR/$PRIMARY/server.log")"
}
set_for_all() { admin "ALTER SYSTEM SET $1 = $2" && admin "SELECT pg_reload_conf()" >/dev/null; }
reset_for_all() { admin "ALTER SYSTEM RESET $1" && admin "SELECT pg_reload_conf()" >/dev/null; }

SESSIONS="pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
chaos_backend() {
    during terminate admin "SELECT pg_terminate_backend(pid) FROM $SESSIONS
                            AND application_name LIKE 'prescient%'
                            ORDER BY md5(pid || '$RANDOM') LIMIT 1" >/dev/null
}
all_sessions_end() { admin "SELECT count(pg_terminate_backend(pid)) FROM $SESSIONS" >/dev/null; }
chaos_backends() { during terminate-all all_sessions_end; }
backend_crashes() {
    local pid
    pid=$(admin "SELECT pid FROM $SESSIONS AND application_name LIKE 'prescient%'
                 ORDER BY md5(pid || '$RANDOM') LIMIT 1")
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
    sleep 0.1
    primary_is_back
}
chaos_backend_crash() { during backend-crash backend_crashes; }

primary_restarts() { pair_ctl "$PRIMARY" -m "$1" restart; primary_is_back; }
chaos_restart() { during restart primary_restarts fast; }
chaos_restart_at_once() { during restart-at-once primary_restarts immediate; }
primary_refuses() {
    pair_ctl "$PRIMARY" -m fast stop
    some_seconds 3
    pair_node_up "$PRIMARY"
    primary_is_back
}
chaos_refusal() { during refusal primary_refuses; }

# another_primary [COMMAND...]: which is done while there is none
another_primary() {
    pair_kill_primary
    "$@"
    some_seconds 2
    pair_promote
}
and_a_standby() {
    primary_is_back
    bouncer_retarget "$(pair_url)"
    pair_rejoin
}
chaos_failover() {
    another_primary
    and_a_standby
}
# The same without waiting for the standby, which receives nothing for a while: what is committed
# then is lost.
chaos_lossy_failover() {
    fault_begins loss store             # check.py takes it for the time whose commits may be missing
    pair_sync off && pair_lag on
    some_seconds 4
    another_primary fault_ends loss store       # what is acknowledged from here on is there
    PAIR_SYNC=on
    and_a_standby
}
chaos_frozen_standby() {
    pair_freeze_standby
    some_seconds 4
    pair_thaw_standby
}

read_only_for_all() {
    set_for_all default_transaction_read_only on
    some_seconds 4
    reset_for_all default_transaction_read_only
}
chaos_read_only() { during read-only read_only_for_all; }
chaos_locks() {
    during locks admin "BEGIN; LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1.5);
                        COMMIT" >/dev/null
}

# More sessions than there is room for.
a_crowd() {
    local n pids=()
    for ((n = 0; n < CROWD; n++)); do
        psql -qX "$(pair_url_of "$PRIMARY")" -c "SELECT pg_sleep(2)" >/dev/null 2>&1 &
        pids+=($!)
    done
    wait "${pids[@]}"
}
chaos_crowd() { during crowd a_crowd; }

# Limits of the role that leave no time for anything, for sessions that begin now.
role_in_haste() {
    local setting
    for setting in "statement_timeout = '20ms'" "lock_timeout = '1ms'" "idle_session_timeout = '300ms'"; do
        admin "ALTER ROLE postgres SET $setting"
    done
    all_sessions_end
    some_seconds 3
    admin "ALTER ROLE postgres RESET ALL"
    all_sessions_end
}
chaos_hasty_role() { during hasty-role role_in_haste; }

# Statements that end or move checks fail, after their work, as another transaction's fault.
conflicts_are_thrown() {
    admin "CREATE TRIGGER storm_throws AFTER DELETE OR UPDATE ON prescient.future_job
           FOR EACH STATEMENT EXECUTE FUNCTION public.storm_throws()"
    some_seconds 4
    admin "DROP TRIGGER IF EXISTS storm_throws ON prescient.future_job"
}
chaos_conflicts() { during conflicts conflicts_are_thrown; }

pooler_pauses() { bouncer_pause; some_seconds 2; bouncer_resume; }
chaos_pooler_restart() { bouncer_restart; }
chaos_pooler_pause() { during pooler-pause pooler_pauses; }

# A full disk below the primary; a server that cannot write its log goes down, and is started when
# there is room again.
disk_is_full() {
    disk_fill "$PRIMARY"
    some_seconds 4
    disk_free "$PRIMARY"
    primary_writes || pair_node_up "$PRIMARY"
    primary_is_back
}
chaos_disk_full() { during disk-full disk_is_full; }

# The application changes its mind about some of its checks, due or not, running or not: those of
# the writer called x.
chaos_rows_changed() {
    local some="SELECT id FROM prescient.future_job WHERE entity_key LIKE 'x.%'
                ORDER BY md5(id || '$RANDOM') LIMIT 20"
    local changes=("UPDATE prescient.future_job SET next_check_at = next_check_at + interval '3 s'
                    WHERE id IN ($some)"
        "SELECT count(prescient.resolve(entity_name, entity_key)) FROM prescient.future_job
         WHERE id IN ($some)"
        "SELECT count(prescient.reschedule(entity_name, entity_key, job_exec, interval '2 s'))
         FROM prescient.future_job WHERE id IN ($some)"
        "SELECT count(prescient.enqueue(entity_name, entity_key, job_exec, interval '1 s',
         '[\"done\"]', 'replace')) FROM prescient.future_job WHERE id IN ($some)")
    admin "${changes[RANDOM % ${#changes[@]}]}" >/dev/null || true
}
# A deletion is in the log of faults before it is made.
chaos_rows_deleted() {
    local keys key
    keys=$(admin "SELECT entity_key FROM prescient.future_job WHERE entity_key LIKE 'x.%'
                  ORDER BY md5(id || '$RANDOM') LIMIT 10") || return 0
    for key in $keys; do fault_at delete "row:$key"; done
    admin "DELETE FROM prescient.future_job WHERE entity_key = ANY ('{$(paste -sd, <<<"$keys")}')"
}

# What the actions above need, once, when the schema is there.
chaos_store_begins() {
    admin "CREATE OR REPLACE FUNCTION public.storm_throws() RETURNS trigger LANGUAGE plpgsql AS \$\$
           BEGIN
               IF random() < 0.2 THEN
                   RAISE EXCEPTION 'thrown by the storm'
                       USING ERRCODE = CASE WHEN random() < 0.5 THEN '40001' ELSE '40P01' END;
               END IF;
               RETURN NULL;
           END \$\$"
    CROWD=$(($(admin 'SHOW max_connections') + 10))
}

# chaos_apart SECONDS LO-MS HI-MS ACTION:WEIGHT...: a loop of its own in a process of its own;
# chaos_joined waits for it
chaos_apart() {
    (
        FAILED=0 RANDOM=$((SEED % 32767 + 1)) CHAOS_DONE=()
        ASLEEP=() WAY_UNTIL=()
        chaos "$@"
        echo "$PRIMARY $STANDBY" >"$CASE/primary"
        [ "$FAILED" = 0 ]
    ) >"$CASE/apart.out" 2>&1 &
    HELPERS[apart]=$!
}
chaos_joined() {
    local code=0
    wait "${HELPERS[apart]}" || code=$?
    unset "HELPERS[apart]"
    cat "$CASE/apart.out"
    [ "$code" = 0 ] || FAILED=1
    read -r PRIMARY STANDBY <"$CASE/primary"
}
