#!/usr/bin/env python3
"""tests/house/figures.py [COMMIT ...]      figures of the code, one column for each commit

Without a COMMIT the files as they are here. docs/house.md keeps what this printed at some commits.
What is measured, and how:

  lines over 100 columns     of engine/**/*.c and *.h; columns are characters
  ?: per 1,000 lines         question marks in engine/**/*.c and *.h outside comments and strings
  statements with a second ?:    of the same files; a statement ends at ; { or }
  functions                  lines of their bodies with head and braces: median, 95th percentile, most
  static functions with one caller   share of the static functions of engine/**/*.c that are called in
                             one place and named nowhere else (a table of functions names them)
  names with their file's word   share of the public functions whose name contains the file's name
                             or the file's last word, or begins with a word of it or its folder's
  largest header             of engine/
  circles                    groups of two or more modules (x.c with x.h) of one folder of engine/
                             that include or call each other all around
  commits with a reason      share of all commits up to this one with a body"""
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
HEAD = re.compile(r"([A-Za-z_]\w*)\s*\([^;{}=]*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?$", re.S)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof"}


def blank(match):
    """As many lines as before, and quotes of strings, so that nothing moves."""
    text = match.group()
    keep = '"' if text[0] == '"' else ""
    return keep + re.sub(r"[^\n]", " ", text[len(keep):len(text) - len(keep)]) + keep


class Function:
    def __init__(self, name, is_static, lines, start, end):
        self.name, self.is_static, self.lines = name, is_static, lines
        self.start, self.end = start, end


def functions_of(code):
    """The functions defined in code without comments, strings and directives."""
    depth = at = 0
    begin = None
    for token in re.finditer(r"[{};]", code):
        if token.group() == "{":
            if depth == 0:
                head = code[at:token.start()]
                match = HEAD.search(head)
                begin = (head, match, at) if match and match[1] not in NOT_FUNCTIONS else None
            depth += 1
        elif token.group() == "}":
            depth -= 1
            if depth == 0:
                if begin:
                    head, match, start = begin
                    start += len(head) - len(head.lstrip())
                    lines = code.count("\n", start, token.start()) + 1
                    is_static = bool(re.search(r"\bstatic\b", head))
                    yield Function(match[1], is_static, lines, start, token.end())
                at = token.end()
        elif depth == 0:
            at = token.end()


def circles_of(arrows):
    """The strongly connected groups of two or more (Tarjan's search)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(arrows[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while not group or group[-1] != v:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for v in sorted(arrows):
        if v not in index:
            visit(v)
    return found


def has_its_word(name, path):
    """Does a public function's name have its file's word? store_pg_slot.c: store_..., pg_..., slot."""
    stem = path.stem
    words = stem.split("_")
    first = name.split("_")[0]
    return stem in name or words[-1] in name or first in words or first == path.parent.name


class Tree:
    def __init__(self, root):
        self.root = Path(root)
        self.paths = sorted(p for p in (self.root / "engine").rglob("*.[ch]"))
        self.text = {p: p.read_text(encoding="utf-8") for p in self.paths}
        self.quiet = {p: QUIET.sub(blank, text) for p, text in self.text.items()}
        self.code = {p: DIRECTIVE.sub(blank, text) for p, text in self.quiet.items()}
        self.functions = {p: list(functions_of(self.code[p])) for p in self.paths}

    def lines(self):
        return [line for text in self.text.values() for line in text.splitlines()]

    def second_choices(self):
        return sum(part.count("?") > 1 for text in self.quiet.values() for part in re.split("[;{}]", text))

    def one_caller(self):
        one = every = 0
        for path in self.paths:
            if path.suffix != ".c":
                continue
            for f in self.functions[path]:
                if f.is_static:
                    code = self.code[path]
                    outside = code[:f.start] + code[f.end:]
                    prototype = re.compile(r"^static[^;{}=]*\b" + f.name + r"\s*\([^{}]*?\)\s*;", re.M)
                    outside = prototype.sub("", outside)
                    every += 1
                    one += (len(re.findall(r"\b" + f.name + r"\b", outside)) == 1
                            and re.search(r"\b" + f.name + r"\s*\(", outside) is not None)
        return one, every

    def names(self):
        public = [(f.name, p) for p in self.paths if p.suffix == ".c"
                  for f in self.functions[p] if not f.is_static and f.name != "main"]
        return sum(has_its_word(name, path) for name, path in public), len(public)

    def circles(self):
        home = {f.name: p for p in self.paths if p.suffix == ".c"
                for f in self.functions[p] if not f.is_static}
        arrows = defaultdict(set)
        for path in self.paths:
            here = path.with_suffix("")
            arrows[here] |= set()
            for include in re.findall(r'^ *# *include *"(.*)"', self.text[path], re.M):
                for there in (self.root / include, path.parent / include):
                    if there.exists() and there.parent == path.parent and there.suffix == ".h":
                        if there.with_suffix(".c").exists():
                            arrows[here].add(there.with_suffix(""))
            for word in set(WORD.findall(self.code[path])):
                if word in home and home[word].parent == path.parent:
                    arrows[here].add(home[word].with_suffix(""))
            arrows[here].discard(here)
        return [[p.name for p in group] for group in circles_of(arrows)]


def figures(root, commit):
    tree = Tree(root)
    lines = tree.lines()
    wide = sum(len(line) > 100 for line in lines)
    choices = sum(text.count("?") for text in tree.quiet.values())
    lengths = sorted(f.lines for p in tree.paths for f in tree.functions[p])
    one, statics = tree.one_caller()
    named, public = tree.names()
    headers = [(len(tree.text[p].splitlines()), p.name) for p in tree.paths if p.suffix == ".h"]
    circles = tree.circles()
    log = subprocess.run(["git", "log", "--no-merges", "--format=%b%x01", commit or "HEAD"], check=True,
                         stdout=subprocess.PIPE).stdout
    bodies = log.decode(errors="replace").split("\x01")[:-1]
    yield "lines of engine/", f"{len(lines):,}"
    yield "lines over 100 columns", f"{100 * wide / len(lines):.1f} %"
    yield "`?:` per 1,000 lines", f"{1000 * choices / len(lines):.1f}"
    yield "statements with a second `?:`", str(tree.second_choices())
    yield "functions: median, 95th, most lines", (f"{statistics.median(lengths):.0f}, "
                                                  f"{lengths[len(lengths) * 95 // 100]}, {lengths[-1]}")
    yield "static functions with one caller", f"{100 * one / statics:.0f} % of {statics}"
    yield "names with their file's word", f"{100 * named / public:.0f} % of {public}"
    yield "largest header, lines", "{} ({})".format(*max(headers))
    yield "circles inside layers", str(len(circles))
    yield "modules in them", str(sum(map(len, circles)))
    reasons = sum(bool(body.strip()) for body in bodies)
    yield "commits with a reason", f"{100 * reasons / len(bodies):.0f} % of {len(bodies)}"
    if "-v" in sys.argv:
        for group in circles:
            print("circle:", " ".join(group))


def main():
    columns = []
    for commit in [word for word in sys.argv[1:] if word != "-v"] or [None]:
        if commit is None:
            columns.append(("here", dict(figures(".", None))))
            continue
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.Popen(["git", "archive", commit, "engine"], stdout=subprocess.PIPE)
            with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
                tar.extractall(folder)
            if archive.wait():
                return 1
            columns.append((commit, dict(figures(folder, commit))))
    print("| | " + " | ".join(name for name, _ in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for row in columns[0][1]:
        print(f"| {row} | " + " | ".join(column[row] for _, column in columns) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
