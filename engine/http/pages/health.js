// health.js - whether all is well, by what /v1 has answered: pure.
import { parse, span } from "./time.js";

/** How many of the last ones are looked at. */
export const SLOTS = 60;
const LONG_US = 60e6;
const ORDER = ["green", "amber", "red"];

function counted(n, isAtLeast, word) {
    return `${isAtLeast ? "at least " : ""}${n} ${word}${n === 1 ? "" : "s"}`;
}

function ofEngines({ engines, store }) {
    if (engines.length)
        return [];
    const waits = store.pending > 0;
    return [{ level: waits ? "red" : "amber", page: "./", hash: "engines",
        text: "no engine has been seen lately" }];
}

function ofOverdue({ store, put_off: putOff }) {
    const found = [];
    if (store.overdue > 0) {
        const since = parse(store.oldest_overdue_at);
        const old = since === null ? "" : `, the oldest for ${span(parse(store.now_at) - since)}`;
        found.push({ level: "red", page: "checks", query: { state: "due" },
            text: `${counted(store.overdue, store.is_overdue_at_least, "check")} overdue${old}` });
    }
    for (const one of putOff)
        found.push({ level: "amber", page: "checks", query: { state: "held_back", job: one.job },
            text: `${counted(one.checks, false, "check")} of ${one.job} put off without a run` });
    return found;
}

// One that is being run is not closed either.
function ofUnclosed({ store }) {
    const since = parse(store.oldest_unclosed_at);
    const age = since === null ? 0 : parse(store.now_at) - since;
    if (!store.unclosed_slots || age < 2 * store.slot_length_s * 1000)
        return [];
    return [{ level: "amber", page: "slot", query: { at: store.oldest_unclosed_at },
        text: `${counted(store.unclosed_slots, store.is_unclosed_at_least, "slot")} not closed, the ` +
            `oldest began ${span(age)} ago` }];
}

function ofPauses({ pauses }) {
    return pauses.map((p) => ({ level: "amber", page: "checks", query: { state: "paused",
        [p.what]: ["job", "entity", "tenant"].includes(p.what) ? p.name : null },
    text: `${p.what} ${p.name} is paused by ${p.paused_by}${p.reason ? `: ${p.reason}` : ""}` }));
}

function ofEvents({ store }) {
    // an open transaction withholds some for a moment, which is nothing to be told
    if (!store.events_withheld || (store.withheld_us ?? LONG_US) < LONG_US)
        return [];
    const by = store.withheld_by ? ` by ${store.withheld_by}` : "";
    return [{ level: "amber", page: "events", text: `${counted(store.events_withheld, false, "event")} ` +
        `withheld${by}${store.withheld_us ? ` for ${span(store.withheld_us / 1000)}` : ""}` }];
}

function ofTrouble(trouble) {
    const n = trouble.items.length;
    return n ? [{ level: "amber", page: "failed", query: { from: "-1h" },
        text: `${counted(n, trouble.next !== null, "check")} ended badly in the last hour` }] : [];
}

function ofMissed(slots) {
    const missed = slots.filter((s) => s.tone === "missed");
    const open = missed.filter((s) => s.late_us === null).length;
    const found = [];
    if (open)
        found.push({ level: "red", page: "slots",
            text: `${counted(open, false, "slot")} missed, not begun yet` });
    if (missed.length > open)
        found.push({ level: "amber", page: "slots", text: `${counted(missed.length - open, false, "slot")} ` +
            `of the last ${SLOTS} missed, and run since` });
    return found;
}

/** { level, reasons: [{ level, text, page, query }] }, the worst first. */
export function verdict(status, slots, trouble) {
    const reasons = [...ofEngines(status), ...ofOverdue(status), ...ofMissed(slots), ...ofUnclosed(status),
        ...ofPauses(status), ...ofEvents(status), ...ofTrouble(trouble)];
    reasons.sort((a, b) => ORDER.indexOf(b.level) - ORDER.indexOf(a.level));
    return { level: reasons.length ? reasons[0].level : "green", reasons };
}

const LATE_US = 60e6;

/** How a slot went, by its row of /v1/slots: missed (no pass began within a slot length), late, ""
 * or coming. */
export function toneOf(slot, lengthS, now) {
    const at = parse(slot.slot);
    const length = lengthS * 1000;
    if (slot.late_us !== null && slot.late_us > lengthS * 1e6)
        return "missed";
    if (slot.late_us !== null && slot.late_us > Math.min(LATE_US, lengthS * 1e6 / 2))
        return "late";
    if (slot.state === "pending" && slot.checks > 0 && at + length < now)
        return "missed";
    return at > now ? "coming" : "";
}
