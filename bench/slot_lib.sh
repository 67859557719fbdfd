# slot_lib.sh - the checks of one slot, for what counts instructions (guard.sh, renew.sh). Sourced,
# with: q SQL, and $slot, the slot before the first.

# fill JOB N [recurs]: moves $slot on, and nothing waits but N checks of that job there, written as
# they lie in life: in the order of their ids. With `recurs` each is that of a schedule.
fill() {
    local terms=NULL origin=NULL
    if [ "${3:-}" = recurs ]; then
        terms="'schedule \"order ' || i || '\" every 3600 bias 0.0667 missed run_once'"
        origin="md5(i::text)"
    fi
    slot=$((slot + 900))
    q "TRUNCATE prescient.future_job"
    q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec,
       first_check_at, next_check_at, terms, origin)
       SELECT prescient.bucket_of('orders', i::text), 'orders', i::text, '$1', to_timestamp($slot),
           to_timestamp($slot), $terms, $origin FROM generate_series(1, $2) i"
    q "VACUUM (ANALYZE) prescient.future_job"
    q "CHECKPOINT"
}
