#!/usr/bin/env bash
# t_job_is_back.sh - checks were put off because no engine had their job: an engine that has it
# files them into the next slot, however long they would have waited. One that cannot load the job
# moves one of them at most.
# night: engines that come and go; the contract asks for the same in the gate
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DUE=$(($(date +%s) / 900 * 900 + 1800))
OUTAGE=$((24 * 3600))
for name in without with broken; do
    { echo "plugin_dirs = [ \"$(dirname "$P")/jobs\" ];"
      echo 'jobs = { good = { plugin = "noop"; settings = { answer = "done"; }; };'
      [ $name = with ] && echo 'mail = { plugin = "noop"; settings = { answer = "done"; }; };'
      [ $name = broken ] && echo 'mail = { plugin = "no_such_plugin"; };'
      echo '};'; } >$name.cfg
done
export TZ=UTC
run_by() { "$P" --quiet --config "$1.cfg" --now "$2" "${@:3}" >.run.out 2>.run.err; }
waiting() { "$P" --config with.cfg --json list mails --limit 0 | json "$1"; }
slots() { waiting "sorted(set(c['next_check_at'] for c in j))"; }
in_slot() { waiting "sum(c['next_check_at'] == '$(at "$1")' for c in j)"; }
at() { printf '%(%Y-%m-%dT%H:%M:%SZ)T' "$1"; }

all() {
    local i back
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq 40); do echo "mails,$i,mail,$(at $DUE)"; done; } >mails.csv
    "$P" --quiet --config with.cfg init >/dev/null
    "$P" --quiet --config with.cfg enqueue --from mails.csv >/dev/null
    for i in 0 900 $((OUTAGE / 2)) $OUTAGE $((OUTAGE + 900)); do run_by without $((DUE + i)) run; done
    back=$((DUE + OUTAGE + 1800))
    is "$STORE_NAME: after an outage of a day they wait for hours" \
        "$(in_slot $((back + 900))) $(waiting len\(j\))" "0 40"

    run_by broken $back run
    is "$STORE_NAME: who has loaded no job recalls one check" "$(in_slot $((back + 900)))" 1
    run_by broken $((back + 900)) run
    run_by broken $((back + 1800)) run
    is "$STORE_NAME: and no other, as the job cannot be loaded" \
        "$("$P" --config with.cfg --json list mails --limit 0 | json "sum(c['next_check_at'] <= '$(at \
            $((back + 2700)))' for c in j)")" 0

    back=$((back + 2700))
    "$P" --quiet --config with.cfg --now $((back - 900)) enqueue goods 1 good "$(at $back)" >/dev/null
    run_by with $back run
    is "$STORE_NAME: who has loaded the job recalls all" "$(in_slot $((back + 900)))" 40
    is "$STORE_NAME: they are late as before" \
        "$("$P" --config with.cfg --now $back --json status | json "j['overdue']")" 40
    run_by with $((back + 900)) run
    is "$STORE_NAME: and all are run in that slot" \
        "$("$P" --config with.cfg --json history mails --limit 0 | json \
            "len(j), set((h['outcome'], h['run_count'], h['slot_at']) for h in j)")" \
        "(40, {('done', 1, '$(at $((back + 900)))')})"
    is "$STORE_NAME: nothing is late any more" \
        "$("$P" --config with.cfg --now $((back + 900)) --json status | json "j['overdue'], j['put_off']")" \
        "(0, [])"

    # An operator need not wait for an engine that has the job.
    "$P" --quiet --config with.cfg --now $((DUE - 900)) enqueue mails first mail "$(at $DUE)" >/dev/null
    for i in 0 900 $OUTAGE $((OUTAGE + 900)); do run_by without $((DUE + i)) run; done
    back=$((DUE + OUTAGE + 1800))
    "$P" --config without.cfg --now $back retry --job good >.out 2>.err
    is "$STORE_NAME: retry of another job does not take it" "$? $(in_slot $((back + 900)))" "0 0"
    "$P" --config without.cfg --now $back retry --job mail >.out 2>.err
    is "$STORE_NAME: retry takes what was put off" "$? $(slots)" "0 ['$(at $((back + 900)))']"
    has "$STORE_NAME: and says so" "$(cat .out .err)" "1 check that was put off is filed into the next slot"
    "$P" --quiet --config with.cfg resolve mails first >/dev/null
    "$P" --quiet --config with.cfg --now $((DUE - 900)) enqueue mails again mail "$(at $DUE)" >/dev/null
    for i in 0 900 $OUTAGE $((OUTAGE + 900)); do run_by without $((DUE + i)) run; done
    back=$((DUE + OUTAGE + 1800))
    run_by without $back reslot
    is "$STORE_NAME: reslot takes them, too" "$(slots)" "['$(at $((back + 900)))']"
}

# What cannot run does not stand before what can: 2,500 checks of a job that is missing, and one
# that is not, in a slot that a sweep finds.
behind_many() {
    "$P" --quiet --config with.cfg init >/dev/null
    { echo entity_name,entity_key,job_exec,check_at
      for i in $(seq 2500); do echo "mails,$i,mail,$(at $DUE)"; done
      echo "goods,1,good,$(at $DUE)"; } >mails.csv
    "$P" --quiet --config with.cfg enqueue --from mails.csv >/dev/null
    run_by without $((DUE + 900)) sweep --set split_at=5000
    is "$STORE_NAME: a sweep runs what it can, and then puts off the rest" \
        "$("$P" --config with.cfg --json passes | json \
            "[(p['pass'], p['run'], p['unknown_job'], p['left_jobs']) for p in j if p['pass']]")" \
        "[(2, 0, 2500, None), (1, 1, 0, 'mail')]"
    [ "$STORE_NAME" = postgresql ] || return 0
    is "$STORE_NAME: by a transaction a page, after all others" \
        "$(psql -qXAt "$PRESCIENT_STORE" -c "SELECT count(DISTINCT f.xmin::text) <= 3,
            min(f.xmin::text::bigint)
            > (SELECT max(h.xmin::text::bigint) FROM prescient.future_job_history h)
            FROM prescient.future_job f")" "t|t"
}

on_each_store all
on_each_store behind_many
