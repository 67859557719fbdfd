#!/usr/bin/env bash
# manual_job.sh - prescient-job(7) names all that a plug-in may export, answer and call, and its
# example is README's.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
page=$ROOT/docs/prescient-job.7 header=$ROOT/include/prescient/job.h

# members STRUCT: the names of what it has, functions and values
members() {
    awk -v from="^struct $1 [{]" '$0 ~ from { inside = 1 } inside && /^};/ { exit } inside' "$header" |
        python3 -c '
import re, sys
text = re.sub(r"/\*.*?\*/", "", sys.stdin.read(), flags=re.S)
names = re.findall(r"\(\*(\w+)\)", text)
for line in re.sub(r"\(\*\w+\)\s*\([^;]*\);", ";", text, flags=re.S).split(";"):
    if "{" not in line and "(" not in line:
        names += re.findall(r"(\w+)\s*(?:,|$)", line.strip())
print("\n".join(names))'
}
missing() { while read -r name; do grep -qw -- "$name" "$page" || echo "$name"; done; }

is "every member of a plug-in and of the host, but their sizes" \
    "$({ members prescient_plugin; members prescient_host; } |
        grep -vxE 'size|abi|impl|summary|int64_t' | missing)" ""
is "there are such members" "$(members prescient_host | grep -cwE 'query|emit|timeout_ms|broken')" 4
is "every answer" \
    "$(grep -oE '^prescient_[a-z_]+\(struct prescient_answer' "$header" | cut -d'(' -f1 | missing)" ""
is "its example is README's" \
    "$(sed -n '/^#include <prescient/,/^\.fi/p' "$page" | sed '$d; s/\\-/-/g' | tr -d ' \n')" \
    "$(awk '/readme.sh: order_paid.c/ { seen = 1 } seen && /^```$/ { exit } seen' "$ROOT/README.md" |
        sed -n '/^#include/,$p' | tr -d ' \n')"

# ---- the header in C++ ----

mkdir -p jobs
cat >jobs/in_cxx.cc <<'CXX'
#include <prescient/job.h>
static void in_cxx(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state;
    prescient_note(answer, "%s", check->entity_key);
    prescient_done(answer);
}
PRESCIENT_PLUGIN(.name = "in_cxx", .summary = "is done", .job_exec = in_cxx);
CXX
ok "a plug-in in C++ is compiled without a warning" \
    g++ -std=gnu++11 -Wall -Werror -shared -fPIC -I"$ROOT/include" -o jobs/in_cxx.so jobs/in_cxx.cc
printf 'store = "sqlite:cxx.db"; plugin_dirs = ["%s"]; jobs = { one = { plugin = "in_cxx"; }; };\n' \
    "$TMP/jobs" >prescient.cfg
chmod 600 prescient.cfg
ok "(a store)" "$P" --quiet init
ok "(a check)" "$P" --quiet enqueue orders 42 one --at-once
has "and runs" "$("$P" run --check orders 42 2>&1)" "done: orders 42"
