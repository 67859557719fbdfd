#!/usr/bin/env bash
# f12_primary_killed.sh - F12: the primary is killed (kill -9, all its processes) and its
#     synchronous standby promoted, again and again
# PASS: no acknowledged enqueue and no settle is lost, at most a batch per worker runs again, and
# work is settled within T of the promotion.
# limit 240
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"
. "$FAULTS/primary_killed.sh"

needs_pair
on_a_pair direct primary_killed
