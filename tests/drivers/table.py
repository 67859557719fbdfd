#!/usr/bin/env python3
"""tests/drivers/table.py - the cases that every driver runs, and what has to come of each.

    table.py list               "DRIVER<tab>NEEDS<tab>COMMAND" for each row of drivers.tsv
    table.py cases DRIVER       its cases, one a line (README.md describes the line)
    table.py before DRIVER      the SQL that has to be there before
    table.py judge DRIVER FOLDER    compares what FOLDER has: answers, rows, and the times around;
                                prints a line "ok - " or "not ok - " for each kind of value and call
    table.py print FOLDER...    the table of all drivers that were judged

What a driver cannot send without a cast stands in docs/languages.md, in the table there. Its cases
have the cast, and one case more shows that it is needed."""
import csv
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = os.path.join(HERE, "../../docs/languages.md")
JOB = "unshipped_order"
UUID, OTHER_UUID = "6f1c2b9a-0d3e-4b57-9c1f-2a64c0ffee01", "6f1c2b9a-0d3e-4b57-9c1f-2a64c0ffee02"
PAYLOAD = json.dumps({"customer": 7, "note": "50 % of \"ü\" \\ it's"}, ensure_ascii=False)
AT = 1930359967                             # 2031-03-04 03:06:07 UTC
HOURS = 3 * 3600

# kind: value. Beyond 2^53, which a number of JavaScript cannot hold.
KEYS = {"smallint": "42", "int": "70000", "bigint": "9007199254740993", "uuid": UUID, "text": "A-17/ü"}
# kind: two values
ARRAYS = {"int": "1|70000", "bigint": "1|9007199254740993", "uuid": f"{UUID}|{OTHER_UUID}",
          "text": "A|B 'C'"}
# row of the table: kind, value, and when the check has to be due: a moment, ("after", seconds), or
# a day. Sessions are in Asia/Kathmandu, 5:45 before UTC.
TIMES = {
    "timestamptz": ("timestamptz", "2031-03-04T05:06:07+02:00", AT),
    "timestamp": ("timestamp", "2031-03-04T08:51:07", AT),
    "date": ("date", "2031-03-04", AT - 31867),
    "interval": ("interval", str(HOURS), ("after", HOURS)),
    "'+3 hours'": ("text", "+3 hours", ("after", HOURS)),
    "'3 hours'": ("text", "3 hours", ("after", HOURS)),
    "'tomorrow'": ("text", "tomorrow", "tomorrow"),
    "'2031-...'": ("text", "2031-03-04T05:06:07+02:00", AT),
}
TIME_ARRAYS = {
    "timestamptz[]": ("timestamptz[]", "2031-03-04T05:06:07+02:00|2031-03-04T05:06:07+02:00", AT),
    "interval[]": ("interval[]", f"{HOURS}|{HOURS}", ("after", HOURS)),
    "text[]": ("text[]", "+3 hours|3 hours", ("after", HOURS)),
}
PAYLOADS = {"none": None, "json": "json", "jsonb": "jsonb", "text": "text"}


class Case:
    """A call, the rows of the table that it belongs to, and what has to come of it."""

    def __init__(self, name, rows, call, params, answer, **wanted):
        self.name, self.rows, self.call, self.params = name, rows, call, params
        self.answer, self.wanted = answer, wanted
        self.flow = wanted.get("flow", "commit")

    def kinds(self):
        return [kind for kind, _, _ in self.params]


def kept(kind, value):
    """A parameter that takes a cast when the driver needs one."""
    return kind, value, True


def fixed(kind, value):
    """A parameter whose type the call decides."""
    return kind, value, False


def enqueue_cases():
    for key, value in KEYS.items():
        for time, (kind, at, due) in TIMES.items():
            for payload, payload_kind in PAYLOADS.items():
                name = f"enqueue {key} {time} {payload}"
                params = [fixed("text", name), kept(key, value), fixed("text", JOB), kept(kind, at)]
                if payload_kind:
                    params.append(kept(payload_kind, PAYLOAD))
                rows = [f"key: {key}", f"time: {time}", f"payload: {payload}"]
                yield Case(name, rows, "prescient.enqueue", params, "new", keys=[value], due=due,
                           payload=payload_kind and PAYLOAD)


def pending_cases():
    """Calls on a check that waits already (before_cases)."""
    for key, value in KEYS.items():
        for job in ([], [fixed("text", JOB)]):
            name = f"resolve {key} {len(job)}"
            yield Case(name, ["resolve"], "prescient.resolve", [fixed("text", name), kept(key, value)] + job,
                       "1", keys=[], pending=value)
        for time, (kind, at, due) in TIMES.items():
            name = f"reschedule {key} {time}"
            yield Case(name, ["reschedule"], "prescient.reschedule",
                       [fixed("text", name), kept(key, value), fixed("text", JOB), kept(kind, at)], "moved",
                       keys=[value], due=due, pending=value)
        name = f"replace {key}"
        kind, at, due = TIMES["timestamptz"]
        yield Case(name, ["conflict, priority"], "prescient.enqueue",
                   [fixed("text", name), kept(key, value), fixed("text", JOB), kept(kind, at),
                    kept("jsonb", PAYLOAD), fixed("text", "replace"), fixed("int", "5")],
                   "replaced", keys=[value], due=due, payload=PAYLOAD, pending=value, priority=5)


def many_cases():
    for key, values in ARRAYS.items():
        for time, (kind, at, due) in TIMES.items():
            name = f"many {key} {time}"
            params = [fixed("text", name), kept(key + "[]", values), fixed("text", JOB), kept(kind, at)]
            yield Case(name, ["enqueue_many"], "added FROM prescient.enqueue_many", params, "2",
                       keys=values.split("|"), due=due)
        for time, (kind, at, due) in TIME_ARRAYS.items():
            for payload, payload_kind in PAYLOADS.items():
                name = f"arrays {key} {time} {payload}"
                params = [fixed("text[]", f"{name}|{name}"), kept(key + "[]", values),
                          fixed("text[]", f"{JOB}|{JOB}"), kept(kind, at)]
                if payload_kind:
                    params.append(kept(payload_kind + "[]", f"{PAYLOAD}|{PAYLOAD}"))
                yield Case(name, ["enqueue_each"], "added FROM prescient.enqueue_each", params, "2",
                           keys=values.split("|"), due=due, payload=payload_kind and PAYLOAD)


def flow_cases():
    kind, at, due = TIMES["timestamptz"]
    for flow in ("rollback", "savepoint"):
        yield Case(flow, [f"transaction: {flow}"], "prescient.enqueue",
                   [fixed("text", flow), kept("int", "42"), fixed("text", JOB), kept(kind, at)], "new",
                   keys=[] if flow == "rollback" else ["42"], due=due, flow=flow)
    for key, value in KEYS.items():
        name = f"trigger {key}"
        yield Case(name, ["in a trigger"], f"INTO by_{key}", [fixed(key, value)], "1", keys=[value],
                   due=("after", HOURS), payload=json.dumps({"id": value}))
    yield Case("refused", ["an error's SQLSTATE"], "prescient.enqueue",
               [fixed("text", "refused"), kept("int", "42"), fixed("text", ""), kept(kind, at)],
               "error 22023", keys=[])


def all_cases():
    for some in (enqueue_cases, pending_cases, many_cases, flow_cases):
        yield from some()


def drivers():
    """{name: {"lacks": kinds, "needs": what has to be installed, "command": words}}"""
    found = {}
    with open(os.path.join(HERE, "drivers.tsv"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, lacks, needs, command = re.split(r"\t+", line.strip())
                found[name] = {"lacks": set(lacks.split(",")), "needs": needs, "command": command}
    return found


def casts_of(driver):
    """{kind: type} of the table in docs/languages.md: | driver | values | `$2::type` |"""
    found = {}
    with open(LANGUAGES, encoding="utf-8") as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != 3 or driver not in cells[0].split(", "):
                continue
            written = re.fullmatch(r"`\$\d::([a-z]+(?:\[\])?)`", cells[2])
            for kind in cells[1].replace("`", "").split(", "):
                found[kind] = written.group(1)
    return found


def cases_of(driver):
    """Its cases, each with its casts; then one without the cast for each that it needs."""
    lacks, casts = drivers()[driver]["lacks"], casts_of(driver)
    shown = set()
    for case in all_cases():
        kinds = {kind.replace("[]", "") for kind in case.kinds()} | set(case.kinds())
        if kinds & lacks:
            continue
        yield case, casts
        for kind, _, cast in case.params:
            if cast and kind in casts and kind not in shown and case.wanted.get("keys"):
                shown.add(kind)
                rest = {k: v for k, v in casts.items() if k != kind}
                yield Case(f"without a cast: {kind}", [f"{kind} needs the cast"], case.call, case.params,
                           "error", keys=None), rest


def statement_of(case, casts):
    if case.call.startswith("INTO"):
        return f"INSERT {case.call} VALUES ($1) RETURNING 1"
    words = [f"${n}" + (f"::{casts[kind]}" if cast and kind in casts else "")
             for n, (kind, _, cast) in enumerate(case.params, 1)]
    return f"SELECT {case.call}({', '.join(words)})"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def before(driver):
    types = {"smallint": "smallint", "int": "integer", "bigint": "bigint", "uuid": "uuid", "text": "text"}
    print("CREATE FUNCTION enqueue_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n"
          f"PERFORM prescient.enqueue(TG_ARGV[0], NEW.id, '{JOB}', now() + interval '3 hours',\n"
          "                          to_jsonb(NEW));\n"
          "RETURN NULL; END $$;")
    for kind, column in types.items():
        print(f"CREATE TABLE by_{kind} (id {column} PRIMARY KEY);\n"
              f"CREATE TRIGGER enqueue_it AFTER INSERT ON by_{kind} FOR EACH ROW "
              f"EXECUTE FUNCTION enqueue_it('trigger {kind}');\n"
              f"GRANT INSERT, SELECT ON by_{kind} TO PUBLIC;")
    for case, _ in cases_of(driver):
        if "pending" in case.wanted:
            key = quoted(case.wanted["pending"])
            print(f"SELECT prescient.enqueue({quoted(case.name)}::text, {key}::text, '{JOB}'::text, "
                  "now() + interval '1 day');")


def same_payload(found, wanted):
    if not found or not wanted:
        return not found and not wanted
    a, b = json.loads(found), json.loads(wanted)
    return a == b or {k: str(v) for k, v in a.items()} == b         # a trigger's key, as a number


def due_fault(due, found, around):
    begin, end, tomorrows = around
    if isinstance(due, tuple):
        low, high = begin + due[1], end + due[1] + 1
        return None if low <= found <= high else f"due at {found}, expected {low} to {high}"
    if due == "tomorrow":
        return None if found in tomorrows else f"due at {found}, expected one of {tomorrows}"
    return None if found == due else f"due at {found}, expected {due}"


def fault_of(case, answers, rows, around):
    """What is wrong with it, or None."""
    answer = answers.get(case.name)
    if answer is None:
        return "it was not run"
    if answer[0] == "error" and not case.answer.startswith("error"):
        return " ".join(answer[2:])
    if case.answer == "error":
        return None if answer[0] == "error" else "the cast is not needed (docs/languages.md says it is)"
    if " ".join(answer[:len(case.answer.split())]) != case.answer:
        return f"answered {' '.join(answer)}, expected {case.answer}"
    found = rows.get(case.name, [])
    if sorted(row["key"] for row in found) != sorted(case.wanted["keys"]):
        return f"keys {sorted(row['key'] for row in found)}, expected {sorted(case.wanted['keys'])}"
    for row in found:
        fault = due_fault(case.wanted["due"], int(row["due"]), around)
        if fault:
            return fault
        if not same_payload(row["payload"], case.wanted.get("payload")):
            return f"payload {row['payload']}"
        if int(row["priority"]) != case.wanted.get("priority", 0):
            return f"priority {row['priority']}"
    return None


def read(folder):
    with open(f"{folder}/answers", encoding="utf-8") as lines:
        answers = {line.split("\t")[0]: line.rstrip("\n").split("\t")[1:] for line in lines}
    rows = {}
    with open(f"{folder}/rows", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            rows.setdefault(row["entity"], []).append(row)
    with open(f"{folder}/around", encoding="utf-8") as lines:
        begin, tomorrow, end, other_tomorrow = (float(word) for word in lines.read().split())
    return answers, rows, (begin, end, (tomorrow, other_tomorrow))


def marks_of(driver, folder):
    """{row of the table: (cases, casts used, [(case, fault), ...])}"""
    answers, rows, around = read(folder)
    marks = {}
    for case, casts in cases_of(driver):
        fault = fault_of(case, answers, rows, around)
        used = any(cast and kind in casts for kind, _, cast in case.params)
        for row in case.rows:
            own = {"key": 1, "time": 3, "payload": 4}.get(row.split(":")[0])
            used_here = used if own is None else len(case.params) > own and case.params[own][0] in casts
            count, any_cast, faults = marks.get(row, (0, False, []))
            marks[row] = count + 1, any_cast or used_here, faults + ([(case, fault)] if fault else [])
    return marks


def judge(driver, folder):
    for row, (count, _, faults) in marks_of(driver, folder).items():
        if not faults:
            print(f"ok - {driver}: {row} ({count} calls)")
            continue
        print(f"not ok - {driver}: {row}: {len(faults)} of {count} calls")
        for case, fault in faults[:1]:
            print(f"#   {case.name}: {fault[:400]}")


def print_table(folders):
    names = [os.path.basename(folder) for folder in folders]
    marks = [marks_of(name, folder) for name, folder in zip(names, folders)]
    rows = dict.fromkeys(row for case in all_cases() for row in case.rows)
    first = ["key", "time", "payload"]
    rows = sorted(rows, key=lambda row: (first + [row.split(":")[0]]).index(row.split(":")[0]))
    width = max(len(row) for row in rows)
    print(" " * width, *names, sep="  ")
    for row in rows:
        cells = []
        for name, mark in zip(names, marks):
            count, cast, faults = mark.get(row, (0, False, []))
            word = f"no {len(faults)}/{count}" if faults else "cast" if cast else "yes" if count else "-"
            cells.append(word.ljust(len(name)))
        print("  ".join([row.ljust(width), *cells]).rstrip())


def main(command, *words):
    if command == "list":
        for name, driver in drivers().items():
            print(name, driver["needs"], driver["command"], sep="\t")
    elif command == "cases":
        for case, casts in cases_of(words[0]):
            print(case.name, case.flow, statement_of(case, casts),
                  *(f"{kind}={value}" for kind, value, _ in case.params), sep="\t")
    elif command == "before":
        before(words[0])
    elif command == "judge":
        judge(*words)
    elif command == "print":
        print_table(words)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
