// page_schedules.js - what comes again and again, and when next.
import { button, changeOne, changeThing } from "./change.js";
import { anchor, el, jobLink, link, rowLink } from "./dom.js";
import { filterForm, filtersOf, list } from "./list.js";
import { moment } from "./moments.js";
import { parse, span } from "./time.js";

export const title = "Schedules";
const FIELDS = [{ name: "prefix", label: "Name begins with" }, { name: "entity", label: "Entity" },
    { name: "key", label: "Key" }, { name: "job", label: "Job" }];

export function rule(s) {
    if (!s.cron)
        return `every ${span(s.every_s * 1000)}`;
    return [el("code", null, s.cron), ` in ${s.timezone || "UTC"}`];
}

function inItsZone(s) {
    if (parse(s.check_at) === null)
        return "";
    try {
        return [moment(s.check_at, null, s.timezone || "UTC"), ` ${s.timezone || "UTC"}`];
    } catch {
        return `this browser does not know ${s.timezone}`;
    }
}

export function state(s) {
    if (s.is_active)
        return "on";
    const why = s.switched_why ? `: ${s.switched_why}` : "";
    return ["off since ", moment(s.switched_at), ` by ${s.switched_by}${why}`];
}

const OUTCOMES = { changed: "Done.", kept: "It was so already." };

function switchButton(s) {
    const word = s.is_active ? "Off" : "On";
    return button(word, `${word}: schedule ${s.name}`, () => changeThing({ method: "PUT",
        path: link("v1/schedules", { name: s.name }), body: { is_active: !s.is_active }, word,
        title: `${word}: schedule ${s.name}`, what: el("p", { class: "hint" }, s.is_active
            ? "The check that waits ends, and no other one is filed." : "Its next time is filed."),
        done: (answer) => OUTCOMES[answer.outcome] || answer.outcome }));
}

/** The next time after that is by its rule again. */
function onceButton(s) {
    return button("Run once now", `Run once now: schedule ${s.name}`, () => changeOne("run-now", s));
}

export function scheduleButtons(s) {
    return s.is_active ? [switchButton(s), " ", onceButton(s)] : switchButton(s);
}

export function show(main, { mayOperate }) {
    const found = list({ path: "v1/schedules", caption: "Schedules, by name",
        nothing: "There is none that fits.", columns: [
            { name: "Name", cell: (s) => anchor("schedule", { name: s.name }, s.name) },
            { name: "Row", kind: "row", cell: rowLink },
            { name: "Job", cell: (s) => jobLink(s.job) },
            { name: "When", cell: rule },
            { name: "Next", cell: (s) => moment(s.check_at, "both") },
            { name: "Next, in its zone", cell: inItsZone },
            { name: "Missed ones", cell: (s) => s.missed },
            { name: "State", cell: state },
            ...(mayOperate ? [{ name: "Change", kind: "actions", cell: scheduleButtons }] : []),
        ] });
    main.replaceChildren(el("h1", null, title), filterForm(FIELDS, found.load), found.node);
    found.load(filtersOf(FIELDS.map((f) => f.name)));
}
