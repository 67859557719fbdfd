#!/usr/bin/env python3
"""circles.py FOLDER...    circles among the files of each folder, which is one layer

Over includes: a header that includes another one that includes it, perhaps by way of others. Over
calls: foo.c or foo.h names a function that bar.c defines, and the other way round. A type does not
count, as a family of files shares its structs; nor does data: a table of functions is how one file
calls another that it does not know.

One line a circle, "FOLDER includes|calls: the files in it", then one line an arrow,
"  from -> to: what".
"""
import glob
import os
import re
import sys

NOT_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
                      r"""|^[ ]*\#(?:\\\n|[^\n])*""", re.S | re.M)
ATTRIBUTE = re.compile(r"__attribute__ *\(\((?:[^()]|\([^()]*\))*\)\)")
NAMED = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*")
INCLUDED = re.compile(r'^ *# *include "([^"/]+)"', re.M)


def outline(text):
    """What stands before each outermost brace, and all that stands within braces."""
    heads, head, inside, depth = [], "", [], 0
    for part in re.split(r"([{};])", NOT_CODE.sub(" ", text)):
        if part == "{":
            if not depth:
                heads.append(head)
                head = ""
            depth += 1
        elif part == "}":
            depth -= 1
            inside.append(" ")
        elif depth:
            inside.append(part)
        elif part == ";":
            head = ""
        else:
            head += part
    return heads, " ".join(inside)


def function_of(head):
    """The function that others can call and whose body follows these words; None: something else."""
    if "=" in head or re.search(r"\b(static|typedef)\b", head):
        return None
    name = re.search(r"(\w+)\s*\(", ATTRIBUTE.sub(" ", head))
    return name and name.group(1)


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def arrows(folder):
    """({header: {header it includes: its name}}, {file: {file it calls: one of the functions}})"""
    included, named, defined = {}, {}, {}
    for path in sorted(glob.glob(os.path.join(folder, "*.[ch]"))):
        with open(path) as f:
            text = f.read()
        heads, inside = outline(text)
        named.setdefault(stem(path), set()).update(NAMED.findall(inside))
        if path.endswith(".h"):
            included[os.path.basename(path)] = INCLUDED.findall(text)
        else:
            defined.update((name, stem(path)) for name in map(function_of, heads) if name)
    includes = {me: {h: h for h in headers if h in included} for me, headers in included.items()}
    calls = {me: {defined[name]: name for name in sorted(names & defined.keys()) if defined[name] != me}
             for me, names in named.items()}
    return includes, calls


def reach(graph, start):
    seen, ahead = set(), [start]
    while ahead:
        new = set(graph[ahead.pop()]) - seen
        seen |= new
        ahead.extend(new)
    return seen


def circles(graph):
    reached = {file: reach(graph, file) for file in graph}
    return sorted({tuple(sorted(b for b in reached[a] if a in reached[b])) for a in graph if a in reached[a]})


for folder in sys.argv[1:]:
    for kind, graph in zip(("includes", "calls"), arrows(folder)):
        for circle in circles(graph):
            print(f"{folder.rstrip('/')} {kind}: {' '.join(circle)}")
            for a in circle:
                for b in circle:
                    if b in graph[a]:
                        print(f"  {a} -> {b}: {graph[a][b]}")
