// page_schedule.js - one schedule: when it runs next, in its zone and the reader's, and how the
// last times went.
import { ask } from "./api.js";
import * as columns from "./columns.js";
import { anchor, el, rowLink, section, table, whichOne } from "./dom.js";
import { moment } from "./moments.js";
import { rule, scheduleButtons, state } from "./page_schedules.js";
import { parse, took } from "./time.js";
import { view } from "./view.js";

export const title = "One schedule";
const LAST = 10;
const MARKS = { done: "✓", again: "✓", resolved: "–", deferred: "…" };

/** The newest first, of what has ended and of runs after which it waits again. */
function lastOnes({ history, runs }) {
    const ended = history.map((h) => ({ ...h, at: h.ended_at, run_us: h.last_run_us }));
    const all = ended.concat(runs.map((r) => ({ ...r, at: r.run_at })));
    return all.sort((a, b) => parse(b.at) - parse(a.at)).slice(0, LAST);
}

function mark(one) {
    const isGood = one.outcome in MARKS;
    return el("li", { class: isGood ? "green" : "red" }, el("span", { "aria-hidden": "true" },
        MARKS[one.outcome] || "✗"), el("span", { class: "unseen" }, one.outcome));
}

function marks(list) {
    return list.length ? el("ol", { class: "marks", "aria-label": "The last ones, oldest first" },
        [...list].reverse().map(mark)) : null;
}

function inZone(name) {
    return (at) => {
        try {
            return moment(at, null, name);
        } catch {
            return `this browser does not know ${name}`;
        }
    };
}

function times({ next_times: next, no_times: none, late_since: late, schedule: s }) {
    const its = s.timezone || "UTC";
    const list = [{ name: `In ${its}`, cell: (t) => inZone(its)(t.at) }];
    list.push({ name: "By the clock above", cell: (t) => moment(t.at, "both") });
    return [late ? el("p", { class: "sentence" }, "It is late, since ", moment(late, "both"),
        ": it is run at once.") : null,
    table("The next ten times, if each is run at its time", list, next.map((at) => ({ at })), none)];
}

function draw(data, { mayOperate }) {
    const { schedule: s } = data;
    const list = lastOnes(data);
    return [
        el("p", null, rule(s), ", of ", rowLink(s), ", by ", anchor("job", { name: s.job }, s.job), ". ",
            "State: ", state(s), "."),
        mayOperate ? el("p", { class: "buttons" }, scheduleButtons(s)) : null,
        section("Next", times(data)),
        section("How the last ones went", marks(list), table("The last ten, the newest first", [
            { name: "When", cell: (o) => moment(o.at) }, columns.outcome, columns.slot,
            { name: "Took", kind: "number", cell: (o) => took(o.run_us) }, columns.engine, columns.note],
        list, "It has not run.")),
    ];
}

export function show(main, rights) {
    const name = new URLSearchParams(location.search).get("name");
    if (!name) {
        main.replaceChildren(...whichOne(title, "schedules", "All schedules"));
        return;
    }
    document.title = `${name} - prescient`;
    const seen = view({ load: () => ask("v1/schedule", { name }), draw: (data) => draw(data, rights),
        every: 30 });
    main.replaceChildren(el("h1", null, "Schedule ", name), seen);
}
