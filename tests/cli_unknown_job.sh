#!/usr/bin/env bash
# cli_unknown_job.sh - a check whose job nobody has: enqueue warns, run warns and exits 1, status
# and doctor count it as late from when it was due, and a guard with a name ends it.
# night: hundreds of commands
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >prescient.cfg <<CFG
plugin_dirs = [ "$(dirname "$P")/jobs" ];
jobs = { type = { plugin = "noop"; }; broken = { plugin = "no_such_plugin"; }; };
CFG
plugin failing 'prescient_fail(answer, "no answer from the\ncarrier of %s", check->entity_key);'
mkdir cron
cat >cron/prescient.cfg <<CFG
plugin_dirs = [ "$(dirname "$P")/jobs", "$TMP/jobs" ];
jobs = { failing = { plugin = "failing"; max_failures = 0; }; type = { plugin = "noop"; }; };
CFG

# The slot after the next one: a slot that begins meanwhile would be another story.
DUE=$(($(date +%s) / 900 * 900 + 1800))
at() { printf '%(%Y-%m-%dT%H:%M:%SZ)T' "$1"; }
export TZ=UTC

quiet_run() { "$P" --now "$(at "$1")" --quiet --log-level warn run >.run.out 2>.run.err; CODE=$?; }
status() { "$P" --now "$(at "$1")" --json status | json "$2"; }

enqueue_warns() {
    "$P" --quiet enqueue orders 1 typo "$(at $DUE)" >.out 2>.err; CODE=$?
    is "$STORE_NAME: enqueue of an unknown job: filed, with a warning, with --quiet, too" \
        "$CODE $(cut -c1-3 .out) $(cat .err)" \
        "0 new prescient enqueue: no such job in prescient.cfg: 'typo'; did you mean 'type'? \
(the check is filed and waits for an engine that has the job)"
    "$P" --quiet enqueue orders 2 type "$(at $DUE)" >.out 2>.err
    is "$STORE_NAME: of a known one: no word" "$? $(cat .err)" "0 "
    { echo entity_name,entity_key,job_exec,check_at
      for i in 1 2 3; do echo "loads,$i,typo,$(at $DUE)"; echo "loads,$i,type,$(at $DUE)"; done
      for i in $(seq 20 35); do echo "loads,$i,nobody_has_$i,$(at $DUE)"; done; } >load.csv
    "$P" enqueue --from load.csv >.out 2>.err
    is "$STORE_NAME: a load names each job once, up to ten, with its count" \
        "$(cat .out) $(wc -l <.err) $(grep -c "'typo'; did you mean 'type'? (its 3 checks are" .err)" \
        "22 added, 0 kept, 0 moved, 0 replaced, 0 skipped 11 1"
    has "$STORE_NAME: and counts the rest" "$(tail -1 .err)" "7 more checks are of other jobs"
    echo 'workers = 1;' >empty.cfg
    "$P" --config empty.cfg enqueue orders 9 whatever "$(at $((DUE + 9000)))" >.out 2>.err
    is "$STORE_NAME: settings without jobs know none" "$? $(cat .err)" "0 "
    "$P" --quiet resolve orders 9 >/dev/null
}

# Their slot is still ahead, and no engine has met them yet.
reports_show_what_is_ahead() {
    "$P" status >.status
    has "$STORE_NAME: before it is due, status has the job" "$(cat .status)" \
        "checks wait for jobs that are not in the settings: typo (4, from $(at $DUE); did you mean 'type'?)"
    has "$STORE_NAME: ten jobs, and a word for the rest" "$(cat .status)" ", and others"
    is "$STORE_NAME: status --json has it" \
        "$("$P" --json status | json "[(r['job_exec'], r['checks']) for r in j['unknown_jobs']][0]")" \
        "('typo', 4)"
    "$P" doctor >doctor.out 2>/dev/null
    has "$STORE_NAME: doctor warns" "$(cat doctor.out)" \
        "warn   jobs of checks: 20 checks wait for jobs that are not in the settings: typo (4, "
    has "$STORE_NAME: and says what to do" "$(cat doctor.out)" "add the job to the settings of an engine"
    is "$STORE_NAME: settings without jobs miss none" \
        "$("$P" --config empty.cfg --json status | json "j['unknown_jobs']")" "None"
    has "$STORE_NAME: and say that they cannot" "$("$P" --config empty.cfg status)" \
        "not known: the settings have no jobs"
    # an engine with other settings has run it lately
    "$P" --quiet --now "$(at $((DUE - 1800)))" \
        enqueue elsewhere 1 hired "$(at $((DUE - 900)))" >.out 2>/dev/null
    "$P" --quiet enqueue elsewhere 2 hired "$(at $((DUE + 9000)))" >.out 2>/dev/null
    has "$STORE_NAME: a job that nobody has run" "$("$P" --json status)" '"job_exec":"hired"'
    sed 's/type = /hired = /' prescient.cfg >other.cfg
    "$P" --quiet --log-level error --config other.cfg --now "$(at $((DUE - 900)))" \
        run --slot "$(at $((DUE - 900)))" >.out 2>&1
    is "$STORE_NAME: is no mistake once another engine has run it" \
        "$("$P" --json status | grep -c '"job_exec":"hired"')" 0
    "$P" --quiet resolve elsewhere 2 >/dev/null
}

# A dozen jobs that another engine runs, each with more checks than the misspelt one.
beside_jobs_of_others() {
    local file="$TMP/others.csv" before=$((DUE - 1800)) i k
    { sed -n 1p prescient.cfg
      echo 'jobs = {'
      for i in $(seq 12); do echo "other$i = { plugin = \"noop\"; };"; done
      echo '};'; } >others.cfg
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq 12); do echo "o,1,other$i,$before"; done; } >"$file"
    "$P" --quiet --config others.cfg --now "$(at $((before - 900)))" enqueue --from "$file" >/dev/null
    "$P" --quiet --config others.cfg --now "$(at $before)" run --slot "$(at $before)" >.out 2>&1
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq 12); do for k in $(seq 400); do echo "o,$k,other$i,$((DUE + 9000))"; done; done
    } >"$file"
    "$P" --quiet enqueue --from "$file" >/dev/null 2>&1
    is "$STORE_NAME: a dozen jobs of another engine hide no misspelt one" \
        "$("$P" --json status | json "[r['job_exec'] for r in j['unknown_jobs']]")" "['typo']"
}

# A job that few checks have among many: what is due next is looked at, and a sample of the rest.
ahead_of_many() {
    local many="$TMP/many.csv" n=12000
    [ "$STORE_NAME" = sqlite ] && n=25000
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq $n); do echo "m,$i,type,2040-01-01"; done; } >"$many"
    "$P" --quiet enqueue --from "$many" >/dev/null
    "$P" status >.status
    has "$STORE_NAME: among many checks" "$(cat .status)" \
        "at least 304 checks wait for jobs that are not in the settings: typo (304, "
    has "$STORE_NAME: it is said that not all were looked at" "$(cat .status)" \
        "; a part of all checks was looked at"
    has "$STORE_NAME: a list that was not searched to its end does not say that there are none" \
        "$("$P" list --job nobody 2>&1)" "no checks wait (job: nobody), as far as was searched"
}

# By the real clock, an engine that was here lately may have the job.
in_a_slot_of_now() {
    local slot=$(($(date +%s) / 20 * 20 + 20))
    "$P" --quiet enqueue now "$1" typo "$slot" >.out 2>/dev/null
    wait_for_second $slot
    "$P" --quiet --log-level warn run >.out 2>.run.err; CODE=$?
    FOUND="$CODE $(grep -c "has checks of job 'typo'" .run.err)"
    "$P" --quiet resolve now "$1" >/dev/null
}
wait_for_second() { while [ "$(date +%s)" -lt "$1" ]; do sleep 0.2; done; }
beside_another_engine() {
    "$P" --quiet init --slot-length 20s
    in_a_slot_of_now 1
    is "$STORE_NAME: who is alone is told at once" "$FOUND" "1 1"
    "$P" --quiet --set engine_name=elsewhere run >.out 2>&1
    in_a_slot_of_now 2
    is "$STORE_NAME: beside another engine they are its own" "$FOUND" "0 0"
}

run_warns() {
    quiet_run $DUE
    cp .run.err .first.err
    is "$STORE_NAME: in its slot a check is left to other engines" \
        "$(grep -c "for job 'typo'" .run.err)" 0
    is "$STORE_NAME: and told where there is none, once a job" \
        "$CODE $(grep -c "has checks of job 'typo', which is not in the settings (did you mean 'type'?)" \
            .run.err)" "1 1"
    quiet_run $((DUE + 900))
    is "$STORE_NAME: once it is late, run exits 1" "$CODE" 1
    has "$STORE_NAME: and warns with job, count and age" "$(cat .run.err)" \
        "4 checks wait for job 'typo', which is not in the settings (did you mean 'type'?); \
the oldest since $(at $DUE)"
    # put off by the first run, when its worker has reported that, or by this one's sweep
    has "$STORE_NAME: a job whose plug-in does not load beside a good one" "$(cat .first.err .run.err)" \
        "1 check waits for job 'broken', which cannot be run here"
    is "$STORE_NAME: one line a job, ten jobs at most, and a count" \
        "$(grep -c "wait.* for job '" .run.err) $(grep -c 'other jobs that cannot be run here' .run.err)" \
        "10 1"
}

reports_show_it() {
    local day=$((DUE + 86400 + 17))
    is "$STORE_NAME: a day later it is overdue since it was due" \
        "$(status $day "j['overdue'], j['oldest_overdue_at'], j['due']")" "(21, '$(at $DUE)', 0)"
    is "$STORE_NAME: by job" \
        "$(status $day "[list(p.values()) for p in j['put_off'] if p['job_exec'] == 'typo']")" \
        "[['typo', 4, '$(at $DUE)', 21, False]]"
    "$P" --now "$(at $day)" status >.status
    has "$STORE_NAME: in words" "$(cat .status)" "typo (4, since $(at $DUE); did you mean 'type'?)"
    has "$STORE_NAME: and a count of the rest" "$(cat .status)" "; 8 more are of other jobs"
    has "$STORE_NAME: and apart from what the settings have" "$(cat .status)" \
        "1 check waits for jobs that could not be run: broken (1, since $(at $DUE))"
    "$P" --now "$(at $day)" doctor >.out 2>.err; CODE=$?
    is "$STORE_NAME: doctor exits 1" "$CODE" 1
    has "$STORE_NAME: doctor says what waits" "$(cat .out)" "checks wait for jobs that no engine has: "
    has "$STORE_NAME: and what to do" "$(cat .out)" "add the job to the settings of an engine"
}

a_guard_ends_it() {
    "$P" --quiet resolve loads 1 >/dev/null
    local end=$((DUE + 30 * 86400)) i
    for i in $((end - 86400)) $((end - 900)) $((end + 86400)); do quiet_run $i; done
    is "$STORE_NAME: after the horizon run exits 1" "$CODE" 1
    has "$STORE_NAME: with a line for the check" "$(cat .run.err)" \
        "check loads/2 (typo) ended as unknown_job: no engine has had its job since $(at $DUE)"
    is "$STORE_NAME: ten lines, and a count of the rest" \
        "$(grep -c 'ended as unknown_job' .run.err) $(grep -c 'more checks ended in trouble' .run.err)" "10 1"
    is "$STORE_NAME: the history names the guard" \
        "$("$P" --json history orders 1 | json "[(h['outcome'], h['guard'], h['run_count']) for h in j]")" \
        "[('unknown_job', 'unknown_job', 0)]"
    is "$STORE_NAME: and nothing is late any more" \
        "$(status $((end + 86400)) "j['overdue'], j['put_off']")" "(0, [])"
    "$P" --now "$(at $((end + 86400)))" --quiet retry orders 1 >.out 2>.err
    is "$STORE_NAME: retry enqueues it again" \
        "$? $("$P" --json list orders 1 | json "[(c['payload'], c['put_off_at']) for c in j]")" \
        "0 [({'n': 1}, None)]"
}

# The line of the sample, as cron calls it; what it prints is mailed.
mailed() {
    local line; line=$(sed -n 's/^\*.* prescient  //p' "$ROOT/etc/prescient.cron")
    [ -n "$line" ] || line=false
    line=${line/\/etc\/prescient\//}
    (cd cron && PATH=$(dirname "$P"):$PATH sh -c "$line --slot $1") >.mail 2>&1; CODE=$?
}

# No sweep follows a replay: what it leaves behind, it tells itself.
replay_warns() {
    local then=$((DUE - 90 * 86400)) i
    for i in 1 2 3; do
        "$P" --quiet --now "$(at $((then + i * 86400)))" \
            enqueue past $i typo "$(at $((then + i * 86400 + 900)))" >/dev/null 2>&1
    done
    "$P" --quiet --now "$(at "$then")" enqueue past 4 type "$(at $((then + 900)))" >/dev/null
    for i in first second; do
        "$P" --quiet --log-level warn replay --from "$(at "$then")" --to "$(at $((then + 60 * 86400)))" \
            >replay.out 2>replay.err
        is "$STORE_NAME: a replay past an unknown job, the $i time: exit code" "$?" 1
        has "$STORE_NAME: one warning with job, count, age and a suggestion" \
            "$(grep "for job 'typo'" replay.err)" \
            "3 checks wait for job 'typo', which is not in the settings (did you mean 'type'?); \
the oldest since $(at $((then + 87300))). They stay in their slots: when the job can be run, give"
    done
    "$P" --quiet --log-level warn --now "$(at "$DUE")" \
        run --slot "$(at $((then + 87300)))" >slot.out 2>slot.err
    is "$STORE_NAME: so does run --slot of a slot long ago" \
        "$? $(grep -c "1 check waits for job 'typo'" slot.err)" "1 1"
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq 1 300); do echo "many,$i,typo,$(at $((then + 1800)))"; done; } >many.csv
    "$P" --quiet --now "$(at "$then")" enqueue --from many.csv >/dev/null 2>&1
    timeout 60 "$P" --quiet --log-level warn --set split_at=100 \
        replay --from "$(at "$then")" --to "$(at $((then + 3600)))" 2>replay.err >replay.out
    is "$STORE_NAME: in a slot of many buckets each is counted once" \
        "$? $(grep -c "300 checks wait for job 'typo'" replay.err)" "1 1"
}

the_sample_for_cron_mails_trouble() {
    local slot=$((DUE - 1800)) i
    "$P" --quiet --config cron/prescient.cfg --now $((slot - 100)) enqueue well 1 type $slot >/dev/null
    mailed $slot
    is "$STORE_NAME: cron: nothing to mail when all is well" "$CODE $(cat .mail)" "0 "
    for i in $(seq 1 13); do
        "$P" --quiet --config cron/prescient.cfg --now $((slot - 1000)) \
            enqueue parcels $i failing $((slot - 900)) >/dev/null
    done
    mailed $((slot - 900))
    is "$STORE_NAME: cron: ten of thirteen that failed for good have a line each" \
        "$CODE $(grep -c 'ended as failed' .mail) $(wc -l <.mail)" "1 10 11"
    has "$STORE_NAME: cron: with the reason, on one line" "$(cat .mail)" \
        "check parcels/1 (failing) ended as failed: no answer from the carrier of 1"
    has "$STORE_NAME: cron: and the rest is counted" "$(tail -1 .mail)" "3 more checks ended in trouble"
}

all() {
    "$P" --quiet init >/dev/null
    "$P" --quiet enqueue orders 3 broken "$(at $DUE)" >/dev/null
    enqueue_warns
    reports_show_what_is_ahead
    "$P" --quiet enqueue orders 1 typo "$(at $DUE)" --payload '{"n": 1}' --conflict replace >/dev/null 2>&1
    run_warns
    reports_show_it
    a_guard_ends_it
    the_sample_for_cron_mails_trouble
    replay_warns
    beside_jobs_of_others
    ahead_of_many
}
on_each_store all
on_each_store beside_another_engine
