#!/usr/bin/env bash
# t_consumers.sh - consumers by one name are killed at random moments, and stopped for longer than
# their lease, while events come in from several writers: every event is taken, no cursor goes back,
# and where one is killed another takes over within the lease. Thousand events, with FULL=1 ten
# thousand. SEED=N: the same moments.
# about 60 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

EVENTS=1000 PAGE=5
[ "${FULL:-}" != 1 ] || EVENTS=10000 PAGE=25
WRITERS=4 CONSUMERS=3
RANDOM=${SEED:-$$}
echo "# SEED=${SEED:-$$}"

# Each change of the cursor leaves a row, whoever makes it.
audit() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "CREATE TABLE moves (n INTEGER PRIMARY KEY, was INTEGER, is_now INTEGER);
           CREATE TRIGGER moves AFTER UPDATE OF id ON prescient_cursor WHEN OLD.id <> NEW.id
           BEGIN INSERT INTO moves (was, is_now) VALUES (OLD.id, NEW.id); END"
    else
        q "CREATE TABLE moves (n bigserial, was text, is_now text, back boolean);
           CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS \$\$
           BEGIN
               INSERT INTO public.moves (was, is_now, back)
               VALUES ((OLD.generation, OLD.xid, OLD.id)::text, (NEW.generation, NEW.xid, NEW.id)::text,
                       (NEW.generation, NEW.xid, NEW.id) < (OLD.generation, OLD.xid, OLD.id));
               RETURN NEW;
           END \$\$;
           CREATE TRIGGER note_move BEFORE UPDATE ON prescient.cursor FOR EACH ROW
           WHEN ((OLD.generation, OLD.xid, OLD.id) IS DISTINCT FROM (NEW.generation, NEW.xid, NEW.id))
           EXECUTE FUNCTION note_move()"
    fi
}
moves_back() {
    case $STORE_NAME in
    sqlite) q "SELECT count(*) FROM moves WHERE is_now < was" ;;
    *) q "SELECT count(*) FROM moves WHERE back" ;;
    esac
}
gaps() { q "SELECT count(*) FROM (SELECT was, lag(is_now) OVER (ORDER BY n) AS before FROM moves) m
            WHERE before IS NOT NULL AND was <> before"; }

# transactions W: a share of the events, a few at a time. On PostgreSQL each stays open for a
# moment, so that they are committed in another order than they began.
transactions() {
    local from=$((EVENTS / WRITERS * $1 + 1)) to=$((EVENTS / WRITERS * ($1 + 1))) n
    RANDOM=$((RANDOM + $1))
    for ((n = from; n <= to; n += 5)); do
        if [ "$STORE_NAME" = sqlite ]; then
            echo "BEGIN IMMEDIATE;
                  WITH RECURSIVE c (n) AS (SELECT $n UNION ALL SELECT n + 1 FROM c WHERE n < $n + 4)
                  INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us,
                                               slot_at, check_count, recorded_at_us)
                  SELECT 'late', 'orders', n, 'look', 0, 0, 0, 0 FROM c; COMMIT;"
            sleep 0.0$((RANDOM % 10))
        else
            echo "BEGIN; INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec)
                  SELECT now(), 'late', 'orders', n, 'look' FROM generate_series($n, $n + 4) n;
                  SELECT pg_sleep(0.00$((RANDOM % 10)) * $((RANDOM % 10))); COMMIT;"
        fi
    done
}
writes() {
    case $STORE_NAME in
    sqlite) transactions "$1" | sqlite3 -batch -cmd '.timeout 60000' "${PRESCIENT_STORE#sqlite:}" ;;
    *) transactions "$1" | psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" >/dev/null ;;
    esac
}
writers_are_over() {
    local w
    for ((w = 0; w < WRITERS; w++)); do is_over "${WRITER[w]}" || return 1; done
}

# A page counts as taken when the command has ended well: it is moved to its place last.
consumes() {
    start "c$1" "$P" --log-level error events --deliver mail --every 1s --batch $PAGE --backoff 10ms -- ./take
}
takes() {
    mkdir -p taken
    cat >take <<'SH'
#!/bin/sh
cat >"page.$$"
sleep "0.0$(($$ % 10))"
mv "page.$$" "taken/$$.$(date +%s%N)"
SH
    chmod +x take
}
taken_keys() { cat taken/* | grep -o '"entity_key":"[0-9]*"' | tr -dc '0-9\n'; }
unread() { "$P" events --consumers --json | json 'j[0]["unread"]'; }
all_is_read() { [ "$(unread)" = 0 ]; }

# Mostly the one that works, if there is one.
who_works() {
    local pid c
    pid=$(q "SELECT held_by FROM {cursor} WHERE owner IS NOT NULL" | sed 's/.*\///')
    for ((c = 0; c < CONSUMERS; c++)); do
        [ "$(pid_of c$c)" != "$pid" ] || { echo c$c; return; }
    done
    echo "$1"
}

# One of them is killed, or stopped for longer than the lease, and goes on then.
one_fault() {
    local name=c$((RANDOM % CONSUMERS)) kind=$((RANDOM % 3))
    [ $((RANDOM % 4)) = 0 ] || name=$(who_works "$name")
    alive "$name" || { fail "$STORE_NAME: $name is alive" "$(cat "$name.err")"; return 1; }
    if [ $kind = 0 ]; then
        kill -STOP "$(pid_of "$name")"
        sleep 1.3                               # the lease has a second
        kill -CONT "$(pid_of "$name")"
        STOPS=$((STOPS + 1))
    else
        kill -KILL "$(pid_of "$name")"
        join "$name"
        KILLS=$((KILLS + 1))
        consumes "${name#c}"
    fi
    sleep "0.$((RANDOM % 9))"
}

faults_beside_events() {
    local c w taken twice
    KILLS=0 STOPS=0 WRITER=()
    rm -rf taken page.*
    a_clean_store
    takes
    audit
    settings 'lease = "1s"; trust = "700ms"; kill_grace = "100ms";'
    for ((c = 0; c < CONSUMERS; c++)); do consumes $c; done
    for ((w = 0; w < WRITERS; w++)); do writes $w & WRITER[w]=$!; done
    until writers_are_over && [ $((KILLS + STOPS)) -ge 15 ] && [ $STOPS -ge 4 ]; do
        one_fault || break
    done
    for ((w = 0; w < WRITERS; w++)); do
        wait "${WRITER[w]}" || fail "$STORE_NAME: writer $w ends well"
    done
    wait_until 300 all_is_read || fail "$STORE_NAME: all is read in the end" "$(unread) are not"
    for ((c = 0; c < CONSUMERS; c++)); do
        kill -TERM "$(pid_of c$c)"
        join_within 20 c$c
        is "$STORE_NAME: consumer $c ends well" "$CODE" 0
    done
    is "$STORE_NAME: all events were written" "$(q "SELECT count(*) FROM {event}")" "$EVENTS"
    taken=$(taken_keys | sort -un | wc -l)
    is "$STORE_NAME: none was skipped" "$taken" "$EVENTS"
    is "$STORE_NAME: no cursor went back" "$(moves_back)" 0
    is "$STORE_NAME: each move went on from the one before" "$(gaps)" 0
    at_least "$STORE_NAME: moves" "$(q "SELECT count(*) FROM moves")" $((EVENTS / PAGE))
    twice=$(($(taken_keys | wc -l) - taken))
    echo "# $STORE_NAME: $KILLS kills, $STOPS stops, $twice of $EVENTS came twice"
    # a kill, or a take-over, can repeat the page of each of two
    at_most "$STORE_NAME: events that came twice" $twice $(((KILLS + STOPS) * 2 * PAGE))
}

# ---- who takes over ----

is_at_work() { [ -n "$(q "SELECT held_by FROM {cursor} WHERE owner IS NOT NULL")" ] && [ -e at_work ]; }
works_elsewhere() { [ -e at_work ] && [ "$(cat at_work)" != "$1" ]; }

# One that works is killed: the others know of it by its lease alone.
taken_over() {
    local name worker killed_ms c
    a_clean_store
    settings 'lease = "3s"; trust = "2s"; kill_grace = "100ms";'
    printf '%s\n' '#!/bin/sh' 'echo "$PPID" >at_work.new; mv at_work.new at_work; exec sleep 60' >take
    chmod +x take
    rm -f at_work
    q "$(emits_one)"
    for c in 0 1; do consumes $c; done
    wait_until 20 is_at_work || fail "$STORE_NAME: one of two works"
    worker=$(cat at_work)
    name=$(who_works none)
    ok "$STORE_NAME: it is the one that the store names" alive "$name"
    kill -KILL "$(pid_of "$name")"
    killed_ms=$(now_ms)
    ok "$STORE_NAME: another takes over" wait_until 20 works_elsewhere "$worker"
    in_time "$STORE_NAME: within the lease, and a look" $(($(now_ms) - killed_ms)) 4500
    join "$name"
    for c in 0 1; do
        [ c$c = "$name" ] || { kill -TERM "$(pid_of c$c)"; join_within 20 c$c; }
    done
    is "$STORE_NAME: its event is unread still" "$(unread)" 1
}
emits_one() {
    if [ "$STORE_NAME" = sqlite ]; then
        echo "INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at,
                  check_count, recorded_at_us) VALUES ('late', 'orders', 1, 'look', 0, 0, 0, 0)"
    else
        echo "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec)
              VALUES (now(), 'late', 'orders', 1, 'look')"
    fi
}

everything() { faults_beside_events; taken_over; }
on_each_store everything
