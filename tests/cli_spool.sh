#!/usr/bin/env bash
# cli_spool.sh - folders as slots: which programs `prescient spool` runs, where they end up, what it
# refuses, and that each runs once, whoever runs the spool and however it ends.
# about 10 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

NOW=2026-11-27T14:20:00Z SLOT=2611271415 EARLIER=2611271345 LATER=2611271430
settings 'kill_grace = "200ms";'
spool() { "$P" --now $NOW spool "$@"; }
json_begins

# a_spool: an empty one. program SLOT NAME [LINE...]: a script of these lines in it.
a_spool() { rm -rf s; mkdir -m 700 s; : >ran; }
program() {
    local file=s/$1/$2; shift 2
    mkdir -p "$(dirname "$file")"
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
    chmod 700 "$file"
}
logs() { echo "echo $1 >>'$TMP/ran'"; }
# lies FOLDER: the names in it
lies() { (cd "s/$1" 2>/dev/null && echo *) | sed 's/^\*$//'; }

# ---- what runs ----

a_spool
is "an empty spool" "$(spool s)" "programs: 0 run, 0 done, 0 failed, 0 refused, 0 left by runs that are gone"
program $SLOT one "$(logs one)" 'echo to stdout; echo to stderr >&2; echo "$PRESCIENT_SLOT"'
program $SLOT two "$(logs two)"
program $LATER three "$(logs three)"
: >s/$SLOT/.hidden
ok "those of the slot that is now" spool s
is "are run in the order of their names, and no others" "$(xargs <ran)" "one two"
is "and are done" "$(lies done)" \
    "$SLOT-one $SLOT-one.output $SLOT-two $SLOT-two.output"
is "with what they wrote" "$(xargs <s/done/$SLOT-one.output)" "to stdout to stderr 2026-11-27T14:15:00Z"
is "what begins with a dot is left" "$(ls -A s/$SLOT) $(lies running)" ".hidden "
rm s/$SLOT/.hidden
program $SLOT one "$(logs again)"
is "one more of the same name" \
    "$(spool --json s | json 'j["run"], j["done"], j["failed"]') $(tail -n 1 ran)" "(1, 1, 0) again"
is "has a name of its own" "$(lies done | tr ' ' '\n' | grep 'one\.2')" "$(printf '%s\n' \
    $SLOT-one.2 $SLOT-one.2.output)"
is "a folder that is empty is taken away" "$(lies .)" "$LATER done failed running"
program $SLOT a "$(logs a)"; program $SLOT a.output "$(logs a.output)"
ok "a program with the name of an output" spool s
is "takes nothing away" "$(lies done | tr ' ' '\n' | grep -c -- "$SLOT-a")" 4

a_spool
program $SLOT bad 'echo reason; exit 3'
program $SLOT good "$(logs good)"
program $SLOT none; echo '#!/nonexistent' >s/$SLOT/none
fails_with 1 "$SLOT-bad ended with exit status 3: it goes to failed/, with $SLOT-bad.output" spool s
has "one without an interpreter" "$(cat "$TMP/.err")" "$SLOT-none cannot be executed: No such file"
is "the others run" "$(cat ran)" good
is "what failed is kept" "$(lies failed) $(cat s/failed/$SLOT-bad.output)" \
    "$SLOT-bad $SLOT-bad.output $SLOT-none $SLOT-none.output reason"
ok "it is not run again" spool s

# ---- what was missed ----

a_spool
program $EARLIER old "$(logs old)"
program 2511271345 oldest "$(logs oldest)"
program 2611271417 between "$(logs between)"        # no slot begins then
program $LATER later "$(logs later)"
program $SLOT now "$(logs now)"
mkdir s/2613321200
fails_with 0 "programs of 2 earlier slots were not run, the oldest of 2511271345: --sweep runs them" spool s
has "a folder that names no time" "$(cat "$TMP/.err")" "the folder 2613321200 is of no slot"
: >ran
ok "a sweep" spool s --sweep
is "runs those of earlier slots, the oldest first" "$(xargs <ran)" "oldest old"
NOW=2026-11-27T14:35:00Z ok "a folder between two slots" spool s --sweep
is "is swept when its time is over" "$(xargs <ran)" "oldest old between"
is "a slot of another length" "$(NOW=2026-11-27T14:31:00Z spool s --slot-length 1m --sweep >/dev/null
    tail -n 1 ran)" later

# ---- what is refused ----

a_spool
program $SLOT others; chmod 722 s/$SLOT/others
program $SLOT plain; chmod 600 s/$SLOT/plain
program $SLOT real "$(logs real)"
ln -s real s/$SLOT/link
mkdir s/$SLOT/folder
fails_with 1 "$SLOT/others is not run: the program others belongs to user" spool s
for words in "$SLOT/plain is not run: cannot be executed; chmod u+x" \
    "$SLOT/link is not run: is a symbolic link" "$SLOT/folder is not run: is no file"; do
    has "and" "$(cat "$TMP/.err")" "$words"
done
is "they stay where they are" "$(lies $SLOT)" "folder link others plain"
is "what is right is run" "$(cat ran)" real
if [ "$(id -u)" = 0 ]; then
    chown 65534 s/$SLOT/plain; chmod 700 s/$SLOT/plain
    fails_with 1 "$SLOT/plain is not run: the program plain belongs to user 65534" spool s
fi
a_spool
program $SLOT one "$(logs one)"
chmod 770 s/$SLOT
fails_with 1 "no program of slot $SLOT is run: folder $SLOT belongs to user" spool s
chmod 700 s/$SLOT; chmod 1777 s
fails_with 78 "and no write for group and others: chmod go-w" spool s
is "nothing was run" "$(cat ran)" ""
fails_with 2 "spool: there is no folder missing" spool missing
fails_with 2 "--slot-length: found 7m, expected whole minutes that divide a day" spool s --slot-length 7m
fails_with 2 "--slot-length: found 30s, expected whole minutes" spool s --slot-length 30s
fails_with 78 "slot_length (--slot-length gives another one): found 20s" spool s --set slot_length=20s
fails_with 2 "takes one folder" spool s s
fails_with 2 "--timeout: found '2d', expected 10ms to 1d" spool s --timeout 2d

if [ "$(id -u)" = 0 ]; then
    mkdir foreign target; ln -s "$TMP/target" foreign/spool; chown -h 65534 foreign/spool
    fails_with 78 "foreign/spool belongs to user 65534" spool foreign/spool
    is "nothing is made behind the link of another user" "$(ls target)" ""
fi
a_spool; : >s/running
fails_with 78 "running is no folder, or a symbolic link: expected a folder" spool s

# ---- what programs do to themselves ----

a_spool
program $SLOT gone 'rm -- "$0"' "$(logs gone)"
program $SLOT locks "exec 9<\"\$0\"; flock -n 9 || exit 9" "$(logs locks)"
program $SLOT new "sed -i s/x/y/ \"\$0\"" "$P --now $NOW spool '$TMP/s' 2>&1" "$(logs new)"
fails_with 0 "$SLOT-gone has taken itself away: only $SLOT-gone.output is left" spool s
is "the others run, and are taken for alive while they do" "$(xargs <ran) $(lies failed)" "gone locks new "
program $SLOT locked "$(logs locked)"
exec 8<s/$SLOT/locked; flock 8
ok "a lock of somebody who may only read" spool s
exec 8<&-
is "keeps nothing from being run" "$(tail -n 1 ran)" locked

# What is still written, and what the machine has no room for, is not begun, and stays.
: >ran
program $SLOT busy "$(logs busy)"
exec 8>>s/$SLOT/busy
fails_with 1 "$SLOT/busy was not begun: cannot be executed: Text file busy" spool s
exec 8>&-
ok "what is written is run when it is" spool s
is "once" "$(xargs <ran)" busy
program $SLOT a "$(logs a)"; program $SLOT b "$(logs b)"
for files in 8 9 10 11 12 13 14; do
    (ulimit -n $files; spool s) >/dev/null 2>&1
    is "without descriptors ($files) nothing is lost" "$(lies running) $(lies failed)" " "
    [ ! -e s/$SLOT/a ] || [ ! -s ran ] || is "nor run and left" "$(xargs <ran)" busy
done
spool s >/dev/null
is "each is run once" "$(sort ran | xargs)" "a b busy"

# ---- how programs and runs end ----

is_running() { [ -n "$(lies running)" ]; }
has_run() { [ -s ran ]; }
a_spool
program $SLOT slow "$(logs slow)" 'sleep 100'
fails_with 1 "$SLOT-slow was ended at its time limit, 300ms: it goes to failed/" spool s --timeout 300ms
program $SLOT writer 'exec yes'
fails_with 1 "$SLOT-writer was ended, as it wrote more than 64 MiB" spool s
rm -f s/failed/*writer*

: >ran
program $SLOT stopped "$(logs stopped)" 'sleep 100'
program $SLOT then "$(logs then)"
start run "$P" --now $NOW spool s
ok "(a program is at work)" wait_until 10 has_run
kill -TERM "$(pid_of run)"; join_within 10 run
is "a run that is to end" "$CODE $(lies failed | tr ' ' '\n' | grep stopped)" "1 $SLOT-stopped
$SLOT-stopped.output"
is "leaves the next ones" "$(xargs <ran) $(lies $SLOT)" "stopped then"
has "and says so" "$(cat run.err)" "1 more program was not begun"
ok "to the next run" spool s
is "which runs them" "$(xargs <ran)" "stopped then"

: >ran
program $SLOT killed "echo \$\$ >'$TMP/leader'" "$(logs killed)" 'echo began; sleep 100'
start run "$P" --now $NOW spool s
ok "(a program is at work)" wait_until 10 has_run
ok "nobody else takes it" spool s
is "while it runs" "$(xargs <ran) $(lies running)" "killed $SLOT-killed $SLOT-killed.output"
kill -KILL "$(pid_of run)"; join run
is_over() { ! kill -0 "$(cat leader)" 2>/dev/null; }
ok "a run that is killed takes its program with it" wait_until 10 is_over
is_given_up() { spool s 2>words; grep -q "failed/$SLOT-killed was in running/, and its run is gone" words; }
ok "which is told by the next one" wait_until 10 is_given_up
is "and not run again" "$(xargs <ran) $(lies running) $(cat s/failed/$SLOT-killed.output)" "killed  began"

# Four runs at once, one of them killed again and again: each program begins once.
a_spool
for i in $(seq 40); do program $SLOT p$i "$(logs p$i)"; done
for i in 1 2 3; do start run$i "$P" --now $NOW spool s; done
for i in 1 2 3 4 5; do
    start victim "$P" --now $NOW spool s
    sleep 0.02
    kill -KILL "$(pid_of victim)" 2>/dev/null; join victim
done
for i in 1 2 3; do join_within 30 run$i; done
nothing_runs() { spool s >/dev/null 2>&1; [ -z "$(lies running)" ]; }
ok "all have ended" wait_until 10 nothing_runs
is "no program began twice" "$(sort ran | uniq -d)" ""
is "each is done or failed" "$(lies $SLOT) $({ lies done; lies failed; } | tr ' ' '\n' |
    grep -v output | grep -c .)" " 40"
is "what failed was in the hands of the one that was killed" \
    "$(lies done | tr ' ' '\n' | grep -v output | sed "s/$SLOT-//; s/\.2$//" | sort |
    comm -23 - <(sort ran))" ""

# What was left by hand, or between two renames.
a_spool
mkdir -m 700 s/running s/done s/failed
printf '#!/bin/sh\n' | tee s/running/x >s/done/y; : >s/failed/x.output; echo said >s/running/y.output
: >s/running/z.output
ln -s nowhere s/running/link
fails_with 1 "failed/x.2 was in running/, and its run is gone" spool s
is "all are put where they belong" "$(lies running),$(lies done),$(lies failed)" \
    ",y y.output,link x.2 x.output"

# ---- adding ----

a_spool
mkdir "it's here"
added=$(cd "it's here" && spool add ../s --in 20m -- sh -c "echo \"\$1\" >>'$TMP/ran'; pwd" x "a'b  c\$d")
is "one is added to the slot that begins next after it" "$added" "2611271445/sh at 2026-11-27T14:45:00Z"
is "one more has a name of its own" "$(spool --json add s --at 2026-11-27T14:45Z -- sh -c true |
    json 'j["name"], j["slot"], j["at"]')" "('sh.2', '2611271445', '2026-11-27T14:45:00Z')"
fails_with 2 "--at: \"14:45\": expected a time such as" spool add s --at 14:45 -- true
is "it is of nobody else" "$(stat -c %a s/2611271445/sh s/2611271445)" "700
700"
NOW=2026-11-27T14:45:00Z
ok "both are run at their time" spool s
is "with the words that were given, where they were" "$(cat ran) $(cat s/done/2611271445-sh.output)" \
    "a'b  c\$d $TMP/it's here"
fails_with 2 "the command 'no-such' cannot be executed: No such file or directory" \
    spool add s --in 3h -- no-such
fails_with 2 "--in: found '3', expected a unit, such as 3h or 3m" spool add s --in 3 -- true
fails_with 2 "expected either --in DURATION or --at TIME" spool add s -- true
fails_with 2 "expected either --in DURATION or --at TIME" spool add s --in 3h --at now -- true
fails_with 2 "expected a folder and a command" spool add s --in 3h
fails_with 2 "add takes no --sweep, which belongs to spool" spool add s --sweep --in 3h -- true
fails_with 2 "the time is not of the years 2000 to 2099" spool add s --at 2100-01-01 -- true
fails_with 2 "the time is not of the years 2000 to 2099" spool add s --in 9223372036854s -- true
fails_with 2 "--at: 2020-01-01 has passed" spool add s --at 2020-01-01 -- true
fails_with 2 "the command '-x' begins with a dash" spool add s --in 1h -- -x
long=$(printf 'n%.0s' $(seq 240)); printf '#!/bin/sh\n' >"$long"; chmod +x "$long"
fails_with 2 "its name is too long: expected at most 231 bytes" spool add s --in 1h -- "./$long"
printf '#!/bin/sh\n' >$'x\xff'; chmod +x $'x\xff'
is "a name that is no text" "$(spool --json add s --in 1h -- ./$'x\xff' | json 'j["name"]')" command
fails_with 1 "it cannot be written: File too large" bash -c "trap '' XFSZ; ulimit -f 1
    '$P' --now $NOW spool add s --in 2h -- echo $(printf %03000d 0)"
is "nothing is left of what failed" "$(ls -A s/2611271645 2>/dev/null)" ""
