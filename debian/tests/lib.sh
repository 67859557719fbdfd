# lib.sh - sourced by the tests: settings and a store where the units have theirs, and an engine as
# the unit starts it. Where systemd does not run, as in a chroot, the unit's command is run by its
# user and in its folder.
set -eu
settings=/etc/prescient/prescient.cfg
unit=$(dpkg -L prescient | grep '/prescient-daemon\.service$')
engine=

of_unit() { sed -n "s/^$1=//p" "$unit"; }
folder=$(of_unit WorkingDirectory)
its_user="setpriv --reuid=$(of_unit User) --regid=$(of_unit Group) --init-groups
    env -C $folder HOME=$folder"
as_user() { $its_user "$@"; }

# What the test has made; a machine that has settings already is not one to try things on.
clean_up() {
    code=$?
    trap - EXIT
    stop_engine || code=1
    rm -f "$settings" "$folder"/shop.db*
    exit "$code"
}
with_settings() {
    if [ -e "$settings" ]; then
        echo "there is $settings already: nothing is tried" >&2
        exit 1
    fi
    trap clean_up EXIT
    trap 'exit 1' INT TERM HUP
    install -o root -g "$(of_unit Group)" -m 640 /dev/stdin "$settings"
}

start_engine() {
    engine=unit
    if [ -d /run/systemd/system ]; then
        systemctl start prescient-daemon.service
    else
        # shellcheck disable=SC2046
        $its_user $(of_unit ExecStart) 2>engine.log &
        engine=$!
    fi
}

# It must end well.
stop_engine() {
    stopped=$engine engine=
    case $stopped in
    '') ;;
    unit) systemctl stop prescient-daemon.service && ! systemctl is-failed prescient-daemon.service ;;
    *) kill -TERM "$stopped" && wait "$stopped" || { cat engine.log >&2; return 1; } ;;
    esac
}

# soon COMMAND...: it succeeds within a minute
soon() {
    tries=120
    until "$@" >/dev/null; do
        tries=$((tries - 1))
        if [ $tries = 0 ]; then
            echo "it has not come to that: $*" >&2
            [ ! -s engine.log ] || cat engine.log >&2
            exit 1
        fi
        sleep 0.5
    done
}

# A shell with -e does not end at "! COMMAND".
not() { ! "$@"; }
has_ended() { as_user prescient history orders "$1" --json | grep -q "\"outcome\": *\"$2\""; }
is_told() { as_user prescient events --json | grep "\"entity_key\": *\"$1\"" | grep -q "$2"; }
