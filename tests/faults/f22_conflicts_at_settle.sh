#!/usr/bin/env bash
# f22_conflicts_at_settle.sh - F22: settles meet deadlocks, serialization failures and locked rows
# PASS: they are sent again, sorted by id, until they succeed; nothing runs twice because of that,
# nothing is counted as a failure.
# quick
. "$(dirname "$0")/lib.sh"

# Every tenth statement or so that ends or moves checks fails, after its work, as another
# transaction's fault.
throw_errors() {
    q "CREATE SEQUENCE thrown;
       CREATE FUNCTION throw() RETURNS trigger LANGUAGE plpgsql AS \$\$
       BEGIN
           IF random() < 0.15 THEN
               PERFORM nextval('public.thrown');
               RAISE EXCEPTION 'thrown by the test'
                   USING ERRCODE = CASE WHEN random() < 0.5 THEN '40001' ELSE '40P01' END;
           END IF;
           RETURN NULL;
       END \$\$;
       CREATE TRIGGER throw AFTER DELETE OR UPDATE ON {future_job}
           FOR EACH STATEMENT EXECUTE FUNCTION throw()"
}

thrown_errors() {
    WITNESS='batch = 1;' a_case thrown 'workers = 2; split_at = 50;'
    throw_errors
    engine e0; engine e1
    write_checks w --checks 1200 --over 6 --batch 50 --mix busy --most-ms 5
    written w
    LIVE_S=30
    ok "$CASE_NAME: all is settled nevertheless" wait_until 30 drained
    at_least "$CASE_NAME: errors were thrown" "$(q "SELECT last_value FROM thrown")" 10
    q "DROP TRIGGER throw ON {future_job}"
    verdict F22
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

# Other sessions lock rows that are due in the opposite order of a settle, hold them, and continue:
# a circle, again and again.
lock_backwards() {
    local n
    for ((n = 0; n < 400; n++)); do
        [ -e "$CASE/locking" ] || return 0
        psql -qXAt "$PRESCIENT_STORE" >>"$CASE/locker.out" 2>>"$CASE/locker.err" <<SQL
SET deadlock_timeout = '5s';
BEGIN;
SELECT count(*) FROM (SELECT FROM prescient.future_job WHERE next_check_at <= clock_timestamp()
    AND id % 2 = $1 ORDER BY id DESC LIMIT 10 FOR UPDATE SKIP LOCKED) a;
SELECT pg_sleep(0.05);
SET LOCAL lock_timeout = '700ms';
SELECT count(*) FROM (SELECT FROM prescient.future_job WHERE next_check_at <= clock_timestamp()
    ORDER BY id DESC LIMIT 50 FOR UPDATE) a;
COMMIT;
SQL
    done
}

deadlocks() {
    WITNESS='batch = 1;' a_case deadlock \
        'workers = 2; split_at = 50; lock_timeout = "2s"; settle_after = "20ms";'
    q "ALTER DATABASE $(q 'SELECT current_database()') SET deadlock_timeout = '30ms'"
    touch locking
    engine e0; engine e1
    write_checks w --checks 600 --over 8 --batch 50 --mix slow --most-ms 30
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 20
    lock_backwards 0 & HELPERS[locker0]=$!
    lock_backwards 1 & HELPERS[locker1]=$!
    written w
    sleep 1
    rm locking
    wait "${HELPERS[locker0]}" "${HELPERS[locker1]}"
    unset "HELPERS[locker0]" "HELPERS[locker1]"
    q "ALTER DATABASE $(q 'SELECT current_database()') RESET deadlock_timeout"
    at_least "$CASE_NAME: sessions of ours or theirs ran into each other" \
        "$(cat e?.err locker.err | grep -cE 'deadlock|lock timeout|could not obtain lock')" 1
    LIVE_S=45 EPSILON_MS=20000 verdict F22
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

on_stores postgresql thrown_errors
[ -n "${QUICK:-}" ] || on_stores postgresql deadlocks
