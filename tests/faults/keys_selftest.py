#!/usr/bin/env python3
"""keys_selftest.py - can the judge of concurrency keys (keys.py) fail?

A case in which all is well must pass. Then each kind of violation is planted in it, one at a time,
and must be found under its name."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
AHEAD = 1700000000000000            # of the wall clock over the other one


def journal(begin, pid, engine, row):
    return "\t".join(str(f) for f in (begin + AHEAD, begin, pid, engine, "row", row, "witness", "idem", 0, 0,
                                      0, 0, "done")) + "\n"


def end(at, pid, row):
    return "%d\t%d\trow\t%s\n" % (at, pid, row)


def good_case():
    # two keys: w.0, w.2, w.4 have the first. w.2 begins as w.0 ends, w.4 is killed with its engine
    # and runs again on another one when its place is free; so is w.3, which began behind the kill.
    return {
        "journal": [journal(100, 1, 11, "w.0"), journal(120, 2, 12, "w.1"), journal(200, 2, 12, "w.2"),
                    journal(400, 1, 11, "w.4"), journal(460, 3, 11, "w.3"), journal(9000, 2, 12, "w.4"),
                    journal(9200, 2, 12, "w.3")],
        "ends": [end(200, 1, "w.0"), end(300, 2, "w.1"), end(350, 2, "w.2"), end(9100, 2, "w.4"),
                 end(9300, 2, "w.3")],
        "faults": ["%d\tat\tKILL\tengine:11\n" % (450 + AHEAD), "%d\tat\tTERM\tengine:12\n" % (9900 + AHEAD)],
    }


def begin_before_the_other_ends(c):
    c["journal"][2] = journal(199, 2, 12, "w.2")


def run_beside_one_that_is_killed(c):
    c["journal"][5] = journal(449, 2, 12, "w.4")


def lose_an_end(c):
    del c["ends"][1]


PLANTED = [("overlap", begin_before_the_other_ends), ("overlap", run_beside_one_that_is_killed),
           ("unknown_end", lose_an_end)]


def said_of(case, *options):
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in case.items():
            with open(os.path.join(folder, name), "w") as f:
                f.writelines(lines)
        done = subprocess.run([sys.executable, "-S", os.path.join(HERE, "keys.py"), "--case", folder,
                               "--keys", "2", *options], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    failed = 0

    def judge(what, is_well, said):
        nonlocal failed
        print("%s - %s" % ("ok" if is_well else "not ok", what))
        if not is_well:
            failed = 1
            print("#   " + said.replace("\n", "\n#   "))

    code, said = said_of(good_case())
    judge("a case in which all is well", code == 0 and said == "7 2 1\n", said)
    for kind, plant in PLANTED:
        case = good_case()
        plant(case)
        code, said = said_of(case)
        judge("%s: %s" % (kind, plant.__name__), code == 1 and said.startswith(kind + ":"), said)
    case = good_case()
    begin_before_the_other_ends(case)
    code, said = said_of(case, "--limit", "2")
    judge("two at once where two are allowed", code == 0 and said == "7 2 2\n", said)
    return failed


if __name__ == "__main__":
    sys.exit(main())
