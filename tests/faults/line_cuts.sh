# line_cuts.sh - one cut of an engine's line at a chosen moment, and everything that is checked
# about it (F23, F24). Sourced after net.sh.
#
# The victim is the build with failpoints: it stops itself at the moment, its line is cut, and it
# continues.

[ -x "$P-failpoints" ] || { echo "not ok - $P-failpoints is not built ('make faults' builds it)"; exit 1; }

# beyond T: a second look comes every T/4 and lets new slots go first for 2 s at most; the rest is
# the machine
LATER_MS=3000

# Kind, failpoint, and what the line does then (see net.sh)
MOMENTS=(
    "lease before-lease drop" "lease after-renew-sent drop"
    "read after-lease drop" "read after-lease drop-after:2500"
    "run before-run drop" "run after-run drop"
    "settle before-settle drop" "settle before-settle drop-after:4000" "settle after-settle-sent drop"
)
moment_of() {           # KIND N: the N-th, round and round, of that kind
    local some=() m
    for m in "${MOMENTS[@]}"; do [[ $m != "$1 "* ]] || some+=("${m#* }"); done
    echo "${some[$2 % ${#some[@]}]}"
}

state_of() { sed -E 's/.*\) (.).*/\1/' "/proc/$1/stat" 2>/dev/null; }
is_stopped() { [ "$(state_of "$1")" = T ]; }
tokens_of() {
    q "SELECT coalesce(string_agg(token::text, ','), '') FROM {slot_lease} WHERE engine LIKE '%/$1'"
}
tokens_gone() { [ "$(q "SELECT count(*) FROM {slot_lease} WHERE token IN ($1)")" = 0 ]; }
runs_of() {
    awk -F'\t' -v e="$1" -v from="${2:-0}" -v to="${3:-9e18}" '$4 == e && $1 > from && $1 < to' \
        "$CASE/journal" | wc -l
}
runs_since() { [ "$(runs_of "$1" "$2")" -ge 1 ]; }
is_hit() { [ ! -e "$1" ]; }

victim() {              # NAME N: an engine with failpoints of its own, on line lN
    mkdir -p "$CASE/$1.points"
    P=$P-failpoints PRESCIENT_FAILPOINTS=$CASE/$1.points PRESCIENT_STORE=$(url_on_line "$2") engine_on_line \
        "l$2" "$1"
}

arm() { echo stop >"$CASE/$1.points/.armed" && mv "$CASE/$1.points/.armed" "$CASE/$1.points/$2"; }
# stopped_at NAME POINT: armed before, hit, stopped
stopped_at() {
    local point=$CASE/$1.points/$2
    wait_until 20 is_hit "$point" && wait_until 2 is_stopped "$(engine_pid "$1")" && return
    rm -f "$point"
    return 1
}

# taken_over WHAT TOKENS SINCE-MS
taken_over() {
    if wait_until $((LEASE_S * 10)) tokens_gone "$2"; then
        at_most "$1: its leases are taken over within T, in ms" $(($(now_ms) - $3)) \
            $((LEASE_S * 1000 + LATER_MS))
    else
        fail "$1: its leases are taken over" "$(q "SELECT *, clock_timestamp() FROM {slot_lease}")" \
            "$(q "SELECT pid, state, wait_event, query FROM pg_stat_activity")"
    fi
}

sleep_until() {
    local left=$(($1 - $(now_ms)))
    [ $left -le 0 ] || sleep "$((left / 1000)).$(printf %03d $((left % 1000)))"
}

# cut_line NAME N POINT MODE SECONDS: all that is asked of one cut
cut_line() {
    local what="$CASE_NAME: $3, $4, $5 s" pid cut_us cut_ms tokens healed
    pid=$(engine_pid "$1")
    arm "$1" "$3"
    stopped_at "$1" "$3" || { fail "$what: the moment comes"; return; }
    fault_begins drop "engine:$pid"
    line "l$2" ${4/:/ }
    cut_us=$(now_us) cut_ms=$(now_ms)
    kill -CONT "$pid"
    [[ $4 == drop ]] || sleep 0.2               # for what still passes
    tokens=$(tokens_of "$pid")
    if [ -n "$tokens" ]; then
        taken_over "$what" "$tokens" "$cut_ms"
        echo taken >>"$CASE/takeovers"
    fi
    sleep_until $((cut_ms + $5 * 1000))
    is "$what: starts after the trust window" \
        "$(runs_of "$pid" $((cut_us + TRUST_MS * 1000 + 200000)) "$(now_us)")" 0
    line "l$2" pass
    healed=$(now_us)
    fault_ends drop "engine:$pid"
    ok "$what: it works again when the line is back" wait_until 40 runs_since "$pid" "$healed"
}

# cuts_on_line NAME N "POINT MODE SECONDS"...: one after the other, in a process of its own, so that
# several lines are cut at once. Its exit code is 0 when all went well.
cuts_on_line() {
    local name=$1 n=$2 plan; shift 2
    FAILED=0 TMP=$CASE/$name.words
    mkdir -p "$TMP"
    for plan; do cut_line "$name" "$n" $plan; done
    exit "$FAILED"
}
