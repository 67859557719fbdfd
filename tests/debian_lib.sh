# debian_lib.sh - a minimal Debian in a folder, from where this machine's own packages come: its
# mirror, its proxy. Sourced; as root, with debootstrap. $root is the folder; $dir has its log;
# nothing takes longer than $limit_s seconds.

apt_setting() { apt-config dump --format '%v%n' --no-empty "$1" 2>/dev/null | head -n 1; }

# The archive that this machine itself uses; nothing when it is no Debian: then debootstrap's own
# choice.
host_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
        'Label: Debian' 2>/dev/null | head -n 1
}

# The proxy for the mirror $1, as apt would take it: set, or found by a program.
host_proxy() {
    local proxy program
    proxy=$(apt_setting Acquire::http::Proxy)
    program=$(apt_setting Acquire::http::Proxy-Auto-Detect)
    [ -n "$proxy" ] || [ -z "$program" ] || proxy=$("$program" "$1" || true)
    [ "$proxy" = DIRECT ] || printf '%s' "$proxy"
}

# debian_make SUITE FOLDER [argument of debootstrap...]
debian_make() {
    local mirror suite=$1 root=$2; shift 2
    mirror=$(host_mirror)
    export http_proxy=${http_proxy:-$(host_proxy "${mirror:-http://deb.debian.org/debian}")}
    timeout -k 10 "${limit_s:-3600}" debootstrap --variant=minbase "$@" "$suite" "$root" $mirror
}

# And the disk is not waited for: what is made here is thrown away.
carry_apt_settings() {
    local name value
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/tests"
    for name in Acquire::http::Proxy Acquire::https::Proxy Acquire::Retries Acquire::ForceIPv4; do
        value=$(apt_setting "$name")
        [ -z "$value" ] || printf '%s "%s";\n' "$name" "$value"
    done >"$root/etc/apt/apt.conf.d/90host"
    compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null || return 0
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" &&
        enter update-ca-certificates
}

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
        mount --bind "$root" "$root"            # a root as others: what is in it may mount, too
        mount -t proc proc "$root/proc"
        mount --rbind -o ro /sys "$root/sys"
        mount --bind /dev "$root/dev"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        exec chroot "$root" "$@"' sh "$root" \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive "${kept[@]}" \
            "$@" </dev/null
}

# boot: systemd starts in it as the first process, with a network of its own; $booted is its
# process. Not everywhere may root do that; code 1 then. `shut_down` ends it, and all that it has
# started.
boot() {
    local tries state
    # shellcheck disable=SC2016
    timeout -k 10 "$limit_s" unshare --mount --pid --ipc --uts --net --cgroup --fork --kill-child \
        --propagation private sh -euc '
        mount --bind "$1" "$1"
        cd "$1"
        mount -t proc proc proc
        mount --bind -o ro proc/sys proc/sys
        mount --rbind -o ro /sys sys
        mount -t cgroup2 cgroup sys/fs/cgroup
        mount -t tmpfs -o mode=755 tmpfs run
        mount -t tmpfs -o mode=755 tmpfs dev
        mkdir dev/pts dev/shm
        for device in null zero full random urandom tty; do
            : >dev/$device
            mount --bind /dev/$device dev/$device
        done
        mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
        ln -s pts/ptmx dev/ptmx
        mount -t tmpfs -o mode=1777 tmpfs dev/shm
        mkdir -p .before
        pivot_root . .before
        umount -l /.before
        exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd' sh "$root" \
        </dev/null &
    booting=$! booted=
    for ((tries = 0; tries < 120; tries++)); do
        booted=$(pgrep -P "$(pgrep -P "$booting")" -f /lib/systemd/systemd) &&
            state=$(in_booted systemctl is-system-running 2>/dev/null) || true
        case ${state:-} in running | degraded) return 0 ;; esac
        kill -0 "$booting" 2>/dev/null || break
        sleep 0.5
    done
    shut_down
    return 1
}
in_booted() {
    nsenter --target "$booted" --mount --pid --ipc --uts --net --cgroup --root --wd \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        TERM=dumb DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
shut_down() {
    kill "$booting" 2>/dev/null || true
    wait "$booting" 2>/dev/null || true
}

# block_of PAGE MARK: the lines of the block under "<!-- MARK -->"
block_of() {
    awk -v mark="<!-- $2 -->" '
        $0 == mark { seen = 1 }
        /^```/ && seen { if (inside++) exit; next }
        inside' "$1" | grep .
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
