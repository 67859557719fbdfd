#!/usr/bin/env bash
# The mistakes of a newcomer, one after the other: what each is answered with, in full words. Each
# answer has what happened, to what, why, and what to do. None is answered with "all is well".
. "$(dirname "$0")/lib.sh"

J=unshipped_order

# says CODE TEXT command...: the exit code, and the last line on stderr after "prescient COMMAND: "
says() {
    local code=$1 text=$2 found=0; shift 2
    "$@" >"$TMP/.out" 2>"$TMP/.err" || found=$?
    local last; last=$(tail -n 1 "$TMP/.err" | sed -E 's/^prescient[a-z ]*: //')
    if [ "$found" = "$code" ] && [ "$last" = "$text" ]; then
        echo "ok - $STORE_NAME: exit $code: $text"
    else
        report "$STORE_NAME: exit $code: $text" "command:  $*" "found:    exit code $found: $last"
    fi
}

sql() {
    if [ "$STORE_NAME" = sqlite ]; then sqlite3 "${PRESCIENT_STORE#sqlite:}" "$1"
    else psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" -c "$1"; fi
}

# settings FILE [SED-COMMAND]: good settings, with one mistake
settings() {
    sed -e "${2:-}" >"$1" <<CFG
workers = 1;
jobs = {
    unshipped_order = { plugin = "unshipped_order"; timeout = "1m"; settings = { table = "orders"; }; };
};
CFG
    chmod 600 "$1"
}

of_the_command_line() {
    says 2 "unknown command 'enque'; did you mean 'enqueue'?" $P enque orders 1 $J +3h
    says 2 "unknown option --confict; did you mean --conflict?" \
        $P enqueue orders 1 $J +3h --confict keep
    local times="expected a time such as 2026-03-01T13:15:00Z, 2026-12-01 09:00 Europe/Berlin, 1772370900"
    times="$times, 3h, -2w, tomorrow 09:00, next monday or now"
    says 2 "\"3 hourz\": $times (that is not a time; did you mean +3h)" $P enqueue orders 1 $J '3 hourz'
    says 2 "\"tomorow\": $times (that is not a time; did you mean tomorrow)" $P enqueue orders 1 $J tomorow
    says 2 "\"2030-02-30\": $times (that month has no such day)" $P enqueue orders 1 $J 2030-02-30
    says 0 "2020-01-01T00:00:00Z has passed: the check is filed under the next slot" \
        $P enqueue orders 1 $J 2020-01-01
    is "$STORE_NAME: a time without a zone is UTC, and the answer shows it" \
        "$(TZ=America/New_York $P enqueue orders 2 $J '2030-01-01 10:00')" \
        "new: orders 2 $J at 2030-01-01T10:00:00Z"
    says 2 "slot 2030-01-01T00:15:00Z has not begun yet (now is 2030-01-01T00:00:00Z)" \
        $P --now 2030-01-01 --quiet --log-level error run --slot 2030-01-01T00:15:00Z
    is "$STORE_NAME: a check that does not wait" "$($P reschedule orders 99 $J +3h; echo $?)" \
        "no check waits for orders 99 $J; prescient enqueue writes one down
1"
    is "$STORE_NAME: a list of nothing repeats what was asked for" "$($P list order 1)" \
        "no checks wait for order 1"
    is "$STORE_NAME: or nothing of a job" "$($P list --job unshiped; $P history --job nn 2>&1)" \
        "no checks wait (job: unshiped)
no check is over (job: nn)"
    says 2 "nowhere.csv: No such file or directory" $P enqueue --from nowhere.csv
    says 2 "/: cannot be read: Is a directory" $P enqueue --from /
    printf '%s\n' entity,key,job,at orders,7,$J,+1h orders,8,$J >bad.csv
    $P enqueue --from bad.csv >out 2>err
    is "$STORE_NAME: a line of a CSV file that lacks a field" "$? $(cat err out)" \
        "2 prescient enqueue: bad.csv:3: found 3 fields, expected 4 as in the header
prescient enqueue: nothing was written
0 added, 0 kept, 0 moved, 0 replaced, 0 skipped"
}

of_the_settings() {
    settings good.cfg
    ok "$STORE_NAME: the settings without a mistake" $P config --check --config good.cfg
    says 0 "no such job in good.cfg: 'unshiped_order'; did you mean '$J'? \
(the check is filed and waits for an engine that has the job)" \
        $P --config good.cfg enqueue orders 3 unshiped_order +3h
    says 0 "no such job in good.cfg: 'unshiped_order'; did you mean '$J'?" \
        $P --config good.cfg runs --job unshiped_order
    says 78 "cannot open none.cfg: No such file or directory; \
\`prescient config --sample > FILE\` makes one, --config names another" $P list --config none.cfg
    echo 'jobs = { one = {' >cut.cfg
    chmod 600 cut.cfg
    says 78 "cut.cfg:1: syntax error: the file ends within a setting or a group: expected NAME = VALUE; \
and }; where a group ends" $P list --config cut.cfg
    settings a.cfg s/workers/wrokers/
    says 78 "a.cfg:1: unknown setting \"wrokers\"; did you mean \"workers\"?" $P list --config a.cfg
    settings b.cfg 's/= 1;/= = 1;/'
    says 78 "b.cfg:1: syntax error: expected NAME = VALUE; with durations, sizes and texts in quotes" \
        $P list --config b.cfg
    says 78 '--set leas: there is no such setting; did you mean "lease"?' $P list --set leas=30s
    settings c.cfg 's/plugin = "unshipped/plugin = "unshiped/'
    $P config --check --config c.cfg >out 2>&1
    has "$STORE_NAME: a plug-in that is misspelt: which, and where it was looked for" "$? $(cat out)" \
        "78 prescient config: job $J: plug-in unshiped_order: plug-in: no file unshiped_order.so; \
did you mean $J? (looked into "
    settings d.cfg s/table/tabel/
    says 78 "job $J: there is no setting 'tabel'; did you mean 'table'?" $P config --check --config d.cfg
    settings e.cfg '1s/^/slot_length = "5m"; /'
    $P list --config e.cfg >out 2>&1
    has "$STORE_NAME: another slot length than the store's" "$? $(cat out)" \
        "78 prescient list: slot_length is 300 s in the settings and 900 s in "
    has "$STORE_NAME: and the line that changes it" "$(cat out)" "prescient migrate --slot-length "
    settings i.cfg "1s#^#store = \"$PRESCIENT_STORE\"; #"
    is "$STORE_NAME: a variable of the environment that wins over the file" \
        "$(unset PRESCIENT_STORE; export DATABASE_URL=postgresql://app@127.0.0.1:1/app
        $P config --config i.cfg 2>&1 >/dev/null)" \
        "prescient config: the setting store is that of DATABASE_URL, not that of i.cfg:1"
    has "$STORE_NAME: a run tells it, too, however quiet" \
        "$(unset PRESCIENT_STORE; export DATABASE_URL=postgresql://app:secret@127.0.0.1:1/app
        $P --quiet --log-level warn run --config i.cfg 2>&1 >/dev/null)" \
        "the store is that of DATABASE_URL, postgresql://app:***@127.0.0.1:1/app, \
not that of i.cfg:1"
    is "$STORE_NAME: and a variable of our own is no surprise" \
        "$($P --quiet run --config e.cfg --set slot_length=15m 2>&1 | grep -c 'the store is that of')" 0
    is "$STORE_NAME: init in a folder without settings" \
        "$(unset PRESCIENT_STORE; mkdir -p bare; cd bare && $P --quiet init 2>&1; rm -f prescient.db*)" \
        "prescient init: there is no settings file: the store is sqlite:prescient.db, in this folder. \
Engines that were given settings or another --store do not look there"
    is "$STORE_NAME: init that was told where says nothing" \
        "$(unset PRESCIENT_STORE; cd bare && $P --quiet init --store sqlite:other.db 2>&1)" ""
    if [ "$(id -u)" != 0 ]; then
        chmod 0 e.cfg
        says 78 "cannot open e.cfg: Permission denied" $P list --config e.cfg
    fi
    chmod 666 e.cfg
    $P list --config e.cfg >out 2>&1
    has "$STORE_NAME: a settings file that everybody may write" "$? $(cat out)" "78 prescient list: "
    has "$STORE_NAME: with its name" "$(cat out)" "e.cfg"
}

of_the_business_tables() {
    settings f.cfg 's/"orders"/"order"/'
    settings g.cfg 's/"orders";/"orders"; shipped = "shiped_at";/'
    local table='prepare: no such table: order' column='prepare: no such column: '
    if [ "$STORE_NAME" = postgresql ]; then
        table='relation "order" does not exist, SQLSTATE 42P01'
        column='column "shiped_at" does not exist, SQLSTATE 42703; '
        column+='Perhaps you meant to reference the column "orders.shipped_at".'
    fi
    says 78 "job $J: business database: $table" $P config --check --config f.cfg
    $P config --check --config g.cfg >out 2>&1      # each SQLite quotes the name in its own way
    has "$STORE_NAME: exit 78: $column" "$? $(cat out)" \
        "78 prescient config: job $J: business database: $column"
    has "$STORE_NAME: with the column's name" "$(cat out)" shiped_at
    $P doctor --config f.cfg >out 2>&1
    has "$STORE_NAME: doctor has the same" "$? $(cat out)" "error  job: $J: business database: $table"
    $P list >/dev/full 2>err
    is "$STORE_NAME: a full disk" "$? $(cat err)" \
        "1 prescient: cannot write the output: No space left on device"
}

of_a_sqlite_store() {
    local file=${PRESCIENT_STORE#sqlite:}
    says 78 "there is no file $TMP/other.db: run 'prescient init' to make it" $P list --store sqlite:other.db
    says 78 "there is no folder $TMP/nowhere for the file x.db: make it, or correct \`store\`" \
        $P init --store sqlite:nowhere/x.db
    says 78 "there is no folder $TMP/nowhere for the file x.db: make it, or correct \`store\`" \
        $P list --store sqlite:nowhere/x.db
    sql "UPDATE prescient_migration SET oldest_engine = 99 WHERE version = 1"
    $P list >out 2>&1
    has "sqlite: a schema of a later program" "$? $(cat out)" "78 prescient list: $file has schema version "
    has "sqlite: and what to do" "$(cat out)" ": install a newer prescient"
}

# as ROLE: the URL of the store with that role
as() { sed -E "s#//[^/?]*@?/#//$1@/#" <<<"$PRESCIENT_STORE"; }
with_database() { sed -E "s#/[a-z0-9_]+\?#/$1?#" <<<"$PRESCIENT_STORE"; }

of_a_postgresql_store() {
    $P list --store "$(with_database nodb)" >out 2>&1
    has "postgresql: a database that does not exist" "$? $(cat out)" "78 prescient list: cannot connect: "
    has "postgresql: which, and what to do" "$(cat out)" 'FATAL:  database "nodb" does not exist; '\
'correct `store`, or make it, as a user who may: CREATE DATABASE nodb'
    is "postgresql: it is not tried again" "$(wc -l <out)" 1
    has "postgresql: no server" "$($P --log-level warn list --store postgresql://u@127.0.0.1:1/d 2>&1)" \
        'connection to server at "127.0.0.1", port 1 failed: Connection refused'
    local role=prescient_mistakes_$$            # roles are the whole server's
    sql "CREATE ROLE $role LOGIN"
    settings h.cfg "1s#^#business = \"$(as $role)\"; #"
    says 78 "job $J: business database: permission denied for table orders, SQLSTATE 42501; \
as its owner run: GRANT SELECT ON orders TO $role" $P config --check --config h.cfg
    local lacks="permission denied for schema prescient (user $role). \
As a superuser or an admin of that role run: GRANT"
    says 77 "$lacks prescient_reader TO $role" $P list --store "$(as $role)"
    says 77 "$lacks prescient_engine TO $role" $P --log-level error run --store "$(as $role)"
    says 77 "$lacks prescient_enqueuer TO $role" $P enqueue orders 1 $J +3h --store "$(as $role)"
    sql "DROP ROLE $role"
    # a wrong password: tests/denied.sh, whose server asks for one
    $P list --store "$(as $role)" >out 2>&1
    has "postgresql: a user that does not exist" "$? $(cat out)" "77 prescient list: "
    has "postgresql: with its name" "$(cat out)" "role \"$role\" does not exist; \
correct the user in \`store\`, or make it, as a superuser: CREATE USER $role"
    sql "UPDATE prescient.migration SET oldest_engine = 99 WHERE version = 1"
    $P list >out 2>&1
    has "postgresql: a schema of a later program" "$? $(cat out)" \
        "78 prescient list: schema 'prescient' is at version "
    has "postgresql: and what to do" "$(cat out)" " and serves programs that know version 99 or later; "
}

mistakes() {
    if [ "$STORE_NAME" = sqlite ]; then
        says 78 "there is no file $TMP/mistakes.db: run 'prescient init' to make it" $P list
    else
        says 78 "no usable schema (run \`prescient init\`): relation \"prescient.migration\" does not exist" \
            $P list
    fi
    is "$STORE_NAME: init --quiet is quiet" "$($P init --quiet 2>&1)" ""
    sql "CREATE TABLE orders (id $([ "$STORE_NAME" = sqlite ] && echo INTEGER || echo bigint) PRIMARY KEY,
        shipped_at text); INSERT INTO orders VALUES (1, NULL)"
    of_the_command_line
    of_the_settings
    of_the_business_tables
    "of_a_${STORE_NAME}_store"
}

on_each_store mistakes
