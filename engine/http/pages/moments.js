// moments.js - the clock, the zone that the reader has chosen, and <time> elements, which follow
// both.
import { el } from "./dom.js";
import { exact, parse, relative, wallText } from "./time.js";

const KEPT = "prescient.zone";
const MINE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
let chosen = read();
let ahead = 0;                      // of the server's clock before ours, ms

// A browser may keep nothing, and refuse to be asked.
function read() {
    try {
        return localStorage.getItem(KEPT) === "UTC" ? "UTC" : MINE;
    } catch {
        return MINE;
    }
}

export function zone() {
    return chosen;
}

export function ownZone() {
    return MINE;
}

export function switchZone() {
    chosen = chosen === "UTC" ? MINE : "UTC";
    try {
        localStorage.setItem(KEPT, chosen === "UTC" ? "UTC" : "local");
    } catch {
        // it is forgotten when the page is left
    }
    document.querySelectorAll("time").forEach(write);
    document.dispatchEvent(new Event("zone"));
}

/** The server's clock: its times are compared with that, not with a watch that is wrong. */
export function now() {
    return Date.now() + ahead;
}

/** `date`: the header of an answer, to the second. */
export function heard(date) {
    const difference = Date.parse(date || "") + 500 - Date.now();
    ahead = Math.abs(difference) > 2000 ? difference : 0;
}

function write(node) {
    const at = Number(node.dataset.at);
    const as = node.dataset.zone || chosen;
    const how = node.dataset.how;
    node.title = exact(at, as);
    node.textContent = how === "age" ? relative(at, now()) : wallText(at, as) + (how === "both"
        ? ` (${relative(at, now())})` : "");
}

/** A moment of an answer, or in ms. how: "age", 5 s ago; "both"; without, the time alone. It can be
 * reached by keyboard, which shows it exactly as hovering does. */
export function moment(value, how, fixedZone) {
    const at = typeof value === "number" ? value : parse(value);
    if (at === null)
        return value === null || value === undefined ? "" : String(value);
    const node = el("time", { datetime: new Date(at).toISOString(), tabindex: "0", "data-at": at,
        "data-how": how, "data-zone": fixedZone });
    write(node);
    return node;
}

/** Ages grow. */
export function tick() {
    document.querySelectorAll("time[data-how]").forEach(write);
}
