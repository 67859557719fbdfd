# clock.sh - clocks that jump: a process, or all of an engine or a server, is shown another wall
# clock than the machine's, which is moved while it runs. Monotonic clocks stay. Sourced after
# lib.sh. `shifted_clock.c` is what it stands on.
#
#     needs_clocks                          first of all; the library is built
#     a_clock NAME                          a clock of that name, which shows the machine's time
#     on_clock NAME command...              a command or a function, and all processes that it
#                                           starts, see that clock: on_clock e0 engine e0
#     clock_jump NAME -1h | +1d | +90s      it jumps by that
#     clock_set NAME EPOCH                  it jumps to that time
#     clock_right NAME                      it jumps back to the machine's time
#     clock_shows NAME                      seconds since 1970
#
# The clock called `store` is the one that decides what is due: that of the database server, or,
# with SQLite, that of all processes that use the file. Each jump is a line of the fault log,
# `TIME clock NAME AHEAD_US`, written at that moment; with those of `store` the checker turns
# moments of slots into moments of the machine. No other clock's jump explains anything.

CLOCKS=$TMP/clocks                  # not in the case: a server outlives it

needs_clocks() {
    needs_command "${CC:-cc}"
    chmod 711 "$TMP"                # a server runs as another user
    mkdir -p "$CLOCKS"
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -fPIC -shared -o "$CLOCKS/shifted_clock.so" \
        "$FAULTS/shifted_clock.c" || {
        fail "the library that moves clocks is built"; exit 1
    }
    a_clock trial
    clock_jump trial -1d
    local shown; shown=$(on_clock trial date +%s)
    is "a clock that was set back by a day is seen as that" $(((shown - $(date +%s)) / 60)) -1440
}

a_clock() {
    printf '\0\0\0\0\0\0\0\0' >"$CLOCKS/$1"
    chmod 644 "$CLOCKS/$1"
}

on_clock() {
    local -x LD_PRELOAD=$CLOCKS/shifted_clock.so CLOCK_FILE=$CLOCKS/$1 \
        ASAN_OPTIONS="${ASAN_OPTIONS:-}${ASAN_OPTIONS:+:}verify_asan_link_order=0"
    [ -e "$CLOCK_FILE" ] || a_clock "$1"
    shift
    "$@"
}

# move_clock NAME by|to US: eight bytes in one write, and the moment of it in the fault log
move_clock() {
    [ -e "$CLOCKS/$1" ] || a_clock "$1"
    python3 - "$CLOCKS/$1" "$2" "$3" "$1" >>"${CASE:-$CLOCKS}/faults" <<'END'
import os, struct, sys, time
path, how, us, name = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
file = os.open(path, os.O_RDWR)
old = struct.unpack("=q", os.pread(file, 8, 0))[0]
now = time.time_ns() // 1000
new = old + us if how == "by" else us - now if how == "to" else 0
os.pwrite(file, struct.pack("=q", new), 0)
print(now, "clock", name, new, sep="\t")
END
}

# in_us DURATION: +1h, -90s, 500ms, 1d
in_us() {
    local number=${1%%[a-z]*} unit=${1##*[0-9]}
    case $unit in
    ms) echo $((number * 1000)) ;;
    s) echo $((number * 1000000)) ;;
    m) echo $((number * 60000000)) ;;
    h) echo $((number * 3600000000)) ;;
    d) echo $((number * 86400000000)) ;;
    *) echo "clock.sh: $1 is no duration" >&2; return 1 ;;
    esac
}

clock_jump() { local us; us=$(in_us "$2") && move_clock "$1" by "$us"; }
clock_set() { move_clock "$1" to "$(($2 * 1000000))"; }
clock_right() { move_clock "$1" right 0; }
clock_shows() { on_clock "$1" date +%s; }
