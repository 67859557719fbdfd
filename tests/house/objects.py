#!/usr/bin/env python3
"""objects.py [ROOT] - what the schema of PostgreSQL defines: prints each object of migrations/pg that
is defined twice, and each table, view, sequence and function that nothing refers to. For SQLite,
tests/schema_once_sqlite.sh asks the same.

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

CREATE = re.compile(r"^ *CREATE +(?:UNIQUE +|TEMP +)*(TABLE|VIEW|SEQUENCE|FUNCTION|INDEX|TRIGGER) +"
                    r"(?:IF NOT EXISTS +)?(?:prescient\.)?(\w+)", re.M)
REPLACE = re.compile(r"^ *(CREATE OR REPLACE|DROP (?!TABLE prescient\.%)|ALTER \w+ prescient\.\w+ ADD COLUMN"
                     r"|ALTER \w+ prescient\.\w+ (?:ADD|DROP) CONSTRAINT)[^\n]*", re.M)


def expanded(file):
    """The text of a migration without comments, and without COMMENT, GRANT and REVOKE."""
    run = subprocess.run(["awk", "-f", "engine/store/schema.awk", file], capture_output=True, text=True,
                         check=True)
    text = re.sub(r"^ *--[^\n]*\n", "", run.stdout, flags=re.M)
    return re.sub(r"^ *(COMMENT ON|GRANT|REVOKE)\b[^;]*;", "", text, flags=re.M)


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


def look():
    """Prints what is wrong, a line each. Returns how many lines that were."""
    found = 0
    seen, where, pieces = {}, {}, []
    released = re.findall(r"^\w+ +(pg/\S+)", read(["migrations/landed.sha256"]), flags=re.M)
    for file in sorted(glob.glob("migrations/pg/*.sql")):
        text = expanded(file)
        starts = list(CREATE.finditer(text))
        for i, m in enumerate(starts):
            what, name = m[1], m[2]
            key = (what, name, arguments(text, m.end()) if what == "FUNCTION" else "")
            if key in seen:
                print(f"{file}: {what} {name} is defined in {seen[key]} already")
                found += 1
            if f"pg/{os.path.basename(file)}" not in released:
                seen[key] = file
            end = starts[i + 1].start() if i + 1 < len(starts) else len(text)
            pieces.append((name, text[m.end():end]))
            if what in ("TABLE", "VIEW", "SEQUENCE", "FUNCTION"):
                where.setdefault(name, (file, what))
        for m in [] if released else REPLACE.finditer(text):
            print(f"{file}: defines again: {m[0].strip()[:80]}")
            found += 1
    outside = read(["engine/store/store_pg.sql", "engine/**/*.c", "bench/*.sql", "bench/*.c"])
    manuals = read(["docs/*.[17]", "docs/*.md"])
    sections = re.findall(r"^\.SS (.*)", manuals, flags=re.M)
    used = set(re.findall(r"prescient\.(\w+)", outside)) | words(sections)
    for name, (file, what) in sorted(where.items()):
        word = re.compile(rf"prescient\.{name}\b")
        if name not in used and not any(word.search(text) for owner, text in pieces if owner != name):
            print(f"{file}: nothing refers to {what} {name}")
            found += 1
    return found


sys.exit(1 if look() else 0)
