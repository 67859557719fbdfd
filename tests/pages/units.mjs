// units.mjs - the dashboard's pure modules, under Node; the zone of the reader is that of TZ.
import assert from "node:assert/strict";
import * as fresh from "../../engine/http/pages/fresh.js";
import * as groups from "../../engine/http/pages/groups.js";
import * as health from "../../engine/http/pages/health.js";
import * as time from "../../engine/http/pages/time.js";
import * as typed from "../../engine/http/pages/typed.js";

const KATHMANDU = "Asia/Kathmandu", LORD_HOWE = "Australia/Lord_Howe", NEW_YORK = "America/New_York";
const at = (text) => Date.parse(text);

const tests = {
    "a zone may be 5 hours and 45 minutes ahead"() {
        assert.equal(time.offsetAt(at("2026-03-01T13:15:00Z"), KATHMANDU), 345);
        assert.equal(time.wallText(at("2026-03-01T13:15:00Z"), KATHMANDU), "2026-03-01 19:00");
        assert.equal(time.exact(at("2026-03-01T13:15:00Z"), KATHMANDU),
            "2026-03-01 19:00 +05:45 Asia/Kathmandu = 2026-03-01T13:15:00Z");
        assert.deepEqual(time.fromWall("2026-03-01T19:00", KATHMANDU), [at("2026-03-01T13:15:00Z")]);
    },
    "clocks may be moved by half an hour"() {
        // from 11 to 10:30 hours ahead, at 15:00 UTC
        assert.equal(time.offsetText(time.offsetAt(at("2026-04-04T14:59:59Z"), LORD_HOWE)), "+11:00");
        assert.equal(time.offsetText(time.offsetAt(at("2026-04-04T15:00:00Z"), LORD_HOWE)), "+10:30");
        assert.equal(time.wallText(at("2026-04-04T14:59:59Z"), LORD_HOWE), "2026-04-05 01:59:59");
        assert.equal(time.wallText(at("2026-04-04T15:00:00Z"), LORD_HOWE), "2026-04-05 01:30");
    },
    "a wall clock may show a time twice, or never"() {
        assert.deepEqual(time.fromWall("2026-04-05T01:45", LORD_HOWE),
            [at("2026-04-04T14:45:00Z"), at("2026-04-04T15:15:00Z")]);
        assert.deepEqual(time.fromWall("2026-10-04T02:15", LORD_HOWE), []);
        assert.deepEqual(time.fromWall("2026-10-04T02:30", LORD_HOWE), [at("2026-10-03T15:30:00Z")]);
        assert.deepEqual(time.fromWall("2026-10-04T01:59:59", LORD_HOWE), [at("2026-10-03T15:29:59Z")]);
        assert.equal(time.fromWall("soon", LORD_HOWE), null);
        assert.equal(time.fromWall("2026-02-30 10:00", LORD_HOWE), null);
        assert.equal(time.fromWall("2026-03-01 24:00", LORD_HOWE), null);
    },
    "what is typed is of the zone of the page, and an address is of UTC"() {
        for (const [text, zone, utc] of [
            ["2026-11-29 19:00", NEW_YORK, "2026-11-30T00:00:00Z"],
            ["2026-11-29T9:05", NEW_YORK, "2026-11-29T14:05:00Z"],
            ["2026-11-29 19:00:59", NEW_YORK, "2026-11-30T00:00:59Z"],
            ["2026-11-29 18:59:59.5", NEW_YORK, "2026-11-30T00:00:00Z"],
            ["2026-11-29 18:59:60", NEW_YORK, "2026-11-30T00:00:00Z"],
            ["2026-11-29", NEW_YORK, "2026-11-29T05:00:00Z"],
            ["2026-03-01 19:00", KATHMANDU, "2026-03-01T13:15:00Z"],
            ["2026-11-29 19:00", "UTC", "2026-11-29T19:00:00Z"],
            ["2026-11-29 19:00Z", NEW_YORK, "2026-11-29T19:00:00Z"],
            ["2026-11-29 19:00 +02", NEW_YORK, "2026-11-29T17:00:00Z"],
            ["2026-11-29t19:00-03:30", NEW_YORK, "2026-11-29T22:30:00Z"]])
            assert.equal(typed.toUtc(text, zone, 0), utc, text);
    },
    "what counts from now on, or names its zone, stays as it was typed"() {
        for (const text of ["-1h", "+1d", "3h ago", "now", "1772370900", "2026-11-29 09:00 Europe/Berlin",
            "tomorrow 09:00 Europe/Berlin", "today 09:00 +02:00", "2026-02-30", "2026-11-29 25:00",
            "next week", "soon", "", "2026-11-29 09:00 +25:00", "2026-11-29 09:00 +01:99"]) {
            assert.equal(typed.toUtc(text, NEW_YORK, 0), text);
            assert.equal(typed.inWords(text, NEW_YORK), text);
        }
        assert.equal(typed.inZone("-1h", NEW_YORK), "-1h");
    },
    "which day it is is asked in the zone of the page"() {
        // as tests/test_when.c has it: a Sunday, and in Kiritimati Monday
        const now = at("2026-03-01T13:15:00Z"), kiritimati = "Pacific/Kiritimati";
        for (const [text, zone, utc] of [
            ["today 09:00", kiritimati, "2026-03-01T19:00:00Z"],
            ["tomorrow", kiritimati, "2026-03-02T10:00:00Z"],
            ["next monday", kiritimati, "2026-03-08T10:00:00Z"], ["yesterday", "UTC", "2026-02-28T00:00:00Z"],
            ["next Mon 09:00", "UTC", "2026-03-02T09:00:00Z"], ["next sunday", "UTC", "2026-03-08T00:00:00Z"],
            ["last sunday", "UTC", "2026-02-22T00:00:00Z"], ["LAST SAT", "UTC", "2026-02-28T00:00:00Z"],
            ["last monday 17:30", "UTC", "2026-02-23T17:30:00Z"],
            ["Tomorrow 9:00:30", NEW_YORK, "2026-03-02T14:00:30Z"]])
            assert.equal(typed.toUtc(text, zone, now), utc, text);
        // an address that says it is of UTC, as before
        assert.equal(typed.inZone("today 09:00", NEW_YORK), "today 09:00 UTC");
        assert.equal(typed.inZone("today 09:00", "UTC"), "today 09:00");
    },
    "a typed time that clocks skip or show twice is as the server has it"() {
        for (const [text, zone, utc] of [
            ["2026-03-29 01:59:59", "Europe/Berlin", "2026-03-29T00:59:59Z"],
            ["2026-03-29 02:00", "Europe/Berlin", "2026-03-29T01:00:00Z"],
            ["2026-03-29 02:30", "Europe/Berlin", "2026-03-29T01:00:00Z"],
            ["2026-03-29 03:01", "Europe/Berlin", "2026-03-29T01:01:00Z"],
            ["2026-03-08 02:30", NEW_YORK, "2026-03-08T07:00:00Z"],
            ["2011-12-30 12:00", "Pacific/Apia", "2011-12-30T10:00:00Z"],
            ["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"],
            ["2026-10-04T02:15", LORD_HOWE, "2026-10-03T15:30:00Z"],
            ["2026-11-01 01:30", NEW_YORK, "2026-11-01T05:30:00Z"]])
            assert.equal(typed.toUtc(text, zone, 0), utc, text);
    },
    "a field shows the time of an address, and gives it back"() {
        assert.equal(typed.inZone("2026-11-30T00:00:00Z", NEW_YORK), "2026-11-29 19:00");
        assert.equal(typed.inZone("2026-03-01", KATHMANDU), "2026-03-01 05:45");
        assert.equal(typed.inZone("2026-11-01T05:30:00Z", NEW_YORK), "2026-11-01 01:30 -04:00");
        assert.equal(typed.inZone("2026-11-01T06:30:00Z", NEW_YORK), "2026-11-01 01:30 -05:00");
        assert.equal(typed.inWords("2026-11-30T00:00:00Z", NEW_YORK), "2026-11-29 19:00 America/New_York");
        assert.equal(typed.inWords("2026-11-29", "UTC"), "2026-11-29 00:00 UTC");
        assert.equal(typed.inWords("today", NEW_YORK), "today UTC");
        const begin = at("2026-10-31T10:00:00Z");
        for (const zone of ["UTC", KATHMANDU, LORD_HOWE, NEW_YORK, "Pacific/Apia"])
            for (let i = 0; i < 200; i++) {
                const text = time.utcText(begin + i * 10 * 60000);
                assert.equal(typed.toUtc(typed.inZone(text, zone), zone, 0), text, zone);
            }
    },
    "each moment is found again by its wall clock"() {
        const begin = at("2026-04-04T10:00:00Z");
        for (const zone of ["UTC", KATHMANDU, LORD_HOWE, "America/New_York", "Pacific/Apia"])
            for (let i = 0; i < 400; i++) {
                const moment = begin + i * 15 * 60000 * 47;
                assert.ok(time.fromWall(time.toWall(moment, zone), zone).includes(moment), `${zone} ${i}`);
            }
    },
    "no answer is taken that was asked for before a change"() {
        const changed = 1000000;
        assert.equal(fresh.mayBeOld(5, null, changed), 5);
        assert.equal(fresh.mayBeOld(5, changed, changed), 0);
        assert.equal(fresh.mayBeOld(5, changed, changed + 999), 0);
        assert.equal(fresh.mayBeOld(5, changed, changed + 3100), 3);
        assert.equal(fresh.mayBeOld(5, changed, changed + 60000), 5);
        assert.equal(fresh.mayBeOld(0, changed, changed + 60000), 0);
        assert.equal(fresh.mayBeOld(5, changed, changed - 60000), 0);   // its clock was set back
        assert.equal(fresh.mayBeOld(5, NaN, changed), 5);
    },
    "a browser that keeps nothing has changed it on this page all the same"() {
        assert.equal(fresh.lastChange(), null);
        const before = Date.now();
        fresh.noteChange();
        assert.ok(fresh.lastChange() >= before);
    },
    "the moments of a sentence are found in it"() {
        assert.deepEqual(time.cut("it waits for its slot, 2026-03-01T13:15:00Z (in 2 h)"),
            ["it waits for its slot, ", at("2026-03-01T13:15:00Z"), " (in 2 h)"]);
        assert.deepEqual(time.cut("it is paused"), ["it is paused"]);
        assert.deepEqual(time.cut("2026-99-01T13:15:00Z, 2026-03-01T13:15:00.5Z"),
            ["", "2026-99-01T13:15:00Z", ", 2026-03-01T13:15:00.5Z"]);
    },
    "what is no time is none"() {
        assert.equal(time.parse("paused"), null);
        assert.equal(time.parse(null), null);
        assert.equal(time.parse("2026-03-01T13:15:00.5Z"), at("2026-03-01T13:15:00.500Z"));
        assert.equal(time.utcText(at("2026-03-01T13:15:00.5Z")), "2026-03-01T13:15:00Z");
    },
    "spans have two units at most"() {
        assert.equal(time.span(0), "0 s");
        assert.equal(time.span(59999), "1 min");
        assert.equal(time.span((2 * 60 + 13) * 60000 + 5000), "2 h 13 min");
        assert.equal(time.span(24 * 3600 * 1000), "1 d");
        assert.equal(time.relative(1000, 66000), "1 min 5 s ago");
        assert.equal(time.relative(66000, 1000), "in 1 min 5 s");
        assert.deepEqual([900, 1500, 35e4, 1.5e6, 42e6, 3.6e9, null].map(time.took),
            ["900 µs", "1.5 ms", "350 ms", "1.5 s", "42 s", "1 h", ""]);
    },
    "a time becomes the slot that ends it, and none that has begun"() {
        const now = at("2026-03-01T13:10:00Z");
        const slot = (text) => time.utcText(time.slotOf(at(text), 900, now));
        assert.equal(slot("2026-03-01T14:01:00Z"), "2026-03-01T14:15:00Z");
        assert.equal(slot("2026-03-01T14:15:00Z"), "2026-03-01T14:15:00Z");
        assert.equal(slot("2026-03-01T13:00:00Z"), "2026-03-01T13:15:00Z");
        assert.equal(slot("1970-01-01T00:00:00Z"), "2026-03-01T13:15:00Z");
    },
    "ids are struck out of errors"() {
        assert.equal(groups.strike("order 42: 10.0.0.7:5432 timed out after 1.5 s"),
            "order #: # timed out after # s");
        assert.equal(groups.strike("of 7F9C24E8-3B1A-4C0D-9E55-0123456789ab"), "of #");
        assert.equal(groups.strike("commit 5a7cf44e9d and 0xdeadbeef1"), "commit # and #");
        assert.equal(groups.strike("defaced facade"), "defaced facade");
        // as tests/test_http_struck.c has it
        for (const [text, struck] of [["1,000 rows, 7.", "# rows, #."], ["v2a x-1", "v#a x-#"],
            ["٣ of 3", "٣ of #"], ["x7f9c24e8-3b1a-4c0d-9e55-0123456789abz", "x#z"],
            ["0XDEADBEE1 0xdeadbee", "# #xdeadbee"], ["ü5a7cf44e9dü", "ü#ü"],
            ["_5a7cf44e9d 5a7cf44e9dg", "_#a#cf#e#d #a#cf#e#dg"], ["deadbeefcafe", "deadbeefcafe"]])
            assert.equal(groups.strike(text), struck);
    },
    "failures that differ by ids are one group"() {
        const item = (job, note, ended) => ({ job, note, outcome: "failed", ended_at: ended });
        const found = groups.ordered(groups.gather(new Map(), [item("a", "no 3", "c"), item("b", "x", "b"),
            item("a", "no 2", "a")]));
        assert.equal(found.length, 2);
        assert.deepEqual([found[0].error, found[0].count, found[0].first, found[0].last],
            ["no #", 2, "a", "c"]);
        assert.equal(found[0].samples.length, 2);
    },
    "all is well, or the worst is told first"() {
        const store = { now_at: "2026-03-01T13:15:00Z", slot_length_s: 900, pending: 3, overdue: 0,
            unclosed_slots: 0, events_withheld: 0 };
        const status = { store, engines: [{}], pauses: [], put_off: [], running: [] };
        const none = { items: [], next: null };
        const level = (...of) => health.verdict(...of).level;
        assert.equal(level(status, [], none), "green");
        assert.equal(level(status, [], { items: [{}], next: null }), "amber");
        assert.equal(level({ ...status, engines: [] }, [], none), "red");
        assert.equal(level({ ...status, engines: [], store: { ...store, pending: 0 } }, [], none), "amber");
        assert.equal(level(status, [{ tone: "missed", late_us: null }], none), "red");
        assert.equal(level(status, [{ tone: "missed", late_us: 2e9 }], none), "amber");
        const withheld = (us) => ({ ...status, store: { ...store, events_withheld: 2, withheld_us: us } });
        assert.equal(level(withheld(5e6), [], none), "green");
        assert.equal(level(withheld(5e8), [], none), "amber");
        const pause = { what: "job", name: "look", paused_by: "eve", reason: "<b>" };
        const found = health.verdict({ ...status, pauses: [pause], store: { ...store, overdue: 10000,
            is_overdue_at_least: true, oldest_overdue_at: "2026-03-01T13:00:00Z" } }, [], none);
        assert.deepEqual(found.reasons.map((one) => one.text), ["at least 10000 checks overdue, the oldest " +
            "for 15 min", "job look is paused by eve: <b>"]);
        assert.deepEqual(found.reasons[1].query, { state: "paused", job: "look" });
    },
    "a slot is late, missed, or neither"() {
        const now = at("2026-03-01T13:15:00Z");
        const tone = (slot) => health.toneOf({ slot: "2026-03-01T12:45:00Z", late_us: null, checks: 0,
            state: "closed", ...slot }, 900, now);
        assert.equal(tone({ late_us: 5e6 }), "");
        assert.equal(tone({ late_us: 61e6 }), "late");
        assert.equal(tone({ late_us: 901e6 }), "missed");
        assert.equal(tone({ state: "pending", checks: 2 }), "missed");
        assert.equal(tone({ state: "pending", checks: 2, slot: "2026-03-01T13:15:00Z" }), "");
        assert.equal(tone({ state: "pending", checks: 2, slot: "2026-03-01T13:30:00Z" }), "coming");
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    try {
        test();
        console.log(`ok - ${name}`);
    } catch (wrong) {
        failed++;
        console.log(`not ok - ${name}\n${wrong.stack.replace(/^/gm, "#   ")}`);
    }
}
process.exit(failed ? 1 : 0);
