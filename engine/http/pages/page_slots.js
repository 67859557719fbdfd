// page_slots.js - what will hit us at noon, and did the night run?
import { ask } from "./api.js";
import { chart } from "./chart.js";
import { anchor, choices, el, section, table } from "./dom.js";
import { toneOf } from "./health.js";
import { moment, zone } from "./moments.js";
import { parse, took, utcText, wallText } from "./time.js";
import { view } from "./view.js";

export const title = "Slots";
const RANGES = { "24h": 24 * 3600 * 1000, "7d": 7 * 24 * 3600 * 1000 };
const BARS = 200;
const PARTS = ["job", "tenant"];
const NAMED = 3;                    // parts of a bar that are named
const PAGES = 100;                  // of 1,000 slots or 20,000 rows each, both ways together
const WORST = ["missed", "late", "", "coming"];

function rangeOf() {
    const asked = new URLSearchParams(location.search).get("range");
    return RANGES[asked] ? asked : "24h";
}

function partOf() {
    const asked = new URLSearchParams(location.search).get("by");
    return PARTS.includes(asked) ? asked : null;
}

/** The slots around now, a page after the other; `until`: how far they reach. */
async function load() {
    const { store } = await ask("v1/status");
    const now = parse(store.now_at);
    const reach = RANGES[rangeOf()];
    const query = { from: utcText(now - reach), before: utcText(now + reach), limit: 1000,
        by: partOf() };
    let items = [], next = null;
    for (let i = 0; i < PAGES && (i === 0 || next); i++) {
        const answer = await ask("v1/slots", { ...query, after: next });
        items = items.concat(answer.items);
        next = answer.next;
    }
    for (const slot of items)
        slot.tone = toneOf(slot, store.slot_length_s, now);
    // to the minute, so that what is drawn changes when there is something new
    const drawnAt = Math.floor(now / 60000) * 60000;
    return { now: drawnAt, reach, length: store.slot_length_s * 1000, items, isCut: next !== null };
}

/** A bar is one slot, or several where there are too many. */
function binned({ now, reach, length, items }) {
    const width = Math.ceil(2 * reach / length / BARS) * length;
    const first = Math.floor((now - reach) / width) * width;
    const bins = Array.from({ length: Math.ceil((now + reach - first) / width) }, (_, i) => (
        { at: first + i * width, run: 0, waits: 0, isEstimate: false, tone: "coming", slots: 0,
            parts: new Map() }));
    for (const slot of items) {
        const bin = bins[Math.floor((parse(slot.slot) - first) / width)];
        if (!bin)
            continue;
        if (!bin.slots++ || WORST.indexOf(slot.tone) < WORST.indexOf(bin.tone))
            bin.tone = slot.tone;
        bin.run += slot.run || 0;
        bin.waits += slot.checks;
        for (const part of slot.parts || [])
            bin.parts.set(part.name, (bin.parts.get(part.name) || 0) + part.checks);
        bin.isEstimate = bin.isEstimate || slot.is_estimate;
    }
    return { bins, width };
}

function largest(bin) {
    const parts = [...bin.parts].sort((a, b) => b[1] - a[1]).slice(0, NAMED);
    const about = bin.isEstimate ? "≈ " : "";
    return parts.map(([name, checks]) => `${name ?? "others"} ${about}${checks}`).join(", ");
}

function countText(bin) {
    const parts = largest(bin);
    return `${parts ? `${parts}; ` : ""}${bin.run} run, ${bin.isEstimate ? "≈ " : ""}${bin.waits} waiting`;
}

function picture(data) {
    const { bins, width } = binned(data);
    const isOne = width === data.length;
    const end = (bin) => utcText(bin.at + width);
    const target = (bin) => (isOne ? { page: "slot", query: { at: utcText(bin.at) } }
        : { page: "checks", query: { from: utcText(bin.at), before: end(bin) } });
    const bars = bins.map((bin) => ({ label: wallText(bin.at, zone()), value: bin.run + bin.waits,
        text: countText(bin) + (bin.tone && bin.slots ? `, ${bin.tone}` : ""), tone: bin.tone,
        isMarked: bin.tone === "missed" || bin.tone === "late", ...target(bin) }));
    const per = isOne ? "one slot a bar" : `${width / data.length} slots a bar`;
    return chart({ id: "bars", caption: `Checks that were run, and that wait; ${per}`, bars,
        from: wallText(bins[0].at, zone()), to: wallText(bins[bins.length - 1].at, zone()),
        highest: `highest: ${Math.max(...bars.map((bar) => bar.value))}`,
        nowIndex: bins.findIndex((bin) => bin.at > data.now), columns: [
            { name: "From", cell: (b) => anchor(target(b).page, target(b).query, moment(b.at)) },
            { name: "Run", kind: "number", cell: (b) => b.run },
            { name: "Waiting", kind: "number", cell: (b) => `${b.isEstimate ? "≈ " : ""}${b.waits}` },
            ...(partOf() ? [{ name: `Most of them, by ${partOf()}`, cell: largest }] : []),
            { name: "How", cell: (b) => b.tone },
        ], rows: bins.filter((bin) => bin.slots) });
}

function named(items) {
    const rows = items.filter((s) => s.tone === "missed" || s.tone === "late").reverse().slice(0, 200);
    return section("Late and missed",
        table("Slots whose pass began late, or not within a slot length; the newest first", [
            { name: "Slot", cell: (s) => anchor("slot", { at: s.slot }, moment(s.slot)) },
            { name: "How", cell: (s) => s.tone },
            { name: "Began late by", kind: "number", cell: (s) => (s.late_us === null ? "not yet"
                : took(s.late_us)) },
            { name: "Run", kind: "number", cell: (s) => s.run ?? "" },
            { name: "Waiting", kind: "number", cell: (s) => `${s.is_estimate ? "≈ " : ""}${s.checks}` },
        ], rows, "None of these slots was late or missed."));
}

function draw(data) {
    const last = data.items[data.items.length - 1];
    return [picture(data), data.isCut
        ? el("p", { class: "hint" }, "There are more slots than are read at once; these end at ",
            moment(last.slot), ".") : null, named(data.items)];
}

export function show(main) {
    const range = rangeOf();
    const ranges = Object.keys(RANGES).map((name) => (
        { word: name, query: { range: name, by: partOf() }, isChosen: name === range }));
    const parts = [null, ...PARTS].map((by) => (
        { word: by ? `By ${by}` : "All", query: { range, by }, isChosen: by === partOf() }));
    const looked = view({ load, draw, every: 30 });
    main.replaceChildren(el("h1", null, title), choices("How far, both ways", "slots", ranges),
        choices("What waits", "slots", parts), looked);
}
