#!/usr/bin/env bash
# t_bench.sh - `prescient bench` and `bench load` on both stores, small: every measure is there, the
# counts are right, nothing is left behind.
# not under sanitizers: memory of workers is limited
# night: it measures
# about 40 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
json_begins

PRESCIENT_PLUGIN_DIRS=$(dirname "$P")/jobs; export PRESCIENT_PLUGIN_DIRS
# of its own, as the paths of sockets in it must be short
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/b.XXXXXX") || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"; finish || exit 1' EXIT

measured() { json "' '.join(m['name'] for m in j['measures'])" <bench.json; }
only_pg="enqueue enqueue-bare enqueue-unwaited enqueue-bigint enqueue-uuid enqueue-interval"
only_pg+=" enqueue-words enqueue-jsonb enqueue-unwaited-bare enqueue-unwaited-plain"
only_pg+=" bulk bulk-bare end end-bare-1 end-bare-2 end-range-1 end-range-2 loop-1 loop-2"
only_pg+=" again again-bare-1 again-bare-2 again-range-1 again-range-2 recur keyed tenants emit"
only_pg+=" emit-heard look-one look-many look-sql"
only_sqlite="enqueue enqueue-bare bulk bulk-bare end end-bare-1 again again-bare-1"
only_sqlite+=" recur keyed tenants emit emit-heard look-one look-many look-sql"

schemas() {
    psql -qXAt "$PRESCIENT_STORE" \
        -c "SELECT count(*) FROM pg_namespace WHERE nspname IN ('prescient', 'prescient_bench')"
}
left_behind() {
    if [ "$STORE_NAME" = sqlite ]; then
        ls -A "$TMPDIR" "${PRESCIENT_STORE#sqlite:}" 2>/dev/null | grep -v : | wc -l
    else
        schemas
    fi
}

small_bench() {
    ok "$STORE_NAME: bench" "$P" --quiet --json bench --checks 2500 --singles 20 --rounds 2
    cp .out bench.json
    local all=only_$STORE_NAME
    [ "$STORE_NAME" = sqlite ] || all=only_pg
    is "$STORE_NAME: every measure is there" "$(measured)" "${!all}"
    is "$STORE_NAME: a pass runs all of its checks" \
        "$(json "[m['checks'] for m in j['measures']
                 if m['name'] in ('end', 'again', 'recur', 'tenants', 'emit', 'emit-heard', 'look-one',
                                  'look-many')]" \
            <bench.json)" "[2500, 2500, 2500, 2500, 2500, 2500, 2500, 2500]"
    is "$STORE_NAME: rates, CPU and memory are told" \
        "$(json "all(m['per_s']['median'] > 0 and m['engine_cpu_us']['median'] > 0
                     and m['engine_peak_mib']['median'] > 1
                     for m in j['measures'] if m['name'] == 'end')" <bench.json)" True
    is "$STORE_NAME: a ratio lies between the least and the most of its rounds" \
        "$(json "all(r['ratio']['least'] <= r['ratio']['median'] <= r['ratio']['most'] for r in j['ratios'])
                 and len(j['ratios']) >= 7" <bench.json)" True
    is "$STORE_NAME: nothing is left behind" "$(left_behind)" 0
}

among_others() {
    ok "$STORE_NAME: bench among waiting checks" "$P" --quiet --json bench --checks 1000 \
        --rounds 1 --future 3000 --scattered --engines 2 --only end
    cp .out bench.json
    is "$STORE_NAME: two engines run each check once" \
        "$(json "[m['checks'] for m in j['measures']][0]" <bench.json)" 1000
    ok "$STORE_NAME: in the order of time" "$P" --quiet --json bench --checks 1000 \
        --rounds 1 --future 3000 --only end,again
    fails_with 2 "expected a number from 1 to" "$P" bench --rounds 0
    fails_with 2 "belongs to" "$P" bench --tenants 3
}

# One check is over before memory is looked at for the first time.
short_pass() {
    ok "$STORE_NAME: bench of a single check" "$P" --quiet --json bench --checks 1 --rounds 3 --only end
    cp .out bench.json
    is "$STORE_NAME: the memory of an engine that is over at once is told" \
        "$(json "[m['engine_peak_mib']['least'] > 1 for m in j['measures'] if m['name'] == 'end']" \
        <bench.json)" "[True]"
}

small_load() {
    ok "$STORE_NAME: bench load" "$P" --quiet --json bench load --checks 900 \
        --minutes 5-8 --heavy 6:600 --failing 2 --slow 0 --tenants 3
    cp .out load.json
    is "$STORE_NAME: load: each check ends once, and failing ones after four looks" \
        "$(json "j['pending'] == 0 and j['outcomes']['done'] + j['outcomes']['failed'] == 900
                 and j['outcomes']['run: failed'] == 3 * j['outcomes']['failed']" <load.json)" True
    is "$STORE_NAME: load: percentiles rise" \
        "$(json "list(j['late_s'].values()) == sorted(j['late_s'].values())" <load.json)" True
    fails_with 2 "expected MINUTE:CHECKS" "$P" bench load --heavy 3
    fails_with 2 "within --minutes 0-9" "$P" bench load --heavy 12:10
    is "$STORE_NAME: load: nothing is left behind" "$(left_behind)" 0
}

kept_apart() {
    [ "$STORE_NAME" = postgresql ] || return 0
    fails_with 2 "expected another" "$P" --set schema=prescient_bench bench --checks 10
    psql -qX "$PRESCIENT_STORE" -c 'CREATE SCHEMA prescient_bench'
    fails_with 2 "that bench did not create" "$P" bench --checks 10 --rounds 1
    is "a schema of that name that no bench made is left alone" "$(schemas)" 1
}

# A tree as `make install` makes it, anywhere: each of the two programs finds the other one by where
# it is itself.
installed() {
    mkdir -p usr/bin usr/libexec/prescient
    cp "$P" usr/bin/prescient
    fails_with 1 "usr/bin/../libexec/prescient/prescient-bench" usr/bin/prescient bench --help
    cp "$P-bench" usr/libexec/prescient/
    ok "$STORE_NAME: an installed bench" usr/bin/prescient --quiet --json bench \
        --checks 10 --rounds 1 --only end
    is "$STORE_NAME: its engine runs the checks" "$(json "j['measures'][0]['checks']" <.out)" 10
    is "help bench is bench --help" "$(usr/bin/prescient help bench)" "$($P bench --help)"
    rm -r usr
}

each() { installed; small_bench; among_others; short_pass; small_load; kept_apart; }
on_each_store each
