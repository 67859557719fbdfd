#!/usr/bin/env bash
# f25_cut_answers.sh - F25: connections end by RST and FIN at any byte of an answer, in the middle
#     of a page of 10,000 checks, and at 30 % of all chunks
# PASS: no part of a batch is believed: while no answer to a read has come completely, no check
# runs; afterwards each runs, and counts, once. The answer to a read is cut at each end of a
# message, a byte before and after it, and each 31st byte; those to leases and settles at each 93rd.
# EACH=1: at each byte, which takes an hour.
# limit 280
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"

# ---- each byte ----

# places BYTES STEP [ENDS]: each STEP-th, beginning by the seed; and the ends of messages, with the
# byte before and after
places() {
    local n
    { seq $((RANDOM % $2)) "$2" $(($1 - 1)); for n in $(tr , " " <<<"${3:-}"); do
        seq $((n - 1)) $((n + 1)); done; } | awk -v most="$1" '$1 < most' | sort -n -u | paste -sd ,
}

# all_cut WHAT PLACES LIMIT-S [CUTS-BEFORE]: cuts that were armed come to their end
all_cut() {
    local n
    n=$(tr ',' '\n' <<<"$2" | wc -l)
    # the last of them may be on its way
    if wait_until "$3" proxy_is pe armed 0; then
        at_least "$CASE_NAME: answers to $1 that were cut" $(($(proxy_stat pe cuts) - ${4:-0})) \
            $((n - n / 20 - 1))
    else
        fail "$CASE_NAME: cuts of $1 come to their end" "found:    $(proxy_stat pe armed) of $n are left" \
            "$(tail -2 "$CASE/e.err")"
    fi
}
last_cut_us() { awk -F'\t' '$3 == "cut" { at = $1 } END { print at == "" ? 0 : at }' "$CASE/faults"; }
# runs_before_last_cut KEY-PREFIX
runs_before_last_cut() {
    awk -F'\t' -v cut="$(last_cut_us)" -v key="^$1" '$6 ~ key && $1 < cut' "$CASE/journal" | wc -l
}

# A slot of few checks is read again and again, and never whole. What is known of the length comes
# from a slot that has as many.
reads_cut() {
    local length places step=31
    [ -z "${EACH:-}" ] || step=1
    WITNESS='batch = 1;' a_case reads 'workers = 1; connections = 1;'
    behind e
    # the first one of a connection, as they all are when each is cut
    proxy pe when read_page_slot stat
    write_checks a --checks 2 --batch 2 --mix plain --ahead 2,2 --priority 0
    written a
    ok "$CASE_NAME: a page is read" wait_until 20 eval 'proxy_is pe armed 0 && drained'
    length=$(proxy_stat pe answer)
    at_least "$CASE_NAME: bytes of the answer" "$length" 200
    proxy pe ends
    places=$(places "$length" $step "$PROXY_SAID")
    proxy pe every read_page_slot down "$places" turn
    write_checks b --checks 2 --batch 2 --mix plain --ahead 2,2 --priority 0
    written b
    all_cut read_page_slot "$places" 150
    ok "$CASE_NAME: then it runs" wait_until 20 drained
    is "$CASE_NAME: runs before an answer to a read came whole" "$(runs_before_last_cut b)" 0
    LIVE_S=30 verdict F25
    is "$CASE_NAME: each ran once" "$RUNS $RERUNS" "4 0"
    proxy_stop pe
}

# Leases and settles whose answers were lost, and the ends of passes: each is requested again.
others_cut() {
    local statement places before step=93
    [ -z "${EACH:-}" ] || step=1
    WITNESS='batch = 1;' a_case others 'workers = 1; connections = 1;'
    behind e
    write_checks c --checks 2000 --batch 5 --over 200 --mix uneven --most-ms 3 --ahead 0,1
    for statement in open_slot settle_end finish renew; do
        places=$(places 280 $step) before=$(proxy_stat pe cuts)
        proxy pe every $statement down "$places" turn
        all_cut $statement "$places" 60 "$before"
    done
    kill -TERM "${HELPERS[c]}"
    wait "${HELPERS[c]}" 2>/dev/null
    unset "HELPERS[c]"
    LIVE_S=60 EPSILON_MS=30000 verdict F25
    proxy_stop pe
}

# ---- a large page ----

large_page() {
    local places
    WITNESS='batch = 1000;' a_case large \
        'workers = 2; connections = 1; page = 10000; split_at = 100000; settle_after = "1s";'
    behind e
    places=$(printf '%s\n' 1 6 8191 8192 8193 16384 65536 $((RANDOM * 30)) \
        $((RANDOM * 30)) $((RANDOM * 30)) $((RANDOM * 30)) | sort -n | paste -sd ,)
    proxy pe every read_page_slot down "$places" turn
    write_checks big --checks 10000 --batch 10000 --mix plain --ahead 8,8 --priority 0
    written big
    all_cut read_page_slot "$places" 60
    ok "$CASE_NAME: then they run" wait_until 30 nothing_pending
    is "$CASE_NAME: runs while no page of 10,000 came whole" "$(runs_before_last_cut big)" 0
    LIVE_S=30 EPSILON_MS=30000 verdict F25
    is "$CASE_NAME: each ran once" "$RUNS $RERUNS" "10000 0"
    proxy_stop pe
}

# ---- any time ----

ends_at_random() {
    local n percent
    WITNESS='batch = 1;' a_case random 'workers = 2; split_at = 40;'
    behind e; behind f
    write_checks w --checks 3000 --over 30 --batch 25 --mix busy --most-ms 8 --ahead 0,2
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 20
    for n in {1..12}; do
        proxy "p$([ $((RANDOM % 2)) = 0 ] && echo e || echo f)" \
            "$([ $((RANDOM % 2)) = 0 ] && echo rst || echo fin)"
        sleep "0.$((RANDOM % 8))"
    done
    for percent in 3 10 30; do
        proxy pe noise $percent
        proxy pf noise $percent fin
        sleep 4
    done
    proxy pe pass
    proxy pf pass
    at_least "$CASE_NAME: connections that were cut" $(($(proxy_stat pe cuts) + $(proxy_stat pf cuts))) 40
    written w
    LIVE_S=40 EPSILON_MS=15000 verdict F25
    proxy_stop pe; proxy_stop pf
}

for c in reads_cut others_cut large_page ends_at_random; do
    case ${CASES:-all} in *"$c"* | all) on_stores postgresql $c ;; esac
done
