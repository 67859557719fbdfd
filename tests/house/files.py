#!/usr/bin/env python3
"""tests/house/files.py - the map of the engine names files that are there, and every file is on it.

In engine/README.md each name in backquotes that ends like a file, or in a slash, must be there:
from engine/, from the top, or, without a folder, where the name before it on its line is. `*` and
NAME and NN stand for any characters but a slash.

Each file of engine/ must be named in a row of its tables, or in an item of its list "Files by
subject"; but a header beside its .c need not be.

In comments of engine/, a word that ends in .c, .h, .sql, .awk or .sh must be a file of the project.

Prints one line "ok - ..." or "not ok - ..." for each rule."""
import glob
import os
import re
import sys

MAP = "engine/README.md"
NAMED = re.compile(r"`([\w./*-]+\.(?:c|h|sql|awk|sh|mk|py|md|sha256)|[\w.*-]+(?:/[\w.*-]+)*/)`")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
WORD = re.compile(r"(?<![\w<%.*/-])(?:[\w*-]+/)*[\w*-]+\.(?:c|h|sql|awk|sh)\b(?![\w/]|\.\w)")


def pattern_of(name):
    """For glob: what stands for any characters is a star."""
    return re.sub("NAME|NN+", "*", name)


def whole(pattern):
    return re.compile(re.escape(pattern).replace(r"\*", "[^/]*") + "$")


def rows():
    """(number, text, is it a row of the map) of each line; the lines of an item of a list are one."""
    with open(MAP, encoding="utf-8") as file:
        lines = file.read().split("\n")
    section, found = "", []
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            section = line[3:]
        is_row = line.startswith("|") or line.startswith("- ") and section == "Files by subject"
        if line.startswith("  ") and line.strip() and found and found[-1][1].startswith("- "):
            before = found.pop()
            found.append((before[0], before[1] + " " + line.strip(), before[2]))
        else:
            found.append((number, line, is_row))
    return found


def named():
    """(patterns of the files in the map, [what names no file])"""
    patterns, wrong = [], []
    for number, line, is_row in rows():
        folder = "engine/*"
        for name in map(pattern_of, NAMED.findall(line)):
            ways = [os.path.join("engine", name), name]
            if "/" not in name:
                ways = [os.path.join(folder, name), *ways, os.path.join("engine/*", name), "*/" + name]
            found = next((way for way in ways if glob.glob(way)), None)
            if found is None:
                wrong.append(f"{MAP}:{number}: there is no {name}")
                continue
            folder = os.path.dirname(found)
            if is_row:
                patterns.append(whole(found))
    return patterns, wrong


def unnamed(patterns):
    """The files of engine/ that no row names."""
    for path in sorted(glob.glob("engine/**/*.*", recursive=True)):
        beside = path[:-1] + "c"
        ways = [path, beside] if path.endswith(".h") and os.path.exists(beside) else [path]
        is_code = path.endswith((".c", ".h", ".sql", ".awk"))
        if is_code and not any(p.match(way) for p in patterns for way in ways):
            yield f"{path} is in no row of {MAP}"


def every_file():
    """The paths of all files that a comment may name, from the top."""
    for folder, folders, names in os.walk("."):
        folders[:] = [f for f in folders if f != ".git" and not re.match(r"build(-|$)", f)]
        yield from (os.path.relpath(os.path.join(folder, name)) for name in names)


def stale_words():
    """What comments name that is no file."""
    there = list(every_file())
    for path in sorted(glob.glob("engine/**/*.[ch]", recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for comment in COMMENT.finditer(text):
            for word in WORD.finditer(comment.group()):
                pattern = whole("/" + pattern_of(word.group()))
                if not any(pattern.search("/" + name) for name in there):
                    line = text.count("\n", 0, comment.start() + word.start()) + 1
                    yield f"{path}:{line}: there is no {word.group()}"


def judge(what, found):
    found = list(found)
    print(("not ok - " if found else "ok - ") + what)
    for line in found:
        print("#   " + line)
    return bool(found)


def main():
    patterns, wrong = named()
    failed = judge(f"each file that {MAP} names is there", wrong)
    failed |= judge(f"each file of engine/ is in a row of {MAP}", unnamed(patterns))
    failed |= judge("each file that a comment of engine/ names is there", stale_words())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
