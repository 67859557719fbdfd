#!/usr/bin/env bash
# terminal.sh - docs/terminal.svg, which the README shows, is what the program prints on a terminal
# today; its pictures are SVG that can be read, and small.
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$ROOT/tests/terminal/draw.py" "$P" >terminal.svg || FAILED=1
if cmp -s terminal.svg "$ROOT/docs/terminal.svg"; then
    echo "ok - docs/terminal.svg is what the program prints"
else
    diff "$ROOT/docs/terminal.svg" terminal.svg | head -20 >.err
    : >.out
    report "docs/terminal.svg is what the program prints" \
        "make it anew: tests/terminal/draw.py build/prescient >docs/terminal.svg"
fi
for picture in check terminal; do
    is "docs/$picture.svg is well-formed, has texts, says what it is, and has less than 8 KiB" \
        "$(/usr/bin/python3 - "$ROOT/docs/$picture.svg" <<'PY'
import sys, xml.etree.ElementTree as tree
text = open(sys.argv[1], "rb").read()
root, svg = tree.fromstring(text), "{http://www.w3.org/2000/svg}"
says = root.get("aria-label") or root.find(svg + "desc").text
print(root.tag == svg + "svg", len(list(root.iter(svg + "text"))) > 10, bool(says.strip()), len(text) < 8192)
PY
)" "True True True True"
done
