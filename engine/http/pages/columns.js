// columns.js - columns that several pages have.
import { anchor, el, jobLink, link, rowLink } from "./dom.js";
import { moment } from "./moments.js";
import { parse, took } from "./time.js";

export const row = { name: "Entity, key", kind: "row", cell: rowLink };
export const job = { name: "Job", cell: (i) => jobLink(i.job) };
export const tenant = { name: "Tenant", cell: (i) => i.tenant || "" };
export const note = { name: "Note", kind: "words", cell: (i) => i.note || "" };
export const engine = { name: "Engine", cell: (i) => i.engine || "" };
export const outcome = { name: "Ended", cell: (i) => i.outcome };

function slotLink(at) {
    return parse(at) === null ? moment(at) : el("a", { href: link("slot", { at }) }, moment(at));
}

export const dueAt = { name: "Slot", cell: (i) => slotLink(i.check_at) };
export const slot = { name: "Slot", cell: (i) => slotLink(i.slot) };
export const state = { name: "State", cell: (i) => i.state };
export const endedAt = { name: "When", cell: (i) => moment(i.ended_at) };
export const runAt = { name: "When", cell: (i) => moment(i.run_at) };
export const ranFor = { name: "Took", kind: "number", cell: (i) => took(i.run_us ?? i.last_run_us) };
export const tries = { name: "Tries", kind: "number", cell: (e) => e.tries ?? "" };
/** Of a delivery: when it is tried next, or when it was over. */
export const sentAt = { name: "Next, or ended", cell: (e) => (e.ended_at ? moment(e.ended_at)
    : moment(e.check_at, "both")) };
export const why = { name: "Why", cell: (i) => anchor("check", { entity: i.entity, key: i.key }, "why?") };
