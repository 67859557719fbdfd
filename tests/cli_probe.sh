#!/usr/bin/env bash
# doctor, jobs and config --check find what a check would run into: misspelt settings, tables and
# columns that do not exist, a business database that is away or lets nobody in, rights that are
# missing, each with the line that mends it.
# night: it waits for timeouts
# about 25 s
. "$(dirname "$0")/lib.sh"

JOBS=$(dirname "$P")/jobs

# job PLUGIN SETTINGS [MORE]: prescient.cfg with the job `asks`, and MORE lines.
job() {
    {
        echo "plugin_dirs = [\"$JOBS\", \"$TMP/jobs\"];"
        echo "jobs = { asks = { plugin = \"$1\"; settings = { $2 }; }; };"
        echo "${3:-}"
    } >prescient.cfg
    chmod 600 prescient.cfg
}

# finds WHAT WORDS: all three say so, and end accordingly.
finds() {
    local words=$2
    is "$STORE_NAME: doctor ends with 1: $1" "$("$P" doctor >.doctor 2>&1; echo $?)" 1
    has "$STORE_NAME: doctor: $1" "$(cat .doctor)" "error  job: asks: $words"
    is "$STORE_NAME: jobs ends with 1: $1" "$("$P" jobs --json >.jobs 2>&1; echo $?)" 1
    has "$STORE_NAME: jobs: $1" "$(json 'j[0]["is_usable"], j[0]["why_not"]' <.jobs)" "$words"
    fails_with 78 "job asks: $words" "$P" config --check
}

mistakes() {
    local missing='relation "ordres" does not exist' typo='column "shiped_at" does not exist'
    local none='syntax error at or near "SELEKT"'
    [ "$STORE_NAME" = postgresql ] || {
        missing='prepare: no such table: ordres' typo='prepare: no such column: '
        none='prepare: near "SELEKT": syntax error'
    }
    "$P" init >/dev/null
    sql 'CREATE TABLE orders (id integer PRIMARY KEY, shipped_at integer)'
    job unshipped_order 'table = "orders";'
    is "$STORE_NAME: all is well" "$("$P" doctor --json | json 'sorted({f["level"] for f in j})')" "['ok']"
    has "$STORE_NAME: the business database is asked" "$("$P" doctor)" "ok     business: "
    is "$STORE_NAME: config --check" "$("$P" config --check)" \
        "the settings are good: 1 job, every job can be run"

    job unshipped_order 'tabel = "orders"; key = "id";'
    finds "a misspelt setting" "there is no setting 'tabel'; did you mean 'table'?"
    "$P" enqueue orders 1 asks +1h >/dev/null
    fails_with 78 "job asks: there is no setting 'tabel'; did you mean 'table'?" "$P" --now +1d run
    job unshipped_order 'colour = "red";'
    finds "a setting of another program" "there is no setting 'colour'; its plug-in asks for "
    job sql_check 'querry = "SELECT $1"; event = "e";'
    finds "what is not set under its own name" "there is no setting 'querry'; did you mean 'query'?"
    job sql_check 'event = "e";'
    finds "no query" "setting 'query' (or 'query_"
    job unshipped_order 'table = "ordres";'
    finds "a table that does not exist" "business database: $missing"
    job unshipped_order 'shipped = "shiped_at";'
    finds "a column that does not exist" "business database: $typo"
    has "$STORE_NAME: doctor names the column" "$("$P" doctor)" shiped_at
    sql 'CREATE TABLE flags (id integer PRIMARY KEY, shipped boolean NOT NULL DEFAULT false)'
    job unshipped_order 'table = "flags"; shipped = "shipped";'
    finds "a column that is never NULL" "column 'shipped' of 'flags' is NOT NULL, so every order would count"
    sql 'CREATE TABLE marks (id integer PRIMARY KEY, shipped boolean DEFAULT false)'
    sql 'CREATE VIEW seen AS SELECT * FROM marks'
    for table in marks seen; do
        job unshipped_order "table = \"$table\"; shipped = \"shipped\";"
        finds "a boolean of $table" "column 'shipped' of '$table' is a boolean, so every order would count"
    done
    job unshipped_order 'again_after = 24;'
    finds "a duration without a unit" "setting 'again_after': found 24, expected a unit"
    job sql_check 'query = "SELECT id FROM ordres WHERE $1 IS NULL"; event = "e";'
    finds "a table of a query that does not exist" "business database: $missing"
    job sql_check 'query = "SELEKT $1"; event = "e";'
    finds "a query that is none" "business database: $none"
    sql 'DROP TABLE orders'
}

# The user that jobs query as: what it may not read is named, with the line that mends it. The line
# is run, and then all is well.
rights() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local reader="prescient_cli_$$_reader" as_reader grant
    ROLES=$reader
    "$P" init >/dev/null
    sql "CREATE ROLE $reader LOGIN"
    sql 'CREATE TABLE orders (id integer PRIMARY KEY, shipped_at integer)'
    sql 'CREATE SCHEMA "MyShop" CREATE TABLE "Order" (id integer PRIMARY KEY, shipped_at integer)'
    as_reader=$(sed "s#://postgres@#://$reader@#" <<<"$PRESCIENT_STORE")
    for table in orders MyShop.Order MyShop.Order; do
        job unshipped_order "table = \"$table\";" "business = \"$as_reader\";"
        grant=$("$P" jobs --json | json '(j[0]["why_not"] or "none").split("as its owner run: ")[-1]')
        case $table$grant in
        orders*) is "a table is named" "$grant" "GRANT SELECT ON orders TO $reader"
            finds "a table that may not be read" "business database: permission denied for table orders" ;;
        *SCHEMA*) is "a schema is named" "$grant" "GRANT USAGE ON SCHEMA \"MyShop\" TO $reader" ;;
        *) is "a name is quoted, and has its schema" "$grant" \
            "GRANT SELECT ON \"MyShop\".\"Order\" TO $reader" ;;
        esac
        sql "$grant"
    done
    is "and then all is well" "$("$P" doctor | grep -c '^error')" 0

    job unshipped_order '' "business = \"${as_reader/$reader/nobody_$reader}\";"
    finds "a user that the server does not let in" "business database: connect: "
    has "it is the business database that doctor names" "$("$P" doctor)" \
        "error  business: business database: "
    has "and the server's own words" "$("$P" doctor)" "\"nobody_$reader\" does not exist"
    for url in "$PRESCIENT_STORE" "sqlite:$TMP/no-such.db"; do
        [[ $url == sqlite:* ]] || url=$(sed -E 's#(//[^/]*/)[^?]*#\1no-db#' <<<"$url")
        job unshipped_order '' "business = \"$url\";"
        fails_with 78 "business database: " "$P" config --check
    done
    job unshipped_order '' "business = \"postgresql://u@/d?host=$TMP/none\";"
    is "a database that is away is no mistake of the settings" "$("$P" config --check 2>.err; echo $?)" \
        "the settings are good: 1 job, every plug-in loads; what the jobs ask could not be tried
0"
    has "and warned of" "$(cat .err)" "warning: business database: connect: "
    has "doctor and jobs need it" "$("$P" doctor)" "error  job: asks: business database: connect: "
    job noop '' "business = \"postgresql://u@/d?host=$TMP/none\";"
    is "a job that asks nothing can be run" "$("$P" jobs --json | json 'j[0]["is_usable"]')" True
    has "doctor still finds it" "$("$P" doctor)" "error  business: business database: connect: "
    sql "DROP TABLE orders; DROP SCHEMA \"MyShop\" CASCADE; DROP OWNED BY $reader; DROP ROLE $reader"
}
on_each_store mistakes
on_each_store rights

# Plug-ins of somebody else: what they do while they are tried ends with them.
trials() {
    export PRESCIENT_STORE="sqlite:$TMP/trials.db"
    local ask='static int ask(void *state, char *why, size_t size) { (void)state, (void)why, (void)size;'
    STORE_NAME=sqlite
    "$P" init >/dev/null
    plugin lazy 'prescient_done(answer); (void)host->setting(host, "later");'
    job lazy 'later = 1;'
    finds "settings that open did not ask for" "there is no setting 'later'; its plug-in asks for none"
    # as one that was compiled before there was a `probe`
    sed -i 's/PRESCIENT_PLUGIN(\(.*\));/const struct prescient_plugin prescient_plugin = { .abi = 1, \
        .size = offsetof(struct prescient_plugin, probe), \1 };/' lazy.c
    cc -shared -fPIC -I"$ROOT/include" -o jobs/lazy.so lazy.c
    is "an older plug-in may ask later" "$("$P" jobs --json | json 'j[0]["is_usable"], j[0]["why_not"]')" \
        "(True, None)"
    "$P" enqueue orders 1 asks +1h >/dev/null
    has "and is warned of" "$("$P" --now +1d run 2>&1)" \
        "job asks: there is no setting 'later'; its plug-in asks for none"

    probe() { plugin "$1" 'prescient_done(answer);' "$ask $2 }"
        sed -i 's/\.job_exec = run/&, .probe = ask/' "$1.c"
        cc -shared -fPIC -I"$ROOT/include" -o "jobs/$1.so" "$1.c"; job "$1" ''; }
    probe unwell 'snprintf(why, size, "the moon is full"); return -1;'
    finds "its own words" "the moon is full"
    probe wordless 'return -1;'
    finds "none" "its probe() failed without a message"
    probe aborts 'abort();'
    finds "one that crashes" "crashed while it was tried (Aborted)"
    probe leaves '_exit(3);'
    finds "one that leaves" "ended the process while it was tried (exit code 3)"
    local start=$SECONDS
    probe hangs 'pause(); return 0;'
    cp prescient.cfg hangs.cfg
    "$P" --config hangs.cfg jobs --json >hangs.json &
    # four that hang while they are loaded, and a good one behind them
    plugin sleeps 'prescient_done(answer);' \
        'static void __attribute__((constructor)) start(void) { pause(); }'
    {
        echo "plugin_dirs = [\"$JOBS\", \"$TMP/jobs\"];"
        echo 'jobs = { a = { plugin = "sleeps"; }; b = { plugin = "sleeps"; }; c = { plugin = "sleeps"; };'
        echo '         d = { plugin = "sleeps"; }; e = { plugin = "noop"; }; };'
    } >sleeps.cfg
    chmod 600 sleeps.cfg
    "$P" --config sleeps.cfg config --check >sleeps.check 2>&1 &
    "$P" --config sleeps.cfg doctor >sleeps.doctor 2>&1 &
    # fd 3 is the worker's line to the program that tries the job: what comes there need not be true
    local room
    printf '#include "wire/message.h"\n#include <stdio.h>\nint main(void) { printf("%%zu", %s); }\n' \
        'sizeof(struct probed)' | cc -iquote "$ROOT/engine" -I"$ROOT/include" -o room -x c - && room=$(./room)
    probe forges "char report[$room + 1]; memset(report, 0x7f, sizeof report); *report = 'p'; \
        if (write(3, report, sizeof report) < 0) return 0; pause(); return 0;"
    is "one that forges a report crashes nobody" "$("$P" doctor >.out 2>&1; echo $?)" 1
    probe announces 'for (;;) { if (write(3, "o\0\0\0", 5) < 0) return 0; usleep(300000); }'
    has "one that begins again and again" "$("$P" jobs --json | json 'j[0]["why_not"]')" \
        "was not tried within 8 s"
    wait
    has "one that hangs" "$(json 'j[0]["why_not"]' <hangs.json)" "was not tried within 8 s"
    local untried="was not tried: the jobs before it hung for 15 s, and all together have 15 s; correct"
    sed -i 's/hung for 1[6-9] s/hung for 15 s/' sleeps.check sleeps.doctor     # a machine with other work
    has "several that hang have a time together: config --check" "$(cat sleeps.check)" "warning: d: $untried"
    has "and doctor" "$(cat sleeps.doctor)" "warn   job: e: $untried"
    is "those that hung are told as before" \
        "$(cat sleeps.check sleeps.doctor | grep -c 'plug-in sleeps: was not loaded within 5 s')" 6
    ok "both are ended, and get no more time" test $((SECONDS - start)) -lt 24
    start=$SECONDS
    probe hides 'if (fork() == 0) { setsid(); sleep(11); _exit(0); } _exit(3);'
    finds "one that leaves somebody behind" "ended the process while it was tried (exit code 3)"
    local took=$((SECONDS - start))
    ok "is told of at once, three times, whoever has the other end of its line ($took s)" \
        test $took -lt 8
    probe loud 'for (int i = 0; i < 100000; i++) puts("all is well, all is well, all is well"); return 0;'
    is "one that prints does not block" "$("$P" jobs >.out 2>&1; echo $?)" 0
}


trials
