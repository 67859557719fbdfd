# debian_lib.sh - a minimal Debian in a folder, from where this machine's own packages come: its
# mirror, its proxy. Sourced; as root, with debootstrap.

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
