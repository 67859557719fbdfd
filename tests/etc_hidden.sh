#!/usr/bin/env bash
# etc_hidden.sh - tests that bring no settings do not find those of the machine, where root runs
# them (etc_lib.sh).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "# only root may make mounts: nothing is tried"; exit; }

# sees COMMAND...: it runs on a machine whose /etc has settings, in mounts of its own
sees() {
    unshare --mount sh -c 'mount -t overlay -o "lowerdir=/etc,upperdir=$1/up,workdir=$1/work" overlay /etc &&
        mkdir -p /etc/prescient && cp "$1/prescient.cfg" /etc/prescient/ || exit 99
        shift; exec "$@"' sh "$TMP" "$@" 2>.err
}
mkdir up work
echo 'store = "sqlite:/of/the/machine.db";' >prescient.cfg
cat >looks.sh <<END
#!/usr/bin/env bash
. "$ROOT/tests/lib.sh"
echo "\$*: \$($P config 2>/dev/null | sed -n 's/^store = "\(.*\)";.*/\1/p')"
END
chmod +x looks.sh
mkdir elsewhere
is "without a test, the machine's settings are found" \
    "$(sees env -C elsewhere "$P" config | grep -o 'of/the/machine')" of/the/machine
is "a test does not find them, and has its words" "$(sees ./looks.sh a b)" "a b: sqlite:prescient.db"
has "and says that they are hidden" "$(cat .err)" "settings in /etc/prescient are hidden"
