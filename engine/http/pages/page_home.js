// page_home.js - is all well?
import { ask } from "./api.js";
import { chart } from "./chart.js";
import { anchor, el, jobLink, link, rowLink, section, table } from "./dom.js";
import { gather, ordered } from "./groups.js";
import { SLOTS, toneOf, verdict } from "./health.js";
import { moment, now, zone } from "./moments.js";
import { parse, took, utcText, wallText } from "./time.js";
import { view } from "./view.js";

export const title = "Is all well?";
const WORDS = { green: "All is well", amber: "Something wants a look", red: "Something is wrong" };

async function load() {
    const status = await ask("v1/status");
    const { now_at: at, slot_length_s: length } = status.store;
    const from = parse(at) - SLOTS * length * 1000;
    const slots = await ask("v1/slots", { from: utcText(from), before: at, limit: SLOTS + 1 });
    const trouble = await ask("v1/history", { outcome: "amiss", from: "-1h", limit: 1000 });
    for (const slot of slots.items)
        slot.tone = toneOf(slot, length, parse(at));
    return { status, slots: slots.items, trouble };
}

function reason(one) {
    const href = link(one.page, one.query) + (one.hash ? `#${one.hash}` : "");
    return el("li", { class: one.level }, el("a", { href }, one.text));
}

function line({ status, slots, trouble }) {
    const found = verdict(status, slots, trouble);
    return el("div", { class: `verdict ${found.level}`, role: "status" },
        el("p", null, el("strong", null, `${WORDS[found.level]}.`)),
        found.reasons.length ? el("ul", null, found.reasons.map(reason)) : null);
}

function about(n, isEstimate, isAtLeast) {
    return `${isEstimate ? "≈ " : ""}${isAtLeast ? "at least " : ""}${n}`;
}

function lastPass({ last_slot_at: slot, last_pass_at: over, last_run: run, last_failed: failed }) {
    if (!slot)
        return "none";
    return [el("a", { href: link("slot", { at: slot }) }, moment(over, "age")),
        `: ${run} run, ${failed} failed`];
}

function ofTheDay({ day_runs: runs, day_failed: failed }) {
    return failed ? anchor("failed", { from: "-24h" }, `${failed} of ${runs} runs`) : `none of ${runs} runs`;
}

function numbers({ store, lately }) {
    const facts = [
        ["Waiting", anchor("checks", null,
            about(store.pending, store.is_estimate, store.is_pending_at_least))],
        ["Due now", anchor("checks", { state: "due" }, about(store.due, false, store.is_due_at_least))],
        ["Next slot with checks", store.next_slot_at
            ? el("a", { href: link("slot", { at: store.next_slot_at }) }, moment(store.next_slot_at, "both"))
            : "none"],
        ["Last pass", lastPass(lately)],
        ["Failed in a day", ofTheDay(lately)],
    ];
    return el("dl", { class: "facts" }, facts.map(([name, value]) =>
        el("div", null, el("dt", null, name), el("dd", null, value))));
}

function engines({ engines: list }) {
    return el("section", { id: "engines" }, el("h2", null, "Engines"), table("Engines seen lately", [
        { name: "Engine", cell: (e) => e.engine },
        { name: "Command", cell: (e) => e.command },
        { name: "Version", cell: (e) => e.version },
        { name: "Host", cell: (e) => e.host },
        { name: "Jobs", cell: (e) => e.jobs },
        { name: "Slots", cell: (e) => (e.serves ? `minutes ${e.serves}` : "all") },
        { name: "Settings", cell: (e) => e.file },
        { name: "Since", cell: (e) => moment(e.started_at, "age") },
        { name: "Last pass", cell: (e) => moment(e.last_pass_at, "age") },
        { name: "Seen", cell: (e) => moment(e.seen_at, "age") },
    ], list, "No engine has noted itself lately."));
}

function running({ running: list }) {
    return section("Running now", table("Runs of more than five seconds, longest first", [
        { name: "Check", kind: "row", cell: rowLink },
        { name: "Job", cell: (r) => jobLink(r.job) },
        { name: "For", kind: "number", cell: (r) => took(r.run_us) },
        { name: "Since", cell: (r) => moment(r.began_at) },
        { name: "Engine", cell: (r) => r.engine },
    ], list, "No run has been going on for more than five seconds."));
}

function latenessBar(at, slot) {
    const bar = { label: wallText(at, zone()), value: slot?.late_us || 0, tone: slot?.tone, page: "slot",
        query: { at: utcText(at) }, isMarked: slot?.tone === "late" || slot?.tone === "missed" };
    const isKnown = slot && slot.late_us !== null;
    bar.text = isKnown ? `began ${took(slot.late_us)} late` : slot?.state || "nothing is recorded";
    return bar;
}

// What had no checks may have no record.
function lateness({ status, slots }) {
    const length = status.store.slot_length_s * 1000;
    const last = Math.floor(parse(status.store.now_at) / length) * length;
    const known = new Map(slots.map((s) => [parse(s.slot), s]));
    const times = Array.from({ length: SLOTS }, (_, i) => last - (SLOTS - 1 - i) * length);
    const bars = slots.length ? times.map((at) => latenessBar(at, known.get(at))) : [];
    const latest = took(Math.max(...bars.map((b) => b.value)));
    return section("How late the last slots began", chart({ id: "lateness",
        caption: `The last ${SLOTS} slots`, bars, from: wallText(times[0], zone()),
        to: wallText(last, zone()), highest: `latest: ${latest}`, columns: [
            { name: "Slot", cell: (s) => el("a", { href: link("slot", { at: s.slot }) }, moment(s.slot)) },
            { name: "Began late by", kind: "number", cell: (s) => took(s.late_us) },
            { name: "Run", kind: "number", cell: (s) => s.run },
            { name: "State", cell: (s) => s.tone || s.state },
        ], rows: [...slots].reverse() }));
}

function troubles(trouble) {
    const groups = ordered(gather(new Map(), trouble.items)).slice(0, 20);
    return section("Trouble of the last hour",
        table("What ended badly, by job and error", [
            { name: "Job", cell: (g) => jobLink(g.job) },
            { name: "Ended", cell: (g) => g.outcome },
            { name: "Error", cell: (g) => g.error },
            { name: "Times", kind: "number", cell: (g) => about(g.count, false, trouble.next !== null) },
            { name: "Last", cell: (g) => moment(g.last, "age") },
        ], groups, "Nothing has ended badly."),
        groups.length ? el("p", null, anchor("failed", { from: "-1h" }, "All of it")) : null);
}

function draw(data) {
    return [line(data), numbers(data.status), engines(data.status), running(data.status),
        lateness(data), troubles(data.trouble)];
}

export function show(main) {
    const looked = view({ load, draw, every: 10 });
    main.replaceChildren(el("h1", null, title), looked);
}
