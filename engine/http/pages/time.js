// time.js - moments, zones and durations as people read them. Pure: no clock, no page. A moment is
// a number of milliseconds since 1970; a zone is a name that Intl knows, such as Asia/Kathmandu.

const MINUTE = 60 * 1000;
const DAY = 24 * 60 * MINUTE;
const formats = new Map();

function formatOf(zone) {
    if (!formats.has(zone))
        formats.set(zone, new Intl.DateTimeFormat("en-US", {
            timeZone: zone, hourCycle: "h23", era: "short", year: "numeric", month: "2-digit",
            day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
        }));
    return formats.get(zone);
}

function wallOf(at, zone) {
    const wall = {};
    for (const part of formatOf(zone).formatToParts(at))
        wall[part.type] = part.value;
    return wall;
}

/** Minutes that clocks of the zone were ahead of UTC at that moment. */
export function offsetAt(at, zone) {
    const w = wallOf(at, zone);
    const as = Date.UTC(Number(w.year), Number(w.month) - 1, Number(w.day), Number(w.hour),
        Number(w.minute), Number(w.second));
    return Math.round((as - Math.floor(at / 1000) * 1000) / MINUTE);
}

function two(n) {
    return String(n).padStart(2, "0");
}

export function offsetText(minutes) {
    const size = Math.abs(minutes);
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The moment of an answer, "2026-03-01T13:15:00Z". null: it is none, as "paused". */
export function parse(text) {
    const at = typeof text === "string" && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(at) ? null : at;
}

/** A sentence of /v1 in pieces: its texts, and its moments. */
export function cut(sentence) {
    return sentence.split(/(\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\b)/)
        .map((piece, i) => (i % 2 && parse(piece) !== null ? parse(piece) : piece));
}

/** "2026-03-01T13:15:00Z", as /v1 takes it. */
export function utcText(at) {
    return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** "2026-03-01 13:15"; seconds where there are some. */
export function wallText(at, zone) {
    const w = wallOf(at, zone);
    const seconds = w.second === "00" ? "" : `:${w.second}`;
    return `${w.year}-${w.month}-${w.day} ${w.hour}:${w.minute}${seconds}`;
}

/** All that can be said of it: UTC, and the wall clock of the zone with its offset. */
export function exact(at, zone) {
    const utc = new Date(at).toISOString().replace(/\.000Z$/, "Z");
    if (zone === "UTC")
        return utc;
    return `${wallText(at, zone)} ${offsetText(offsetAt(at, zone))} ${zone} = ${utc}`;
}

/** The moments at which clocks of the zone show "2026-04-05T02:10": mostly one; two where clocks
 * are put back, none where they are put forward. null: that is no time. */
export function fromWall(text, zone) {
    const m = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
    if (!m)
        return null;
    const minute = Date.UTC(m[1], m[2] - 1, m[3], m[4], m[5]);
    if (new Date(minute).toISOString().slice(0, 16) !== `${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}`)
        return null;
    const as = minute + (m[6] || 0) * 1000;
    const offsets = new Set([offsetAt(as - DAY, zone), offsetAt(as, zone), offsetAt(as + DAY, zone)]);
    const found = [...offsets].map((minutes) => ({ at: as - minutes * MINUTE, minutes }))
        .filter((one) => offsetAt(one.at, zone) === one.minutes).map((one) => one.at);
    return found.sort((a, b) => a - b);
}

/** What an <input type="datetime-local"> shows of it. */
export function toWall(at, zone) {
    return wallText(at, zone).replace(" ", "T");
}

/** Two units at most: "2 h 13 min". */
export function span(ms) {
    const units = [["d", DAY], ["h", 60 * MINUTE], ["min", MINUTE], ["s", 1000]];
    let left = Math.max(0, Math.round(ms / 1000) * 1000);
    const first = units.findIndex(([, size]) => left >= size);
    if (first < 0)
        return "0 s";
    const parts = [];
    for (const [name, size] of units.slice(first, first + 2)) {
        const n = Math.floor(left / size);
        left -= n * size;
        if (n)
            parts.push(`${n} ${name}`);
    }
    return parts.join(" ");
}

/** "in 2 h 13 min", "5 s ago". */
export function relative(at, now) {
    if (Math.abs(at - now) < 1000)
        return "now";
    return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}

/** How long something took, of microseconds: "350 ms". */
export function took(us) {
    if (us === null || us === undefined)
        return "";
    if (us < 1000)
        return `${us} µs`;
    if (us < 10000)
        return `${(us / 1000).toFixed(1)} ms`;
    if (us < 1e6)
        return `${Math.round(us / 1000)} ms`;
    return us < 60e6 ? `${(us / 1e6).toFixed(us < 10e6 ? 1 : 0)} s` : span(us / 1000);
}

/** The slot in which something of that moment is done: a moment on the boundary stays. What is not
 * later than now gets the next slot, as the one that has begun takes nothing new. */
export function slotOf(at, lengthS, now) {
    const length = lengthS * 1000;
    const next = Math.floor(now / length) * length + length;
    return Math.max(Math.ceil(at / length) * length, next);
}
