#!/usr/bin/env bash
# etc.sh - the samples in etc/ are true: settings are accepted, the full file is what the program
# prints, commands exist.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
ETC=$(realpath ../etc)
. ./lib.sh
JOBS=${P%/*}/jobs

for file in "$ETC"/*.cfg; do
    ok "etc/${file##*/} is accepted, its plug-ins load" \
        "$P" --config "$file" --set plugin_dirs="$JOBS" config --check
done

# Folders depend on the place of the program. To bring the file up to date, write what the program
# prints except that line.
same_folders() { sed 's|^plugin_dirs = .*|plugin_dirs = ["/usr/local/lib/prescient/jobs"];|'; }
"$P" config --sample | same_folders >sample.cfg
ok "etc/prescient-full.cfg is what config --sample prints" diff -u "$ETC/prescient-full.cfg" sample.cfg

serves() { "$P" --config "$ETC/prescient-server$1.cfg" config --print | sed -n 's/^serve = \(.*;\).*/\1/p'; }
is "server 1 of the split" "$(serves 1)" "[0, 30];"
is "server 2 of the split" "$(serves 2)" "[15, 45];"

# Each command line of cron and systemd, with --help at its end: the command and its options are
# known.
while read -r line; do
    ok "a sample runs: prescient $line" bash -c "'$P' $line --help >/dev/null"
done < <(sed -n 's|^[*0-9].*  prescient  prescient ||p' "$ETC/prescient.cron"
    sed -n 's|^ExecStart=/usr/local/bin/prescient ||p' "$ETC"/*.service)

# Jobs may write where units and cron begin: settings that lie there are not taken.
is "each sample of cron and systemd that reads settings names them" \
    "$({ sed -n 's|^[*0-9].*  prescient  prescient ||p' "$ETC/prescient.cron"
         sed -n 's|^ExecStart=/usr/local/bin/prescient ||p' "$ETC"/*.service; } |
        grep -v '^--config /etc/prescient/')" ""

# Each name in the dashboard and in the alerts is that of a metric, and each metric is shown.
names() { grep -oE 'prescient_[a-z_]+' "$@" | sort -u; }
sed -n 's/^    { "\([a-z_]*\)", METRIC_\([A-Z]*\),.*/\1 \2/p' "$ETC/../engine/view/metrics.c" >table
real_names() {
    while read -r name type; do
        case $type in
        COUNTER) echo "prescient_${name}_total" ;;
        GAUGE) echo "prescient_$name" ;;
        HISTOGRAM) printf "prescient_${name}_%s\n" bucket sum count ;;
        INFO) echo "prescient_${name}_info" ;;
        esac
    done <table | sort
}
at_least_20() { [ "$(wc -l <table)" -ge 20 ]; }
ok "the table of metrics is read" at_least_20
for file in "$ETC"/grafana/*.json "$ETC"/prometheus/*.yml; do
    is "etc/${file##*/etc/} names metrics that there are" \
        "$(names -h "$file" | comm -23 - <(real_names))" ""
done
is "the dashboard shows each of them" "$(real_names | grep -vE '_(sum|count|info)$' |
    comm -23 - <(names -h "$ETC"/grafana/*.json) | tr '\n' ' ')" "prescient_slot_length_seconds "
json_begins
is "the dashboard is JSON, with panels of their own numbers" True \
    "$(json 'len(j["panels"]) == len({p["id"] for p in j["panels"]}) > 10' <"$ETC/grafana/prescient.json")"
if command -v promtool >/dev/null; then
    ok "promtool accepts the alerts" promtool check rules "$ETC/prometheus/prescient.rules.yml"
    ok "each fires, and rests" promtool test rules "$ETC/prometheus/prescient.rules.test.yml"
else
    echo "# promtool is not installed (package prometheus): the alerts are not tried"
fi

# A small Debian has no /bin/kill: what units run is the program, or a shell's own.
is "units run the program, or a shell" "$(sed -nE 's|^Exec[A-Za-z]+=[-+!@:]*([^ ]*).*|\1|p' "$ETC"/*.service |
    sort -u | tr '\n' ' ')" "/bin/sh /usr/local/bin/prescient "

if ! command -v systemd-analyze >/dev/null; then
    echo "# no systemd-analyze here (package systemd): the units are not checked"
    exit 0
fi
for unit in "$ETC"/*.service "$ETC"/*.timer "$ETC"/*.socket; do
    sed "s|/usr/local/bin/prescient|$P|; /^User=/d; /^Group=/d" "$unit" >"${unit##*/}"
done
ok "systemd accepts the units" systemd-analyze --man=no verify ./*.service ./*.timer ./*.socket

# What systemd makes of their sandboxes, from 0 (nothing is open) to 10. Older ones cannot say it of
# a file.
exposure() {
    systemd-analyze security --offline=yes --no-pager "$1" 2>/dev/null |
        sed -n 's/^.*Overall exposure level for .*: \([0-9.]*\) .*/\1/p'
}
for unit in "$ETC"/*.service; do
    found=$(exposure "$unit")
    if [ -z "$found" ]; then
        echo "# this systemd-analyze judges no files: ${unit##*/} is not checked"
    elif awk -v e="$found" 'BEGIN { exit !(e < 2.0) }'; then
        echo "ok - ${unit##*/}: exposure $found, below 2.0"
    else
        is "${unit##*/}: exposure below 2.0" "$found" "below 2.0"
    fi
done

# calls_of SET...: the system calls of a list in the form of SystemCallFilter=.
calls_of() {
    local set
    for set; do
        case $set in
        @*) calls_of $(systemd-analyze --no-pager syscall-filter "$set" | sed '1d; s/#.*//; s/^ *//') ;;
        *) echo "$set" ;;
        esac
    done
}
# The list of the units is enough for an engine with workers.
filter=$(sed -n 's/^SystemCallFilter=\([^~].*\)/\1/p' "$ETC/prescient.service")
refused=$(sed -n 's/^SystemCallFilter=~//p' "$ETC/prescient.service")
is "both services have the same list" "$(grep '^SystemCall' "$ETC/prescient.service")" \
    "$(grep '^SystemCall' "$ETC/prescient-daemon.service")"
sandbox() { sed -n '/^NoNewPrivileges/,/^OOMPolicy/{/^#/d;p}' "$ETC/$1"; }
is "an instance of several is confined as the only one is" "$(sandbox prescient@.service)" \
    "$(sandbox prescient-daemon.service)"
calls=$(comm -23 <(calls_of @default $filter | sort -u) <(calls_of $refused | sort -u))
cat >prescient.cfg <<END
store = "sqlite:$TMP/filtered.db";
plugin_dirs = ["$JOBS"];
jobs = { noop = { plugin = "noop"; }; };
END
"$P" --quiet init >/dev/null && "$P" --quiet --now 2030-01-01 enqueue orders 1 noop +15m >/dev/null
code=0
"$ROOT/tests/allow_calls.py" $calls -- "$P" --now 2030-01-01T00:15:00Z run >.out 2>.err || code=$?
if [ -n "${SANITIZE:-}" ]; then
    echo "# under sanitizers, which trace their own process: the units' list is not tried"
elif [ $code = 77 ]; then
    echo "# no system call numbers for this machine: the units' list is not tried"
else
    is "an engine and its workers run with the units' system calls" \
        "$code $("$P" history --json | json '[r["outcome"] for r in j]')" "0 ['done']"
    [ $code = 0 ] || cat .err
    "$P" --quiet --now 2030-01-01 enqueue orders 2 noop +30m >/dev/null
    fails_with 78 "worker_seccomp: the kernel refuses the filter" \
        "$ROOT/tests/allow_calls.py" $(grep -vx seccomp <<<"$calls") -- "$P" --now 2030-01-01T00:30:00Z run
fi
