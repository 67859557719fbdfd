#!/usr/bin/python3
"""tests/cron/table.py - next times of cron texts by another implementation: croniter matches the
fields, Python's zoneinfo has the zones.

    table.py make                       prints table.tsv
    table.py check PROGRAM              PROGRAM (next_times.c) against table.tsv
    table.py fresh PROGRAM [N [SEED]]   PROGRAM against N random texts, zones and moments

How days and changed clocks are treated is the rule of engine/rules/cron.h, which is written down
here a second time: croniter is asked for local times only, without a zone, and told how to combine
the two day fields. What croniter answers by itself, asked with the zone, is in the last column of
the table where it differs."""
import datetime
import heapq
import itertools
import os
import random
import re
import subprocess
import sys
import zoneinfo

try:
    from croniter import croniter, CroniterBadDateError
except ImportError:
    croniter = None

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.tsv")
UTC = datetime.timezone.utc
SECOND, DAY = datetime.timedelta(seconds=1), datetime.timedelta(days=1)
# How far clocks are changed: two hours at most, but for the zones that have left out a day.
CHANGED, LEFT_OUT = datetime.timedelta(hours=3), datetime.timedelta(hours=26)
DAY_LEFT_OUT = ("Pacific/Apia", "Pacific/Kiritimati")
NICKNAMES = {"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
             "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
             "@hourly": "0 * * * *"}


def fields_of(text):
    """The five fields, as croniter reads them: lower case, Sunday at the end of a range as 7."""
    fields = NICKNAMES.get(text.strip().lower(), text).lower().split()
    fields[4] = fields[4].replace("-sun", "-7").replace("5-0", "5-7").replace("7-2", "0-2")
    return fields


def stars(fields):
    """Which fields contain a star: they are not restricted."""
    return ["*" in field for field in fields]


def has_dates(fields):
    """Whether a month of the fourth field has a day of the third."""
    days, months = croniter(" ".join(fields)).expanded[2:4]
    days = range(1, 32) if "*" in days else days
    months = range(1, 13) if "*" in months else months
    lengths = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return any(day <= lengths[month - 1] for day in days for month in months)


def by_length(fields):
    """The fields with the days that every month has, and with each other day alone: where a month
    lacks a day, croniter goes on behind it, over the first days of the next month."""
    days = croniter(" ".join(fields)).expanded[2]
    if "*" in days:
        return [fields]
    groups = [[day for day in days if day <= 28]] + [[day] for day in days if day > 28]
    asked = [fields[:2] + [",".join(map(str, group))] + fields[3:] for group in groups if group]
    return [one for one in asked if has_dates(one)]


def all_next(fields, start, **how):
    """Its local times, up to the end of its search."""
    try:
        yield from croniter(" ".join(fields), start, datetime.datetime, **how).all_next()
    except CroniterBadDateError:
        return


def local_times(fields, start):
    """The local times that match. croniter takes 1-7 for a star, and fails where one of the two day
    fields never matches, so it is asked for each alone where either one will do."""
    star = stars(fields)
    if star[2] or star[4]:
        times = [all_next(one, start, day_or=False) for one in by_length(fields)]
    else:
        by_day = by_length(fields[:4] + ["*"])
        by_weekday = fields[:2] + ["*"] + fields[3:]
        times = [all_next(one, start) for one in by_day + [by_weekday]]
    return (at for at, _ in itertools.groupby(heapq.merge(*times)))


def utc_of(local, zone, fold):
    return local.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def local_of(moment, zone):
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def end_of_gap(local, zone):
    """The first moment behind the gap that a local time is in."""
    low, high = sorted((utc_of(local, zone, 0), utc_of(local, zone, 1)))
    before = low.astimezone(zone).utcoffset()
    while high - low > SECOND:
        middle = low + datetime.timedelta(seconds=(high - low) // SECOND // 2)
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high


def moments_of(local, zone, follows_clock):
    """When a local time that matches happens: the rule for changed clocks."""
    first, second = utc_of(local, zone, 0), utc_of(local, zone, 1)
    if local_of(first, zone) != local and local_of(second, zone) != local:
        return [] if follows_clock else [end_of_gap(local, zone)]
    if first == second or not follows_clock:
        return [first]
    return [first, second]


def next_times(text, zone_name, after, count):
    """The next times, in UTC."""
    fields = fields_of(text)
    follows_clock = stars(fields)[1]
    zone = zoneinfo.ZoneInfo(zone_name)
    ahead = LEFT_OUT if zone_name in DAY_LEFT_OUT else CHANGED
    found, last = set(), None       # `last`: no later local time can be among the wanted ones
    for at in local_times(fields, local_of(after, zone) - ahead):
        if last is not None and at > last:
            break
        found |= {m for m in moments_of(at, zone, follows_clock) if m > after}
        if last is None and len(found) >= count:
            last = at + ahead
    return sorted(found)[:count]


def croniter_alone(text, zone_name, after, count):
    """What croniter answers when it is asked with the zone, in its own words where it refuses."""
    start = after.astimezone(zoneinfo.ZoneInfo(zone_name))
    try:
        times = croniter(text, start, datetime.datetime)
        return " ".join(written(times.get_next()) for _ in range(count))
    except Exception as error:      # whatever it raises is its answer
        return "refused: " + str(error).split("\n", maxsplit=1)[0]


def written(moment):
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


# ---- the table ----

# Days on which clocks are changed, and quiet ones: zone, a moment some hours before. All of them
# have passed, so that they stay.
DAYS = [
    ("Europe/Amsterdam", "2025-03-29T20:10:00Z"), ("Europe/Amsterdam", "2025-10-25T20:10:00Z"),
    ("Europe/Amsterdam", "2026-03-29T00:59:00Z"), ("Europe/Amsterdam", "2025-10-26T00:30:00Z"),
    ("America/New_York", "2025-03-09T03:00:00Z"), ("America/New_York", "2025-11-02T03:00:00Z"),
    ("Australia/Lord_Howe", "2025-10-04T12:00:00Z"), ("Australia/Lord_Howe", "2025-04-05T12:00:00Z"),
    ("Asia/Kathmandu", "2025-03-29T20:10:00Z"), ("Asia/Kathmandu", "1985-12-31T17:00:00Z"),
    ("Europe/Dublin", "2025-03-29T23:00:00Z"), ("Pacific/Apia", "2011-12-30T01:00:00Z"),
]
AROUND_CHANGES = ["30 2 * * *", "30 1 * * *", "0 2 * * *", "0 3 * * *", "15,45 1-2 * * *", "*/20 2 * * *",
                  "30 * * * *", "0 */2 * * *", "*/15 * * * *", "10 0 * * *", "45 1 * * sun",
                  "0 12 * * *"]
CALENDAR = """\
* * * * * | UTC | 2025-12-31T23:58:30Z
0 0 29 2 * | UTC | 2025-01-01T00:00:00Z
0 0 29 2 * | UTC | 2096-03-01T00:00:00Z
0 0 31 * * | UTC | 2025-01-31T00:00:00Z
0 0 30 * * | UTC | 2025-01-30T12:00:00Z
0 0 31 2,3,4 * | UTC | 2025-01-01T00:00:00Z
0 0 13 * 5 | UTC | 2025-01-01T00:00:00Z
0 0 13 * fri | Asia/Kathmandu | 2025-06-01T00:00:00Z
0 0 */2 * 1 | UTC | 2025-01-01T00:00:00Z
0 0 1-7 * */6 | UTC | 2025-01-01T00:00:00Z
0 0 1-7 * 1 | UTC | 2025-01-01T00:00:00Z
0 0 13 * 5,* | UTC | 2025-01-01T00:00:00Z
0 0 31 2 1 | UTC | 2025-01-01T00:00:00Z
0 9 * * mon-fri | Europe/Amsterdam | 2025-04-18T12:00:00Z
0 9 * * 1-5 | America/New_York | 2025-07-03T12:00:00Z
0 9 * * fri-sun | UTC | 2025-07-03T12:00:00Z
0 9 * * 5-0 | UTC | 2025-07-03T12:00:00Z
0 9 * * 7 | UTC | 2025-07-03T12:00:00Z
0 9 * * 0 | UTC | 2025-07-03T12:00:00Z
0 9 * * 7-2 | UTC | 2025-07-03T12:00:00Z
0 9 * * SUN,Wed | UTC | 2025-07-03T12:00:00Z
0 0 1 jan,JUL * | UTC | 2025-02-03T12:00:00Z
0 0 1 mar-oct/3 * | UTC | 2025-02-03T12:00:00Z
5-59/20 * * * * | UTC | 2025-02-03T12:00:00Z
0-30/10 8-18/5 * * * | UTC | 2025-02-03T12:00:00Z
*/7 * * * * | UTC | 2025-02-03T12:50:00Z
*/60 * * * * | UTC | 2025-02-03T12:50:00Z
59 23 31 12 * | UTC | 2025-12-31T23:59:00Z
0 0 1 1 * | Pacific/Kiritimati | 2025-12-31T09:00:00Z
0 0 1 1 * | Etc/GMT+12 | 2026-01-01T00:00:00Z
  0  9 *  * *   | UTC | 2025-02-03T12:00:00Z
@yearly | UTC | 2025-02-03T12:00:00Z
@annually | Asia/Kathmandu | 2025-02-03T12:00:00Z
@monthly | UTC | 2025-02-03T12:00:00Z
@weekly | America/New_York | 2025-02-03T12:00:00Z
@daily | Europe/Amsterdam | 2025-03-29T12:00:00Z
@midnight | Africa/Cairo | 2025-04-23T12:00:00Z
@hourly | Australia/Lord_Howe | 2025-04-05T13:00:00Z
@Hourly | Asia/Kathmandu | 2025-02-03T12:00:00Z
1,2,3-5,50-59/3 0 * * * | UTC | 2025-02-03T12:00:00Z
0 0 28-31 2 * | UTC | 2028-02-27T12:00:00Z
0 12 1 */3 * | UTC | 2025-02-03T12:00:00Z
30 3 * * * | Antarctica/Troll | 2025-03-29T12:00:00Z
30 2 * * * | Africa/Casablanca | 2025-02-22T12:00:00Z
30 0 * * * | America/Sao_Paulo | 2018-11-03T12:00:00Z
30 23 * * * | America/Sao_Paulo | 2019-02-16T12:00:00Z
0 0 * * * | Asia/Gaza | 2022-03-26T12:00:00Z
15 2 * * * | Pacific/Chatham | 2025-09-26T12:00:00Z
"""
TIMES = 3


def print_table():
    print("\t".join(("# cron text", "zone", "after", "next three times", "croniter by itself")))
    rows = [(text, zone, after) for zone, after in DAYS for text in AROUND_CHANGES]
    rows += [line.split(" | ") for line in CALENDAR.splitlines()]
    for text, zone, after in rows:
        start = moment_of(after)
        ours = " ".join(map(written, next_times(text, zone, start, TIMES)))
        alone = croniter_alone(text, zone, start, TIMES)
        row = [text, zone, after, ours] + ([alone] if alone != ours else [])
        print("\t".join(row))


# ---- comparisons ----

def answers(program, rows):
    """What the program answers to rows of (text, zone, after)."""
    asked = "".join(f"{text}\t{zone}\t{after}\t{TIMES}\n" for text, zone, after in rows)
    asked = subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout
    return asked.split("\n")[:-1]


def report(what, rows, wanted, found):
    """One line, and the first rows that differ."""
    wrong = [row + (w, f) for row, w, f in zip(rows, wanted, found) if w != f]
    good = not wrong and len(rows) == len(found)
    print(f"{'ok' if good else 'not ok'} - {len(rows)} {what}")
    for text, zone, after, w, f in wrong[:10]:
        print(f"#   {text} in {zone} after {after}: {f}, expected {w}")
    return good


def check_table(program):
    with open(TABLE, encoding="utf-8") as file:
        table = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    rows = [(text, zone, after) for text, zone, after, *_ in table]
    good = report("rows of the table agree", rows, [row[3] for row in table], answers(program, rows))
    for zone in ("Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"):
        if sum(row[1] == zone for row in rows) < 20:
            print(f"not ok - the table has 20 rows of {zone}")
            good = False
    if len(rows) < 150:
        print("not ok - the table has 150 rows")
    return good and len(rows) >= 150


NAMES = {3: "jan feb mar apr may jun jul aug sep oct nov dec".split(),
         4: "sun mon tue wed thu fri sat".split()}
BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
ZONES = ["UTC", "Europe/Amsterdam", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "America/Nuuk",
         "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Gaza", "Africa/Casablanca", "Africa/Cairo",
         "Antarctica/Troll", "Pacific/Apia", "Pacific/Chatham", "Asia/Tehran", "America/Caracas"]


def random_element(draw, field):
    least, most = BOUNDS[field]
    kind = draw.random()
    step = "/" + str(draw.randint(1, most - least)) if draw.random() < 0.3 else ""
    if kind < 0.15:
        return "*" + step
    first, last = sorted((draw.randint(least, most), draw.randint(least, most)))
    if kind < 0.4 and first < last:
        return f"{first}-{last}{step}"
    if field in NAMES and draw.random() < 0.4:
        name = draw.choice(NAMES[field])
        return draw.choice((name, name.upper()))
    return str(first)


def random_field(draw, field):
    star = (0.2, 0.3, 0.6, 0.7, 0.6)[field]
    if draw.random() < star:
        return "*"
    return ",".join(random_element(draw, field) for _ in range(draw.choice((1, 1, 1, 2, 3))))


def random_row(draw):
    """A text, a zone, and a moment: any of 65 years, or one near a change of the zone's clocks."""
    fields = [random_field(draw, field) for field in range(5)]
    if draw.random() < 0.05:        # the ends of months, and dates that never come
        days, weekdays = str(draw.randint(28, 31)), draw.choice(("*", "*", "*/2", "1"))
        fields[2:] = [days, str(draw.randint(1, 12)), weekdays]
    text = " ".join(fields)
    zone = draw.choice(ZONES)
    at = datetime.datetime(1972, 1, 1, tzinfo=UTC) + draw.randrange(65 * 365) * DAY
    if draw.random() < 0.7:
        info, day = zoneinfo.ZoneInfo(zone), at
        offset = at.astimezone(info).utcoffset()
        while day < at + 400 * DAY and day.astimezone(info).utcoffset() == offset:
            day += DAY
        at = day - 2 * DAY
    return text, zone, written(at + draw.randrange(2 * 86400) * SECOND)


def compare_fresh(program, count, seed):
    draw = random.Random(seed)
    rows = [random_row(draw) for _ in range(count)]
    wanted, never = [], 0
    for row in rows:
        fields = fields_of(row[0])
        if has_dates(fields) or not any(stars(fields)[2::2]):
            wanted.append(" ".join(map(written, next_times(row[0], row[1], moment_of(row[2]), TIMES))))
        else:
            wanted.append("refused")
            never += 1
    found = [re.sub("^refused: day of month.*", "refused", f) for f in answers(program, rows)]
    return report(f"random texts agree ({never} of them name no date), seed {seed}", rows, wanted, found)


def main():
    todo, *rest = sys.argv[1:] or ["?"]
    if todo == "check":
        return check_table(rest[0])
    if croniter is None:
        print("# python3-croniter is not installed: nothing is computed anew")
        return todo == "fresh"
    if todo == "make":
        print_table()
        return True
    seed = int(rest[2]) if len(rest) > 2 and rest[2] else random.randrange(2 ** 31)
    return compare_fresh(rest[0], int(rest[1]) if len(rest) > 1 else 3000, seed)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
