#!/usr/bin/env python3
"""calls.py - each call of a statement names each of its parameters: what a call leaves out would be
0 or NULL, and no compiler says so. Reads preprocessed C on stdin, in which the structs
`struct pg_renew_in` are declared and initialised; prints what is missing, and at the end how many
calls there are."""
import re
import sys

TEXT = sys.stdin.read()
OPENING, CLOSING = "{([", "})]"


def block(start):
    """From behind the brace at `start` to the one that closes it."""
    depth = 0
    for at in range(start, len(TEXT)):
        depth += (TEXT[at] in OPENING) - (TEXT[at] in CLOSING)
        if depth == 0:
            return TEXT[start + 1:at]
    return ""


def top_level(text):
    """Without what is in braces and parentheses."""
    kept, depth = [], 0
    for char in text:
        depth += char in OPENING
        if depth == 0:
            kept.append(char)
        depth -= char in CLOSING
    return "".join(kept)


fields, calls, missing = {}, set(), set()
for found in re.finditer(r"\bstruct ((?:pg|sqlite)_\w+_in) *{", TEXT):
    fields[found[1]] = re.findall(r"(\w+);", block(found.end() - 1))
for found in re.finditer(r"\bstruct ((?:pg|sqlite)_\w+_in)\b *(?:\)|\w+ *=)\s*{", TEXT):
    body = block(found.end() - 1)
    named = re.findall(r"\.(\w+)\s*=", top_level(body))
    calls.add((found[1], body))
    for name in fields.get(found[1], ["struct " + found[1]]):
        if name not in named:
            missing.add(f"a {found[1]} without .{name}")
for line in sorted(missing):
    print(line)
print(f"{len(calls)} calls")
