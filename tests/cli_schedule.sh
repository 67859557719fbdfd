#!/usr/bin/env bash
# Schedules from the command line to their runs: added, shown, changed, run over the days on which
# clocks are changed, missed, switched off, removed. A replay has the time.
# night: hundreds of commands
. "$(dirname "$0")/lib.sh"
json_begins

plugin broken 'prescient_fail(answer, "the shop is closed");'
cat >broken.cfg <<CFG
plugin_dirs = ["$TMP/jobs"];
workers = 1;
max_failures = 0;
jobs = { broken = { plugin = "broken"; }; };
CFG
cat >noop.cfg <<'CFG'
jobs = { sync = { plugin = "noop"; }; stock = { plugin = "noop"; }; };
CFG
at=2026-03-27T00:00:00Z

# The slots in which JOB ran.
runs_of() {
    $P runs --limit 0 --json |
        json "sorted(r['slot_at'][5:16].replace('T', ' ') for r in j if r['job_exec'] == '$1')"
}

prints_json() { p --json "$@" 2>/dev/null | python3 -m json.tool >/dev/null; }

# Files: three schedules whose checks go round, libconfig, pages, mistakes. What was there before
# is there again at the end.
loads() {
    local head=name,entity_name,entity_key,job_exec,every
    p schedule off weekly --why 'a file leaves it off' >/dev/null
    cp wanted.csv before.csv
    sed 's/shops,7/shops,x/; s/shops,8/shops,7/; s/shops,x/shops,8/' before.csv >swapped.csv
    is "$STORE_NAME: two schedules take over each other's checks" "$(p schedule load swapped.csv)" \
        "~ nightly: entity_key 7 -> 8
~ weekly: entity_key 8 -> 7"
    has "$STORE_NAME: what is off is told" "$(p schedule load swapped.csv 2>&1)" \
        "of the file, 1 stay switched off; prescient schedule on NAME switches one on"
    is "$STORE_NAME: each has its own, and what was off is off" \
        "$(p schedule list --json | json '[(r["name"], r["entity_key"], r["is_active"]) for r in j]')
$(p list --json | json '[r["entity_key"] for r in j]')" \
        "[('nightly', '8', True), ('weekly', '7', False)]
['8']"
    ok "$STORE_NAME: and back" p schedule load before.csv
    p schedule on weekly >/dev/null
    {
        cat before.csv
        echo 'ring a,shops,1,sync,,@daily,,'; echo 'ring b,shops,2,sync,,@daily,,'
        echo 'ring c,shops,3,sync,,@daily,,'
    } >ring.csv
    ok "$STORE_NAME: a load of three more" p schedule load ring.csv
    sed 's/ring a,shops,1/ring a,shops,2/; s/ring b,shops,2/ring b,shops,3/
        s/ring c,shops,3/ring c,shops,1/' ring.csv >turned.csv
    ok "$STORE_NAME: three go round" p schedule load turned.csv
    is "$STORE_NAME: and have gone round" \
        "$(p schedule list ring --json | json '[r["entity_key"] for r in j]')" "['2', '3', '1']"

    cat >wanted.cfg <<'CFG'
schedules = (
    { name = "nightly"; entity_name = "shops"; entity_key = 7; job_exec = "sync";
      cron = "30 2 * * *"; timezone = "Europe/Amsterdam"; },
    { name = "stock of 9"; entity_name = "shops"; entity_key = "9"; job_exec = "sync"; every = "6h";
      bias = 0.05; payload = "{\"n\": 1.10}"; concurrency_key = "shop 9";
      tenant = "shop"; }
);
CFG
    is "$STORE_NAME: a libconfig file, dry" "$(p schedule load wanted.cfg --dry-run)" "- ring a
- ring b
- ring c
- weekly
+ stock of 9"
    ok "$STORE_NAME: a libconfig file" p schedule load wanted.cfg
    is "$STORE_NAME: its values" "$(p schedule show 'stock of 9' --json |
        json '(j["every_s"], j["bias"], j["payload"], j["concurrency_key"], j["tenant"])')" \
        "(21600, 0.05, {'n': 1.1}, 'shop 9', 'shop')"
    is "$STORE_NAME: the list has them in the same unit" \
        "$(p schedule list --json | json '[(r["name"], r["bias"]) for r in j]')" \
        "[('nightly', None), ('stock of 9', 0.05)]"
    is "$STORE_NAME: its check has its key" \
        "$(p list shops 9 --json | json 'j[0]["concurrency_key"]')" "shop 9"
    is "$STORE_NAME: once more there is nothing to do" \
        "$(p schedule load - --format libconfig <wanted.cfg)" ""
    sed 's/"shop 9"/"shop 10"/' wanted.cfg >other.cfg
    is "$STORE_NAME: another key" "$(p schedule load other.cfg)" \
        "~ stock of 9: concurrency_key shop 9 -> shop 10"
    is "$STORE_NAME: as set" \
        "$(p schedule set 'stock of 9' --concurrency-key 'shop 9' --json | json 'j["outcome"]')
$(p list shops 9 --json | json 'j[0]["concurrency_key"]')" "changed
shop 9"
    fails_with 2 "concurrency_key" p schedule set 'stock of 9' --concurrency-key ""
    is "$STORE_NAME: another tenant" \
        "$(p schedule set 'stock of 9' --tenant others --json | json 'j["outcome"]')
$(p list shops 9 --json | json 'j[0]["tenant"]')
$(p schedule load wanted.cfg)" "changed
others
~ stock of 9: tenant others -> shop"
    sed 's/every = "6h"/every = "6x"/' wanted.cfg >bad.cfg
    fails_with 2 'bad.cfg:4: every: "6x"' p schedule load bad.cfg
    sed 's/entity_key = "9"/entity_ky = "9"/' wanted.cfg >bad.cfg
    fails_with 2 'bad.cfg:4: unknown setting "entity_ky"; did you mean entity_key?' p schedule load bad.cfg
    sed 's/every = "6h"/every = true/' wanted.cfg >bad.cfg
    fails_with 2 'bad.cfg:4: every: expected a text in quotes' p schedule load bad.cfg
    sed 's/name = "stock of 9"/name = "nightly"/' wanted.cfg >bad.cfg
    fails_with 2 'bad.cfg: bad.cfg:2 and bad.cfg:4 have the same name' p schedule load bad.cfg
    echo 'schedules = ( { name = "x"' >bad.cfg
    fails_with 2 'bad.cfg:1: syntax error' p schedule load bad.cfg
    echo 'jobs = { };' >bad.cfg
    fails_with 2 'bad.cfg:1: found "jobs", expected schedules = (' p schedule load bad.cfg
    : >bad.cfg
    fails_with 2 'bad.cfg: no schedules' p schedule load bad.cfg
    fails_with 2 "expected csv or libconfig" p schedule load wanted.cfg --format xml
    printf '%s\na,e,k,j,5m\nb,e,k,j,6m\n' $head >bad.csv
    fails_with 2 "bad.csv: line 2 and line 3 are of the same check" p schedule load bad.csv
    printf '%s\na,e,k,5m\n' $head >bad.csv
    fails_with 2 "bad.csv: line 2: found 4 fields, expected 5" p schedule load bad.csv
    printf '%s,missed\na,e,k,j,5m,run_all\n' $head >bad.csv
    fails_with 2 "bad.csv: line 2: missed is 'run_all', which belongs to cron" p schedule load bad.csv
    printf '%s,evry\n' $head >bad.csv
    fails_with 2 'line 1: unknown column "evry"; did you mean every?' p schedule load bad.csv

    { echo $head; seq 10 21 | awk '{ print "s" $1 ",shops,s" $1 ",sync,5m" }'; } >short.csv
    is "$STORE_NAME: what periods become is told of the first ten" \
        "$(p schedule load short.csv --dry-run 2>&1 >/dev/null | sed -n '1p; 10,$p')" \
        "prescient schedule: line 2: every 5m becomes 15m in slots of 15m
prescient schedule: line 11: every 5m becomes 15m in slots of 15m
prescient schedule: 2 more have an every that becomes another one in slots"
    { echo $head; seq 2500 | awk '{ printf "many %04d,shops,m%d,sync,5m\n", $1, $1 }'; } >many.csv
    is "$STORE_NAME: 2,500 come, and two go" "$(p schedule load many.csv | cut -c1 | uniq -c | tr -s ' ')" \
        " 2 -
 2500 +"
    ok "$STORE_NAME: a check without a schedule" p enqueue shops once sync +3d
    { sed 's/m1,sync,5m/m1,sync,10m/' many.csv
      echo 'many 2501,shops,new,sync,5m'; echo 'many 2502,shops,once,sync,5m'; } >mixed.csv
    is "$STORE_NAME: one changes, one is new, and one takes over a check that waits" \
        "$(p schedule load mixed.csv)" "~ many 0001: every 300 -> 600
+ many 2501
+ many 2502"
    is "$STORE_NAME: all three wait for the next slot" "$(p schedule list many --limit 0 --json |
        json '(len(j), [r["every_s"] for r in j[:2]],
               len({j[i]["next_check_at"] for i in (0, 2500, 2501)}))')" \
        "(2502, [600, 300], 1)"
    is "$STORE_NAME: a check has one schedule" "$(p list shops once --json | json 'len(j)')" 1
    sed 's/^many 2502/many 2503/' mixed.csv >swapped.csv
    is "$STORE_NAME: a schedule of another name takes over the check" "$(p schedule load swapped.csv)" \
        "- many 2502
+ many 2503"
    ok "$STORE_NAME: back to 2,500" p schedule load many.csv
    is "$STORE_NAME: a page behind a name" \
        "$(p schedule list --after 'many 1999' --limit 2 --json | json '[r["name"] for r in j]')" \
        "['many 2000', 'many 2001']"
    is "$STORE_NAME: a prefix, of one job" \
        "$(p schedule list 'many 249' --job sync --limit 0 --json | json 'len(j)')" 10
    is "$STORE_NAME: a prefix that none has" "$(p schedule list 'many 3' --json)" "[]"
    for entity in prescient.event prescient.digest; do
        sed "s/^many 0001,shops/many 0001,$entity/" many.csv >bad.csv
        fails_with 2 "$entity, which stands for" p schedule load bad.csv
    done
    sed 's/^many 0001,shops/many 0001,{shops/' many.csv >bad.csv
    fails_with 2 "line 2: entity_name: found '{shops', which begins like an array" \
        p schedule load bad.csv
    is "$STORE_NAME: the schedule stays that of its check" \
        "$(p schedule show 'many 0001' --json | json 'j["entity_name"]')" shops
    # a long name and key that only the store refuses: the rest of the page is written
    { echo $head; echo 'first,shops,1,sync,5m'
      python3 -c "print('too long,' + 'e' * 1000 + ',' + 'k' * 1000 + ',' + 'j' * 1000 + ',5m')"; } >bad.csv
    fails_with 2 "line 3, schedule 'too long'; all before it are written: " p schedule load bad.csv
    is "$STORE_NAME: what stands before a refused one is written" \
        "$(p schedule list --json | json '[r["name"] for r in j]')" "['first']"
    p schedule remove first >/dev/null
    is "$STORE_NAME: and told as JSON" \
        "$(p --json schedule load bad.csv 2>/dev/null | json 'j["is_complete"], j["added"], j["changes"]')" \
        "(False, 1, [{'name': 'first', 'change': 'added'}])"
    ok "$STORE_NAME: as it was, in JSON" p --json schedule load before.csv
    for action in "add once shops 99 sync --every 1h" "set once --every 2h" "off once" "on once" "show once" \
        "list once" "remove once"; do
        # shellcheck disable=SC2086
        ok "$STORE_NAME: schedule $action prints JSON" \
            prints_json schedule $action
    done
}

# What is asked for is run, and the rule goes on from there.
asked_for() {
    b() { $P --config broken.cfg --now "2026-05-01T$1:00Z" "${@:2}"; }
    waits() { $P list --json | json '[r["next_check_at"] for r in j]'; }
    b 10:00 schedule add bill orders 9 broken --cron @daily >/dev/null
    has "$STORE_NAME: earlier, in the slot where its first time is looked for" \
        "$(b 10:00 enqueue orders 9 broken +1m --conflict earlier)" "moved"
    is "$STORE_NAME: it runs there, and fails" "$(b 10:15 run >/dev/null 2>&1; echo $?; waits)" "1
['2026-05-02T00:00:00Z']"
    is "$STORE_NAME: a retry runs it once more" \
        "$(b 10:20 retry --job broken --json 2>err |
            json '[(r["entity_key"], r["outcome"], r["next_check_at"]) for r in j]')" \
        "[('9', 'moved', '2026-05-01T10:30:00Z')]"
    has "$STORE_NAME: and says what that means" "$(cat err)" \
        "moved: 1 check of a schedule is run at the time shown; the rule goes on from there"
    b 10:21 retry --job broken >out 2>err
    has "$STORE_NAME: once more, it waits" "$(cat err)" \
        "kept: 1 check waits already and will be run at the time shown"
    b 10:30 run >/dev/null 2>&1
    is "$STORE_NAME: no occurrence is used up" \
        "$($P history --job broken --json | json 'len(j)') $(waits)" "2 ['2026-05-02T00:00:00Z']"
    b 10:31 schedule remove bill >/dev/null
}

# Where its first time is still to be found, a check runs at no other time.
found_first() {
    e() { $P --config noop.cfg --now "2030-05-01T$1Z" "${@:2}"; }
    is_not_run() { is "$STORE_NAME: $1" "$($P list shops 5 --json |
        json '[r["next_check_at"] for r in j]') $($P runs --json | json \
            'sum(r["entity_key"] == "5" for r in j)')" "['$2'] 0"; }
    e 14:50:00 schedule add late shops 5 sync --cron '30 2 * * *' >/dev/null
    e 15:00:20 schedule set late --cron '30 3 * * *' >/dev/null
    is "$STORE_NAME: its times, when it was edited in the slot in which the first is to be found" \
        "$(e 15:00:30 schedule show late --json | json 'j["next_times"][0]')" 2030-05-02T03:30:00Z
    e 15:01:00 run >/dev/null 2>&1
    is_not_run "it is not run there" 2030-05-01T15:15:00Z
    e 15:15:00 run >/dev/null 2>&1
    is_not_run "nor in the next one, where it finds its time" 2030-05-02T03:30:00Z
    e 17:20:00 schedule set late --cron '30 2 * * *' >/dev/null
    $P --quiet migrate --slot-length 1h >/dev/null
    is "$STORE_NAME: its times, when slots have become longer" \
        "$(e 17:20:00 schedule show late --json | json 'j["next_times"][0]')" 2030-05-02T03:00:00Z
    e 18:00:30 run >/dev/null 2>&1
    is_not_run "it is not run in the slot that it was moved to" 2030-05-02T03:00:00Z
    $P --quiet migrate --slot-length 15m >/dev/null
    e 18:01:00 schedule remove late >/dev/null
}

schedules() {
    p() { $P --config noop.cfg --now $at "$@"; }
    ok "$STORE_NAME: init" $P init
    has "$STORE_NAME: an empty list says so" "$(p schedule list)" "no schedules"
    has "$STORE_NAME: add" \
        "$(p schedule add nightly shops 7 sync --cron '30 2 * * *' --timezone Europe/Amsterdam)" \
        "new: nightly; an engine looks for its first time in the slot 2026-03-27T00:15:00Z"
    is "$STORE_NAME: show has the next ten times, the skipped hour among them" \
        "$(p schedule show nightly --json | json 'len(j["next_times"]), j["next_times"][:3]')" \
        "(10, ['2026-03-27T01:30:00Z', '2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z'])"
    has "$STORE_NAME: a period that slots cannot keep is told" \
        "$(p schedule add stock shops 7 stock --every 5m --bias 0 2>&1)" "every 5m becomes"
    is "$STORE_NAME: list" \
        "$(p schedule list --json | json '[(r["name"], r["every_s"], r["is_active"]) for r in j]')" \
        "[('nightly', None, True), ('stock', 300, True)]"
    has "$STORE_NAME: set" "$(p schedule set stock --every 6h)" "changed: stock"
    has "$STORE_NAME: set of what is so already" "$(p schedule set stock --every 6h)" "kept: stock"
    has "$STORE_NAME: what it becomes is told by the bias that it has" \
        "$(p schedule set stock --every 6h 2>&1)" "every 6h becomes 6h15m in slots of 15m"
    fails_with 2 "cron: minute: 61 at column 1" p schedule add bad e k j --cron '61 * * * *'
    fails_with 2 "would never run" p schedule add bad e k j --cron '0 0 31 2 *'
    fails_with 2 "did you mean Europe/Amsterdam" p schedule add bad e k j --cron @daily \
        --timezone Europe/Amsterdm
    fails_with 2 "never negative" p schedule add bad e k j --every=-5m
    fails_with 2 "--missed: found 'RUN_ALL', expected run_once, run_all or skip" \
        p schedule set nightly --missed RUN_ALL
    fails_with 2 "schedule: missed is 'run_all', which belongs to cron" \
        p schedule add bad e k j --every 5m --missed run_all
    fails_with 2 "schedule: a bias belongs to --every" p schedule add bad e k j --cron @daily --bias 0.1
    fails_with 2 "schedule: a timezone belongs to --cron" \
        p schedule add bad e k j --every 5m --timezone UTC
    fails_with 2 "schedule: there is a schedule 'nightly' already" p schedule add nightly e k j --every 5m
    fails_with 2 "schedule: there is no schedule 'none'" p schedule set none --every 5m
    fails_with 2 "schedule: there is no schedule 'none'" p schedule on none
    fails_with 2 "of the same check" p schedule add bad shops 7 sync --every 5m
    fails_with 2 "prescient.event, which stands for deliveries" p schedule set stock prescient.event 7 stock
    fails_with 2 "prescient.digest, which stands for digests" p schedule set stock prescient.digest 7 stock
    fails_with 2 "like an array" p schedule set stock '{shops}' 7 stock
    fails_with 2 "like an array" p schedule add bad shops 8 '{sync}' --every 5m
    fails_with 2 "pause: there is no schedule" p pause --schedule none
    fails_with 2 "expected 0, or a fraction from 0.0001" p schedule add bad e k j --every 5m --bias 0.00001
    is "$STORE_NAME: a prefix that no name has, in words" "$(p schedule list zzz)" \
        "no such schedules; prescient schedule list has all"
    has "$STORE_NAME: a job that the settings lack is told" "$(p schedule set stock shops 7 stok 2>&1)" \
        "no such job in noop.cfg: 'stok'; did you mean 'stock'? (the check is filed and waits"
    p schedule set stock shops 7 stock >/dev/null
    fails_with 2 "0 to 0.5" p schedule add bad e k j --every 5m --bias 0.6
    fails_with 2 "one of them" p schedule add bad e k j --every 5m --cron @daily
    fails_with 2 "there is no schedule 'none'" p schedule show none
    # an option of another action is refused: a --dry-run that is ignored would write
    fails_with 2 "remove takes no --dry-run, which belongs to load" p schedule remove stock --dry-run
    fails_with 2 "off takes no --dry-run, which belongs to load" p schedule off stock --dry-run
    fails_with 2 "set takes no --dry-run, which belongs to load" p schedule set stock --every 7h --dry-run
    fails_with 2 "add takes no --dry-run" p schedule add bad e k j --every 5m --dry-run
    fails_with 2 "off takes no --every, which belongs to add and set" p schedule off stock --every 1h
    fails_with 2 "list takes no --cron" p schedule list --cron @daily
    fails_with 2 "remove takes no --why, which belongs to on and off" p schedule remove stock --why gone
    is "$STORE_NAME: and nothing is removed, switched or set" \
        "$(p schedule show stock --json | json 'j["is_active"], j["every_s"]')" "(True, 21600)"
    is "$STORE_NAME: what was refused made nothing" "$(p schedule list --json | json 'len(j)')" 2

    cat >wanted.csv <<'CSV'
name,entity_name,entity_key,job_exec,every,cron,timezone,missed
nightly,shops,7,sync,,30  2 * * *,Europe/Amsterdam,
weekly,shops,8,sync,,@WEEKLY,,skip
CSV
    is "$STORE_NAME: a dry load prints what would change" "$(p schedule load wanted.csv --dry-run)" "- stock
+ weekly"
    is "$STORE_NAME: as JSON" "$(p --json schedule load wanted.csv --dry-run | json 'j')" \
        "{'is_dry_run': True, 'is_complete': True, 'added': 1, 'changed': 0, 'removed': 1, 'kept': 1, \
'off': 0, 'changes': [{'name': 'stock', 'change': 'removed'}, {'name': 'weekly', 'change': 'added'}]}"
    is "$STORE_NAME: and changes nothing" "$(p schedule list --json | json '[r["name"] for r in j]')" \
        "['nightly', 'stock']"
    ok "$STORE_NAME: a load makes what is there equal to the file" p schedule load wanted.csv
    is "$STORE_NAME: it is" "$(p schedule list --json | json '[(r["name"], r["missed"]) for r in j]')" \
        "[('nightly', 'run_once'), ('weekly', 'skip')]"
    is "$STORE_NAME: once more there is nothing to do" "$(p schedule load wanted.csv 2>.told)" ""
    has "$STORE_NAME: which is told" "$(cat .told)" "nothing to change: what is there equals the file"
    sed 's/,sync,/,snyc,/' wanted.csv >typo.csv
    has "$STORE_NAME: a dry load tells jobs that the settings lack" \
        "$(p schedule load typo.csv --dry-run 2>&1)" "no such job in noop.cfg: 'snyc'; did you mean 'sync'?"
    sed -i 's/@WEEKLY,,skip/@daily,UTC,run_all/' wanted.csv
    is "$STORE_NAME: a change as JSON" \
        "$(p --json schedule load wanted.csv --dry-run | json 'j["changed"], j["changes"][0]["fields"]')" \
        "(1, {'cron': {'was': '@weekly', 'is': '@daily'}, 'missed': {'was': 'skip', 'is': 'run_all'}})"
    is "$STORE_NAME: a change is shown" "$(p schedule load wanted.csv)" \
        "~ weekly: cron @weekly -> @daily, missed skip -> run_all"
    printf 'name,entity_name,entity_key,job_exec,cron\na,e,k,j,61 * * * *\n' >bad.csv
    fails_with 2 "bad.csv: line 2: cron: minute: 61" p schedule load bad.csv
    is "$STORE_NAME: a bad file changes nothing" "$(p schedule list --json | json 'len(j)')" 2
    loads
    p schedule remove weekly >/dev/null
    p schedule add stock shops 7 stock --every 6h --bias 0 >/dev/null

    ok "$STORE_NAME: four days are replayed" $P --quiet --config noop.cfg replay \
        --from 2026-03-27T00:15:00Z --to 2026-03-31T00:00:00Z
    is "$STORE_NAME: it ran at 02:30, and at 03:00 where there was none" "$(runs_of sync)" \
        "['03-27 01:30', '03-28 01:30', '03-29 01:00', '03-30 00:30']"
    is "$STORE_NAME: every six hours ran without a gap" "$($P runs --limit 0 --json | json '
        (lambda t: (14 <= len(t) <= 17, all(6 <= (b - a) / 3600 <= 6.5 for a, b in zip(t, t[1:]))))(
            sorted(__import__("datetime").datetime.fromisoformat(r["slot_at"].replace("Z", "+00:00"))
                   .timestamp() for r in j if r["job_exec"] == "stock"))' | tr -d '\n')" "(True, True)"
    is "$STORE_NAME: each has one check, and history only those removed before" \
        "$($P list --json | json 'len(j)') $($P history --json | json '{r["outcome"] for r in j}')" \
        "2 {'resolved'}"

    at=2026-04-02T12:00:00Z
    is "$STORE_NAME: resolve ends the check" "$(p resolve shops 7 sync --json | json 'j["resolved"]')" 1
    is "$STORE_NAME: and switches the schedule off, with the reason" \
        "$(p schedule show nightly --json | json 'j["is_active"], j["switched_why"]')" "(False, 'resolved')"
    is "$STORE_NAME: off, with a reason" "$(p schedule off stock --why 'moving house')" \
        "stock: off, and its check is ended"
    is "$STORE_NAME: it is kept" "$(p schedule show stock --json | json 'j["switched_why"]')" "moving house"
    is "$STORE_NAME: nothing waits" "$(p list --json)" "[]"
    is "$STORE_NAME: on" "$(p schedule on stock)" "stock: on"
    is "$STORE_NAME: its check waits again" "$(p list --json | json 'len(j)')" 1
    is "$STORE_NAME: remove" "$(p schedule remove stock)" "stock: removed, and its check is ended"
    is "$STORE_NAME: remove once more is trouble" "$(p schedule remove stock; echo $?)" \
        "stock: there is no such schedule
1"
    asked_for
    found_first
    at=2026-03-27T00:00:00Z
}

on_each_store schedules
