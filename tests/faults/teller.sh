# teller.sh - the job of teller.c, built for a scenario. Sourced after lib.sh.
#   tellers [SETTING...]    a line of `jobs` for JOB_LINES; the settings are of the job, for
#                           instance 'query = "SELECT ...";'

TEST_JOBS=$TMP/jobs                 # where `settings` looks for plug-ins beside those that are shipped
mkdir -p "$TEST_JOBS"
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -fPIC -shared \
    -I"$ROOT/include" -o "$TEST_JOBS/teller.so" "$FAULTS/teller.c" ||
    { fail "the job that tells what it saw is built"; exit 1; }

# CASE is known when the case begins; its folder's name is given here.
tellers() {
    printf 'teller = { plugin = "teller"; batch = 1; settings = { file = "%s/%s/journal";
            event = "ran"; %s }; };' "$TMP" "$1" "${*:2}"
}
