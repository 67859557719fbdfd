# jobs_lib.sh - what scripts share that try a job of their own, which their function `job SETTINGS`
# writes into prescient.cfg. Sourced, behind lib.sh; `over` needs acceptance_lib.sh.

# refused WORDS [SETTINGS]: the job with them
refused() {
    job "${2:-}"
    fails_with 78 "$1" "$P" --store sqlite:none.db config --check
}
# over KEY: the check of that row has ended
over() { [ "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_key = '$1'")" = 1 ]; }
