#!/usr/bin/env python3
"""objects.py [ROOT] - what the schema of PostgreSQL defines: prints each object of migrations/pg that
is defined twice, each that nothing refers to which is used itself (what only refers to each other is
dead, too), and each column and function without a comment. Overloads have one name, and are used
together; an index is used by its table. For SQLite, tests/schema_once_sqlite.sh asks the same.

The files are read as the build has expanded them (engine/store/schema.awk). A later definition that
replaces an earlier one (OR REPLACE, DROP, ADD COLUMN) counts as a second one. Released files
(migrations/landed.sha256) are as they are, and later ones may replace what they define. Something
refers to an object if its name stands in another object, in a statement of the store or of bench, in
the program, or as a section of a manual. Grants and comments do not count."""
import glob
import os
import re
import subprocess
import sys

root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
os.chdir(root)

KINDS = ("TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "FUNCTION", "PROCEDURE", "AGGREGATE", "DOMAIN",
         "TYPE", "INDEX", "TRIGGER")
# These need nobody who names them.
ROOTS = ("INDEX", "TRIGGER")
WITH_ARGUMENTS = ("FUNCTION", "PROCEDURE", "AGGREGATE")
CREATE = re.compile(r"^ *CREATE +(?:UNIQUE +|TEMP +)*(" + "|".join(KINDS).replace(" ", " +") + r") +"
                    r"(?:IF NOT EXISTS +)?(?:prescient\.)?(\w+)", re.M | re.I)
REPLACE = re.compile(r"^ *(CREATE OR REPLACE|DROP (?!TABLE prescient\.%)"
                     r"|ALTER \w+ prescient\.\w+ (?:ADD|ALTER|DROP|RENAME) (?:COLUMN|CONSTRAINT)"
                     r"(?! \w+ SET DEFAULT))[^\n]*",
                     re.M | re.I)


def expanded(file):
    """The text of a migration without comments, and without COMMENT, GRANT and REVOKE."""
    run = subprocess.run(["awk", "-f", "engine/store/schema.awk", file], capture_output=True, text=True,
                         check=True)
    text = re.sub(r"^ *--[^\n]*\n", "", run.stdout, flags=re.M)
    return re.sub(r"^ *(COMMENT ON|GRANT|REVOKE)\b[^;]*;", "", text, flags=re.M | re.I)


def arguments(text, at):
    """The types in the parentheses that open at or after `at`, by which overloads differ."""
    begin = text.index("(", at)
    depth = 0
    for end in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            break
    listed = re.sub(r"\s+DEFAULT\s+[^,()]*", "", text[begin + 1:end])
    listed = [" ".join(one.split()) for one in listed.split(",")]
    return ", ".join(one.split(" ", 1)[-1] for one in listed if one and not one.startswith("OUT "))


def read(patterns):
    names = [name for pattern in patterns for name in glob.glob(pattern, recursive=True)]
    return "\n".join(open(name, encoding="utf-8").read() for name in names if os.path.isfile(name))


def words(lines):
    return {word for line in lines for word in re.findall(r"\w+", line)}


def reached(roots, pieces):
    """The names that are used: `roots`, and what the pieces (owner, text) of used ones refer to."""
    refers = {}
    for owner, text in pieces:
        refers.setdefault(owner, set()).update(re.findall(r"prescient\.(\w+)", text))
    found, todo = set(), list(roots)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += refers.get(name, ())
    return found


def without_comment(file):
    """The columns and functions of a migration that nothing explains: no comment above them, and for a
    function, no COMMENT."""
    lines = read([file]).split("\n")
    text, table = "\n".join(lines), None
    for above, line in zip([""] + lines, lines):
        is_explained = re.match(r" *-- (?!end$|part:|-)", above)
        function = re.match(r"CREATE FUNCTION prescient\.(\w+)", line)
        if function and not is_explained and f"COMMENT ON FUNCTION prescient.{function[1]}(" not in text:
            yield f"FUNCTION {function[1]}"
        started = re.match(r"CREATE TABLE prescient\.(\w+) \(", line)
        table = started[1] if started else None if line.startswith(")") else table
        column = re.match(r"    ([a-z]\w*) ", line)
        if table and column and not is_explained:
            yield f"COLUMN {table}.{column[1]}"


def look():
    """Prints what is wrong, a line each. Returns how many lines that were."""
    found = 0
    seen, where, pieces, roots = {}, {}, [], set()
    released = re.findall(r"^\w+ +(pg/\S+)", read(["migrations/landed.sha256"]), flags=re.M)
    for file in sorted(glob.glob("migrations/pg/*.sql")):
        text = expanded(file)
        starts = list(CREATE.finditer(text))
        for i, m in enumerate(starts):
            what, name = " ".join(m[1].upper().split()), m[2]
            key = (what, name, arguments(text, m.end()) if what in WITH_ARGUMENTS else "")
            if key in seen:
                print(f"{file}: {what} {name} is defined in {seen[key]} already")
                found += 1
            if f"pg/{os.path.basename(file)}" not in released:
                seen[key] = file
            end = starts[i + 1].start() if i + 1 < len(starts) else len(text)
            pieces.append((name, text[m.end():end]))
            if what in ROOTS:
                roots.add(name)
            else:
                where.setdefault(name, (file, what))
        for what in without_comment(file):
            print(f"{file}: {what} has no comment")
            found += 1
        for m in [] if released else REPLACE.finditer(text):
            print(f"{file}: defines again: {m[0].strip()[:80]}")
            found += 1
    outside = read(["engine/store/store_pg.sql", "engine/**/*.c", "bench/*.sql", "bench/*.c"])
    manuals = read(["docs/*.[17]", "docs/*.md"])
    sections = re.findall(r"^\.SS (.*)", manuals, flags=re.M)
    roots |= set(re.findall(r"prescient\.(\w+)", outside)) | words(sections)
    used = reached(roots, pieces)
    for name, (file, what) in sorted(where.items()):
        if name not in used:
            print(f"{file}: nothing refers to {what} {name}")
            found += 1
    return found


sys.exit(1 if look() else 0)
