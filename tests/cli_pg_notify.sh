#!/usr/bin/env bash
# cli_pg_notify.sh - the job pg_notify: what a session that listens hears, and each way in which a
# server refuses, is silent or goes away; with both stores.
# about 15 s
# night: a database for each edge
PLUGIN=pg_notify DEFAULTS='channel = "Due orders";'
. "$(dirname "${BASH_SOURCE[0]}")/pg_jobs_lib.sh"

# A session that listens: psql prints what it has heard after its next statement.
mkfifo say
psql -qXAt "$(url postgres)" <say >heard 2>&1 & LISTENER=$!
exec 5>say
trap 'exec 5>&-; wait $LISTENER; shells_end; processes_end; finish; code=$?; drop_role
    [ $code = 0 ] || exit 1' EXIT
echo 'LISTEN "Due orders"; SELECT 1 AS ready;' >&5
ok "a session that listens" wait_until 10 grep -qx 1 heard
# all_heard: the payloads so far, a line each
all_heard() {
    local mark=${EPOCHREALTIME//[!0-9]/}        # of this call, also where a shell of its own makes it
    echo "SELECT 'mark' || $mark;" >&5
    wait_until 10 grep -q "mark$mark" heard
    echo "SELECT 'after' || $mark;" >&5
    wait_until 10 grep -q "after$mark" heard
    sed -n 's/^Asynchronous notification "Due orders" with payload "\(.*\)" received from .*/\1/p' heard
}

job
WHAT="a NOTIFY" tried 'j["answer"], j["outcome"]' "('done', 'done')" --payload '{"n": 1.10}'
all_heard >payload
is "is heard once" "$(wc -l <payload)" 1
is "it is the check as JSON" "$(json 'j["entity_key"], j["data"], j["job"], len(j["id"])' <payload)" \
    "('42', {'n': 1.1}, 'tell', 32)"
KEY="a'; NOTIFY x; -- \$(d) \"c\"" WHAT="any key is taken" tried 'j["answer"]' done
is "as it is" "$(all_heard | tail -1 | json 'j["entity_key"]')" "a'; NOTIFY x; -- \$(d) \"c\""

# the longest that fits, and one byte more
fitted() { python3 -c "print('[\"' + 'x' * $1 + '\"]')"; }
WHAT="a short one" tried 'j["answer"]' done --payload "$(fitted 1)"
room=$((8000 - $(all_heard | tail -1 | tr -d '\n' | wc -c)))
WHAT="the longest that fits" tried 'j["answer"]' done --payload "$(fitted $room)"
is "arrives whole" "$(all_heard | tail -1 | tr -d '\n' | wc -c)" 7999
WHAT="a byte more" tried 'j["answer"]' done --payload "$(fitted $((room + 1)))"
has "its note" "$(note)" "the id only, as the check has 8000 bytes"
is "arrives as its id" "$(all_heard | tail -1 | grep -cxE '[0-9a-f]{32}')" 1

refused "setting 'channel': expected the name of a channel" 'channel = "";'
refused "setting 'channel': expected the name" "channel = \"$(printf 'x%.0s' {1..64})\";"
common_failures
as_owner "ALTER ROLE $CALLER SET default_transaction_read_only = on; REVOKE EXECUTE ON FUNCTION
    pg_catalog.pg_notify(text, text) FROM PUBLIC"
job; fails "no right" "GRANT EXECUTE ON FUNCTION pg_notify TO \"$CALLER\"" "final fail"
as_owner "GRANT EXECUTE ON FUNCTION pg_catalog.pg_notify(text, text) TO PUBLIC;
    ALTER ROLE $CALLER RESET ALL"
on_both_stores many
is "all of them were heard" "$(all_heard | grep -c '"entity_name":"row"')" 604
