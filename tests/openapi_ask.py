#!/usr/bin/env python3
"""openapi_ask.py DOCUMENT SOCKET SEED N WHERE: N made-up requests to prescient serve at a socket
file, good ones and bad ones, from its OpenAPI document. Prints a line "ok - ..." or "not ok - ..."
for each promise: an answer has a status that its operation has, and a body that fits; what is right
is not refused, what is wrong is; nothing is a fault; each operation has been asked well, and badly."""
import collections
import json
import os
import random
import string
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_ask import Answers, connect  # noqa: E402
from openapi_document import load  # noqa: E402

TOLD = 10                               # misfits that are printed
GOOD, BAD, EITHER = "good", "bad", "either"     # whether a request is right

# ---- values ----

ODD = ["", " ", "%", "a/b?c&d=e#f", "null", "'; --", '"', "\\", "\n", "\t\x01\x7f", "ü", "схема 𝄞", "\ufeff",
       "\u202e", "\uffff", "e\u0301", "x" * 1025, "ü" * 700, "𝄞" * 300, "0", "-1", "{}", "{a",
       "prescient.event"]
TIMES = ["now", "-1d", "+3h", "-1h30m", "0", "253402300799", "@1772370900", "2026-03-01", "9000-01-01",
         "2026-03-01T13:15:00Z", "2026-03-01 13:15+02:00", "2026-03-01T13:15:00.5Z", "9999-12-31T23:59:59Z"]
NO_TIMES = ["", "noon", "2026-13-01", "99999999999999", "-100000d", "+99999999999999999999d", "1e9", "٣",
            "2026-03-01T25:00:00Z", "2026-03-01T13:15:00+99:00", "now and then", "+", "@"]
WAITS = ["0", "1ms", "0.005"]
NO_WAITS = ["", "61s", "x", "-1s", "1ms "]
NO_NUMBERS = ["", "x", "1.5", "0x10", " 5", "+5", "-1", "0", "1001", "9" * 40, "１", "1,0", "5 "]
NO_CURSORS = ["", "x", "0", "00000000", "ffffffff00", "0-0", "0-0-0-0", "-1-1-1", "0-x-0", "'", "é"]
NOT_DECODED = ["%", "%4", "%zz", "%00", "a%00b", "%ff", "%c0%af", "%ed%a0%80", "%f5%80%80%80", "%80"]
MAY_BE_MISSING = ["/v1/requests", "/v1/schedule"]       # what is asked for by a name that was made up
NO_NAMES = ["limits", "Limit", "entitty", "", "after[]", "é", "a" * 300, "limit%20"]


def quoted(text):
    return urllib.parse.quote(text, safe="")


class Values:
    """What parameters are given; learns from answers."""

    def __init__(self, document, rng):
        self.document, self.rng = document, rng
        self.texts = collections.defaultdict(lambda: list(ODD))
        self.cursors = collections.defaultdict(list)

    def kind_of(self, schema):
        """The name of what it refers to, or its type."""
        if "$ref" in schema and schema["$ref"].endswith(("/AskedTime", "/AskedWait", "/Cursor")):
            return schema["$ref"].rsplit("/", 1)[1]
        whole = self.document.whole(schema)
        return "enum" if "enum" in whole else whole["type"]

    def good(self, path, parameter):
        """Its value, or None: there is no good one yet."""
        schema = self.document.whole(parameter["schema"])
        kind = self.kind_of(parameter["schema"])
        if kind == "enum":
            return self.rng.choice(schema["enum"])
        if kind == "integer":
            low, high = schema["minimum"], schema["maximum"]
            return str(self.rng.choice([low, low + 1, high, self.rng.randint(low, high)]))
        if kind == "AskedTime":
            return self.rng.choice(TIMES)
        if kind == "AskedWait":
            return self.rng.choice(WAITS)
        if kind == "Cursor":
            return self.rng.choice(self.cursors[path]) if self.cursors[path] else None
        texts = [t for t in self.texts[parameter["name"]] if len(t) >= schema.get("minLength", 0)]
        return self.rng.choice(texts)

    def bad(self, path, parameter):
        """A value that is refused, or None: any text is right."""
        schema = self.document.whole(parameter["schema"])
        kind = self.kind_of(parameter["schema"])
        if kind == "Cursor":
            return self.bad_cursor(path)
        lists = {"enum": ["", "x", "DONE", "2", "waiting "], "integer": NO_NUMBERS, "AskedTime": NO_TIMES,
                 "AskedWait": NO_WAITS}
        if kind in lists:
            return self.rng.choice(lists[kind])
        return "" if schema.get("minLength") else None

    def bad_cursor(self, path):
        others = [c for p, cursors in self.cursors.items() if p != path for c in cursors]
        mine = self.cursors[path]
        if others and self.rng.random() < 0.2:
            return self.rng.choice(others)
        if not mine or self.rng.random() < 0.3:
            return self.rng.choice(NO_CURSORS)
        cursor = self.rng.choice(mine)
        at = self.rng.randrange(len(cursor))
        return self.rng.choice([cursor[:at], cursor + "0", cursor[:at] + "x" + cursor[at + 1:],
                                cursor.upper() + "A", cursor[:at] + "é" + cursor[at:]])

    def learn(self, path, body):
        items = body.get("items", ()) if isinstance(body, dict) else ()
        for item in items[:20]:
            for name in ("entity", "key", "job", "tenant", "name"):
                value = item.get(name)
                if value and value not in self.texts[name] and len(self.texts[name]) < 200:
                    self.texts[name].append(value)
            if "cursor" in item:
                self.keep(path, item["cursor"])
        if isinstance(body, dict) and body.get("next"):
            self.keep(path, body["next"])

    def keep(self, path, cursor):
        kept = self.cursors[path]
        if cursor not in kept:
            kept.append(cursor)
        if len(kept) > 50:
            kept.pop(self.rng.randrange(50))


# ---- requests ----

class Request:
    def __init__(self, path, method, right=GOOD):
        self.path, self.method, self.right = path, method, right
        self.query = []                 # "name=value", as sent
        self.asked = {}                 # what the answer has to keep to, by name
        self.headers = {"Host": "localhost"}
        self.body = None
        self.statuses = None            # one of these, and no other
        self.same_as = None             # (status, body) of the request of which this is a repeat

    def bytes(self):
        target = self.path + ("?" + "&".join(self.query) if self.query else "")
        if self.body is not None:
            self.headers.setdefault("Content-Length", str(len(self.body)))
        head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        return f"{self.method.upper()} {target} HTTP/1.1\r\n{head}\r\n".encode() + (self.body or b"")

    def wants(self, *statuses):
        self.right, self.statuses = BAD, statuses
        return self


class Queries:
    """Requests without a body."""

    def __init__(self, values):
        self.values, self.rng = values, values.rng

    def good(self, path, method, operation):
        request = Request(path, method)
        parameters = list(self.values.document.parameters(operation).values())
        self.rng.shuffle(parameters)
        for parameter in parameters:
            if not parameter.get("required") and self.rng.random() > 0.35:
                continue
            value = self.values.good(path, parameter)
            if value is None:
                continue
            request.query.append(f"{parameter['name']}={quoted(value)}")
            request.asked[parameter["name"]] = value
        return request

    def make(self, path, method, operation):
        request = self.good(path, method, operation)
        if self.rng.random() < 0.55:
            if self.rng.random() < 0.1:
                request.method = "head"
            return request
        spoil = self.rng.choice([self.bad_value, self.bad_value, self.bad_value, self.unknown, self.twice,
                                 self.lacking, self.undecodable, self.raw, self.other_method, self.foreign,
                                 self.with_body, self.too_long, self.many])
        spoil(request, operation)
        return request

    def bad_value(self, request, operation):
        parameters = self.values.document.parameters(operation)
        if not parameters:
            return
        parameter = self.rng.choice(list(parameters.values()))
        value = self.values.bad(request.path, parameter)
        if value is None:
            return
        name = parameter["name"]
        request.query = [pair for pair in request.query if not pair.startswith(name + "=")]
        request.query.append(f"{name}={quoted(value)}")
        # what looks like a cursor of an event may be one
        is_event = name == "after" and request.path.endswith("/events")
        request.wants(400, *([410, 200] if is_event else []))

    def unknown(self, request, operation):
        names = set(NO_NAMES)
        for _, _, other in self.values.document.operations():
            names |= set(self.values.document.parameters(other))
        names -= set(self.values.document.parameters(operation))
        self.spoil_query(request, operation, quoted(self.rng.choice(sorted(names))) + "=1")

    def twice(self, request, operation):
        if request.query:
            self.spoil_query(request, operation, self.rng.choice(request.query))

    def lacking(self, request, operation):
        parameters = self.values.document.parameters(operation)
        if any(p.get("required") for p in parameters.values()):
            request.query = []
            request.wants(400)

    def undecodable(self, request, operation):
        names = list(self.values.document.parameters(operation)) or ["x"]
        request.query = []
        self.spoil_query(request, operation, f"{self.rng.choice(names)}={self.rng.choice(NOT_DECODED)}")

    def spoil_query(self, request, operation, pair):
        request.query.append(pair)
        # those that only say how the server is take any query that can be read
        if operation["operationId"] in ("liveness", "readiness", "metrics", "getSession"):
            request.right = EITHER
        else:
            request.wants(400)

    def raw(self, request, operation):
        bytes_ = [chr(self.rng.randrange(33, 127)) for _ in range(self.rng.randrange(1, 40))]
        request.query.append("".join(bytes_).replace("#", ""))
        request.right = EITHER

    def other_method(self, request, operation):
        known = self.values.document.data["paths"][request.path]
        request.method = self.rng.choice([m for m in ("put", "delete", "patch", "post", "get", "options")
                                          if m not in known])
        request.wants(405)

    def foreign(self, request, operation):
        request.headers["Host"] = self.rng.choice(["evil.example", "10.0.0.1", "localhost.evil.example"])
        request.wants(421)

    def with_body(self, request, operation):
        request.body = b"{}"
        request.wants(400)

    def too_long(self, request, operation):
        request.query.append("x=" + "y" * self.rng.choice([8000, 20000, 100000]))
        request.right = EITHER
        if len(request.query[-1]) > 90000:
            request.wants(431)

    def many(self, request, operation):
        names = range(self.rng.choice([2, 30, 500]))
        self.spoil_query(request, operation, "&".join(f"n{i}=1" for i in names))


# bodies that are no JSON, or none of a check
NO_BODIES = [b"", b" ", b"{", b"[", b"null", b"5", b'"text"', b"[5]", b"[[]]", b"[]", b"{}", b"[{}]", b"nan",
             b'{"job": "done", "in": "1h", "uniqid": "n", "payload": NaN}', b"[" * 5000, b'{"a":' * 100000,
             b'{"job": "done", "job": "done", "in": "1h", "uniqid": "d"}', b"\xef\xbb\xbf{}", b"{}{}",
             b'{"job": "done", "in": "1h", "uniqid": "\xff"}', b'{"job": "done", "in": 1e999, "uniqid": "e"}',
             b'{"job": "done", "in": "1h", "uniqid": "\\ud800"}', b'{"job": "done\\u0000", "in": "1h"}',
             b'{"job": "done", "in": "1h", "uniqid": "z", "payload": "\\u0000"}', b"{'job': 1}",
             b'{"job": "done", "in": 99999999999999999999, "uniqid": "l"}', b"[" * 500 + b"]" * 500]
# by member: what is refused. Text of the right length and kind is elsewhere.
WRONG = {
    "entity": [None, 5, True, [], {}, "", "x" * 1025, "ü" * 600, "{a", "prescient.event"],
    "key": [None, 1.5, True, [], {}, "", "x" * 1025],
    "job": [None, 5, [], {}, "", "{x", "no such job", "x" * 1025],
    "check_at": [None, True, [], {}, -1, 1.5, "", "noon", "2026-13-01", 253402300800, "9500-01-01", 10**17],
    "in": [None, True, [], {}, -1, 1.5, "", "-3h", "h", "3 hours", 10**17],
    "payload": ["x" * 66000, list(range(20000))],
    "on_conflict": [None, 5, "", "KEEP", "fail"],
    "uniqid": [None, 5, "", "x" * 256, "a\nb", "\x7f"],
    "priority": [None, "1", 1.5, True, 2**31, -2**31 - 1, 10**17],
    "within": [None, True, "", "h", 0, -1, 31622401, "400d"],
    "tenant": [None, 5, "", "x" * 1025],
    "concurrency_key": [None, [], "", "x" * 1025],
}


class Bodies:
    """Checks that are posted."""

    def __init__(self, values):
        self.values, self.rng = values, values.rng
        self.sent = []                  # (body, members) of requests with a uniqid
        self.n = 0

    def check(self, has_uniqid=None):
        rng, self.n = self.rng, self.n + 1
        has_uniqid = rng.random() < 0.5 if has_uniqid is None else has_uniqid
        check = {"job": rng.choice(["done", "again", "final", "rests"])}
        if not has_uniqid or rng.random() < 0.7:
            check["entity"] = rng.choice(["made", "up", "схема", "a/b"])
            check["key"] = rng.choice([rng.randrange(-50, 50), f"k{rng.randrange(50)}", "ü\n%&", "𝄞" * 200])
        if has_uniqid:
            check["uniqid"] = f"u{self.n}" + rng.choice(["", " /%", "ü", "𝄞"])
        check.update(rng.choice([{"in": "3h"}, {"in": 0}, {"in": 10800},
                                 {"check_at": "2031-01-01T10:00+02:00"},
                                 {"check_at": 0}, {"check_at": "+2d"}, {"check_at": "now"}]))
        for name, values in (("priority", [-2**31, 2**31 - 1, 0]), ("tenant", ["acme", "ü"]),
                             ("on_conflict", ["keep", "earlier", "replace"]),
                             ("payload", [None, [], {"n": [1, 1.5e300, None, "ü\n"]}, "text", 10**15,
                              "x" * 60000]),
                             ("concurrency_key", ["k"]), ("within", ["2h", 7200])):
            if rng.random() < 0.2:
                check[name] = rng.choice(values)
        return check

    def spoilt(self):
        rng, check = self.rng, self.check()
        way = rng.random()
        if way < 0.6:
            name = rng.choice(sorted(WRONG))
            if name in ("in", "check_at"):
                check.pop("in", None), check.pop("check_at", None)
            check[name] = rng.choice(WRONG[name])
        elif way < 0.7:
            check[rng.choice(["", "entity_name", "Job", "a/~b", "ü" * 200])] = 1
        elif way < 0.8:
            check.pop("job")
        elif way < 0.9:
            check.pop("in", None), check.pop("check_at", None)
        else:
            check.update({"in": "1h", "check_at": "+1h"})
        return check

    def make(self, path, method, operation):
        request = Request(path, method)
        request.headers["Content-Type"] = "application/json"
        way = self.rng.choice([self.single, self.single, self.single, self.array, self.repeat, self.wrong,
                               self.wrong, self.wrong, self.wrong_array, self.junk, self.other_kind,
                               self.torn])
        way(request)
        return request

    def put(self, request, value):
        request.body = json.dumps(value, ensure_ascii=self.rng.random() < 0.5).encode()

    def single(self, request):
        check = self.check()
        self.put(request, check)
        request.asked = check
        if "uniqid" in check:
            self.sent.append((request, check))

    def array(self, request):
        self.put(request, [self.check() for _ in range(self.rng.choice([1, 2, 5]))])

    def repeat(self, request):
        if not self.sent:
            return self.single(request)
        before, check = self.rng.choice(self.sent)
        answer = getattr(before, "answer", None)
        if not answer or answer[0] not in (200, 201):
            return self.single(request)
        again = dict(sorted(check.items(), key=lambda _: self.rng.random()))
        if self.rng.random() < 0.3:
            again["priority"] = 77
            request.wants(422)
        elif self.rng.random() < 0.4:
            request.headers["Idempotency-Key"] = "other"
            request.wants(400)
        else:
            request.same_as = answer
        self.put(request, again)

    def wrong(self, request):
        # text of a uniqid or a payload may be what the parser refuses
        self.put(request, self.spoilt())
        request.wants(422, 400)

    def wrong_array(self, request):
        array = [self.check() for _ in range(self.rng.randrange(3))] + [self.spoilt()]
        many = [self.check(False)] * 1001
        self.put(request, self.rng.choice([array, array, array, [], [array], [5], many]))
        request.wants(*((413,) if len(request.body) > 8 * 1024 * 1024 else (422, 400)))

    def junk(self, request):
        request.body = self.rng.choice(NO_BODIES)
        request.wants(400, 422)

    def other_kind(self, request):
        self.put(request, self.check(False))
        if self.rng.random() < 0.5:
            request.headers["Content-Encoding"] = "gzip"
        else:
            kinds = ["text/plain", "application/jsonx", "multipart/form-data", "", "application"]
            request.headers["Content-Type"] = self.rng.choice(kinds)
        request.wants(415)

    def torn(self, request):
        """Bytes of a good one are changed."""
        body = bytearray(json.dumps(self.check(False)).encode())
        for _ in range(self.rng.randrange(1, 4)):
            body[self.rng.randrange(len(body))] = self.rng.randrange(256)
        request.body = bytes(body)
        request.right = EITHER
        if self.rng.random() < 0.1:
            request.headers["Content-Length"] = str(9 * 1024 * 1024)
            request.wants(413)


class Logins:
    """Sessions that begin and end, where there are no tokens."""

    def __init__(self, values):
        self.rng = values.rng

    def make(self, path, method, operation):
        request = Request(path, method)
        request.headers["Content-Type"] = self.rng.choice(["application/json"] * 4 + ["text/plain"])
        is_good = self.rng.random() < 0.5
        body = {"token": "prescient_23716f6fb74ea7d8057d47fd151c414a"} if path.endswith("login") else {}
        request.body = json.dumps(body).encode() if is_good else self.rng.choice(NO_BODIES)
        if path.endswith("login") and self.rng.random() < 0.8:
            request.headers["Origin"] = "http://localhost"
        if request.headers["Content-Type"] == "text/plain":
            request.wants(415, 413, 403)
        elif len(request.body) > 1024:
            request.wants(413)
        elif path.endswith("login"):
            right = 409 if is_good else 400
            request.wants(right if "Origin" in request.headers else 403)
        elif not is_good:
            request.right = EITHER
        return request


# ---- answers ----

def only_once(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError(f"a member is there twice: {names}")
    return dict(pairs)


# how a parameter's value stands in each item
FILTERS = {"entity": "entity", "key": "key", "job": "job", "tenant": "tenant", "state": "state"}


class Judge:
    def __init__(self, document):
        self.document = document
        self.told, self.misfits = 0, 0
        self.counts = collections.Counter()     # (operation, is it 2xx)
        self.statuses = collections.Counter()

    def wrong(self, request, answer, why):
        self.misfits += 1
        if self.told < TOLD:
            self.told += 1
            status, _, body = answer or (None, None, b"")
            print(f"# {why}\n#   {request.bytes()[:1500]!r}\n#   answer: {status} {body[:600]!r}")

    def lacks(self, name):
        """What has not been tried of an operation, in words."""
        # nobody can log in where there are no tokens
        if not self.counts[name, True] and name != "logIn":
            yield "it was never answered well"
        if not self.counts[name, False]:
            yield "it never refused anything"

    def judge(self, request, operation, answer):
        """The body of the answer; None: there is none that could be read."""
        if answer is None:
            self.wrong(request, answer, "there is no answer")
            return None
        status, headers, text = answer
        self.statuses[status] += 1
        self.counts[operation["operationId"], 200 <= status < 300] += 1
        if why := self.status_is_wrong(request, status):
            self.wrong(request, answer, why)
        if request.method == "head":
            return None
        body, why = self.read(headers, text)
        why = why or self.misfit(request, operation, answer, body) or self.broken(request, status, body)
        if why:
            self.wrong(request, answer, why)
        if request.same_as and request.same_as != (status, text):
            self.wrong(request, answer, f"a repeat is answered as before: {request.same_as}")
        return body

    @staticmethod
    def status_is_wrong(request, status):
        if status == 503:
            return None                 # counted: the store may be busy, seldom
        if request.statuses and status not in request.statuses:
            return f"the status is one of {request.statuses}"
        if request.right == GOOD and not 200 <= status < 300 and \
                not (request.path in MAY_BE_MISSING and status == 404):
            return "what is right is not refused"
        return "nothing is a fault" if status == 500 else None

    @staticmethod
    def read(headers, text):
        if "json" not in headers.get("content-type", "json"):
            return text.decode(), None
        try:
            return json.loads(text.decode(), object_pairs_hook=only_once), None
        except ValueError as e:
            return None, f"the body is JSON: {e}"

    def misfit(self, request, operation, answer, body):
        status, headers, _ = answer
        if status == 405:
            return self.wrong_method(request, headers, body)
        response = self.document.response(operation, status)
        if not response:
            return f"the operation has a status {status}"
        media = response["content"].get(headers.get("content-type"))
        if not media:
            return f"the answer {status} has the content type {headers.get('content-type')}"
        if missing := [name for name, header in response.get("headers", {}).items()
                       if header.get("required") and name.lower() not in headers]:
            return f"the answer has the header {missing}"
        if status >= 400 and body.get("status") != status:
            return "the problem has the status of the answer"
        return self.document.misfit(media["schema"], body)

    def wrong_method(self, request, headers, body):
        methods = [m.upper() for m in self.document.data["paths"][request.path]]
        methods += ["HEAD"] if "GET" in methods else []
        if sorted(headers.get("allow", "").split(", ")) != sorted(methods):
            return f"Allow has {methods}"
        return self.document.misfit({"$ref": "#/components/schemas/Problem"}, body)

    def broken(self, request, status, body):
        """What the answer has beside what it was asked for."""
        asked, items = request.asked, body.get("items") if isinstance(body, dict) else None
        if status != 200 or items is None or request.right != GOOD:
            return None
        if len(items) > int(asked.get("limit", 100)) and request.path not in ("/v1/jobs", "/v1/engines"):
            return "a page has at most as many items as were asked for"
        for item in items:
            if any(item.get(member) != asked[name] for name, member in FILTERS.items() if name in asked):
                return f"{item} is none of those that were asked for"
            if request.path == "/v1/slots" and "by" not in asked and item["parts"] is not None:
                return f"{item}: parts are there, if they were asked for"
            wanted = asked.get("outcome", "amiss")
            if wanted not in ("amiss", "retryable") and item.get("outcome") != wanted:
                return f"{item} has another outcome"
            if "payload" in asked and (asked["payload"] == "1") != ("payload" in item or "data" in item):
                return f"{item}: payloads are there, if they were asked for"
        return None


class Client:
    def __init__(self, path):
        self.path, self.answers = path, None

    def ask(self, request):
        """(status, headers, body), or None."""
        for is_last in (False, True):
            is_new = self.answers is None
            if is_new:
                self.answers = Answers(connect(self.path))
            answer = self.ask_once(request)
            if answer and answer[1].get("connection") == "close":
                self.answers.s.close()
                self.answers = None
            if answer or is_new or is_last:
                return answer
        return None

    def ask_once(self, request):
        try:
            self.answers.s.sendall(request.bytes())
        except OSError:
            pass                        # it may have answered before it has read all
        try:
            answer = self.answers.next(request.method != "head")
        except OSError:
            answer = None
        if answer is None:
            self.answers.s.close()
            self.answers = None
        return answer


def says(what, found):
    print(("ok - " if not found else "not ok - ") + what)
    for line in found:
        print("#   " + line)
    return not found


def report(judge, operations, n, where):
    """Whether all is well."""
    good = says(f"{where}: {n} made-up requests are answered as the document says", [
        f"{judge.misfits} are not"] if judge.misfits else [])
    lacking = [f"{name}: {lack}" for name in operations for lack in judge.lacks(name)]
    good &= says(f"{where}: each operation was asked well, and badly", lacking)
    away = judge.statuses[503]
    good &= says(f"{where}: the store was seldom busy", [f"{away} times"] if away > n // 50 else [])
    print("# " + ", ".join(f"{status}: {n}" for status, n in sorted(judge.statuses.items())))
    return good


def ask_one(chosen, makers, client, judge, values):
    path, method, operation = chosen
    request = makers[operation["operationId"]].make(path, method, operation)
    answer = client.ask(request)
    body = judge.judge(request, operation, answer)
    request.answer = answer and (answer[0], answer[2])
    if body is not None and answer[0] == 200:
        values.learn(path, body)
    if answer and request.right == GOOD and "uniqid" in request.asked and answer[0] in (200, 201):
        values.texts["uniqid"].append(request.asked["uniqid"])


def main():
    document, path, seed, n = load(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    rng = random.Random(seed)
    values, judge, client = Values(document, rng), Judge(document), Client(path)
    makers = collections.defaultdict(lambda: Queries(values), fileChecks=Bodies(values), logIn=Logins(values),
                                     logOut=Logins(values))
    # a change would take away what others ask for: tests/cli_change.sh asks for those
    operations = [o for o in document.operations() if "change" not in o[2]["tags"]]
    # a list has more to ask for
    weights = [20 if o["operationId"] == "fileChecks" else 4 + len(o.get("parameters", ()))
               for _, _, o in operations]
    for i in range(3 * n):
        chosen = rng.choices(operations, weights)[0]
        if i >= n:
            chosen = next((o for o in operations if any(judge.lacks(o[2]["operationId"]))), None)
        if not chosen:
            break
        ask_one(chosen, makers, client, judge, values)
    names = [operation["operationId"] for _, _, operation in operations]
    sys.exit(0 if report(judge, names, n, sys.argv[5]) else 1)


main()
