#!/usr/bin/env bash
# t_max_running.sh - no more workers than `max_running` run checks of one job, and others are run
# beside them; deliveries of such a job take that many instead of half of the workers. The commands
# wait until the test lets them go.
# about 10 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

over() { q "SELECT count(*) FROM {future_job_history} WHERE outcome = 'done' AND job_exec = '$1'"; }
over_at_least() { [ "$(over "$1")" -ge "$2" ]; }
began() { cat began 2>/dev/null | wc -l; }
began_at_least() { [ "$(began)" -ge "$1" ]; }

# engine MAX_RUNNING [LISTENERS]: four workers, and a job whose commands wait
engine() {
    rm -f began go
    settings 'workers = 4; workers_max = 4; stop_timeout = "1s";' "jobs = {
        look = { plugin = \"noop\"; settings = { answer = \"done\"; }; };
        emits = { plugin = \"noop\"; settings = { answer = \"done\"; event = \"ran\"; }; };
        waits = { plugin = \"exec\"; timeout = \"60s\"; max_running = $1; settings = { dir = \"$PWD\";
            command = [ \"sh\", \"-c\",
                        \"echo >>began; until [ -e go ]; do sleep 0.05; done\" ]; }; }; };" "${2:-}"
    start daemon "$P" --quiet --log-level error daemon
}
# all_end JOB N: lets them go
all_end() {
    touch go
    ok "$STORE_NAME: all are run in the end" wait_until 60 over_at_least "$1" "$2"
    is "$STORE_NAME: each once" "$(began)" "$2"
    kill -TERM "$(pid_of daemon)"
    join_within 20 daemon
}

bounded() {
    a_clean_store --slot-length 2s
    engine 2
    enqueue_in 1 12 waits "'w' || n"
    enqueue_in 1 100 look "'l' || n"
    ok "$STORE_NAME: two are run" wait_until 20 began_at_least 2
    ok "$STORE_NAME: others are run beside them" wait_until 20 over_at_least look 100
    is "$STORE_NAME: still two" "$(began)" 2
    all_end waits 12
}
delivering() {
    a_clean_store --slot-length 2s
    engine "$1" 'listeners = ( { events = "ran"; job = "waits"; } );'
    enqueue_in 1 12 emits "'e' || n"
    ok "$STORE_NAME: $2 deliveries are made at once" wait_until 20 began_at_least "$2"
    enqueue_in 1 20 look "'l' || n"
    [ "$2" = 4 ] || ok "$STORE_NAME: others are run beside them" wait_until 20 over_at_least look 20
    is "$STORE_NAME: still $2" "$(began)" "$2"
    all_end waits 12
}
everything() {
    bounded
    delivering 1 1
    delivering 4 4
    delivering 0 2
}
on_each_store everything
