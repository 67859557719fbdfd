#!/usr/bin/env bash
# tests/fresh.sh SUITE         runs ./quickstart.sh, README's lines of the section Install, and
#                              ./quickstart.sh test on a minimal Debian of that name (bookworm,
#                              trixie), as a newcomer does
#
# As root; it needs debootstrap, git and unshare. It is not part of `make check` and of CI: it loads
# some 400 MB of packages, and takes a quarter of an hour. It tests the last commit, cloned, without
# uncommitted changes. Packages come from the source of this machine's own: its mirror, its proxy,
# its certificates.
#
# FRESH_DIR                    where the Debian is made (/var/tmp); 3 GB
# FRESH_KEEP=1                 leaves it there
# FRESH_LIMIT_S                how long each of the steps may take (3600)
# TEST_LIMIT_S, TEST_AT_ONCE   as in tests/run.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

say() { printf '%s\n' "$*" >&2; }
refuse() { say "tests/fresh.sh: $*"; exit 2; }

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
[ -z "$(git status --porcelain)" ] || say "tests/fresh.sh: what is not committed is not tried"

dir=$(mktemp -d "${FRESH_DIR:-/var/tmp}/prescient-fresh.XXXXXX")
root=$dir/root
clean_up() {
    trap - EXIT
    if [ -n "${FRESH_KEEP:-}" ]; then say "kept: $dir"; else rm -rf --one-file-system "$dir"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- the fresh machine ----

. tests/debian_lib.sh

make_debian() {
    debian_make "$suite" "$root" --include=git,ca-certificates &&
        carry_apt_settings &&
        git bundle create -q "$root/root/prescient.bundle" HEAD &&
        enter git clone -q /root/prescient.bundle /root/prescient
}

# The lines of README's section as they stand, where systemd is the first process: on a Debian that
# is not minimal, with sudo. All that a build needs is there by now; there is no network.
install_by_readme() {
    local lines code=0
    lines=$(block_of README.md "fresh.sh: install") && enter apt-get -qq -y install sudo systemd || return
    boot || { echo "systemd does not start in here"; return 1; }
    in_booted sh -euc "cd /root/prescient
        $lines"'
        systemctl is-active prescient-daemon.service
        cd /var/lib/prescient
        sqlite3 -cmd ".timeout 10000" prescient.db \
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT)"
        sudo -u prescient prescient doctor
        systemctl start prescient.service
        systemctl disable --now prescient-daemon.service
        sudo make -C /root/prescient uninstall
        [ -z "$(find /usr/local /etc/systemd -name "*prescient*")" ]
        [ -e /etc/prescient/prescient.cfg ] && [ -e /var/lib/prescient/prescient.db ]' || code=$?
    shut_down
    return "$code"
}

failed=0
step "a minimal $suite, and a clone of $(git rev-parse --short HEAD)" make_debian || exit 1
step "./quickstart.sh" enter /root/prescient/quickstart.sh || failed=1
step "README's section Install, and uninstall" install_by_readme || failed=1
step "./quickstart.sh test" enter /root/prescient/quickstart.sh test || failed=1
enter sh -c '. /etc/os-release
    echo "# $PRETTY_NAME: $(gcc --version | head -n 1); SQLite $(sqlite3 --version | cut -d" " -f1);" \
        "$(/usr/lib/postgresql/*/bin/postgres --version)"'
exit "$failed"
