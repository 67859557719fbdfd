#!/usr/bin/env bash
# install.sh - what `make install` puts in place works from there, a plug-in is made by pkg-config,
# and `make uninstall` removes exactly that; `make dist` packs the last commit.
# about 15 s
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
umask 022
built=${P%/*}

# as GNU's standards have it: makes TARGET of what is built, into $TMP/root
make_it() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$ROOT" BUILD="$built" STAGE="$built/stage" \
        DESTDIR="$TMP/root" "$@"
}
version=$(sed -n 's/^## \([0-9][^ ]*\).*/\1/p' "$ROOT/CHANGELOG.md" | head -1)
root=$TMP/root local=$TMP/root/usr/local

# ---- the usual folders ----

ok "make install" make_it install-built
has "the program runs from there" "$("$local/bin/prescient" --version)" "prescient $version"
ok "and finds the one that measures" "$local/bin/prescient" bench --help
for name in $(cd "$ROOT/jobs" && ls -d -- */); do
    [ "$name" = shared/ ] || echo "lib/prescient/jobs/${name%/}.so"
done >expected
for page in "$ROOT"/docs/*.[1-8]; do echo "share/man/man${page##*.}/${page##*/}"; done >>expected
(cd "$ROOT/etc" && printf 'lib/systemd/system/%s\n' *.service *.timer *.socket) >>expected
(cd "$ROOT" && printf 'share/doc/prescient/%s\n' etc/*.cfg etc/*/* docs/*.md examples/*/* jobs/*/README.md \
    README.md CHANGELOG.md LICENSE) >>expected
echo 'bin/prescient
include/prescient/job.h
lib/sysusers.d/prescient.conf
lib/tmpfiles.d/prescient.conf
share/bash-completion/completions/prescient
share/fish/vendor_completions.d/prescient.fish
share/zsh/site-functions/_prescient
share/pkgconfig/prescient.pc' >>expected
is "every plug-in, page, unit and sample is there" \
    "$(while read -r file; do [ -s "$local/$file" ] || echo "$file"; done <expected)" ""
is "nobody but the owner may write" "$(find "$root" -perm /022)" ""
is "each page names the version" \
    "$(grep -Lx "\.TH .* \"prescient $version\" .*" "$local"/share/man/man*/*)" ""
is "nothing waits to be filled in" "$(grep -rlE '@[A-Za-z]+@' "$local/lib" "$local/share/pkgconfig")" ""

is "links of documents lead somewhere" \
    "$(python3 "$ROOT/tests/house/docs.py" "$local/bin/prescient" "$local/share/doc/prescient" |
        sed '/^[no]*t* *ok - files/,$d')" "ok - links lead somewhere"

# ---- a plug-in of somebody else ----

awk '/readme.sh: order_paid.c/ { seen = 1; next } seen && /^```$/ { exit } seen && !/^```/' \
    "$ROOT/README.md" >order_paid.c
export PKG_CONFIG_PATH=$local/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
jobs=$root$(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --variable=jobsdir prescient)
is "pkg-config has the version" "$(pkg-config --modversion prescient)" "$version"
is "and the folder of the bundled ones" "$jobs" "$local/lib/prescient/jobs"
# shellcheck disable=SC2046
ok "the example of README is compiled by it" \
    cc -Wall -Werror -shared -fPIC -o "$jobs/order_paid.so" order_paid.c $(pkg-config --cflags prescient)
cat >prescient.cfg <<END
store = "sqlite:shop.db";
plugin_dirs = ["$jobs"];
jobs = { order_paid = { plugin = "order_paid"; }; };
END
sqlite3 shop.db 'CREATE TABLE orders (id INTEGER PRIMARY KEY, paid_at TEXT);
    INSERT INTO orders (id) VALUES (42)'
ok "a store" "$local/bin/prescient" init
ok "a check" "$local/bin/prescient" enqueue orders 42 order_paid +1h
ok "an hour passes" "$local/bin/prescient" --quiet --log-level error replay --from now --to +2h
is "the plug-in has looked" "$("$local/bin/prescient" events --json | json 'j["event"], j["entity_key"]')" \
    "('order.unpaid', '42')"

# ---- gone again ----

ok "make uninstall" make_it uninstall
is "what somebody else has put there is left, and nothing else" \
    "$(find "$root" -type f)" "$jobs/order_paid.so"
rm "$jobs/order_paid.so"
ok "once more" make_it uninstall
is "no folder of ours is left" "$(find "$root" -path "$root*prescient*")" ""

# ---- other folders ----

fails_with 2 "docdir: a name of a folder with a blank" make_it docdir="/opt/a b" install-built
other() {
    make_it PREFIX=/opt/p bindir=/opt/p/own/bin unitdir=/etc/systemd/system libexecdir=/opt/p/deep/libexec \
        docdir=/opt/p/doc "$@"
}
ok "make install into folders by name" other install-built
is "units start the program there" \
    "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$root"/etc/systemd/system/*.service | sort -u)" \
    /opt/p/own/bin/prescient
has "cron looks for it there" "$(grep ^PATH= "$root/opt/p/doc/etc/prescient.cron")" "PATH=/opt/p/own/bin:"
is "nothing speaks of the usual ones" \
    "$(grep -rlIE '/usr/local/(bin/prescient|lib/prescient/jobs)' "$root")" ""
has "nor does pkg-config" "$(PKG_CONFIG_PATH=$root/opt/p/share/pkgconfig \
    pkg-config --cflags prescient)" "$root/opt/p/include"
ok "make uninstall of them" other uninstall
ok "what the build finds in its own folder does not confuse it" make_it PREFIX=/usr install-built
ok "the next time" make_it PREFIX=/usr uninstall
is "nothing is left of them" "$(find "$root" -type f -o -path "$root/opt/p/doc*")" ""

# ---- a tarball ----

if [ "$(git -C "$ROOT" rev-parse --show-toplevel 2>/dev/null)" != "$ROOT" ]; then
    echo "# these files are in no repository that git can read: make dist is not tried"
    exit
fi
mkdir one other
# without programs: make dist builds none
for folder in one other; do
    ok "make dist" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$ROOT" BUILD="$TMP/$folder" dist
done
committed=$(git -C "$ROOT" show HEAD:CHANGELOG.md | sed -n 's/^## \([0-9][^ ]*\).*/\1/p' | head -1)
tarball=prescient-$committed.tar.gz
ok "the same commit makes the same file" cmp "one/$tarball" "other/$tarball"
is "it has every file of the commit" \
    "$(tar -tzf "one/$tarball" | sed -n "s|^prescient-$committed/||p" | grep -v '/$' | grep . | sort)" \
    "$(git -C "$ROOT" ls-tree -r --name-only HEAD | sort)"
is "none of them may be written by a group" "$(tar -tvzf "one/$tarball" | grep -E '^.....w' | head -3)" ""
