#!/usr/bin/env bash
# width.sh - code has 110 columns, comments and prose have 100; no statement in C has a second `?:`.
# tests/house/width.py has the rules, and tests/house/later.txt the files that are not clean yet.
# `tests/house/width.py --later` prints what that list would have to be.
# not instrumented
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
exec tests/house/width.py
