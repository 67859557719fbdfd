#!/usr/bin/env bash
# shop.sh - examples/shop ends as its README describes: which orders raised an alert, when, and
# their history.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
SHOP=$PWD/examples/shop
. tests/lib.sh

mkdir shop
"$SHOP/run.sh" "$P" shop >story.out 2>story.err
is "the story is told to its end" "$?" 0
is "without a word of trouble" "$(cat story.err)" ""

# Lines in pairs: what a row of the table shows, and the row without its padding.
while read -r what && read -r expected; do
    is "$what" "$(grep -xF -- "$expected" <(sed 's/  */ /g; s/ $//' story.out))" "$expected"
done <<'END'
shipped in time: no alert
    1001 Ada 03-02 09:12 03-02 11:40 unshipped_order - done 03-02 12:15
shipped late: one alert, then done
    1002 Ben 03-02 10:05 03-02 17:30 unshipped_order 03-02 13:15 done 03-03 13:15
never shipped: alerts until the guard
    1003 Cem 03-02 15:50 never unshipped_order 03-02 19:00, 03-03 19:00, 03-04 19:00 max_checks 03-04 19:00
paid in time
    1004 Dee 03-03 08:30 03-03 10:00 unpaid_order - done 03-04 08:30
cancelled: resolved, nothing was run
    1005 Eli 03-04 12:00 cancelled unshipped_order - resolved 03-04 13:20
shipped two days late: two alerts
    1006 Fay 03-05 16:45 03-07 09:30 unshipped_order 03-05 19:45, 03-06 19:45 done 03-07 19:45
not paid: an alert, and another look to come
    1007 Gus 03-06 11:11 03-06 12:00 unpaid_order 03-07 11:15 waiting next 03-10 11:15
what the week did not reach still waits
    1008 Hal 03-08 18:20 never unshipped_order 03-08 21:30 waiting next 03-09 21:30
END

ok "a second time in the same folder" "$SHOP/run.sh" "$P" shop
is "gives the same table" "$(grep '^100' .out)" "$(grep '^100' story.out)"
is "and no check was left out: one row of history or waiting for each" \
    "$(sqlite3 shop/shop.db \
    "SELECT (SELECT count(*) FROM prescient_future_job_history) + (SELECT count(*)
     FROM prescient_future_job)")" 10
is "each run left one row" \
    "$(sqlite3 shop/shop.db "SELECT sum(run_count) = (SELECT count(*) FROM prescient_future_job_run)
       + (SELECT count(*) FROM prescient_future_job_history WHERE run_count > 0)
  FROM (SELECT run_count FROM prescient_future_job_history UNION ALL SELECT run_count
  FROM prescient_future_job)")" 1
