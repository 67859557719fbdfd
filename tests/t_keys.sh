#!/usr/bin/env bash
# t_keys.sh - concurrency keys: three daemons share the checks of some keys. No two runs of a key go
# on at once, told by the jobs' own log of starts and ends, also when one engine is killed and
# another one is frozen past its lease; all checks are run.
# not for coverage
# night: daemons for some minutes; suites ask for each part of it in the gate
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

KEYS=6 EACH=8

# A start without an end is a run that was killed with its engine; its process is gone by the time
# that its place is another's.
cat >judge.py <<'EOF'
import collections, sys
limit = int(sys.argv[1])
lines = [l.split() for l in open("runs") if len(l.split()) == 4]
events = sorted((int(at), what, key, pid) for at, what, key, pid in lines)
ended = {pid for _, what, _, pid in events if what == "end"}
on, most = collections.Counter(), collections.Counter()
for at, what, key, pid in events:
    if pid not in ended:
        continue
    on[key] += 1 if what == "start" else -1
    most[key] = max(most[key], on[key])
print(sum(m > limit for m in most.values()), len(ended), max(most.values()))
EOF
cat >job <<'EOF'
#!/bin/bash
key=${PRESCIENT_ENTITY_KEY%%-*}
echo "$(date +%s%N) start $key $$" >>"$1"
sleep 0.05
echo "$(date +%s%N) end $key $$" >>"$1"
EOF
chmod 755 job

a_store_of_keys() {
    # lasts for trust, timeout, grace and a second: 5 s
    settings 'slot_length = "10s"; split_at = 10; workers = 2; lease = "2s"; trust = "1s";' \
        "jobs = { j = { plugin = \"exec\"; timeout = \"2s\";
            settings = { command = [ \"$PWD/job\", \"$PWD/runs\" ]; }; }; };"
    a_clean_store
    : >runs
    {
        echo "entity_name,entity_key,job_exec,check_at,concurrency_key"
        for key in $(seq $KEYS); do
            for n in $(seq $EACH); do echo "rows,$key-$n,j,0,key $key"; done
        done
    } >checks.csv
    ok "$STORE_NAME: $1: checks of $KEYS keys" "$P" --quiet enqueue --from checks.csv
}

starts() { grep -c start runs; }
starts_at_least() { [ "$(starts)" -ge "$1" ]; }
all_are_over() { [ "$(q "SELECT count(*) FROM {future_job}")" = 0 ]; }

judged() {
    local over most
    is "$STORE_NAME: $1: each check is done" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}
              WHERE outcome = 'done'")" \
        "$((KEYS * EACH))|$((KEYS * EACH))"
    read -r over _ most < <(python3 judge.py "$2")
    is "$STORE_NAME: $1: no key had more than $2 runs at once (most $most)" "$over" 0
    ok "$STORE_NAME: $1: all places are given back" \
        wait_until 20 [ "$(q "SELECT count(*) FROM {place} WHERE engine LIKE '%/$(pid_of first)'")" = 0 ]
}

stopped() {
    local name
    for name; do kill -TERM "$(pid_of "$name")"; done
    for name; do join_within 30 "$name"; done
}

one_at_a_time() {
    a_store_of_keys quiet
    start first "$P" daemon
    start second "$P" daemon
    ok "$STORE_NAME: quiet: all are run" wait_until 90 all_are_over
    judged quiet 1
    stopped first second
}

three_at_a_time() {
    a_store_of_keys three
    ok "$STORE_NAME: three at once" "$P" concurrency 'key *' 3
    start first "$P" --set workers=6 daemon
    ok "$STORE_NAME: three: all are run" wait_until 90 all_are_over
    judged three 3
    at_least "$STORE_NAME: three: and more than one were" "$(python3 judge.py 3 | cut -d' ' -f3)" 2
    stopped first
}

killed_and_frozen() {
    a_store_of_keys killed
    start first "$P" daemon
    start second "$P" daemon
    start third "$P" daemon
    ok "$STORE_NAME: killed: they are at work" wait_until 30 starts_at_least 6
    kill -KILL "$(pid_of second)"
    [ "$STORE_NAME" = sqlite ] || freeze_third  # it would keep others from the file
    ok "$STORE_NAME: killed: all are run" wait_until 90 all_are_over
    judged killed 1
    join second
    stopped first third
}
# Past its lease, and past its places.
freeze_third() {
    kill -STOP "$(pid_of third)"
    ok "$STORE_NAME: killed: the third is frozen until its places have expired" \
        wait_until 30 places_of_third_expired
    kill -CONT "$(pid_of third)"
}
places_of_third_expired() {
    [ "$("$P" keys --limit 0 | grep -c "/$(pid_of third)")" = 0 ]
}

all_cases() {
    one_at_a_time
    three_at_a_time
    killed_and_frozen
}
on_each_store all_cases
