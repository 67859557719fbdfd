#!/usr/bin/env bash
# Times as people type them, in each place that takes one. What they mean is tests/test_when.c.
. "$(dirname "$0")/lib.sh"

echo 'jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };' >prescient.cfg
chmod 600 prescient.cfg
export PRESCIENT_STORE=sqlite:times.db
ok "init" "$P" --quiet init
p() { "$P" --now 2026-03-01T13:15:00Z "$@"; }           # a Sunday
# filed KEY WORDS OPTION...: the time at which a check is filed
filed() { p "${@:3}" enqueue orders "$1" noop "$2" --json | json 'j["next_check_at"]'; }

is "3h" "$(filed 1 3h)" 2026-03-01T16:15:00Z
is "+2w" "$(filed 2 +2w)" 2026-03-15T13:15:00Z
is "tomorrow 09:00" "$(filed 3 'tomorrow 09:00')" 2026-03-02T09:00:00Z
is "next monday" "$(filed 4 'next monday')" 2026-03-02T00:00:00Z
is "a zone in the text" "$(filed 5 '2026-12-01 09:00 Europe/Berlin')" 2026-12-01T08:00:00Z
is "--zone is for times that name none" "$(filed 6 '2026-12-01 09:00' --zone Europe/Berlin)" \
    2026-12-01T08:00:00Z
is "and for no other" "$(filed 7 '2026-12-01 09:00Z' --zone Europe/Berlin)" 2026-12-01T09:00:00Z
is "--local is the zone of TZ" "$(TZ=Asia/Tokyo filed 8 '2026-12-01 09:00' --local)" 2026-12-01T00:00:00Z
is "TZ alone changes nothing" "$(TZ=Asia/Tokyo filed 9 '2026-12-01 09:00')" 2026-12-01T09:00:00Z
is "a time that clocks skip" "$(filed 10 '2026-03-29 02:30' --zone Europe/Berlin)" 2026-03-29T01:00:00Z
is "one that they show twice" "$(filed 11 '2026-10-25 02:30' --zone Europe/Berlin)" 2026-10-25T00:30:00Z
is "the zone is for --now, too" \
    "$("$P" --zone Europe/Berlin --now '2026-03-01 14:15' enqueue orders now noop 1h --json |
        json 'j["next_check_at"]')" 2026-03-01T14:15:00Z

fails_with 2 "did you mean Europe/Berlin?" p enqueue orders x noop '2026-12-01 09:00 Europe/Berln'
fails_with 2 "--zone: zone Europe/Berln: there is no such time zone" p list --zone Europe/Berln
fails_with 2 "expected one of them" p list --zone UTC --local
fails_with 2 "TZ (expected the name of a zone, and no rule): " \
    env TZ=CET-1CEST,M3.5.0,M10.5.0/3 "$P" list --local
fails_with 2 "--from: \"soon\": expected a time such as" p list --from soon

is "reschedule" "$(p reschedule orders 1 noop 'tomorrow 10:00')" "moved to 2026-03-02T10:00:00Z"
is "list --from --before" \
    "$(p list --from tomorrow --before 'next tuesday' --json | json '[r["entity_key"] for r in j]')" \
    "['4', '3', '1']"
printf '%s\n' entity_name,entity_key,job_exec,check_at 'carts,1,noop,tomorrow 09:00 Europe/Berlin' \
    carts,2,noop,2h >carts.csv
p --quiet enqueue --from carts.csv >/dev/null
is "a column of a file" "$(p list carts --json | json '[r["next_check_at"] for r in j]')" \
    "['2026-03-01T15:15:00Z', '2026-03-02T08:00:00Z']"
is "replay --from --to" \
    "$(p --quiet replay --from today --to 'tomorrow 08:30' >/dev/null
        p history --json | json 'sorted((r["entity_name"], r["entity_key"]) for r in j)')" \
    "[('carts', '1'), ('carts', '2'), ('orders', '4'), ('orders', 'now')]"
ended() { "$P" --now '2026-03-02T08:30:00Z' history "$@" --json | json '[r["entity_key"] for r in j]'; }
is "--since 3h looks back" "$(ended --since 3h)" "['1']"
is "as --since '3h ago' does" "$(ended --since '3h ago')" "['1']"
is "--since in 3h does not" "$(ended --since 'in 3h')" "[]"
mkdir folder
is "spool add --at" \
    "$("$P" spool add folder --at '2099-12-01 09:00 Europe/Berlin' --json -- true | json 'j["at"]')" \
    2099-12-01T08:00:00Z
