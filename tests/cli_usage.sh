#!/usr/bin/env bash
# The command line itself: help, options, and errors about wrong ones. No store is needed.
. "$(dirname "$0")/lib.sh"

has "--help lists the commands" "$($P --help)" \
    "enqueue      enqueue a check of a row, or one for each line of a CSV file"
is "every command of the list has a help of its own" \
    "$($P --help | sed '/^options of/q' | awk '/^  [a-z]/ { print $1 }' |
        while read -r c; do $P "$c" --help >/dev/null || echo "$c"; done)" ""
is "which begins with the line of the list" \
    "$($P --help | sed '/^options of/q' | sed -n 's/^  \([a-z]\+\)  *\(.*\)/\1 \2/p' |
        while read -r c line; do [ "$($P "$c" --help | sed -n 2p)" = "$line" ] || echo "$c"; done)" ""
has "help NAME is NAME --help" "$($P help list)" "usage: prescient list [ENTITY [KEY]]"
is "-h is --help" "$($P -h)" "$($P --help)"
is "help --json has every command" \
    "$($P help --json | json '[c["name"] for c in j["commands"]]' | tr -d "[]',")" \
    "$($P --help | sed '/^options of/q' | awk '/^  [a-z]/ { print $1 }' | sort | paste -sd' ')"
is "and those of one command, with its options and examples" \
    "$($P list --help --json |
        json '[o["name"] for o in j["options"]][:2], j["args"], len(j["examples"]) > 0')" \
    "(['job', 'from'], '[ENTITY [KEY]]', True)"
is "which is help NAME --json" "$($P help list --json)" "$($P list --help --json)"
is "also of one that is a program of its own" "$($P help bench --json | json 'j["name"], j["args"]')" \
    "('bench', '[load]')"
has "--version says which" "$($P --version)" "prescient "
is "version --json is JSON" "$($P version --json | json 'j["job_abi"]')" 1
fails_with 2 "usage: prescient COMMAND" $P
fails_with 2 "unknown command 'enque'; did you mean 'enqueue'?" $P enque
fails_with 2 "unknown command 'frobnicate'; 'prescient --help' lists them" $P frobnicate
fails_with 2 "unknown option --jbo; did you mean --job?" $P list --jbo x
fails_with 2 "unknown option --stoer; did you mean --store?" $P --stoer x list
# the store is asked for the time first: its failure is not the option's
fails_with 69 "prescient list: cannot connect" \
    $P --store "postgresql://u@/d?host=/nowhere" list --before 2026-01-01
fails_with 2 "--store needs a value: --store URL" $P list --store
fails_with 2 "--limit is given twice: '1' and '2'" $P list --limit 1 --json --limit=2
fails_with 2 "--json takes no value (found 'yes')" $P list --json=yes
fails_with 2 "too many arguments" $P list a b c
fails_with 2 "too few arguments" $P enqueue orders 42
$P init --quiet --store sqlite:args.db >/dev/null
fails_with 2 "takes no arguments" $P status orders
fails_with 2 "too many arguments" $P help list runs
fails_with 2 "unknown option -x" $P list orders -x
has "--help goes before what is wrong beside it" \
    "$($P list --jbo x a b c --help)" "usage: prescient list [ENTITY [KEY]]"
ok "an option may stand behind operands, and its value beside it or behind =" $P list orders \
    --limit 3 42 --job=x --store "sqlite:args.db"
is "behind -- a word with a dash is an operand" \
    "$($P --json list --store sqlite:args.db -- orders --job)" "[]"
fails_with 2 "--from: " $P list --from 2026-13-01 --store sqlite:args.db
fails_with 2 "--limit: found 'many', expected a number" $P list --limit many
fails_with 2 "--outcome: found 'great', expected done" $P history --outcome great
fails_with 2 "--outcome: found 'again', expected done, resolved, failed" $P history --outcome again
fails_with 2 "--outcome: found 'resolved', expected again, deferred" $P runs --outcome=resolved
fails_with 2 "--role: found 'all', expected read, enqueue or operate" $P token new me --role all
fails_with 2 "--set: found 'workers', expected NAME=VALUE" $P list --set workers
fails_with 2 "--now:" $P list --now yester
fails_with 2 "expected a time before the year 9000" $P list --now 9500-01-01
fails_with 2 "is no URL of a store" $P list --store mysql:x
fails_with 78 "no such setting" $P list --set colour=red
fails_with 78 "--set serve: serve = \"x\": expected minutes" $P list --set serve=x
fails_with 2 "--log-level: found 'loud', expected debug, info, warn or error" $P list --log-level loud
fails_with 78 "nowhere.cfg" $P list --config nowhere.cfg
fails_with 78 "prescient init" $P list --store sqlite:nothing.db
ok "looking at a store that is not there leaves no file" test ! -e nothing.db
echo 'workers = "many";' > prescient.cfg
fails_with 78 "prescient.cfg:1" $P status
ok "help works with bad settings" $P help
ok "version works with bad settings" $P version
ok "config --sample works with bad settings" $P config --sample
fails_with 78 "workers" $P config --check
fails_with 2 "expected one of --print, --check and --sample" $P config --check --sample
$P config --sample > sample.cfg
ok "the sample is a settings file" $P config --check --config sample.cfg
# values FLAG...: the settings in force, without their places
values() { (cd / && "$P" "$@" config --print | sed 's/ *# .*//'); }
is "the sample says nothing but defaults" "$(values --config "$TMP/sample.cfg")" "$(values)"
has "flags win over the file" "$($P config --config sample.cfg --set workers=7)" \
    "workers = 7;    # --set workers"

cat >placed.cfg <<'END'
page = 77;
jobs = { look = { plugin = "noop";
    timeout = "5s"; settings = { answer = "done"; }; }; };
listeners = ( { name = "hook"; events = "a.*"; job = "look"; } );
END
places() { PRESCIENT_SLAB=9 "$P" --config placed.cfg --store sqlite:here.db config "$@"; }
for line in 'page = 77;    # placed.cfg:1' 'slab = 9;    # PRESCIENT_SLAB' \
    'schema = "prescient";    # default' 'store = "sqlite:here.db";    # --store' \
    'plugin = "noop";    # placed.cfg:2' 'timeout = "5s";    # placed.cfg:3' '{    # placed.cfg:4'; do
    has "config --print says where a value comes from: $line" "$(places)" "$line"
done
places >again.cfg
is "what it prints is a settings file" \
    "$(values --config "$TMP/again.cfg" | grep '^page =')" "page = 77;"
places --json >places.json
is "config --json has the values" \
    "$(json 'j["settings"]["page"], j["settings"]["jobs"]["look"]["settings"]["answer"]' <places.json)" \
    "(77, 'done')"
is "and their places" "$(json '[j["from"][n] for n in ("page", "slab", "store", "schema")]' <places.json)" \
    "['placed.cfg:1', 'PRESCIENT_SLAB', '--store', 'default']"
is "those of jobs, too" \
    "$(json '[j["from"]["jobs"]["look"][n] for n in ("timeout", "settings", "batch")]' <places.json)" \
    "['placed.cfg:3', 'placed.cfg:3', 'default']"
is "config --sample --json has every setting" \
    "$("$P" config --sample --json | json 'sorted(r["name"] for r in j if not r["of_jobs"])[:2]')" \
    "['base_path', 'business']"
hidden() { "$P" --config sample.cfg --store postgresql://u:secret@h/d config --json; }
is "no password is in the JSON" "$(hidden | json 'j["settings"]["store"]')" "postgresql://u:***@h/d"
has "a password is not printed" "$($P config --config sample.cfg --store postgresql://u:secret@h/d)" \
    "postgresql://u:***@h/d"
ok "a reader that goes away is no trouble" bash \
    -c "set -o pipefail; $P --help | head -1; $P config --sample --config sample.cfg | head -1"
fails_with 1 "cannot write the output: No space left on device" bash -c "$P --help > /dev/full"

# libpq is loaded when a PostgreSQL is named, and by nothing else
rm prescient.cfg
mkdir broken && echo "no library" > broken/libpq.so.5
without_libpq() { LD_LIBRARY_PATH=$TMP/broken "$@"; }
fails_with 78 "PostgreSQL: its client library cannot be loaded ($TMP/broken/libpq.so.5: " \
    without_libpq $P --store "postgresql://u@/d?host=/nowhere" list
has "and the message says what to install" \
    "$(without_libpq $P --store "postgresql://u@/d?host=/nowhere" list 2>&1)" "; install libpq5"
has "version says that there is none" "$(without_libpq $P version)" "libpq none"
cat > alone.cfg <<'END'
store = "sqlite:alone.db";
jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };
END
is "a store in a file needs none, nor do the workers that run its checks" \
    "$(for command in init "enqueue orders 1 noop --at-once" "run --check orders 1"; do
        without_libpq $P --quiet --config alone.cfg $command
    done | grep -o "done: orders 1")" "done: orders 1"
