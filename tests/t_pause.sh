#!/usr/bin/env bash
# t_pause.sh - a job is paused while two daemons run its checks, and resumed: what waits then is run
# once, neither counted nor late; and the same without a daemon, by calls of `run`.
# about 60 s
# night: minutes of pauses
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# A worker comes no further while the file `held` is there, however late the pause is heard.
EACH_RUNS=100
settings "jobs = { noop = { plugin = \"noop\"; }; slow = { plugin = \"journal\"; batch = 1; timeout = \"5m\";
            settings = { file = \"$TMP/journal\"; pause_us = 10000;
                         hold = \"$TMP/held\"; hold_after = $EACH_RUNS; }; }; }; workers = 2;"

ran() { wc -l <journal; }
paused() { q "SELECT count(*) FROM {future_job} WHERE <next_check_at> >= 221845392000"; }
workers() { cut -d' ' -f3 journal | sort -u | wc -l; }
both_run() { [ "$(ran)" -ge 40 ] && [ "$(workers)" -ge 3 ]; }
all_paused() { [ $(($(paused) + $(archived))) = "$1" ]; }
# unpaused: checks of the slots that the daemons are in which neither ended nor are paused
unpaused() {
    q "SELECT count(*) FROM {future_job} WHERE job_exec = 'slow'
        AND next_check_at IN (SELECT slot_at FROM {slot_lease})"
}
only_those_that_run() { [ "$(unpaused)" -le 4 ]; }
both_heard() { grep -q ' 1 pauses are on' one.err && grep -q ' 1 pauses are on' two.err; }
is_over_now() { [ -z "$("$P" --json pauses | grep -o '"state"')" ]; }

while_it_runs() {
    local slot n before paused_ms
    a_clean_store --slot-length 10s
    : >journal
    : >held
    # Slots that are late: in SQLite a slot is one lease, which one daemon takes.
    slot=$(($(date +%s) / 10 * 10))
    for n in $(seq 30); do
        fill 50 $((slot - 10 * n)) slow "'$n-' || n"
    done
    fill 20 $((slot + 10)) noop "'n' || n"
    start one "$P" --log-level info daemon
    start two "$P" --log-level info daemon
    ok "$STORE_NAME: workers of both daemons are at work" wait_until 20 both_run
    ok "$STORE_NAME: pause" "$P" pause --job slow --reason "the shop moves"
    paused_ms=$(boot_ms)
    ok "$STORE_NAME: both daemons hear of it" wait_until 10 both_heard
    ok "$STORE_NAME: what waits is taken back from workers, too" wait_until 10 only_those_that_run
    # Where it was heard after all workers were held, the slots behind theirs wait for this.
    rm held
    ok "$STORE_NAME: what was running ends, and what waited is paused" wait_until 10 all_paused 1520
    before=$(ran)
    at_most "$STORE_NAME: most of it was taken back" "$before" $((4 * (EACH_RUNS + 1)))
    in_time "$STORE_NAME: no check begins later than a second after it" \
        $(($(cut -d' ' -f4 journal | sort -n | tail -1) - paused_ms)) 1300
    is "$STORE_NAME: another job is not paused" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE job_exec = 'noop'")" 20
    sleep 1
    is "$STORE_NAME: nothing runs on" "$(ran)" "$before"
    is "$STORE_NAME: a paused check is neither counted nor late" \
        "$(q "SELECT count(*) FROM {future_job} WHERE check_count + failure_count > 0
               OR put_off_at IS NOT NULL") $(
            "$P" --json status | json 'j["overdue"]')" "0 0"
    has "$STORE_NAME: list says so" "$("$P" list --limit 1 2>/dev/null)" "paused"
    has "$STORE_NAME: status names the pause, its checks and why" "$("$P" status)" \
        "job slow ($(paused | sed 's/^[1-9][0-9]\{3,\}$/1000 or more/') checks, since "
    is "$STORE_NAME: and so in JSON" \
        "$("$P" --json status | json '[(p["name"], p["checks"]) for p in j["pauses"]]')" \
        "[('slow', $(($(paused) < 1000 ? $(paused) : 1000)))]"
    has "$STORE_NAME: doctor shows one that is new" "$("$P" doctor 2>/dev/null)" "ok     pauses: job slow ("
    has "$STORE_NAME: pauses says why" "$("$P" pauses)" "the shop moves"
    is "$STORE_NAME: what is not paused is not resumed" \
        "$("$P" --quiet resume --job noop >resume.out; echo $?)" 1
    ok "$STORE_NAME: resume" "$P" resume --job slow
    ok "$STORE_NAME: the pause is over" wait_until 30 is_over_now
    ok "$STORE_NAME: all are run" wait_until 60 nothing_pending
    kill -TERM "$(pid_of one)" "$(pid_of two)"
    join_within 10 one
    join_within 10 two
    is "$STORE_NAME: each once" "$(archived) $(cut -d' ' -f1 journal | sort -u | wc -l) $(ran)" \
        "1520 1500 1500"
    is "$STORE_NAME: nothing of its slot is left" \
        "$(q "SELECT count(*) FROM {slot_pass} WHERE <slot_at> >= 221845392000") $(leases)" "0 0"
    has "$STORE_NAME: who and why is kept" "$("$P" pauses --all)" "the shop moves"
}

HOUR=1699999200

by_runs() {
    a_clean_store
    fill 30 $HOUR noop
    fill 10 $HOUR noop "'other ' || n"
    ok "$STORE_NAME: pause of an entity" "$P" pause --entity row
    is "$STORE_NAME: a run puts them aside and runs none" \
        "$("$P" --json --now $((HOUR + 1)) run 2>/dev/null >run.out; number run run.out) $(paused)" "0 40"
    is "$STORE_NAME: the next run leaves them" \
        "$("$P" --json --now $((HOUR + 901)) run 2>/dev/null >run.out; number run run.out) $(paused)" "0 40"
    ok "$STORE_NAME: resume with --reslot" "$P" resume --entity row --reslot
    "$P" --quiet --now $((HOUR + 1000)) run
    is "$STORE_NAME: the next run files them under the next slot" \
        "$(q "SELECT count(*), min(<next_check_at>), max(<next_check_at>) FROM {future_job}")" \
        "40|$((HOUR + 1800))|$((HOUR + 1800))"
    "$P" --json --now $((HOUR + 1801)) run 2>/dev/null >run.out
    is "$STORE_NAME: and the one after that runs them" "$(number run run.out) $(pending)" "40 0"
}

of_a_tenant() {
    a_clean_store
    fill 30 $HOUR noop
    fill 10 $HOUR noop "'other ' || n"
    q "UPDATE {future_job} SET tenant = 'acme' WHERE entity_key LIKE 'other%'"
    ok "$STORE_NAME: pause of a tenant" "$P" pause --tenant acme --reason unpaid
    is "$STORE_NAME: a run puts its checks aside, and runs the others" \
        "$("$P" --json --now $((HOUR + 1)) run 2>/dev/null >run.out; number run run.out) $(paused)" "30 10"
    has "$STORE_NAME: pauses shows it" "$("$P" pauses)" "tenant  acme"
    ok "$STORE_NAME: resume of a tenant" "$P" resume --tenant acme --reslot
    "$P" --quiet --now $((HOUR + 1000)) run
    "$P" --json --now $((HOUR + 1801)) run 2>/dev/null >run.out
    is "$STORE_NAME: and they run" "$(number run run.out) $(pending)" "10 0"
    has "$STORE_NAME: one that is misspelt is told" "$("$P" pause --tenant acne 2>&1)" \
        "no check of tenant 'acne' is among the next 10,000"
}

# No report shows the slot of a pause as a time.
reports() {
    local row
    a_clean_store
    fill 30 $HOUR noop
    fill 3 $HOUR typo "'typo ' || n"
    "$P" pause --entity row >/dev/null
    "$P" --quiet --now $((HOUR + 1)) run || true
    is "$STORE_NAME: all are put aside" "$(paused)" 33
    for row in list "list --job typo" "show row k1" status slots "slots --from 8999-01-01" jobs \
        "jobs --counts" doctor pauses passes history runs "plan row k1" \
        "enqueue row k1 noop +1h --conflict keep"; do
        # shellcheck disable=SC2086     # words
        "$P" $row >report.out 2>&1 || true
        # shellcheck disable=SC2086
        "$P" --json $row >>report.out 2>&1 || true
        is "$STORE_NAME: $row shows no such year" "$(grep -c 9000- report.out)" 0
    done
    is "$STORE_NAME: status counts them, and none is late" \
        "$("$P" --now $((HOUR + 9000)) --json status | json 'j["pending"], j["overdue"]')" "(33, 0)"
    has "$STORE_NAME: enqueue keeps it there" "$("$P" enqueue row k1 noop +1h --conflict keep)" "paused"
    is "$STORE_NAME: earlier moves it out, and it comes back" \
        "$("$P" --now $((HOUR + 800)) --quiet enqueue row k2 noop +15m --conflict earlier >/dev/null; paused
            "$P" --now $((HOUR + 2000)) --quiet run >/dev/null; paused)" "$(printf '32\n33')"
    is "$STORE_NAME: resolve ends one" "$("$P" resolve row k3 >/dev/null; paused)" 32
    "$P" resume --entity row --reslot >/dev/null
    "$P" --quiet --now $((HOUR + 3000)) run || true
    is "$STORE_NAME: the others leave" "$(paused)" 0
}

# Of a job and its entity, the one that stays on keeps the checks.
two_pauses() {
    a_clean_store
    fill 20 $HOUR noop
    "$P" pause --job noop >/dev/null
    "$P" --quiet --now $((HOUR + 1)) run
    "$P" pause --entity row >/dev/null
    "$P" resume --job noop --reslot >/dev/null
    "$P" --json --now $((HOUR + 1000)) run >run.out 2>/dev/null
    is "$STORE_NAME: they go from one pause to the other" "$(number run run.out) $(paused)" "0 20"
    is "$STORE_NAME: which alone is on" \
        "$("$P" --json pauses | json '[p["what"] for p in j if p["state"] == "on"]')" "['entity']"
    "$P" resume --entity row --reslot >/dev/null
    "$P" pause --entity row --reason "at once again" >/dev/null
    "$P" --json --now $((HOUR + 1100)) run >run.out 2>/dev/null
    is "$STORE_NAME: a pause that is ending can be paused anew" "$(number run run.out) $(paused)" "0 20"
    "$P" resume --entity row --reslot >/dev/null
    "$P" --quiet --now $((HOUR + 1200)) run
    "$P" --json --now $((HOUR + 1801)) run >run.out 2>/dev/null
    is "$STORE_NAME: and then all are run" "$(number run run.out) $(pending)" "20 0"
    "$P" --quiet --now $((HOUR + 2701)) run
    ok "$STORE_NAME: all pauses are over" is_over_now
}

of_a_schedule() {
    a_clean_store
    "$P" --quiet --now $HOUR schedule add 'the "big" one' shops 1 noop --every 1h >/dev/null
    "$P" --quiet --now $HOUR schedule add another shops 2 noop --every 1h >/dev/null
    ok "$STORE_NAME: pause of a schedule" "$P" pause --schedule 'the "big" one'
    "$P" --json --now $((HOUR + 7200)) run >run.out 2>/dev/null
    "$P" --json --now $((HOUR + 14400)) run >run.out 2>/dev/null
    is "$STORE_NAME: its check waits, and no other" \
        "$(q "SELECT count(*) FROM {future_job}
               WHERE <next_check_at> >= 221845392000 AND entity_key = '1'") $(paused)" "1 1"
    has "$STORE_NAME: which schedule list says" "$("$P" schedule list)" "paused"
    "$P" resume --schedule 'the "big" one' --reslot >/dev/null
    "$P" --quiet --now $((HOUR + 14500)) run
    is "$STORE_NAME: resumed, it has an occurrence in the next slot" \
        "$(q "SELECT <next_check_at> FROM {future_job} WHERE entity_key = '1'")" "$((HOUR + 15300))"
    fails_with 2 "there is no schedule" "$P" pause --schedule nothing
}

# An x that stands for all that a shell or SQL may trip over.
odd_names() {
    local name=$'o\'Brien "\\" %s $x ;-- \u00fc\u202e'
    a_clean_store
    "$P" --quiet --now $HOUR enqueue "$name" 1 noop +15m
    ok "$STORE_NAME: a name of quotes and more" "$P" pause --entity "$name" --reason "$name"
    "$P" --quiet --now $((HOUR + 1000)) run
    is "$STORE_NAME: is paused" "$(paused)" 1
    is "$STORE_NAME: and kept as it is" \
        "$("$P" --json pauses | json 'j[0]["name"] == j[0]["reason"], len(j[0]["name"])')" "(True, ${#name})"
    ok "$STORE_NAME: and resumed" "$P" resume --entity "$name"
    has "$STORE_NAME: an entity without checks is remarked upon" \
        "$("$P" pause --entity nobody 2>&1)" "no check of entity 'nobody' waits"
    is "$STORE_NAME: that of deliveries is known" "$("$P" pause --entity prescient.event 2>&1)" \
        "entity prescient.event is paused; \`prescient resume\` with the same words ends that"
    has "$STORE_NAME: a job that the settings do not have, too" \
        "$("$P" pause --job nop 2>&1)" "did you mean 'noop'"
    fails_with 2 "4096" "$P" pause --job noop --reason "$(head -c 5000 /dev/zero | tr '\0' x)"
    fails_with 2 "1024" "$P" pause --job "$(head -c 1025 /dev/zero | tr '\0' x)"
}

# The last day of the year 9999 has its pause: the days that are free come next.
days_are_used_again() {
    local table=prescient.pause time="to_timestamp(253402214400)" now="now(), 'me'"
    a_clean_store
    [ "$STORE_NAME" = postgresql ] || { table=prescient_pause time=253402214400 now="0, 'me'"; }
    "$P" pause --job first >/dev/null 2>&1
    local at=paused_at
    [ "$STORE_NAME" = postgresql ] || at=paused_at_us
    q "INSERT INTO $table (slot_at, what, name, $at, paused_by) VALUES ($time, 'job', 'last', $now)"
    ok "$STORE_NAME: after the last day" "$P" --quiet pause --job noop
    is "$STORE_NAME: comes the first that is free" \
        "$(q "SELECT <slot_at> FROM {pause} WHERE name = 'noop'")" "$((221845392000 + 86400))"
}

runs_end_two() {
    "$P" --quiet run 2>/dev/null
    [ "$("$P" --json pauses --all | json "sum(1 for r in j if r['state'] == 'over')")" = 2 ]
}

# The oldest that is on comes first, and what is over last, the newest first.
a_forgotten_one() {
    a_clean_store
    local name long_ago="now() - interval '25 hours'" at=paused_at table=prescient.pause
    [ "$STORE_NAME" = postgresql ] ||
        { long_ago="paused_at_us - 90000000000"; at=paused_at_us table=prescient_pause; }
    for name in gone late on new; do "$P" --quiet pause --job "$name" >/dev/null; done
    for name in late gone; do "$P" --quiet resume --job "$name" >/dev/null; done
    ok "$STORE_NAME: empty pauses end when they are resumed" wait_until 10 runs_end_two
    is "$STORE_NAME: pauses --all begins with what is on" \
        "$("$P" --json pauses --all | json "[r['name'] for r in j]")" "['on', 'new', 'late', 'gone']"
    has "$STORE_NAME: of today it is no warning" "$("$P" doctor 2>/dev/null)" \
        "ok     pauses: job on (0 checks"
    q "UPDATE $table SET $at = $long_ago WHERE name = 'on'"
    has "$STORE_NAME: doctor warns of one from yesterday" "$("$P" doctor 2>/dev/null)" \
        "warn   pauses: job on (0 checks, since "
}

# The clock of a replay goes on when what was paused is in the slot after it, not before.
by_a_replay() {
    local ran
    a_clean_store
    "$P" --quiet --now 2026-03-01T00:00Z enqueue row 1 noop 2026-03-01T00:15:00Z >/dev/null
    "$P" --quiet pause --job noop
    ok "$STORE_NAME: a replay past what is paused" "$P" --quiet replay --from 2026-03-01T00:00Z \
        --to 2026-03-01T00:30Z
    is "$STORE_NAME: it waits" "$(paused) $(archived)" "1 0"
    "$P" --quiet --now 2026-03-01T00:31Z resume --job noop >/dev/null
    ok "$STORE_NAME: a replay after it was resumed" "$P" --quiet replay --from 2026-03-01T00:31Z \
        --to 2026-03-02T06:00Z
    ran=$("$P" history --json | json '[r["slot_at"] for r in j]')
    has "$STORE_NAME: it runs in the slot after that" "$ran" "2026-03-01T00:45:"
    is "$STORE_NAME: and does not wait" "$(paused) $(pending)" "0 0"
}

bad_words() {
    a_clean_store
    fails_with 2 "expected one of --job JOB, --entity" "$P" pause
    fails_with 2 "expected one of --job JOB, --entity" "$P" pause --job noop --entity row
    fails_with 2 "expected one of --job JOB, --entity" "$P" resume
    fails_with 2 "before the year 9000" "$P" enqueue row 1 noop 9000-01-02
    if [ "$STORE_NAME" = postgresql ]; then
        has "$STORE_NAME: SQL refuses it, too" \
            "$(q "SELECT prescient.enqueue('row', '1', 'noop', '9000-01-02'::timestamptz)" 2>&1)" \
            "paused checks wait"
    else
        has "$STORE_NAME: SQL refuses it, too" \
            "$(q "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
                  VALUES ('row', '1', 'noop', '9000-01-02 00:00:00')" 2>&1)" "paused checks wait"
    fi
}

on_each_store while_it_runs
on_each_store by_runs
on_each_store of_a_tenant
on_each_store by_a_replay
on_each_store reports
on_each_store two_pauses
on_each_store of_a_schedule
on_each_store odd_names
on_each_store days_are_used_again
on_each_store a_forgotten_one
on_each_store bad_words
