#!/usr/bin/env bash
# cli_attempts.sh - attempts that do not fit into a slot are refused, with their sum, wherever the
# slot length is known: when settings are tried, when an engine starts, when the length changes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
umask 022

# settings WORDS: one job, whose attempts take WORDS.
settings() {
    printf 'plugin_dirs = ("%s");\njobs = { pay = { plugin = "noop"; timeout = "10s"; %s }; };\n' \
        "$(dirname "$P")/jobs" "$1" >prescient.cfg
}
long='batch = 1; attempts = 3; attempt_interval = "20s"; attempt_jitter = "5s";' # 20 + 40 + 80, 3 * 5, 3 * 10
refusal="prescient.cfg:2: job pay: its 3 attempts take up to 3m5s (delays 2m20s, jitter 15s, timeouts 30s)"
minute="$refusal, and a slot is 1m: lower attempts (1 would fit)"

refused() {
    settings "$long"
    ok "$STORE_NAME: attempts fit into a slot of 15m" "$P" --quiet init
    ok "$STORE_NAME: config --check" "$P" config --check
    ok "$STORE_NAME: run" "$P" --quiet run
    has "$STORE_NAME: doctor finds nothing in them" "$("$P" --json doctor | tr -d '\n')" \
        "those of each job fit into a slot"

    fails_with 78 "$minute" "$P" migrate --slot-length 1m
    has "$STORE_NAME: the slot length is as it was" "$("$P" init)" "slots of 15m"
    settings 'attempts = 1;'
    ok "$STORE_NAME: one attempt takes what it takes" "$P" --quiet migrate --slot-length 1m
    settings "$long"
    for command in "config --check" run daemon sweep "replay --from -1h --to now"; do
        # shellcheck disable=SC2086
        fails_with 78 "$minute" limited 20 "$P" $command
    done
    fails_with 1 "$minute" bash -c "'$P' doctor >&2"
    ok "$STORE_NAME: an upgrade is not refused" "$P" init
    has "$STORE_NAME: but told" "$(cat .err)" "no engine will start with these settings: $minute"
    fails_with 78 "$minute" "$P" --set slot_length=1m config --check
    ok "$STORE_NAME: what fits is migrated to" "$P" --quiet migrate --slot-length 4m
    ok "$STORE_NAME: and runs" "$P" --quiet run
}
on_each_store refused

# A place that tries settings need not reach the store.
settings "$long"
ok "without a store the attempts are not tried" "$P" --store sqlite:nothing.db config --check
has "and that is told" "$(cat .err)" "whether the attempts of a job fit into a slot could not be tried: "
is "nothing was created" "$(ls nothing.db 2>&1 >/dev/null | grep -c 'No such file')" 1
settings 'attempts = 1;'
ok "nobody asks for the slot length where there are no attempts" "$P" --store sqlite:nothing.db config --check
is "and nothing is told" "$(grep -c attempts .err)" 0
fails_with 78 'attempts = "0": expected a whole number between 1 and 100' "$P" --set attempts=0 config --check
fails_with 78 'attempts = "101"' "$P" --set attempts=101 config --check
settings 'attempts = 2; attempt_interval = "1.5s";'
fails_with 78 'prescient.cfg:2: jobs.pay.attempt_interval = "1.5s": expected a duration in whole seconds' \
    "$P" config --check
