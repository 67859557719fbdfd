#!/usr/bin/env bash
# t_replay_sf311.sh - ten years of real requests, and Northwind's orders, replayed on both stores.
# What prescient wrote into events, run log and history must equal, row by row, the result of one
# plain SQL query over the same table. Of the requests this takes each fifth, over the whole ten
# years; FULL=1 takes all 10,000, as the night does.
# not instrumented: processor time is measured
# night: processor time is measured
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

if [ -n "${FULL:-}" ]; then
    EACH=1 REQUESTS=10000 CLOSED=9630
else
    EACH=5 REQUESTS=2000 CLOSED=1934
fi

# ---- San Francisco's 311 line: looks 24 h, 72 h and 168 h after the request came in ---- Delays
# are counted from the first look, and that is at 24 h, so the others come 48 h and 144 h after it.
# 15 min divides them all, so rounding up to a slot before adding or after it is the same.

settings_sf311() {
    settings 'jobs = { request_closed = { plugin = "sql_check"; settings = {
        query_postgresql = "SELECT request_id FROM request WHERE closed_at <= to_timestamp($2)"
                           " AND request_id = ANY (ARRAY(SELECT k::bigint"
                           " FROM json_array_elements_text($1::json) AS k))";
        query_sqlite = "SELECT k.value FROM json_each($1) AS k JOIN request ON request.request_id = k.value"
                       " WHERE strftime('"'%s'"', request.closed_at) + 0 <= CAST($2 AS INTEGER)";
        event = "request.open";
        again = [ "48h", "144h" ];
    }; }; };'
}

columns="request_id, created_at, closed_at, updated_at, status, agency, category, source"

load_sf311() {
    gunzip -c "$TESTS/data/sf311_requests.csv.gz" |
        awk -v each=$EACH 'NR == 1 || (NR - 2) % each == 0' >requests.csv
    if [ "$STORE_NAME" = sqlite ]; then
        q "CREATE TABLE request (request_id INTEGER PRIMARY KEY, created_at TEXT,
           closed_at TEXT, updated_at TEXT, status TEXT, agency TEXT, category TEXT, source TEXT)"
        sqlite3 -batch -cmd '.mode csv' -cmd '.import --skip 1 requests.csv request' \
            "${PRESCIENT_STORE#sqlite:}" "UPDATE request SET closed_at = NULL WHERE closed_at = ''"
    else
        q "CREATE TABLE request (request_id bigint PRIMARY KEY, created_at timestamptz, closed_at timestamptz,
           updated_at timestamptz, status text, agency text, category text, source text)"
        PGTZ=UTC psql -qX "$PRESCIENT_STORE" \
            -c "\\copy request ($columns) from requests.csv with (format csv, header)"
    fi
}

# The truth, from the table alone: for each request the slots of its three looks; a look finds it
# closed, or it is an event and, unless it was the last, a run of the log; the first look that finds
# it closed, or the last one, ends it.
truth_looks_sqlite="
  first AS (SELECT request_id, strftime('%s', created_at) + 86400 AS wanted,
      CAST(strftime('%s', closed_at) AS INTEGER) AS closed FROM request),
  slotted AS (SELECT request_id, closed,
                     wanted - wanted % 900 + CASE WHEN wanted % 900 = 0 THEN 0 ELSE 900 END AS at FROM first),
  look AS (SELECT request_id, n, at + after AS slot, coalesce(closed <= at + after, 0) AS is_closed
             FROM slotted, (SELECT 0 AS n, 0 AS after UNION ALL SELECT 1, 172800 UNION ALL SELECT 2, 518400))"
truth_looks_postgresql="
  first AS (SELECT request_id, closed_at, created_at + interval '24 hours' AS wanted FROM request),
  slotted AS (SELECT request_id, closed_at, date_trunc('hour', wanted)
                     + ceil(extract(epoch FROM wanted - date_trunc('hour',
                         wanted)) / 900)::int * interval '15 minutes' AS at FROM first),
  look AS (SELECT request_id, n, extract(epoch FROM at + after)::bigint AS slot,
      coalesce(closed_at <= at + after, false) AS is_closed
             FROM slotted, (VALUES (0, interval '0'), (1, interval '48 hours'),
             (2, interval '144 hours')) d (n, after))"

truth_sf311() {
    local looks=truth_looks_$STORE_NAME
    PGTZ=UTC q "WITH ${!looks}
       SELECT 'event', request_id, slot, n, 'request.open' FROM look WHERE NOT is_closed
       UNION ALL
       SELECT 'run', l.request_id, l.slot, l.n + 1, 'again' FROM look l WHERE NOT l.is_closed AND l.n < 2
       UNION ALL
       SELECT 'history', request_id, min(slot), min(n), 'done' FROM look WHERE is_closed OR n = 2
           GROUP BY request_id" | LC_ALL=C sort
}

found() {
    q "SELECT 'event', entity_key, <slot_at>, check_count, event FROM {event}
       UNION ALL
       SELECT 'run', entity_key, <slot_at>, check_count, outcome FROM {future_job_run}
       UNION ALL
       SELECT 'history', entity_key, <slot_at>, check_count, outcome
           FROM {future_job_history}" | LC_ALL=C sort
}

same_lists() {
    if cmp -s "$2" "$3"; then pass "$1 ($(wc -l <"$3") rows)"; else
        fail "$1" "found and not expected (of $(comm -23 "$2" "$3" |
            wc -l)): $(comm -23 "$2" "$3" | head -3 | tr '\n' ' ')" \
            "expected and not found (of $(comm -13 "$2" "$3" | wc -l)): $(comm -13 "$2" "$3" |
                head -3 | tr '\n' ' ')"
    fi
}

# children_ms: processor time of all that this shell has started and waited for
children_ms() {
    awk -v per_s="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) * 1000 / per_s }' "/proc/$$/stat"
}

# replay NAME FROM TO: how long it takes depends on what else runs. So it is the processor time of
# the engine and its workers that is limited, to 3 ms a request of the larger table; it takes one at
# most. (That of PostgreSQL is watched by bench/guard.sh.)
replay() {
    local began used; began=$(now_ms) used=$(children_ms)
    ok "$STORE_NAME: $1: replay" "$P" --quiet --json replay --from "$2" --to "$3"
    local took=$(($(now_ms) - began))
    used=$(($(children_ms) - used))
    cp .out "$1.$STORE_NAME.out"
    echo "# $STORE_NAME: $1: $((took / 1000)).$(printf %03d \
        $((took % 1000))) s, $(number slots .out) slots, $(number run .out) runs"
    in_time "$STORE_NAME: $1: processor time of the replay" "$used" $((REQUESTS * 3))
}

nothing_is_left() {
    local not_closed="closed_at IS NULL"; [ "$STORE_NAME" = postgresql ] || not_closed="closed_at_us IS NULL"
    is "$STORE_NAME: $1: nothing is pending" "$(pending)" 0
    is "$STORE_NAME: $1: no lease is left" "$(q 'SELECT count(*) FROM {slot_lease}')" 0
    is "$STORE_NAME: $1: every slot is closed" \
        "$(q "SELECT count(*) FROM {slot_pass} WHERE pass = 0 AND $not_closed")" 0
}

sf311() {
    a_clean_store
    load_sf311
    is "$STORE_NAME: sf311: requests in the table" "$(q 'SELECT count(*), count(closed_at) FROM request')" \
        "$REQUESTS|$CLOSED"
    settings_sf311
    local created="extract(epoch FROM created_at)::bigint"
    [ "$STORE_NAME" = postgresql ] || created="strftime('%s', created_at)"
    {
        echo "entity_name,entity_key,job_exec,check_at"
        q "SELECT 'request', request_id, 'request_closed', $created + 86400 FROM request" | tr '|' ,
    } >checks.csv
    is "$STORE_NAME: sf311: enqueued" "$("$P" --quiet --now 2008-07-01T00:00:00Z enqueue --from checks.csv)" \
        "$REQUESTS added, 0 kept, 0 moved, 0 replaced, 0 skipped"
    replay sf311 2008-07-01T00:00:00Z 2018-12-31T00:00:00Z
    truth_sf311 >"sf311.truth.$STORE_NAME"
    found >"sf311.found.$STORE_NAME"
    is "$STORE_NAME: sf311: the truth has every request end once" \
        "$(grep -c '^history' "sf311.truth.$STORE_NAME")" $REQUESTS
    same_lists "$STORE_NAME: sf311: events, runs and history are what SQL says" \
        "sf311.found.$STORE_NAME" "sf311.truth.$STORE_NAME"
    nothing_is_left sf311
}

# ---- Northwind: an order looks for its ShippedDate on its RequiredDate, and then each week, four
# times at most

load_northwind() {
    sed '1d' "$TESTS/data/northwind_orders.csv" >orders.csv
    if [ "$STORE_NAME" = sqlite ]; then
        q 'CREATE TABLE "Orders" ("OrderID" INTEGER PRIMARY KEY, "CustomerID" TEXT, "EmployeeID" INTEGER,
           "OrderDate" TEXT, "RequiredDate" TEXT, "ShippedDate" TEXT, "ShipVia" INTEGER, "Freight" REAL)'
        sqlite3 -batch -cmd '.mode csv' -cmd '.import orders.csv Orders' \
            "${PRESCIENT_STORE#sqlite:}" "UPDATE Orders SET ShippedDate = NULL WHERE ShippedDate = ''"
        q "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now)
           SELECT 'Orders', \"OrderID\", 'shipped', \"RequiredDate\",
               CAST(strftime('%s', \"OrderDate\") AS INTEGER) FROM \"Orders\""
    else
        q 'CREATE TABLE "Orders" ("OrderID" integer PRIMARY KEY, "CustomerID" text, "EmployeeID" integer,
           "OrderDate" timestamptz, "RequiredDate" timestamptz, "ShippedDate" timestamptz, "ShipVia" integer,
           "Freight" numeric)'
        PGTZ=UTC psql -qX "$PRESCIENT_STORE" -c '\copy "Orders" from orders.csv with (format csv)'
        q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec,
           first_check_at, next_check_at)
           SELECT prescient.bucket_of('Orders', \"OrderID\"::text), 'Orders', \"OrderID\", 'shipped',
               \"RequiredDate\", \"RequiredDate\" FROM \"Orders\""
    fi
}

truth_northwind() {
    local at closed
    if [ "$STORE_NAME" = sqlite ]; then
        at="CAST(strftime('%s', \"RequiredDate\") AS INTEGER)" \
            closed="CAST(strftime('%s', \"ShippedDate\") AS INTEGER)"
    else
        at='extract(epoch FROM "RequiredDate")::bigint' closed='extract(epoch FROM "ShippedDate")::bigint'
    fi
    q "WITH look AS (
           SELECT \"OrderID\" AS id, n, $at + n * 604800 AS slot,
               coalesce($closed <= $at + n * 604800, 1 = 0) AS is_shipped
             FROM \"Orders\", (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) d)
       SELECT 'event', id, slot, n, 'order.unshipped' FROM look WHERE NOT is_shipped
       UNION ALL
       SELECT 'run', id, slot, n + 1, 'again' FROM look WHERE NOT is_shipped AND n < 3
       UNION ALL
       SELECT 'history', id, min(slot), min(n),
           CASE WHEN max(CASE WHEN is_shipped THEN 1 ELSE 0 END) = 1 THEN 'done' ELSE 'max_checks' END
         FROM look WHERE is_shipped OR n = 3 GROUP BY id" | LC_ALL=C sort
}

northwind() {
    a_clean_store
    settings 'jobs = { shipped = { plugin = "sql_check"; max_checks = 3; settings = {
        query_postgresql = "SELECT k FROM json_array_elements_text($1::json) AS k"
                           " JOIN \"Orders\" o ON o.\"OrderID\" = k::int"
                           " WHERE o.\"ShippedDate\" <= to_timestamp($2)";
        query_sqlite = "SELECT k.value FROM json_each($1) AS k JOIN Orders o ON o.OrderID = k.value"
                       " WHERE strftime('"'%s'"', o.ShippedDate) + 0 <= CAST($2 AS INTEGER)";
        event = "order.unshipped";
        again_every = "7d";
    }; }; };'
    load_northwind
    is "$STORE_NAME: northwind: enqueued in plain SQL" "$(pending)" 830
    replay northwind 1996-07-01 1998-12-31
    truth_northwind >"northwind.truth.$STORE_NAME"
    found >"northwind.found.$STORE_NAME"
    same_lists "$STORE_NAME: northwind: events, runs and history are what SQL says" \
        "northwind.found.$STORE_NAME" "northwind.truth.$STORE_NAME"
    local key='"OrderID"'; [ "$STORE_NAME" = sqlite ] || key='"OrderID"::text'
    is "$STORE_NAME: northwind: the 21 orders that were never shipped end by the guard" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} JOIN \"Orders\" ON $key = entity_key
              WHERE \"ShippedDate\" IS NULL GROUP BY outcome")" "max_checks|21"
    nothing_is_left northwind
}

# As the tests' PostgreSQL runs without fsync, SQLite's file is in memory.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    MEMORY=$(mktemp -d /dev/shm/prescient-test.XXXXXX)
    trap 'rm -rf "$MEMORY"; everything_ends || exit 1' EXIT
fi
sf311_in_memory() { in_memory sf311; }
northwind_in_memory() { in_memory northwind; }
in_memory() {
    [ "$STORE_NAME" = postgresql ] || [ -z "${MEMORY:-}" ] || PRESCIENT_STORE=sqlite:$MEMORY/$1.db; "$1"
}
on_each_store sf311_in_memory
on_each_store northwind_in_memory
for set in sf311 northwind; do
    [ ! -f "$set.found.postgresql" ] || same_lists "$set: both stores wrote the same" \
        "$set.found.sqlite" "$set.found.postgresql"
done
