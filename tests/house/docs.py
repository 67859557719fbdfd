#!/usr/bin/env python3
"""tests/house/docs.py PRESCIENT [FOLDER] - what pages in Markdown name is there.

  - a relative link leads to a file, and to a heading of it where it has a #;
  - a path in `code` that begins with a folder of the tree is a file or a folder; * and NAME match
    anything;
  - a command in `code`, or in a block of shell, is one that the program has, with such options;
  - each page of docs/ is reached from docs/README.md.

Prints one line "ok - ..." or "not ok - ..." for each rule, and what breaks it, as PAGE:LINE."""
import glob
import os
import re
import subprocess
import sys

LINK = re.compile(r"\[(?:[^][]|\[[^]]*\])*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PLACE = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.*{},@-]+)+/?")
COMMAND = re.compile(r"(?:^|[\s(;|/\"'`$])prescient((?: +--?[a-z][^ ]*| +[a-z]+(?![\w./:=-]))[^;|&)#]*)")
SHELL = ("sh", "")
FOLDERS = ("bench", "docs", "engine", "etc", "examples", "include", "jobs", "migrations", "tests")
USER = re.compile(r"-[ug] prescient\b( env -C \S+)?")    # it has the program's name
INTERNAL = ("worker",)                      # commands of the program to itself
WITH_VALUE = ("--config", "--store", "--set", "--now", "--log-level")


def pages(root):
    found = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard", "*.md"], cwd=root,
                           capture_output=True, check=False).stdout.decode().split("\0")
    if not any(found):
        found = [os.path.relpath(p, root) for p in glob.glob(root + "/**/*.md", recursive=True)]
    return sorted(p for p in found if p and not p.startswith("build") and
                  os.path.isfile(os.path.join(root, p)))


def lines_of(root, page):
    """(number, line, "" for prose, else the kind of the block that it is in), continued lines as one."""
    with open(os.path.join(root, page), encoding="utf-8") as file:
        block, held, first = None, "", 0
        for number, line in enumerate(file.read().split("\n"), 1):
            mark = re.match(r"\s*```(\w*)", line)
            if mark:
                block = mark.group(1) if block is None else None
                continue
            is_code = block is not None or line.startswith("    ")
            if is_code and line.endswith("\\"):
                first, held = first or number, held + line[:-1] + " "
                continue
            yield first or number, held + line, ("code " + (block or "") if is_code else "")
            held, first = "", 0


def anchors(path):
    """What GitHub makes of the headings."""
    seen = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            if re.match(r"#+ ", line):
                text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
                seen.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return seen


def dead_links(root, page):
    for number, line, block in lines_of(root, page):
        if block:
            continue
        for target in LINK.findall(CODE.sub("", line)) + LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(root, os.path.dirname(page), path)) if path \
                else os.path.join(root, page)
            if not os.path.exists(path):
                yield number, "leads nowhere: " + target
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                yield number, "there is no such heading: " + target


def is_there(root, place):
    name = re.sub("NAME|NN+", "*", place.rstrip("/"))
    names = [name]
    while any("{" in n for n in names):
        names = [n.replace(m.group(0), part, 1) for n in names for m in [re.search(r"{([^}]*)}", n)]
                 for part in (m.group(1).split(",") if m else [])]
    return bool(names) and all(glob.glob(os.path.join(root, n)) for n in names)


def missing_files(root, page):
    for number, line, block in lines_of(root, page):
        for code in ([line] if block in ("code sh",) else CODE.findall(line) if not block else []):
            for found in PLACE.finditer(code):
                place = found.group(0).rstrip(".")
                before = code[:found.start()]
                if place.split("/")[0] in FOLDERS and not re.search(r"[\w/.$~}\"-]$", before) and \
                        not is_there(root, place):
                    yield number, "there is no " + place


class Program:
    def __init__(self, path):
        self.path = path
        text = self.ask("--help")
        self.common = set(re.findall(r"^  (--[a-z-]+)", text.split("options of every command:")[1], re.M))
        self.common |= {"-h"}
        self.commands = dict.fromkeys(re.findall(r"^  ([a-z]+)  ", text.split("options of every")[0], re.M))

    def ask(self, *arguments):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False).stdout

    def options(self, command):
        if self.commands[command] is None:
            self.commands[command] = set(re.findall(r"--[a-z-]+", self.ask(command, "--help")))
        return self.commands[command] | self.common


def unknown_commands(root, page, program):
    for number, line, block in lines_of(root, page):
        if block and block.split(" ")[1] not in SHELL:
            continue
        for code in ([line] if block else CODE.findall(line)):
            for words in COMMAND.findall(USER.sub("", re.sub("(^|[ ])#.*", "", code))):
                yield from ((number, fault) for fault in faults_of(words.split(" -- ")[0], program))


def faults_of(words, program):
    """What is wrong with what stands behind `prescient`."""
    words = words.split()
    while words and words[0].startswith("-"):
        del words[:2 if words[0] in WITH_VALUE else 1]
    if not words or not re.fullmatch("[a-z]+", words[0]):
        return
    if words[0] in INTERNAL:
        return
    if words[0] not in program.commands:
        yield "there is no command `prescient %s`" % words[0]
        return
    for word in words[1:]:
        option = re.match(r"--[a-z-]+", word)
        if option and option.group(0) not in program.options(words[0]):
            yield "`prescient %s` has no %s" % (words[0], option.group(0))


def not_in_index(root):
    index = "docs/README.md"
    with open(os.path.join(root, index), encoding="utf-8") as file:
        linked = {os.path.normpath("docs/" + t.partition("#")[0]) for t in LINK.findall(file.read())}
    for path in sorted(glob.glob(root + "/docs/*")):
        name = "docs/" + os.path.basename(path)
        if os.path.splitext(name)[1] not in (".svg", ".png") and name != index and name not in linked:
            yield 0, name + " is not in the index"
    shown = "".join(open(os.path.join(root, p), encoding="utf-8").read() for p in pages(root))
    for path in sorted(glob.glob(root + "/docs/*.svg") + glob.glob(root + "/docs/*.png")):
        if os.path.basename(path) not in shown:
            yield 0, "no page shows docs/" + os.path.basename(path)


def main():
    root = sys.argv[2] if len(sys.argv) > 2 else "."
    program = Program(sys.argv[1])
    rules = {
        "links lead somewhere": dead_links,
        "files that pages name are there": missing_files,
        "commands and options that pages name are there":
            lambda root, page: unknown_commands(root, page, program),
    }
    failed = False
    for rule, of in rules.items():
        found = [(page, n, what) for page in pages(root) for n, what in sorted(set(of(root, page)))]
        failed |= report(rule, found)
    failed |= report("each page of docs/ is in its index, and each picture on a page",
                     [("docs/README.md", n, what) for n, what in not_in_index(root)])
    sys.exit(1 if failed else 0)


def report(rule, found):
    print("%s - %s" % ("not ok" if found else "ok", rule))
    for page, number, what in found:
        print("#   %s:%s: %s" % (page, number, what))
    return bool(found)


main()
