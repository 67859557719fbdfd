#!/usr/bin/env python3
"""tests/house/width.py - how wide lines are, and how many choices a statement makes.

Code has 110 columns; comments and prose have 100. A line that holds both counts as code. Columns
are characters, not bytes; a tab goes to the next multiple of eight.

What is exempt, by rule and not by name:
  - a migration that migrations/landed.sha256 names: it has been released and never changes;
  - a line of prose that is one word, such as a URL, or one `command`: it cannot be broken;
  - what a program printed, in a Markdown block that begins with ```output;
  - in a shell script or SQL, a line that is one quoted text: a message can be searched for (not
    statements of SQL in a shell script: they can be broken anywhere);
  - a command of cron (etc/*.cron): cron has no continuation lines;
  - data: corpora, patches, tables, samples of other programs' files.

In C, no statement may have a second `?:`. A statement ends at `;`, `{` or `}`.

Files that are not clean yet stand in tests/house/later.txt. An entry that is not needed any more
is a failure, too, so the list can only become shorter.

Prints one line "ok - ..." or "not ok - ..." for each rule."""
import fnmatch
import os
import re
import subprocess
import sys

CODE, PROSE, UNLIMITED = 110, 100, 10 ** 6
LATER = "tests/house/later.txt"
DATA = ("tests/fuzz/corpus/*", "tests/data/*.csv*", "*.patch", "*.tsv", "*.dict", "*.sha256")
C, SQL, HASH, MARKDOWN, MAN, TEXT = "C", "SQL", "#", "Markdown", "man", "text"
KINDS = {".c": C, ".h": C, ".mjs": C, ".js": C, ".css": C, ".sql": SQL, ".sh": HASH, ".py": HASH,
         ".awk": HASH, ".mk": HASH, ".md": MARKDOWN, ".1": MAN, ".5": MAN, ".txt": HASH, ".cfg": HASH,
         ".service": HASH, ".timer": HASH, ".cron": HASH, ".supp": HASH, ".yml": HASH}
NAMES = {"Makefile": HASH, "LICENSE": TEXT, ".gitignore": HASH, ".clang-format": HASH,
         ".clang-tidy": HASH}
SHELL_TEXT = re.compile(r'\s*"(?:\\.|[^"\\])*"( \\)?$')
SHELL_SQL = re.compile(r"\b(CREATE|INSERT|SELECT|UPDATE|DELETE|ALTER|DROP|GRANT|REVOKE) ")
SQL_TEXT = re.compile(r"\s*'(?:''|[^'])*'[,;)]*$")
COMMENT = {SQL: ("--",), HASH: ("#", "//"), MAN: ('.\\"',)}


def files():
    """Every file of the project: what git knows, or all that lie here where there is no git."""
    git = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"],
                         capture_output=True, check=False)
    if git.returncode == 0 and git.stdout:
        return sorted(f for f in git.stdout.decode().split("\0") if f and os.path.isfile(f))
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
        found += [os.path.relpath(os.path.join(folder, name), ".") for name in names]
    return sorted(found)


def kind_of(path):
    """How a file is read: None for data and for what is not known."""
    name = os.path.basename(path)
    if any(fnmatch.fnmatch(path, pattern) for pattern in DATA):
        return None
    if name in NAMES:
        return NAMES[name]
    ending = os.path.splitext(name)[1]
    if ending:
        return KINDS.get(ending)
    with open(path, "rb") as file:
        return HASH if file.read(2) == b"#!" else None


def landed():
    """The migrations that never change."""
    with open("migrations/landed.sha256", encoding="utf-8") as file:
        return {"migrations/" + line.split()[1] for line in file if line.strip()}


def limits(kind, lines):
    """For each line how many columns it may have."""
    inside = False                          # a comment in C or SQL, a code block in Markdown
    limit = CODE                            # in a code block
    for line in lines:
        text = line.strip()
        if kind == MARKDOWN:
            if text.startswith("```"):
                inside = not inside
                limit = UNLIMITED if text == "```output" else CODE
            if inside:
                yield limit
            else:
                yield CODE if line.startswith("    ") else PROSE
        elif kind == MAN:
            if text in (".nf", ".EX"):
                inside = True
            elif text in (".fi", ".EE"):
                inside = False
            yield CODE if inside else PROSE
        elif kind == TEXT:
            yield PROSE
        elif kind in (C, SQL) and (inside or text.startswith("/*")):
            end = text.rfind("*/")
            inside = end < text.rfind("/*") or end < 0
            yield PROSE if inside or text.endswith("*/") else CODE
        elif kind == C:
            yield PROSE if text.startswith("//") else CODE
            at = text.rfind("/*")
            inside = at >= 0 and text.count('"', 0, at) % 2 == 0 and "*/" not in text[at:]
        else:
            yield PROSE if text.startswith(COMMENT[kind]) else CODE


def is_one_word(line):
    line = re.sub("`[^`]*`", "code", line)
    return len(re.sub(r"^\s*(#|//|--|\*|-|>|\d+\.)?\s*", "", line).split()) <= 1


def is_text_alone(line, kind, path):
    if kind == SQL:
        return SQL_TEXT.match(line)
    return path.endswith(".sh") and SHELL_TEXT.match(line) and not SHELL_SQL.search(line)


def too_wide(path, kind):
    """The lines of a file that are too wide, as (number, columns, limit)."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, (line, limit) in enumerate(zip(lines, limits(kind, lines)), 1):
        columns = len(line.expandtabs(8))
        if columns <= limit or (limit == PROSE and is_one_word(line)):
            continue
        if limit == CODE and (path.endswith(".cron") or is_text_alone(line, kind, path)):
            continue
        yield number, columns, limit


TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*'
                   r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|[?;{}]|\n', re.S | re.M)


def choices(path):
    """The statements with more than one `?`, as (line of the second one, how many)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    line = 1
    n = at = 0
    for token in TOKEN.finditer(text):
        word = token.group()
        if word.lstrip().startswith("#"):
            body = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/', "", word, flags=re.S)
            for statement in re.split("[;{}]", body):
                if statement.count("?") > 1:
                    yield line, statement.count("?")
        elif word == "?":
            n += 1
            at = line if n == 2 else at
        elif word in ";{}":
            if n > 1:
                yield at, n
            n = 0
        line += word.count("\n")


def later():
    """What is not clean yet: {"width": {file, ...}, "choices": {...}}"""
    entries = {"width": set(), "choices": set()}
    if os.path.exists(LATER):
        with open(LATER, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words:
                    entries[words[0]].add(words[1])
    return entries


def judge(rule, what, found, not_yet):
    """Prints what a rule found. found: {file: [words, ...]}"""
    bad = [f"{path}:{words}" for path in sorted(found) if path not in not_yet for words in found[path]]
    idle = [f"{LATER}: {rule} {path} is not needed any more" for path in sorted(not_yet - set(found))]
    for title, lines in ((what, bad), (f"{LATER}: each entry on {rule} is needed", idle)):
        print(("not ok - " if lines else "ok - ") + title)
        for line in lines[:40]:
            print("#   " + line)
        if len(lines) > 40:
            print(f"#   and {len(lines) - 40} more")
    return bool(bad or idle)


def main():
    if sys.argv[1:] and sys.argv[1] == "--files":           # what each file is read as
        for path in files():
            print(kind_of(path) or "-", path)
        return 0
    never = landed()
    wide, second = {}, {}
    for path in files():
        kind = kind_of(path)
        if not kind or path in never:
            continue
        found = [f"{n}: {columns} columns, at most {limit}" for n, columns, limit in too_wide(path, kind)]
        if found:
            wide[path] = found
        if path.endswith((".c", ".h")):
            found = [f"{n}: {count} of ?: in a statement" for n, count in choices(path)]
            if found:
                second[path] = found
    if sys.argv[1:] and sys.argv[1] == "--later":           # a list that would fit
        for rule, found in (("width", wide), ("choices", second)):
            for path in sorted(found):
                print(f"{rule:7} {path:48} # {len(found[path])}")
        return 0
    not_yet = later()
    failed = judge("width", "code has 110 columns, comments and prose 100", wide, not_yet["width"])
    failed |= judge("choices", "no statement in C has a second ?:", second, not_yet["choices"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
