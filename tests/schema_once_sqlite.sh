#!/usr/bin/env bash
# schema_once_sqlite.sh [FOLDER]    SQLite's schema is written once: no object is defined twice,
#                                   dropped or altered, and something refers to each of them
# What refers to a table or view: another object of the schema, a statement of the store
# (store_sqlite.sql), or prescient-sql.7, for what applications and readers use. A trigger does not
# count for the table or view that it is on. An index counts as referred to if it is UNIQUE, or if a
# statement of the store or another object names its first column and its table. With FOLDER, the
# files of that folder are looked at; without, those of migrations/sqlite, and then copies with
# planted violations. It also loads the files in their order into an empty database: an object may
# use only what stands above it, but for the body of a trigger.
# not instrumented
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
folder=${1:-migrations/sqlite}
failed=0

look() {                                # FOLDER: one line "ok - ..." or "not ok - ..." for each rule
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$1" <<'END'
import glob, re, sqlite3, sys

def bare(text):
    """SQL without comments and with one blank between words; texts in quotes stay as they are."""
    parts = re.findall(r"""'(?:''|[^'])*'|"(?:""|[^"])*"|--[^\n]*|[^-'"]+|-""", text)
    return re.sub(r"\s+", " ", "".join(p for p in parts if not p.startswith("--")))

def statements(text):
    """The statements of a file: sqlite3 decides where one ends, as a trigger contains others."""
    found, begun = [], ""
    for piece in re.split(r"(?<=;)", text):
        begun += piece
        if sqlite3.complete_statement(begun):
            found.append(bare(begun).strip())
            begun = ""
    return found + ([bare(begun).strip()] if begun.strip() else [])

CREATE = re.compile(r"CREATE (?:TEMP(?:ORARY)? )?(UNIQUE )?(TABLE|VIEW|TRIGGER|INDEX)"
                    r"(?: IF NOT EXISTS)? \"?(\w+)\"?", re.I)
files = sorted(glob.glob(sys.argv[1] + "/*.sql"))
objects, wrong, unused = {}, [], []
for path in files:
    name = path.rsplit("/", 1)[-1]
    for sql in statements(open(path, encoding="utf-8").read()):
        made = CREATE.match(sql)
        if not made:
            if not re.match(r"INSERT\b", sql, re.I):
                wrong.append(f"{name}: {' '.join(sql.split()[:4])} ...")
        elif made[3] in objects:
            wrong.append(f"{name}: {made[3]} again, after {objects[made[3]]['file']}")
        else:
            on = re.search(r" ON (\w+)", sql) if made[2].upper() in ("TRIGGER", "INDEX") else None
            objects[made[3]] = {"file": name, "kind": made[2].upper(), "unique": bool(made[1]),
                                "sql": sql, "on": on and on[1]}

statement_of_store = [bare(s) for s in re.split(r"^-- (?:name|part): ", open(
    "engine/store/store_sqlite.sql", encoding="utf-8").read(), flags=re.M)[1:]]
manual = open("docs/prescient-sql.7", encoding="utf-8").read()

def is_in(word, text):
    return re.search(rf"\b{re.escape(word)}\b", text) is not None

def of_index(name, index):
    column = re.search(r" ON \w+ ?\( ?(\w+)", index["sql"])[1]
    others = statement_of_store + [o["sql"] for n, o in objects.items() if o["kind"] in ("VIEW", "TRIGGER")]
    return index["unique"] or any(is_in(index["on"], s) and is_in(column, s) for s in others)

def of_relation(name):
    others = [o["sql"] for n, o in objects.items()
              if n != name and not (o["on"] == name and o["kind"] == "INDEX")
              and not (o["on"] == name and not is_in(name, o["sql"].split(" BEGIN ", 1)[-1]))]
    return is_in(name, manual) or any(is_in(name, s) for s in others + statement_of_store)

for name, o in objects.items():
    if o["kind"] == "INDEX" and not of_index(name, o):
        unused.append(f"{o['file']}: {name}")
    if o["kind"] in ("TABLE", "VIEW") and not of_relation(name):
        unused.append(f"{o['file']}: {name}")

order, lying = [], set()
db = sqlite3.connect(":memory:")
for path in files:
    try:
        db.executescript(open(path, encoding="utf-8").read())
    except sqlite3.Error as e:
        order.append(f"{path.rsplit('/', 1)[-1]}: {e}")
for name, o in objects.items():         # SQLite looks up what a view reads only when it is read
    for other in objects if o["kind"] == "VIEW" else ():
        if other not in lying and other != name and is_in(other, o["sql"]):
            order.append(f"{o['file']}: {name} uses {other}, which stands below it")
    lying.add(name)

for what, found in ((f"{len(objects)} objects, each defined once", wrong or [] if objects else ["none"]),
                    ("something refers to each of them", unused),
                    ("they load from top to bottom", order)):
    print(("not ok - " if found else "ok - ") + "SQLite: " + what)
    for line in found:
        print("#   " + line)
END
}

found=$(look "$folder") || failed=1
echo "$found"
case $found in *"not ok - "*) failed=1 ;; esac
[ $# = 0 ] || exit $failed

# finds WHAT WORDS SQL: with SQL in a file more, a line has WORDS.
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
finds() {
    rm -rf "$tmp/planted"
    cp -r migrations/sqlite "$tmp/planted"
    printf '%s\n' "$3" >"$tmp/planted/9000_planted.sql"
    if look "$tmp/planted" | grep -F -- "$2" >/dev/null; then
        echo "ok - SQLite: $1 is found"
    else
        echo "not ok - SQLite: $1 is found"
        failed=1
    fi
}
finds "a view that is defined again" "prescient_runs again, after 0006_readers.sql" \
    "DROP VIEW prescient_runs; CREATE VIEW prescient_runs AS SELECT 1 AS one;"
finds "a trigger that is defined again" "prescient_enqueue_insert again, after 0002_enqueue.sql" \
    "CREATE TRIGGER prescient_enqueue_insert INSTEAD OF INSERT ON prescient_enqueue
     BEGIN SELECT 'CREATE'; END;"
finds "an object that is dropped" "DROP INDEX prescient_pause_on" "DROP INDEX prescient_pause_on;"
finds "a table that is altered" "ALTER TABLE prescient_event" "ALTER TABLE prescient_event ADD more TEXT;"
finds "a table that nothing refers to" "9000_planted.sql: prescient_alone" \
    "CREATE TABLE prescient_alone (n INTEGER); -- prescient_alone
     CREATE INDEX prescient_alone_n ON prescient_alone (n);"
finds "a view that only its own trigger refers to" "9000_planted.sql: prescient_deaf" \
    "CREATE VIEW prescient_deaf (n) AS SELECT NULL WHERE 0;
     CREATE TRIGGER prescient_deaf_insert INSTEAD OF INSERT ON prescient_deaf
     BEGIN UPDATE prescient_setting SET value = 0 WHERE name = NEW.n; END;"
finds "an index that nothing needs" "9000_planted.sql: prescient_held_odd" \
    "CREATE TABLE prescient_held (n INTEGER, odd INTEGER);
     CREATE INDEX prescient_held_odd ON prescient_held (odd);
     CREATE TRIGGER prescient_held_pause AFTER INSERT ON prescient_pause
     BEGIN DELETE FROM prescient_held WHERE n = 1; END;"
finds "a view that uses what stands below it" "uses prescient_after, which stands below it" \
    "CREATE VIEW prescient_before AS SELECT n FROM prescient_after;
     CREATE VIEW prescient_after AS SELECT 1 AS n;"
exit $failed
