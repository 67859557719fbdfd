#!/usr/bin/env python3
"""posts_selftest.py - can the judge of posts (posts.py) fail?

A case in which all is well must pass. Then each kind of violation is planted in it, one at a time,
and must be found under its name."""
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def said(number):
    return '{"outcome":"new","id":%d,"check_at":"2030-01-01T00:00:00Z"}' % number


def sent(unit, uniqid):
    return "sent\t1\t%s\tmessage\t%s\twitness\t5\t[\"done\"]\n" % (unit, uniqid)


def answered(server, unit, status, body):
    return "answered\t2\t%d\t%s\t%d\t%s\n" % (server, unit, status, body)


def good_case():
    # one check that was repeated, an array of two, and two lines of which one was sent again
    return {
        "plan": [sent("p0", "p0.0"), sent("p1", "p1.0"), sent("p1", "p1.1"), sent("p2.0", "p2.0"),
                 sent("p2.1", "p2.1")],
        "answers": [answered(0, "p0", 201, said(1)), "failed\t3\t1\tp1\t503\n",
                    answered(1, "p0", 201, said(1)), answered(0, "p1", 200, "[%s,%s]" % (said(2), said(3))),
                    answered(0, "p2.0", 200, said(4)), "failed\t3\t1\tp2\tcut off\n",
                    answered(0, "p2.0", 200, said(4)), answered(0, "p2.1", 200, said(5)),
                    "seen\t4\t0\tp0.0\t200\n", "other\t4\t1\tp0.0\t422\n"],
        "waiting": [("p0.0", 1), ("p1.0", 2), ("p2.0", 4)],
        "history": [("p1.1", 3), ("p2.1", 5)],
        "requests": [("p0.0", "new", 1), ("p1.0", "new", 2), ("p1.1", "new", 3), ("p2.0", "new", 4),
                     ("p2.1", "new", 5)],
    }


def lose_an_answer(c):
    del c["answers"][3]


def refuse_one(c):
    c["answers"][4] = c["answers"][6] = answered(0, "p2.0", 422, '{"status":422}')


def answer_in_other_bytes(c):
    c["answers"][2] = answered(1, "p0", 201, said(1).replace("2030", "2031"))


def answer_with_another_status(c):
    c["answers"][2] = answered(1, "p0", 200, said(1))


def lose_a_check(c):
    del c["waiting"][1]


def file_one_twice(c):
    c["waiting"].append(("p0.0", 6))


def file_one_again_that_was_run(c):
    c["waiting"].append(("p1.1", 6))


def file_another(c):
    c["waiting"][0] = ("p0.0", 7)


def forget_a_request(c):
    del c["requests"][4]


def note_another_outcome(c):
    c["requests"][0] = ("p0.0", "kept", 1)


def not_know_it(c):
    c["answers"][8] = "seen\t4\t0\tp0.0\t404\n"


def take_something_else(c):
    c["answers"][9] = "other\t4\t1\tp0.0\t201\n"


def file_what_nobody_sent(c):
    c["waiting"].append(("p9.0", 9))


PLANTED = [
    ("unanswered", lose_an_answer), ("refused", refuse_one), ("differs", answer_in_other_bytes),
    ("differs", answer_with_another_status), ("missing", lose_a_check), ("twice", file_one_twice),
    ("twice", file_one_again_that_was_run), ("another", file_another), ("unnoted", forget_a_request),
    ("unnoted", note_another_outcome), ("unseen", not_know_it), ("taken", take_something_else),
    ("invented", file_what_nobody_sent),
]


def build_store(path, case):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE prescient_future_job (entity_key, id)")
    db.execute("CREATE TABLE prescient_future_job_history (entity_key, id)")
    db.execute("CREATE TABLE prescient_request (uniqid, outcome, check_id)")
    db.executemany("INSERT INTO prescient_future_job VALUES (?, ?)", case["waiting"])
    db.executemany("INSERT INTO prescient_future_job_history VALUES (?, ?)", case["history"])
    db.executemany("INSERT INTO prescient_request VALUES (?, ?, ?)", case["requests"])
    db.commit()
    db.close()


def said_of(case):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("plan", "answers"):
            with open(os.path.join(folder, name), "w") as f:
                f.writelines(case[name])
        build_store(os.path.join(folder, "db"), case)
        words = ["judge", "--case", folder, "--store", "sqlite:%s/db" % folder]
        done = subprocess.run([sys.executable, "-S", os.path.join(HERE, "posts.py"), *words],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    failed = 0

    def judge(what, is_well, words):
        nonlocal failed
        print("%s - %s" % ("ok" if is_well else "not ok", what))
        if not is_well:
            failed = 1
            print("#   " + words.replace("\n", "\n#   "))

    code, words = said_of(good_case())
    judge("a case in which all is well",
          code == 0 and words == "3 requests with 5 checks, 2 answered again, 0 violations\n", words)
    for kind, plant in PLANTED:
        case = good_case()
        plant(case)
        code, words = said_of(case)
        judge("%s: %s" % (kind, plant.__name__), code == 1 and words.startswith(kind + ":"), words)
    return failed


if __name__ == "__main__":
    sys.exit(main())
