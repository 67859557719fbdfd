#!/usr/bin/env python3
"""tests/house/message.py [FILE]          what is wrong with a commit message (FILE, or stdin)
tests/house/message.py --log RANGE...  the same for each commit that `git rev-list RANGE...` names

    area: what it does              at most 72 columns
                                    an empty line
    why, in whole sentences         at most 100 columns a line; only `trivial: ...` needs none

Prints nothing and exits with 0 when all is well. Merges and reverts keep the subject that git
gives them. In FILE and stdin, lines that begin with # are git's own; they are skipped."""
import re
import subprocess
import sys

SUBJECT, BODY, WORDS = 72, 100, 5
AREA = re.compile(r"[\w./, -]+: \S")
TRAILER = re.compile(r"[A-Z][A-Za-z-]+: ")
SCISSORS = re.compile(r"# -+ >8 -+")            # git commit --verbose: a diff follows


def without_comments(text):
    lines = []
    for line in text.split("\n"):
        if SCISSORS.match(line):
            break
        if not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def faults(message):
    lines = [line.rstrip() for line in message.strip("\n \t").split("\n")]
    subject, body = lines[0], lines[2:]
    if not subject:
        yield "the message is empty"
        return
    from_git = subject.startswith(("Merge ", "Revert "))
    if not from_git and not AREA.match(subject):
        yield 'the subject is not "area: what it does"'
    if not from_git and len(subject) > SUBJECT:
        yield f"the subject has {len(subject)} columns, at most {SUBJECT}"
    if lines[1:2] not in ([], [""]):
        yield "the second line is not empty"
    for line in body:
        if len(line) > BODY and " " in line.strip():
            yield f"a line of the body has {len(line)} columns, at most {BODY}: {line}"
    words = sum(len(line.split()) for line in body if not TRAILER.match(line))
    if words < WORDS and not subject.startswith(("trivial: ", "Merge ")):
        yield 'the body does not say why; only a subject that begins with "trivial: " needs no body'


def main():
    if sys.argv[1:2] == ["--log"]:
        log = ["git", "log", "--no-merges", "--format=%h%x00%B%x01", *sys.argv[2:]]
        out = subprocess.run(log, stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")
        commits = [entry.strip("\n").split("\0") for entry in out.split("\x01") if entry.strip()]
    else:
        with open(sys.argv[1] if len(sys.argv) > 1 else 0, encoding="utf-8", errors="replace") as file:
            commits = [("", without_comments(file.read()))]
    wrong = 0
    for name, message in commits:
        for fault in faults(message):
            subject = message.strip().split("\n")[0]
            print(f"{name} {subject}: {fault}" if name else fault)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
