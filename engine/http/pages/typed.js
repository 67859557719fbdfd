// typed.js - times as people type them into filters. The server reads one without a zone in UTC,
// but who has it from a page means the zone of that page. An address has it in UTC, so that it
// means the same to everybody; what counts from now on, as -1h, stays. Pure: no clock, no page.
import { fromWall, offsetAt, offsetText, utcText, wallText } from "./time.js";

const MINUTE = 60 * 1000;
const DAY = 24 * 60 * MINUTE;
const CLOCK = "(\\d{1,2}:\\d\\d)(?::([0-5]\\d|60)(\\.\\d+)?)?";
const OFFSET = "z|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?";
const DATED = new RegExp(`^(\\d{4}-\\d\\d-\\d\\d)(?:(?:t| +)${CLOCK})? *(${OFFSET})?$`, "i");
const NAMED = new RegExp(`^(?:(yesterday|today|tomorrow)|(next|last) +([a-z]+))(?: +${CLOCK})?$`, "i");
const DAYS = { yesterday: -1, today: 0, tomorrow: 1 };
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The first moment at which clocks show that or more. */
function behindGap(wall, zone) {
    const as = fromWall(wall, "UTC")[0];
    let low = as - DAY, high = as + DAY;            // no zone is a day away from UTC
    while (high - low > 1000) {
        const middle = Math.floor((low + high) / 2000) * 1000;
        if (middle + offsetAt(middle, zone) * MINUTE < as)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/** As the server has it: the first one of two, and of what clocks skip the first moment behind it.
 * null: there is no such day, or time of the day. */
function momentAt(date, clock, second, fraction, zone) {
    const wall = `${date} ${(clock || "00:00").padStart(5, "0")}:${second || "00"}`;
    const found = fromWall(wall, zone);
    if (found === null)
        return null;
    return (found.length ? found[0] : behindGap(wall, zone)) + (Number(fraction || 0) > 0 ? 1000 : 0);
}

// "+02", "-0330", "z"
function minutesOf(offset) {
    const m = /^([+-])(\d\d):?(\d\d)?$/.exec(offset);
    if (!m)
        return 0;
    const minutes = Number(m[2]) * 60 + Number(m[3] || 0);
    return m[1] === "-" ? -minutes : minutes;
}

/** "2026-03-01" of "today", "next mon"; null: there is none. */
function dateOf(day, direction, weekday, zone, now) {
    const today = Date.parse(wallText(now, zone).slice(0, 10));
    let days = DAYS[(day || "").toLowerCase()];
    if (!day) {
        const word = weekday.toLowerCase();
        const isShort = word.length === 3;
        const index = WEEKDAYS.findIndex((one) => one === word || (isShort && one.startsWith(word)));
        const ahead = (index - new Date(today).getUTCDay() + 7) % 7;
        if (index < 0)
            return null;
        days = direction.toLowerCase() === "next" ? ahead || 7 : ahead - 7;
    }
    return utcText(today + days * DAY).slice(0, 10);
}

function dated(text, zone) {
    const [, date, clock, second, fraction, offset] = DATED.exec(text) || [];
    if (!date)
        return null;
    if (!offset)
        return momentAt(date, clock, second, fraction, zone);
    const at = momentAt(date, clock, second, fraction, "UTC");
    return at === null ? null : at - minutesOf(offset) * MINUTE;
}

function named(text, zone, now) {
    const [all, day, direction, weekday, clock, second, fraction] = NAMED.exec(text) || [];
    const date = all ? dateOf(day, direction, weekday, zone, now) : null;
    return date === null ? null : momentAt(date, clock, second, fraction, zone);
}

/** What was typed where clocks are those of `zone`, for an address. */
export function toUtc(text, zone, now) {
    const at = dated(text, zone) ?? named(text, zone, now);
    return at === null ? text : utcText(at);
}

/** The time of an address as one would type it in that zone, with its offset where clocks show it
 * twice. */
export function inZone(text, zone) {
    const at = dated(text, "UTC");
    if (at === null)
        return named(text, "UTC", 0) !== null && zone !== "UTC" ? `${text} UTC` : text;
    const wall = wallText(at, zone);
    return fromWall(wall, zone).length > 1 ? `${wall} ${offsetText(offsetAt(at, zone))}` : wall;
}

/** The same for people, with the zone. */
export function inWords(text, zone) {
    return dated(text, "UTC") === null ? inZone(text, zone) : `${inZone(text, zone)} ${zone}`;
}
