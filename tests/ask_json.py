"""Values of expressions about JSON, for `json` of lib.sh: on stdin an expression in Python and a
document, each with a NUL behind it, as often as wanted; on stdout the value as Python prints it, and
a NUL. The document is `j` in the expression. What fails is said in place of the value."""
import json
import sys


def fields():
    """What stands before each NUL on stdin."""
    rest = b""
    while more := sys.stdin.buffer.raw.read(1 << 16):
        *whole, rest = (rest + more).split(b"\0")
        for field in whole:
            yield field.decode(errors="surrogateescape")


def value(expression, text):
    try:
        return eval(f"({expression}\n)", {"j": json.loads(text), "json": json})
    except Exception as e:
        return f"{type(e).__name__} {e} in {text[:400]!r}"


sys.stdout.reconfigure(errors="backslashreplace")
asked = fields()
for expression in asked:
    sys.stdout.write(f"{value(expression, next(asked))}\n\0")
    sys.stdout.flush()
