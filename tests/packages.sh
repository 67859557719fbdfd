#!/usr/bin/env bash
# tests/packages.sh SUITE      builds Debian's packages on a minimal Debian of that name (bookworm,
#                              trixie), asks lintian, installs, upgrades, removes and purges them on
#                              another one, and runs debian/tests there by autopkgtest
#
# As root; it needs debootstrap, git and unshare. It is not part of `make check` and of CI: it loads
# some 600 MB of packages, and takes a quarter of an hour. It takes the last commit, cloned, without
# uncommitted changes. Packages come from the source of this machine's own: its mirror, its proxy,
# its certificates.
#
# FRESH_DIR                    where the Debians are made (/var/tmp); 4 GB
# FRESH_KEEP=1                 leaves them there
# FRESH_LIMIT_S                how long each of the steps may take (3600)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

say() { printf '%s\n' "$*" >&2; }
refuse() { say "tests/packages.sh: $*"; exit 2; }

suite=${1:-}
limit_s=${FRESH_LIMIT_S:-3600}
case $suite in
bookworm | trixie) ;;
*) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || refuse "must be run as root"
for program in debootstrap git unshare; do
    command -v "$program" >/dev/null ||
        refuse "there is no $program here; install it: apt-get install debootstrap git util-linux"
done
[ -z "$(git status --porcelain)" ] || say "tests/packages.sh: what is not committed is not tried"

dir=$(mktemp -d "${FRESH_DIR:-/var/tmp}/prescient-packages.XXXXXX")
builder=$dir/builder clean=$dir/clean root=$builder
clean_up() {
    trap - EXIT
    if [ -n "${FRESH_KEEP:-}" ]; then say "kept: $dir"; else rm -rf --one-file-system "$dir"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

. tests/debian_lib.sh

# A shell with -e does not end at "! COMMAND"; it does at "not COMMAND".
not='not() { ! "$@"; }'
# in_clean LINES...: on the one where they are installed
in_clean() { root=$clean enter sh -euc "$not; $*"; }

# ---- where they are built ----

# apt asks nobody anything there, so that README's lines can be taken as they are.
make_debians() {
    debian_make "$suite" "$root" --include=ca-certificates && carry_apt_settings &&
        printf '%s\n' 'APT::Get::Assume-Yes "true";' 'APT::Install-Recommends "false";' \
            'Dpkg::Use-Pty "false";' >"$root/etc/apt/apt.conf.d/91tests" &&
        enter sh -c 'apt-get -qq update && apt-get -qq upgrade' && cp -a "$builder" "$clean"
}

build() {
    local lines
    lines=$(block_of README.md "packages.sh: install") && git bundle create -q "$root/root/bundle" HEAD &&
        enter sh -euc "apt-get -qq install git sudo
            git clone -q /root/bundle /root/prescient
            cd /root/prescient
            $lines
            apt-get -qq purge prescient"
}

# What is upgraded: the same program under an older number.
build_older() {
    enter sh -euc 'cd /root/prescient/build/deb/prescient-*/
        sed "1s/(.*)/(0.1.9)/" debian/changelog >/root/changelog
        cp /root/changelog debian/changelog
        rm debian/files
        dpkg-buildpackage -us -uc -b -nc
        mkdir /root/older
        mv ../*_0.1.9_* /root/older' &&
        mkdir "$clean/debs" && cp -a "$root"/root/prescient/build/deb/*.* "$root/root/older" "$clean/debs"
}

judge() {
    enter sh -euc 'apt-get -qq install lintian
        lintian --allow-root --fail-on error,warning --display-info --tag-display-limit 0 \
            /root/prescient/build/deb/*.changes'
}

# ---- where they are installed ----

first() {
    in_clean '
        apt-get -qq install sqlite3 /debs/older/prescient_0.1.9_*.deb
        [ -z "$(find /etc/systemd/system -name "*prescient*")" ]
        install -o root -g prescient -m 640 /usr/share/doc/prescient/etc/prescient.cfg /etc/prescient/
        echo "# of the operator" >>/etc/prescient/prescient.cfg
        cd /var/lib/prescient
        runuser -u prescient -- prescient init
        runuser -u prescient -- sqlite3 prescient.db \
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT);
             INSERT INTO orders VALUES (42, NULL)"
        runuser -u prescient -- prescient config --check
        runuser -u prescient -- prescient enqueue orders 42 unshipped_order +3h
        runuser -u prescient -- prescient list --json >/waiting
        systemctl enable prescient-daemon.service'
}

upgraded() {
    in_clean '
        sha256sum /etc/prescient/prescient.cfg >/sums
        stat -c "%n %U %G %a" /etc/prescient/* /var/lib/prescient/* >/owners
        apt-get -qq install /debs/prescient_*.deb /debs/prescient-dev_*.deb
        dpkg-query -W prescient | grep -v 0.1.9
        sha256sum -c /sums
        stat -c "%n %U %G %a" /etc/prescient/* /var/lib/prescient/* | diff /owners -
        systemctl is-enabled prescient-daemon.service
        cd /var/lib/prescient
        runuser -u prescient -- prescient list --json | diff /waiting -
        grep 42 /waiting
        runuser -u prescient -- prescient doctor
        runuser -u prescient -- prescient --quiet replay --from now --to +4h
        runuser -u prescient -- prescient events --json | grep order.unshipped'
}

removed() {
    in_clean '
        apt-get -qq remove prescient prescient-dev
        [ ! -e /usr/bin/prescient ] && [ ! -e /usr/lib/prescient ]
        [ -e /etc/prescient/prescient.cfg ] && [ -e /var/lib/prescient/prescient.db ]'
}

purged() {
    in_clean '
        apt-get -qq purge prescient prescient-dev >/said
        cat /said
        grep "/etc/prescient is left" /said
        grep "/var/lib/prescient is left" /said
        grep "user prescient is left" /said
        [ -e /etc/prescient/prescient.cfg ] && [ -e /var/lib/prescient/prescient.db ]
        not dpkg-query -W prescient 2>/dev/null
        rm -r /etc/prescient /var/lib/prescient
        find / -xdev -path /debs -prune -o -path /proc -prune -o -name "*prescient*" -print >/left
        [ ! -s /left ] || { cat /left; exit 1; }'
}

# What is not used yet is purged without a trace in /etc and /var/lib.
unused() {
    in_clean '
        apt-get -qq install /debs/prescient_*.deb
        apt-get -qq purge prescient
        [ ! -e /etc/prescient ] && [ ! -e /var/lib/prescient ]'
}

tested() {
    in_clean '
        apt-get -qq install autopkgtest
        code=0
        autopkgtest --no-built-binaries --output-dir /tested /debs/prescient*.deb /debs/prescient_*.dsc \
            -- null || code=$?
        tail -n 20 /tested/*-stderr
        cat /tested/summary
        [ "$(grep -c " PASS$" /tested/summary)" = "$(grep -c . /tested/summary)" ]
        exit $code'
}

# The same where systemd is the first process, with all that the units ask of it.
ran_by_systemd() {
    local code=0
    in_clean 'dpkg --purge prescient prescient-dev
        rm -rf /etc/prescient /var/lib/prescient
        apt-get -qq install systemd postgresql sqlite3' || return
    root=$clean boot || { echo "systemd does not start in here"; return 1; }
    in_booted sh -euc "$not"'
        systemctl is-system-running || systemctl --failed --no-pager
        dpkg -i /debs/older/prescient_0.1.9_*.deb
        [ -z "$(systemctl list-units --all --plain --no-legend "prescient*")" ]
        tar -C /tmp -xf /debs/prescient_*.tar.xz
        for t in main-job-on-sqlite main-job-on-postgresql units; do
            (cd /tmp/prescient* && debian/tests/$t)
        done

        install -o root -g prescient -m 640 /usr/share/doc/prescient/etc/prescient.cfg /etc/prescient/
        cd /var/lib/prescient
        runuser -u prescient -- prescient init
        runuser -u prescient -- sqlite3 prescient.db \
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT);
             INSERT INTO orders VALUES (42, NULL)"
        runuser -u prescient -- prescient enqueue orders 42 unshipped_order +3h
        runuser -u prescient -- prescient list --json >/waiting
        for instance in shop away; do
            sed "s|^store = .*|store = \"sqlite:shop.db\";|" /etc/prescient/prescient.cfg |
                install -o root -g prescient -m 640 /dev/stdin /etc/prescient/$instance.cfg
        done
        sed -i "s|^store = .*|store = \"postgresql://127.0.0.1:1/nobody\";|" /etc/prescient/away.cfg
        install -d -o prescient -g prescient -m 750 shop
        runuser -u prescient -- env -C shop prescient --config /etc/prescient/shop.cfg init
        systemctl enable --now prescient-daemon.service prescient.timer prescient-serve.socket \
            prescient@shop.service
        systemctl start --no-block prescient@away.service
        systemctl start prescient.service
        engines="prescient-daemon.service prescient@shop.service prescient@away.service"
        pids() { systemctl show --value -p MainPID $engines | xargs; }
        are_new() {
            [ "$(systemctl is-active $engines | xargs)" = "active active activating" ] &&
                not sh -c "{ echo $before; echo $(pids); } | xargs -n 1 | sort | uniq -d | grep ."
        }
        before=$(pids)
        timeout 60 dpkg -i /debs/prescient_*.deb
        for try in $(seq 60); do if are_new; then break; fi; sleep 0.5; done
        are_new
        systemctl is-active prescient.timer prescient-serve.socket
        grep 42 /waiting
        runuser -u prescient -- prescient list --json | diff /waiting -
        systemctl reload prescient-daemon.service
        systemctl is-active prescient-daemon.service

        dpkg --remove prescient
        not systemctl is-active "prescient*"
        not pgrep -u prescient
        dpkg --purge prescient
        [ -z "$(find /etc/systemd -name "*prescient*")" ]' || code=$?
    shut_down
    return "$code"
}

failed=0
step "two of a minimal $suite" make_debians || exit 1
step "packages of $(git rev-parse --short HEAD) are built and installed by README's lines" build || exit 1
step "lintian has nothing to say" judge || failed=1
step "the same with an older number" build_older || exit 1
step "it is installed; nothing is started" first || failed=1
step "an upgrade keeps settings, the store and what is enabled" upgraded || failed=1
step "what is removed leaves settings and the store" removed || failed=1
step "what is purged says what it leaves" purged || failed=1
step "what was never used leaves nothing" unused || failed=1
step "autopkgtest: the main job on both stores, a plug-in, the units" tested || failed=1
step "systemd starts, runs, reloads and restarts the units" ran_by_systemd || failed=1
exit "$failed"
