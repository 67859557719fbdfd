#!/usr/bin/env bash
# Output on a terminal: tables of its width, without raw control characters from others; and plain
# columns in a pipe.
. "$(dirname "$0")/lib.sh"

export PRESCIENT_STORE=sqlite:out.db
$P init >/dev/null
p() { $P --now 2030-01-01 "$@"; }
evil=$'x\033[2J\nrm -rf /\xe2\x80\xaey'
p enqueue orders "$evil" unshipped +1h > out
is "enqueue echoes a hostile name harmlessly" \
    "$(cat out)" 'new: orders x\x1b[2J\nrm -rf /\u202ey unshipped at 2030-01-01T01:00:00Z'
ok "no control character is in a table" bash \
    -c "! $P --now 2030-01-01 list | tr -d '\n' | grep -q '[[:cntrl:]]'"
ok "nor in an error" bash -c "! $P \$'li\033[31mst' 2>&1 | tr -d '\n' | grep -q '[[:cntrl:]]'"
is "JSON has the name as it is" \
    "$(p list --json | json 'j[0]["entity_key"] == "x\x1b[2J\nrm -rf /\u202ey"')" True

long=$(printf 'k%.0s' $(seq 300))
p enqueue orders "$long" unshipped +1h > /dev/null
has "in a pipe nothing is cut" "$(p list)" "$long"
if command -v script >/dev/null; then
    on_terminal() { script -qec "stty cols 60; TERM=xterm $*" /dev/null | tr -d '\r'; }
    is "on a terminal no line is wider" \
        "$(on_terminal "$P list --now 2030-01-01" |
            python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin) <= 60)')" True
    has "slots have bars on a terminal" "$(on_terminal "$P slots --now 2030-01-01")" "█"
    has "doctor has colours on a terminal" "$(on_terminal "$P doctor --now 2030-01-01")" $'\033[32mok'
    has "and none with NO_COLOR" "$(on_terminal "NO_COLOR=1 $P doctor --now 2030-01-01")" "
ok     store"
    in_2030=2030-01-01
    has "and times say how far away they are" "$(on_terminal "$P list --now $in_2030")" \
        "2030-01-01 01:00Z (in 60 min)"
    has "or how late what waits is" "$(on_terminal "$P list --now 2030-01-04T01:00Z")" \
        "2030-01-01 01:00Z (3 d late)"
    has "what is over is ago" "$(on_terminal "$P slots --now 2030-01-04T01:00Z")" \
        "2030-01-01 01:00Z (3 d ago)"
    has "in the zone of TZ" "$(on_terminal "TZ=Europe/Berlin $P list --now $in_2030")" \
        "2030-01-01 02:00+01:00 (in 60 min)"
    has "or in one that is named" \
        "$(on_terminal "TZ=Europe/Berlin $P list --zone Asia/Tokyo --now $in_2030")" \
        "2030-01-01 10:00+09:00 (in 10 h)"
    has "a TZ that is a rule is no trouble" "$(on_terminal "TZ=CET-1 $P list --now $in_2030")" \
        "2030-01-01 01:00Z (in 60 min)"
    has "JSON is UTC, on a terminal, too" "$(on_terminal "TZ=Europe/Berlin $P list --json --now $in_2030")" \
        '"next_check_at":"2030-01-01T01:00:00Z"'
fi
has "a pipe gets UTC, whatever TZ is" "$(TZ=Europe/Berlin p list)" "2030-01-01T01:00:00Z  orders"
has "but where a zone is asked for" "$(TZ=Europe/Berlin p list --local)" "2030-01-01T02:00:00+01:00  orders"
is "JSON is UTC in any case" \
    "$(TZ=Europe/Berlin p list --local --json | json '{r["next_check_at"] for r in j}')" \
    "{'2030-01-01T01:00:00Z'}"
ok "slots have no bars in a pipe" bash -c "! $P slots --now 2030-01-01 | grep -q █"
ok "a reader that goes away is no trouble" bash \
    -c "set -o pipefail; $P list --now 2030-01-01 | head -c 1 >/dev/null"
fails_with 1 "cannot write the output: No space left on device" bash -c "$P list --now 2030-01-01 > /dev/full"
