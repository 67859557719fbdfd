# values.py - what the programs in Python share: a case as a line, and values as Python has them
# (tests/drivers/README.md describes lines and kinds).
import datetime
import json
import re
import sys
import uuid

REFUSED = "SELECT prescient.enqueue('', '', '', '')"


def same(text):
    return text


def seconds(text):
    return datetime.timedelta(seconds=int(text))


# How a value of each kind is made from its text; drivers have their own for json and jsonb.
KINDS = {
    "smallint": int, "int": int, "bigint": int, "text": same, "uuid": uuid.UUID,
    "timestamptz": datetime.datetime.fromisoformat, "timestamp": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat, "interval": seconds, "json": json.loads, "jsonb": json.loads,
}


def value_of(param, kinds):
    kind, text = param.split("=", 1)
    if not kind.endswith("[]"):
        return kinds[kind](text)
    return [kinds[kind[:-2]](part) for part in text.split("|")]


def cases(kinds, placeholder):
    """Each case: its name, its flow, the statement in the driver's words, the values."""
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            name, flow, statement, *params = line.rstrip("\n").split("\t")
            yield name, flow, re.sub(r"\$(\d+)", placeholder, statement), [value_of(p, kinds) for p in params]


def tell(name, found):
    print(name, found, sep="\t")


def tell_error(name, state, error):
    print(name, "error", state, " ".join(str(error).split()), sep="\t")
