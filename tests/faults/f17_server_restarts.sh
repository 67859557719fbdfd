#!/usr/bin/env bash
# f17_server_restarts.sh - F17: the server restarts every 4 s for a minute: fast, immediate,
#     crashed, with its port refusing, with 57P03
# PASS: all is done soon after the last restart; no limit of tries is hit. RESTARTS_S=600
# RESTART_EVERY_S=20 is the long form.
# limit 900
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/restarts.sh"

# By TCP, where a port without a server refuses.
directly() { PRESCIENT_STORE=postgresql://postgres@127.0.0.1:$port/postgres restarts directly; }
port=$(free_port)
on_a_server directly fsync=off port="$port"
