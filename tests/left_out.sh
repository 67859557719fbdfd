#!/usr/bin/env bash
# left_out.sh - a plug-in whose library is missing is left out of the build, with a line that names
# the library; a job that is bound to it is refused. Built in a small tree of its own.
# not instrumented
# night: it builds anew
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
umask 022

mkdir -p tree/jobs/{needs_one,needs_none,has_it,may_have,shares,shares_one,shared/{part,part_of_one}}
for part in Makefile install.mk CHANGELOG.md include engine migrations bench tests jobs/left_out.c; do
    ln -s "$ROOT/$part" "tree/$part"
done
# code LINE...: a plug-in that answers DONE
code() {
    printf '%s\n' '#include <prescient/job.h>' "$@" \
        'static void run(void *s, const struct prescient_check *c, struct prescient_answer *answer)' \
        '{ (void)s, (void)c; prescient_done(answer); }' \
        'PRESCIENT_PLUGIN(.name = "tree", .summary = "from a test", .job_exec = run);'
}
code '#include <no_such_library.h>' >tree/jobs/needs_one/needs_one.c
printf 'jansson\nno_such_library\n' >tree/jobs/needs_one/libraries
code >tree/jobs/needs_none/needs_none.c
code '#include <jansson.h>' 'void *object(void); void *object(void) { return json_object(); }' \
    >tree/jobs/has_it/has_it.c
echo jansson >tree/jobs/has_it/libraries
code '#ifdef WITH_OPTIONAL' '#include <no_such_library.h>' \
    'static const char *part __attribute__((used)) = "it has that part";' '#endif' \
    >tree/jobs/may_have/may_have.c
echo 'jansson no_such_library' >tree/jobs/may_have/libraries.optional
# By way of a folder that plug-ins share, and libraries that pkg-config has not heard of.
code '#include "../shared/part/part.h"' >tree/jobs/shares/shares.c
echo part >tree/jobs/shares/shared
echo '#include <jansson.h>' >tree/jobs/shared/part/part.h
printf '%s\n' '#include "part.h"' '#include <math.h>' 'double part(double);' \
    'double part(double x) { return json_object() ? cos(x) : 0; }' \
    >tree/jobs/shared/part/part.c
printf 'jansson\n-lm\n' >tree/jobs/shared/part/libraries
code '#include <part_of_one.h>' >tree/jobs/shares_one/shares_one.c
echo part_of_one >tree/jobs/shares_one/shared
echo -lno_such_part >tree/jobs/shared/part_of_one/libraries
build() { make -s -C tree BUILD="$TMP/built" SANITIZE= COVERAGE= "$@"; }
is "a line says so" "$(build left-out 2>/dev/null)" "jobs/needs_one is left out: there is no no_such_library
jobs/shares_one is left out: there is no libno_such_part"
ok "the others are built" build "$TMP/built/jobs/"{needs_one,needs_none,has_it,may_have,shares,shares_one}.so
is "one without what it may have" "$(grep -c "it has that part" "$TMP/built/jobs/may_have.so")" 0

cat >prescient.cfg <<CFG
plugin_dirs = ["$TMP/built/jobs"];
jobs = { a = { plugin = "needs_none"; }; b = { plugin = "has_it"; }; c = { plugin = "shares"; }; };
CFG
ok "and can be used" "$P" --store sqlite:none.db config --check
sed -i 's/^jobs = {/& hook = { plugin = "needs_one"; settings = { url = "x"; }; };/' prescient.cfg
fails_with 78 "job hook: the plug-in needs_one was left out of this build, as it needs no_such_library: " \
    "$P" --store sqlite:none.db config --check
fails_with 78 "as it needs no_such_library" "$P" --store sqlite:none.db try hook orders 1

rm -r tree/jobs/shares_one tree/jobs/shared/part_of_one

# The library is installed, and nothing else changes.
mkdir pc
printf 'Name: it\nDescription: it\nVersion: 1\nCflags: -I%s/pc\nLibs:\n' "$TMP" >pc/no_such_library.pc
: >pc/no_such_library.h
export PKG_CONFIG_PATH=$TMP/pc
is "no line is left" "$(build left-out 2>&1)" ""
ok "with the library it is built" build "$TMP/built/jobs/"{needs_one,may_have}.so
ok "and so is what may have it" grep -q "it has that part" "$TMP/built/jobs/may_have.so"
sed -i 's/settings = { url = "x"; };//' prescient.cfg
build "$TMP/built/jobs/"{shares,has_it}.so
touch before
echo 'double part(double x);' >>tree/jobs/shared/part/part.h
build "$TMP/built/jobs/"{shares,has_it}.so
is "a change of a shared file builds those that share it" \
    "$(find "$TMP/built/jobs" -name '*s*.so' -newer before -printf '%f ')" "shares.so "
ok "and can be used, too" "$P" --store sqlite:none.db config --check
