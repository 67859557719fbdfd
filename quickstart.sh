#!/usr/bin/env bash
# quickstart.sh          installs what is missing, builds, and runs a shop's virtual week on SQLite
#                        (examples/shop)
# quickstart.sh test     installs what the tests need, too, and runs the quick ones; they start a
#                        PostgreSQL cluster of their own
# quickstart.sh build    installs what a build needs and builds; nothing runs
# quickstart.sh prepare  the same with what the tests need
# quickstart.sh drivers  installs PostgreSQL's drivers of several languages, too, and tests them
# For Debian 12 and 13, Ubuntu 22.04 or newer, as root or with sudo. On other systems install the
# equivalents of the packages in packages.txt first.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
umask 022                               # prescient reads no settings that others can write

say() { printf '%s\n' "$*" >&2; }

# packages KIND...: the names in packages.txt that are marked with one of the kinds
packages() {
    local kind
    for kind in "$@"; do
        awk -v kind="$kind" '!/^#/ && $2 == kind { print $1 }' packages.txt
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "quickstart.sh: packages are missing and there is no sudo; run this as root: $*"
        exit 1
    fi
}

# A server from elsewhere (apt.postgresql.org) is as good as the package named postgresql. npm comes
# with some packages of Node.
is_installed() {
    [ "$1" != npm ] || ! command -v npm >/dev/null || return 0
    [ "$1" != postgresql ] || ! compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || return 0
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" </dev/null
}

# Installing the server would also make and start a cluster for the whole machine. Nobody asked for
# that: the tests bring their own.
no_cluster=/etc/postgresql-common/createcluster.d/prescient-quickstart.conf

# Not every release has every driver: one that it lacks is named, and its test is skipped.
leave_out_unknown_drivers() {
    local name known=()
    for name in "${missing[@]}"; do
        if packages drivers | grep -qxF "$name" && ! apt-cache show "$name" >/dev/null 2>&1; then
            say "quickstart.sh: there is no package $name here; it is left out"
        else
            known+=("$name")
        fi
    done
    missing=("${known[@]}")
}

install_missing() {
    local missing=() name
    if ! command -v apt-get >/dev/null; then
        say "quickstart.sh: no apt-get here; assuming that the equivalents of these packages are installed:" \
            "$(packages "$@" | xargs)"
        return
    fi
    for name in $(packages "$@"); do
        is_installed "$name" || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    say "installing: ${missing[*]}"
    local log
    log=$(mktemp)
    apt update >"$log" 2>&1 || say "quickstart.sh: apt-get update failed; trying with the lists that are here"
    leave_out_unknown_drivers
    [ ${#missing[@]} -gt 0 ] || { rm -f "$log"; return 0; }
    case " ${missing[*]} " in
    *" postgresql "*)
        as_root mkdir -p "${no_cluster%/*}"
        echo "create_main_cluster = false" | as_root tee "$no_cluster" >/dev/null
        trap 'as_root rm -f "$no_cluster"' EXIT
        ;;
    esac
    if ! apt install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        tail -n 20 "$log" >&2
        say "quickstart.sh: apt-get could not install: ${missing[*]} (all it said: $log)"
        exit 1
    fi
    rm -f "$log"
    [ ! -e "$no_cluster" ] || as_root rm -f "$no_cluster"
    trap - EXIT
}

# Quiet when all goes well; otherwise all output of the compiler.
build() {
    local log
    log=$(mktemp)
    if ! make -j"$(nproc)" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        say "quickstart.sh: the build failed"
        exit 1
    fi
    rm -f "$log"
}

# prescient loads no plug-in from below a folder that others can write. A clone made under umask
# 002, which is usual, is such a folder; it is ours to close. Those above it are not.
close_folders() {
    local path=$PWD open=()
    chmod go-w . build
    while [ "$path" != / ]; do
        path=$(dirname "$path")
        [ -z "$(find "$path" -maxdepth 0 -perm /022 ! -perm -1000)" ] || open+=("$path")
    done
    [ ${#open[@]} -gt 0 ] || return 0
    say "quickstart.sh: prescient loads no plug-ins from below a folder that others can write. Close it, or" \
        "clone elsewhere:  chmod go-w ${open[*]@Q}"
    exit 1
}

# Neither demo nor tests may use a database or settings of the user who runs them.
forget_databases() {
    local name
    for name in $(compgen -e); do
        case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
    done
}

mode=${1:-demo}
case $mode in
demo | build)
    install_missing build
    forget_databases
    say "building"
    build
    close_folders
    [ "$mode" = build ] || exec examples/shop/run.sh build/prescient
    ;;
prepare | test)
    install_missing build test
    forget_databases
    say "building"
    build test-programs
    close_folders
    [ "$mode" = prepare ] || exec make -s check T="${2:-}"
    ;;
drivers)
    install_missing build test drivers
    forget_databases
    say "building"
    build
    close_folders
    exec make -s drivers
    ;;
*)
    sed -n '2,8s/^# //p' quickstart.sh >&2
    exit 2
    ;;
esac
