#!/usr/bin/env bash
# tests/pages/shots.sh [FOLDER]   draws the pictures of the dashboard in docs/ (or FOLDER): a shop's
#                                 store of the last and the next 24 hours, whose slots an engine has
#                                 run, and Chromium at 900 pixels. For hands: no test looks at them.
#
# Two slots were missed, one was late, one in 33 questions to a carrier fails, and a job is paused.
# What is random comes from one seed, so that pictures differ by their day only.
# Needs chromium, chromedriver and python3-selenium. BUILD: where the program is (build).
set -euo pipefail
folder=$(realpath "${1:-docs}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
. tests/acceptance_lib.sh
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/pages_lib.sh"
has_browser >/dev/null || { echo "shots.sh: no chromium, chromedriver or python3-selenium" >&2; exit 2; }

STORE_NAME=sqlite
export PRESCIENT_STORE=sqlite:$TMP/shop.db
BASE_AT=$(($(date +%s) / 900 * 900))
cat >carrier.sh <<'SH'
#!/bin/sh
# some 10 to 99 ms, and one in 33 fails
sleep .0$(($$ % 90 + 10))
[ $((PRESCIENT_ENTITY_KEY % 33)) = 0 ] || exit 0
if [ $((PRESCIENT_ENTITY_KEY % 2)) = 0 ]; then
    echo "carrier 2 does not answer: 10.0.7.$(($$ % 9)) timed out" >&2
    exit 1
fi
echo "carrier 1 answered 503 for parcel $PRESCIENT_ENTITY_KEY" >&2
exit 1
SH
chmod +x carrier.sh
settings 'engine_name = "shop-1"; log_level = "error"; workers = 4;
    jobs = {
        is_shipped = { plugin = "noop"; }; is_paid = { plugin = "noop"; };
        is_returned = { plugin = "noop"; settings = { answer = "again"; again_after = "26h"; }; };
        asks_carrier = { plugin = "exec"; max_failures = 0;
            settings = { command = [ "'"$PWD"'/carrier.sh" ]; }; };
    };'
a_clean_store

# 24 hours both ways: many by day, few by night.
python3 - "$BASE_AT" >rows.csv <<'PY'
import math
import random
import sys
base = int(sys.argv[1])
chance = random.Random(15)
jobs = (("orders", "is_shipped", 9), ("invoices", "is_paid", 6), ("parcels", "asks_carrier", 5),
        ("orders", "is_returned", 2))
print("entity_name,entity_key,job_exec,check_at,tenant")
key = 40000
for slot in range(base - 86400, base + 86400, 900):
    hour = slot % 86400 / 3600
    share = 0.25 + max(0, math.sin((hour - 6) * math.pi / 14)) * 4
    share += 9 if slot % 86400 == 12 * 3600 else 0
    for entity, job, weight in jobs:
        for _ in range(int(weight * share * chance.uniform(0.6, 1.4))):
            key += 1
            tenant = chance.choices(("shop.example", "books.example", "tools.example"), (6, 3, 1))[0]
            print(f"{entity},{key},{job},{slot},{tenant}")
PY
"$P" --quiet --now $((BASE_AT - 90000)) enqueue --from rows.csv >/dev/null
# run SLOT LATE: LATE seconds after it
run() { "$P" --quiet run --no-sweep --slot "$1" --now $(($1 + $2)) 2>>run.err || [ $? = 1 ]; }
for ((slot = BASE_AT - 86400; slot <= BASE_AT; slot += 900)); do
    case $(((BASE_AT - slot) / 900)) in
    22 | 23) ;;
    21) run $((slot - 1800)) 1810; run $((slot - 900)) 1300; run "$slot" 420 ;;
    14) run "$slot" 260 ;;
    *) run "$slot" 1 ;;
    esac
done
for ((n = 0; n < 4; n++)); do "$P" --quiet run 2>>run.err || [ $? = 1 ]; done     # second looks
"$P" --quiet schedule add nightly-stock warehouse 1 is_shipped --cron '30 2 * * *' --timezone Europe/Berlin
"$P" --quiet schedule add feed shop 7 is_paid --every 2h
"$P" --quiet pause --job is_returned --reason 'the returns desk moves house' >/dev/null
serve_at shop
"$PYTHON" - "$ROOT/tests/pages" "$URL" "$folder" "$BASE_AT" <<'PY'
import sys
import time
from urllib.parse import urlencode
sys.path.insert(0, sys.argv[1])
from browser import Browser
url, folder, base = sys.argv[2], sys.argv[3], int(sys.argv[4])


def at(slot):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(slot))


def draw(name, path, most=1100, scheme="light", width=900, before=None):
    with Browser(url, zone="Europe/Berlin", width=width, scheme=scheme) as b:
        b.open(path)
        if before:
            b.js(before)
        b.resize(min(max(b.js("return document.documentElement.scrollHeight"), 500), most))
        b.driver.save_screenshot(f"{folder}/{name}.png")


draw("dashboard", "")
draw("dashboard-slots", "slots?by=job", 760)
draw("dashboard-failed", "failed?from=-1d", 640, width=1150)
draw("dashboard-job", "job?name=asks_carrier", 1000)
draw("dashboard-narrow", "", 900, "dark", 320)
with Browser(url) as b:
    b.open("checks?job=is_shipped")
    check = b.js("return document.querySelector('tbody a[href^=\"check?\"]').getAttribute('href')")
draw("dashboard-check", check, 700)
PY
ends shop >/dev/null
find "$folder" -name 'dashboard*.png' -size +150k -exec echo "shots.sh: {} has more than 150 KiB" \;
