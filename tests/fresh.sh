#!/usr/bin/env bash
# tests/fresh.sh SUITE         runs ./quickstart.sh and ./quickstart.sh test on a minimal Debian of
#                              that name (bookworm, trixie), as a newcomer does
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
*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
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

# ---- where this machine's packages come from ----

. tests/debian_lib.sh

carry_apt_settings() {
    local name value
    for name in Acquire::http::Proxy Acquire::https::Proxy Acquire::Retries Acquire::ForceIPv4; do
        value=$(apt_setting "$name")
        [ -z "$value" ] || printf '%s "%s";\n' "$name" "$value"
    done >"$root/etc/apt/apt.conf.d/90host"
    compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null || return 0
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" &&
        enter update-ca-certificates
}

# ---- the fresh machine ----

# enter COMMAND...: in it, with nothing of our environment but the way to the network. Mounts and
# processes are in namespaces of their own, and gone with the command, however it ends.
enter() {
    local kept=() name
    for name in http_proxy https_proxy no_proxy TEST_LIMIT_S TEST_AT_ONCE; do
        [ -z "${!name:-}" ] || kept+=("$name=${!name}")
    done
    # shellcheck disable=SC2016
    timeout -k 10 "$limit_s" unshare --mount --pid --ipc --fork --kill-child --propagation private sh -euc '
        root=$1; shift
        mount -t proc proc "$root/proc"
        mount --rbind -o ro /sys "$root/sys"
        mount --bind /dev "$root/dev"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        exec chroot "$root" "$@"' sh "$root" \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" "${kept[@]}" "$@" </dev/null
}

# step WHAT COMMAND...: prints the result and the time it took; all its output if it failed
step() {
    local what=$1 began=$SECONDS code=0
    shift
    "$@" >"$dir/log" 2>&1 || code=$?
    if [ "$code" = 0 ]; then
        printf 'ok - %s (%d s)%s\n' "$what" $((SECONDS - began)) \
            "$(sed -n 's/^\([0-9]* passed, [0-9]* failed\)$/: \1/p' "$dir/log" | tail -n 1)"
    else
        cat "$dir/log"
        printf 'not ok - %s (exit code %d, %d s)\n' "$what" "$code" $((SECONDS - began))
    fi
    return "$code"
}

make_debian() {
    debian_make "$suite" "$root" --include=git,ca-certificates &&
        carry_apt_settings &&
        git bundle create -q "$root/root/prescient.bundle" HEAD &&
        enter git clone -q /root/prescient.bundle /root/prescient
}

failed=0
step "a minimal $suite, and a clone of $(git rev-parse --short HEAD)" make_debian || exit 1
step "./quickstart.sh" enter /root/prescient/quickstart.sh || failed=1
step "./quickstart.sh test" enter /root/prescient/quickstart.sh test || failed=1
enter sh -c '. /etc/os-release
    echo "# $PRETTY_NAME: $(gcc --version | head -n 1); SQLite $(sqlite3 --version | cut -d" " -f1);" \
        "$(/usr/lib/postgresql/*/bin/postgres --version)"'
exit "$failed"
