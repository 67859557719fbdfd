#!/usr/bin/env bash
# f41_enqueue_storm.sh - F41: 50 clients enqueue the same few checks again and again while these are
#     run and settled, and are killed before they get the answer
# PASS: one live row at most, at any time; everything acknowledged is followed by a run; nothing
# runs twice in one life.
# quick
. "$(dirname "$0")/lib.sh"

# Keys whose last acknowledged call was not followed by a run that began after the call was sent.
forgotten() {
    awk -F'\t' -v journal=journal '
        BEGIN {
            while ((getline line < journal) > 0) {
                split(line, f, "\t")
                if (f[1] > ran[f[6]]) ran[f[6]] = f[1]
            }
        }
        $1 == "sent" { sent[$3] = $2 }
        $1 == "acked" && sent[$3] > last[$4] { last[$4] = sent[$3] }
        END { for (key in last) if (!(ran[key] > last[key])) print key }' calls
}
lives() { q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE '$1%'"; }

# storm_of KEYS CONFLICT...: so many seconds of it
storm_of() {
    local seconds=8 keys=$1 kills conflicts=() keyed=() word n
    [ -z "${QUICK:-}" ] || seconds=4
    for word in "${@:2}"; do conflicts+=(--conflict "$word"); done
    for ((n = 0; n < 4; n++)); do
        keyed+=(--key "$keys$n"); printf 'sent\t0\tb\trow\t%s\twitness\t0\t\n' "$keys$n" >>plan
    done
    kills=$(python3 "$FAULTS/clients.py" --store "$PRESCIENT_STORE" --log "$CASE/calls" \
        --seed "$SEED" --seconds $seconds "${keyed[@]}" "${conflicts[@]}" 2>clients.err) ||
        fail "$CASE_NAME: the clients run" "$(tail -3 clients.err)"
    echo "# $CASE_NAME: $keys: $(grep -c ^sent calls) calls so far," \
        "$(grep -c ^acked calls) acknowledged, $kills clients killed"
    at_least "$CASE_NAME: clients killed in the middle" "$kills" $((seconds * 4))
}

same_check() {
    WITNESS='batch = 1;' a_case same 'workers = 2;'
    engine e0; engine e1
    : >calls
    storm_of k keep earlier
    storm_of r keep replace
    at_least "$CASE_NAME: calls that were acknowledged" "$(grep -c ^acked calls)" 200
    ok "$CASE_NAME: all is done" wait_until 15 drained
    is "$CASE_NAME: each acknowledged call is followed by a run" "$(forgotten)" ""
    is "$CASE_NAME: what was kept or moved ran once in each life" \
        "$(grep -c '	row	k' journal) $(grep '	row	k' journal | cut -f8 | sort -u |
            wc -l)" "$(lives k) $(lives k)"
    at_least "$CASE_NAME: lives" "$(lives '')" 20
    LIVE_S=10 verdict F41 --changed ''
}
on_both_stores same_check
