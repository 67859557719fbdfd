# chaos_net.sh - faults of the connections between engines and the store in a storm: each seat
# (chaos.sh) has its own, through proxies. Sourced after net.sh and chaos.sh. A connection stays bad
# for a while, and the loop of chaos.sh repairs it.

CHAOS_WAYS=()                       # seat -> names of its proxies
CHAOS_NET="way_drop:10 way_drop_up:6 way_drop_down:6 way_forget:6 way_rst:8 way_fin:5
    way_cut:12 way_hold:4 way_noise:5 way_slow:4 way_refuse:4"

# chaos_way_begins SEAT WHAT MS COMMAND...: all proxies of the way do it from now on
chaos_way_begins() {
    local seat=$1 what=$2 ms=$3 engine name; shift 3
    engine=$(chaos_on_seat "$seat")
    [ -n "$engine" ] || return 0
    fault_begins "$what" "engine:$engine"
    WAY_UNTIL[$seat]="$(($(now_ms) + ms)) $what $engine"
    for name in ${CHAOS_WAYS[$seat]}; do proxy "$name" "$@"; done
}

# An engine that comes while its way is bad: the fault is its own, too, and its predecessor's is
# over.
chaos_way_inherited() {
    local until what engine
    read -r until what engine <<<"${WAY_UNTIL[$1]}"
    fault_ends "$what" "engine:$engine"
    engine=$(chaos_on_seat "$1")
    fault_begins "$what" "engine:$engine"
    WAY_UNTIL[$1]="$until $what $engine"
}

# chaos_ways_mend NOW-MS: those whose time has come
chaos_ways_mend() {
    local seat until what engine name
    for seat in "${!WAY_UNTIL[@]}"; do
        read -r until what engine <<<"${WAY_UNTIL[$seat]}"
        [ "$1" -ge "$until" ] || continue
        for name in ${CHAOS_WAYS[$seat]}; do proxy "$name" pass; done
        fault_ends "$what" "engine:$engine"
        unset "WAY_UNTIL[$seat]"
    done
}

# A way that is good now.
chaos_pick_way() {
    SEAT=$((RANDOM % ${#CHAOS_WAYS[@]}))
    [ -z "${WAY_UNTIL[$SEAT]:-}" ]
}
# Shorter than a lease, and longer.
chaos_some_ms() { echo $((LEASE_S * 200 + RANDOM % (LEASE_S * 3000))); }

chaos_way_drop() { chaos_pick_way && chaos_way_begins "$SEAT" drop "$(chaos_some_ms)" drop; }
chaos_way_drop_up() { chaos_pick_way && chaos_way_begins "$SEAT" drop-up "$(chaos_some_ms)" drop up; }
chaos_way_drop_down() { chaos_pick_way && chaos_way_begins "$SEAT" drop-down "$(chaos_some_ms)" drop down; }
chaos_way_forget() { chaos_pick_way && chaos_way_begins "$SEAT" forget 0 forget; }
chaos_way_rst() { chaos_pick_way && chaos_way_begins "$SEAT" rst 0 rst; }
chaos_way_fin() { chaos_pick_way && chaos_way_begins "$SEAT" fin 0 fin; }
chaos_way_cut() {
    local how=(rst fin) way=(up down)
    chaos_pick_way && chaos_way_begins "$SEAT" cut 1500 cut "${way[RANDOM % 2]}" $((1 + RANDOM % 30000)) \
        "${how[RANDOM % 2]}"
}
chaos_way_hold() {
    chaos_pick_way && chaos_way_begins "$SEAT" hold 1500 cut down $((1 + RANDOM % 30000)) hold
}
chaos_way_noise() { chaos_pick_way && chaos_way_begins "$SEAT" noise 2000 noise 30; }
chaos_way_slow() { chaos_pick_way && chaos_way_begins "$SEAT" slow 5000 delay 200 50; }
chaos_way_refuse() { chaos_pick_way && chaos_way_begins "$SEAT" refuse "$(chaos_some_ms)" refuse; }
