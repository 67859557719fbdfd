#!/usr/bin/env bash
# tests/container.sh SUITE     follows docs/container.md: builds the image of Containerfile on a
#                              minimal Debian of that name (bookworm, trixie), and runs the main job
#                              in a container
#
# As root; it needs debootstrap, git, podman, sqlite3, curl and unshare. It is not part of `make
# check` and of CI: it loads some 400 MB of packages. It takes the last commit, cloned, without
# uncommitted changes. No registry is asked: the Debian is made here, and has the name that
# Containerfile asks for. Images and containers are in a folder of their own, and gone at the end.
# It also works where podman's own ways do not: without cgroups, networks and systemd.
#
# FRESH_DIR                    where all of it is made (/var/tmp); 4 GB
# FRESH_KEEP=1                 leaves it there
# FRESH_LIMIT_S                how long each of the steps may take (3600)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

say() { printf '%s\n' "$*" >&2; }
refuse() { say "tests/container.sh: $*"; exit 2; }

suite=${1:-}
limit_s=${FRESH_LIMIT_S:-3600}
case $suite in
bookworm | trixie) ;;
*) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || refuse "must be run as root"
for program in curl debootstrap git podman sqlite3 unshare; do
    command -v "$program" >/dev/null ||
        refuse "there is no $program here; install it: apt-get install curl debootstrap git podman sqlite3"
done
[ -z "$(git status --porcelain)" ] || say "tests/container.sh: what is not committed is not tried"

# In mounts of its own, with one hierarchy of cgroups, and with a /dev/null of its own: what starts
# a container may give its input and output to the user of the image.
if [ -z "${IN_CONTAINER_SH:-}" ]; then
    IN_CONTAINER_SH=1 exec unshare --mount --propagation private sh -euc '
        mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t tmpfs none /sys/fs/cgroup
        folder=$(mktemp -d)
        mount -t tmpfs none "$folder"
        mknod -m 666 "$folder/null" c 1 3
        mount --bind "$folder/null" /dev/null
        umount -l "$folder"
        rmdir "$folder"
        exec "$@" </dev/null' sh "$0" "$@"
fi

dir=$(mktemp -d "${FRESH_DIR:-/var/tmp}/prescient-container.XXXXXX")
root=$dir/root
clean_up() {
    trap - EXIT
    podman rm --all --force >/dev/null 2>&1 || true
    if [ -n "${FRESH_KEEP:-}" ]; then say "kept: $dir"; else rm -rf --one-file-system "$dir"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

. tests/debian_lib.sh

cat >"$dir/storage.conf" <<END
[storage]
driver = "vfs"
graphroot = "$dir/images"
runroot = "$dir/run"
END
cat >"$dir/containers.conf" <<END
[containers]
cgroups = "disabled"
netns = "host"
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$dir/tmp"
static_dir = "$dir/static"
volume_path = "$dir/volumes"
END
export CONTAINERS_STORAGE_CONF=$dir/storage.conf CONTAINERS_CONF=$dir/containers.conf BUILDAH_ISOLATION=chroot

# page_says MARK: types a block of the page in the clone
page_says() {
    local lines
    lines=$(block_of docs/container.md "container.sh: init" | grep '^mine=') &&
        lines+=$'\n'$(block_of docs/container.md "container.sh: $1") &&
        (cd "$dir/clone" && timeout -k 10 "$limit_s" bash -euc "umask 022; $lines")
}

# soon COMMAND...: it succeeds within a minute
soon() {
    local tries
    for ((tries = 0; tries < 120; tries++)); do
        if "$@"; then return; fi
        sleep 0.5
    done
    return 1
}

base() {
    debian_make "$suite" "$root" --include=ca-certificates && carry_apt_settings &&
        tar -C "$root" --one-file-system -cf "$dir/root.tar" . &&
        podman import -q "$dir/root.tar" docker.io/library/debian:bookworm-slim &&
        rm -rf --one-file-system "$root" "$dir/root.tar" &&
        (umask 022 && git clone -q . "$dir/clone")
}

# A store with slots of a second, so that nobody waits long, and a shop's table in it.
store() {
    page_says init &&
        in_image migrate --slot-length 1s &&
        in_store "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT);
            INSERT INTO orders VALUES (42, NULL), (43, '2026-03-02 10:00:00')"
}
in_image() {
    podman run --rm -v prescient:/var/lib/prescient \
        -v "$dir/clone/etc/prescient.cfg:/etc/prescient/prescient.cfg:ro" prescient "$@"
}
# As root; SQLite gives what it makes to the owner of the file.
in_store() { sqlite3 "$dir/volumes/prescient/_data/prescient.db" "$1"; }

started() {
    page_says start &&
        [ "$(podman exec engine id -u)" = 900 ] &&
        [ "$(podman exec engine cat /proc/1/comm)" = prescient ]
}
asked() { podman exec engine prescient "$@"; }
is_told() { asked events --json | grep "\"entity_key\": *\"$1\"" | grep order.unshipped; }
has_ended() { asked history orders "$1" --json | grep '"outcome": *"done"'; }
main_job() {
    in_store "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
        SELECT 'orders', id, 'unshipped_order', datetime('now', '+2 seconds') FROM orders" &&
        soon is_told 42 && soon has_ended 43 && ! is_told 43
}

# Where it is not healthy, what its check has found is shown.
looked() {
    if ! page_says look; then
        asked doctor
        return 1
    fi
}

answers() { [ "$(curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:8080/$1")" = "$2" ]; }
served() {
    page_says serve && soon answers readiness 200 && answers liveness 200 && answers v1/status 401 &&
        [ "$(podman exec http id -u)" = 900 ]
}

# Both answer to SIGTERM, and well.
stopped() {
    local codes
    codes=$(block_of docs/container.md "container.sh: stop" | grep '^podman stop') &&
        $codes &&
        [ "$(podman inspect -f '{{.State.ExitCode}}' engine http | xargs)" = "0 0" ] &&
        podman rm http engine && [ -z "$(podman ps --all --quiet)" ]
}

failed=0
step "a minimal $suite as the image below" base || exit 1
step "the image of $(git rev-parse --short HEAD) is built" page_says build || exit 1
step "a store in a volume" store || exit 1
step "a daemon, as the first process, without rights" started || exit 1
step "the main job" main_job || failed=1
step "it is looked at; it is healthy" looked || failed=1
step "it serves HTTP" served || failed=1
step "both stop when they are told to" stopped || failed=1
podman images --format '# {{.Repository}}: {{.Size}}'
exit "$failed"
