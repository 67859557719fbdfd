# etc_lib.sh - sourced before anything else: a machine that has settings in /etc/prescient is no
# place to try things on, as what is begun without others would work by them, and with their store.
# So for root's tests, in mounts of their own, there is nothing in it. Other users may not make
# mounts, nor may root in some containers; they are told.

if [ -e /etc/prescient/prescient.cfg ] && [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    echo "$0: this machine's settings in /etc/prescient are hidden from it" >&2
    exec unshare --mount sh -c 'mount -t tmpfs -o mode=755 tmpfs /etc/prescient && exec "$@"' sh "$0" "$@"
elif [ -d /etc/prescient ] && { [ ! -x /etc/prescient ] || [ -e /etc/prescient/prescient.cfg ]; }; then
    echo "$0: tests that bring no settings find those of /etc/prescient, and may fail (not for root)" >&2
fi
