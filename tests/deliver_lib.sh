# deliver_lib.sh - what the tests of `events --deliver` share. Sourced.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# emit FROM TO: events of orders FROM to TO.
emit() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM c WHERE n < $2)
           INSERT INTO {event} (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count,
                                data, recorded_at_us)
           SELECT 'order.late', 'orders', n, 'look', 1772370900000000, 1772370900, 0, '{\"n\": ' || n || '}',
                  strftime('%s', 'now') * 1000000 FROM c"
    else
        q "INSERT INTO {event} (event, entity_name, entity_key, job_exec, emitted_at, slot_at, check_count,
                                data)
           SELECT 'order.late', 'orders', n, 'look', to_timestamp(1772370900), to_timestamp(1772370900), 0,
                  json_build_object('n', n) FROM generate_series($1, $2) n"
    fi
}
deliver() { "$P" events --deliver mail --backoff 1ms "$@"; }
keys() { grep -o '"entity_key":"[0-9]*"' "$1" | tr -dc '0-9\n' | xargs; }
consumer() { "$P" events --consumers --json | json "[r for r in j if r['name'] == '${2:-mail}'][0]['$1']"; }
all_is_read() { [ "$(consumer unread)" = 0 ]; }

members() {
    local file stat
    for file in /proc/[0-9]*/stat; do
        { read -r stat <"$file"; } 2>/dev/null || continue
        read -ra stat <<<"${stat##*) }"
        [ "${stat[2]}" != "$1" ] || [ "${stat[0]}" = Z ] || echo "$file"
    done
}
is_gone() { [ -z "$(members "$1")" ]; }
stays() {
    cat >stay <<'SH'
#!/bin/sh
sleep 100 &
echo $$ >leader.new; mv leader.new leader
wait
SH
    chmod +x stay; rm -f leader
}
