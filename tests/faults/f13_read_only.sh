#!/usr/bin/env bash
# f13_read_only.sh - F13: the database rejects writes for 60 s (READ_ONLY_S): it is set read-only,
#     and then only a standby can be reached
# PASS: an engine starts no job once a write under its lease was rejected, retries at growing
# intervals, and continues without a restart when writes are accepted.
# limit 300
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/refusals.sh"

# long: what stops the jobs must be the refusal, and not the end of the trust window
LEASE_S=6 TRUST_MS=4000
NO_WRITES='cannot (open a slot|renew leases|settle a page|finish a bucket): '
NO_WRITES+='.*(read-only|hot standby|writable)'

read_only() {
    busy_engines read_only
    HOLD_S=${READ_ONLY_S:-60} refused read-only server_read_only server_read_write "$NO_WRITES"
    EPSILON_MS=20000 verdict F13
}
only_a_standby() {
    busy_engines standby
    HOLD_S=$((${READ_ONLY_S:-60} / 3)) refused standby server_standby server_promote "$NO_WRITES"
    EPSILON_MS=20000 verdict F13
}
both() { read_only; only_a_standby; }
on_a_server both fsync=off
