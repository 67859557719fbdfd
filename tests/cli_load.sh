#!/usr/bin/env bash
# Enqueueing from CSV: rows that are read, rows that are rejected, with their lines, and the line
# from which to continue.
# night: hundreds of commands
# about 25 s
. "$(dirname "$0")/lib.sh"
json_begins

load() {
    e() { $P --now 2030-01-01 enqueue --from "$@"; }
    ok "$STORE_NAME: init" $P init
    printf '%b' 'entity_name,entity_key,job_exec,check_at,payload,priority,tenant\r\n' \
        'orders,1,unshipped,+3h,,,\r\n' \
        'orders,"2, ""b""",unshipped,2030-01-02,"{""x"":\n1}",-5,shop 7\r\n' >good.csv
    is "$STORE_NAME: a file is read" "$(e good.csv)" "2 added, 0 kept, 0 moved, 0 replaced, 0 skipped"
    is "$STORE_NAME: again, everything is kept" "$(e - --json < good.csv | json 'j["added"], j["kept"]')" \
        "(0, 2)"
    is "$STORE_NAME: replaced, when asked for" \
        "$(e good.csv --conflict replace --json | json 'j["replaced"]')" 2
    is "$STORE_NAME: quotes, payload, priority and tenant arrive" \
        "$($P list --json |
            json '[(r["entity_key"], r["payload"], r["priority"], r["tenant"]) for r in j]')" \
        "[('1', None, 0, None), ('2, \"b\"', {'x': 1}, -5, 'shop 7')]"

    printf '%s\n' entity,key,job,at old,1,j,2029-12-31 old,2,j,-1s old,3,j,2029-12-31T23:59:59Z old,4,j,now \
        old,5,j,+1s old,6,j,2029-13-01 >old.csv
    is "$STORE_NAME: lines that wanted a time that has passed are counted" \
        "$(e old.csv --skip-bad 2>/dev/null)" \
        "5 added, 0 kept, 0 moved, 0 replaced, 1 skipped
3 of them wanted before now: filed under the next slot, 2030-01-01T00:15:00Z, unless they were kept; \
to look as of then, see --now and prescient replay"
    is "$STORE_NAME: in JSON, too" \
        "$(e old.csv --skip-bad --json 2>/dev/null | json 'j["kept"], j["past"]')" "(5, 3)"
    is "$STORE_NAME: and they are where it says" \
        "$($P list old --json | json 'sorted({r["next_check_at"] for r in j})')" "['2030-01-01T00:15:00Z']"
    for key in 1 2 3 4 5; do $P resolve old $key >/dev/null; done

    fails_with 2 "none.csv" e none.csv
    fails_with 2 "enqueue: .: cannot be read: Is a directory" e .
    printf '' > empty.csv
    fails_with 2 "empty.csv: empty, expected a first line with the names of the columns" e empty.csv
    printf 'entity,key,job,when\n' > names.csv
    fails_with 2 "names.csv:1: found column 'when', expected entity_name" e names.csv
    printf 'entity,key,job\n' > names.csv
    fails_with 2 "names.csv:1: column check_at is missing" e names.csv
    printf 'entity,key,job,at,key\n' > names.csv
    fails_with 2 "names.csv:1: duplicate column entity_key" e names.csv
    printf ' Entity , KEY,job,at\n' > names.csv
    ok "$STORE_NAME: names of columns may be short, in capitals, with blanks" e names.csv

    printf '%s\n' entity,key,job,at,payload bad,1,j,+1h, bad,2,j,never, '"bad",3,j,+1h,{' bad,4,j,+1h \
        'bad,5"x,j,+1h,' bad,6,j,+1h,7 >bad.csv
    for entity in prescient.event prescient.digest; do
        printf '%s\n' entity,key,job,at bad,1,j,+1h $entity,2,j,+1h >reserved.csv
        fails_with 2 "reserved.csv:3: entity_name: found $entity, which stands for" e reserved.csv
    done
    fails_with 2 "bad.csv:3: check_at:" e bad.csv
    has "$STORE_NAME: it says that nothing was written" "$(e bad.csv 2>&1)" "nothing was written"
    is "$STORE_NAME: nothing of the chunk is written" "$($P list bad --json)" "[]"
    e bad.csv --skip-bad > out 2> err
    is "$STORE_NAME: with --skip-bad the rest is, and the exit code tells" "$? $(cat out)" \
        "1 2 added, 0 kept, 0 moved, 0 replaced, 4 skipped"
    is "$STORE_NAME: each bad line is named" \
        "$(sed -E 's/^[^:]*: bad.csv:([0-9]+): ([a-z0-9_]+).*/\1 \2/' err | tr '\n' ';')" \
        "3 check_at;4 payload;5 found;6 a;"
    is "$STORE_NAME: --start-line passes over what is before" "$(e bad.csv --start-line 7)" \
        "0 added, 1 kept, 0 moved, 0 replaced, 0 skipped"
    fails_with 2 "--start-line: found '1'" e bad.csv --start-line 1
    fails_with 2 "takes no --skip-bad, which belongs to --from" $P enqueue a b c now --skip-bad
    printf '%s\n' entity,key,job,at way,1,j,+1h >way.csv
    fails_with 2 "found both --from and --at-once" e way.csv --at-once
    fails_with 2 "--from takes no --priority" e way.csv --priority 1
    fails_with 2 "--from takes the checks from the file" e way.csv way 1 j
    is "$STORE_NAME: and nothing is filed" "$($P list way --json)" "[]"

    { echo entity,key,job,at; seq -f 'many,%.0f,j,+1h' 1 25000; echo 'many,x,j,when'; } > many.csv
    fails_with 2 "many.csv:25002" e many.csv
    has "$STORE_NAME: chunks before the bad line are written" "$(e many.csv 2>&1)" \
        "all lines before line 20002 are written; continue with --start-line 20002"
    is "$STORE_NAME: as many as it says" "$($P list many --limit 0 --json | json 'len(j)')" 20000
    sed -i '$d' many.csv
    is "$STORE_NAME: going on from there loads the rest" "$(e many.csv --start-line 20002)" \
        "5000 added, 0 kept, 0 moved, 0 replaced, 0 skipped"

    # Among many rows, a search without an index covers only a part, and the command reports that.
    printf 'entity,key,job,at\nlone,1,last,+9h\n' > last.csv
    e last.csv > out
    has "$STORE_NAME: a look for a job says where it ended" "$($P list --job last 2>&1)" \
        "searched the first 10000 checks, up to the slot 2030-01-01T01:00:00Z; --from 2030-01-01T01:00:00Z continues there, --limit 0 searches all"
    has "$STORE_NAME: in one large slot it does not lead in a circle" \
        "$($P list --job last --from 2030-01-01T01:00:00Z 2>&1)" "--limit 0 searches all"
    is "$STORE_NAME: --limit 0 looks at all" \
        "$($P list --job last --limit 0 --json 2>&1 | json '[r["entity_key"] for r in j]')" "['1']"
    is "$STORE_NAME: JSON holds no row that is not one" "$($P list --job last --json 2> err | json 'j')" "[]"
    is "$STORE_NAME: a small entity is found among many" \
        "$($P list lone --json 2>&1 | json '[r["job_exec"] for r in j]')" "['last']"
    large='[(r["checks"], r["is_estimate"]) for r in j if r["slot_at"][11:16] == "01:00"][0]'
    is "$STORE_NAME: a slot is counted to its end with --exact" "$($P slots \
        --exact --now 2030-01-01 --json | json "$large")" "(25002, False)"
    is "$STORE_NAME: without, within a tenth, and marked" \
        "$($P slots --now 2030-01-01 --json | json "abs($large[0] - 25002) < 2500")" True
    is "$STORE_NAME: jobs are counted to their end where there are not so many" \
        "$($P jobs --counts --json | json '{r["job"]: (r["checks"], r["is_estimate"]) for r in j}["last"]')" \
        "(1, False)"
    is "$STORE_NAME: the check is gone again" "$($P resolve lone 1 --json | json 'j')" "{'resolved': 1}"

    # Ctrl-C while the input stalls: the load ends at once and reports where.
    mkfifo stalled
    $P enqueue --from - < stalled > out 2> err &
    local pid=$!
    exec 8> stalled
    sed 's/^many/more/' many.csv >&8
    for _ in $(seq 200); do
        [ "$($P list more --limit 0 --json | json 'len(j)')" = 20000 ] && break
        sleep 0.05
    done
    kill -INT $pid
    wait $pid
    is "$STORE_NAME: a signal ends a load that waits for input" $? 1
    exec 8>&-
    rm stalled
    has "$STORE_NAME: and it says where to go on" "$(cat err)" "continue with --start-line 20002"
}

on_each_store load
