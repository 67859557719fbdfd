// page_audit.js - who changed what, and when, newest first.
import { el, jobLink, rowLink } from "./dom.js";
import { filterForm, filtersOf, list } from "./list.js";
import { moment } from "./moments.js";

export const title = "Changes";
const CHANGES = ["", "resolve", "cancel", "reschedule", "run-now", "retry", "pause", "resume",
    "schedule-put", "schedule-on", "schedule-off", "schedule-remove", "deliver-again"];
const FIELDS = [{ name: "who", label: "Who" }, { name: "change", label: "Change", options: CHANGES },
    { name: "entity", label: "Entity" }, { name: "key", label: "Key" }, { name: "job", label: "Job" },
    { name: "from", label: "From", isTime: true, example: "-7d" },
    { name: "before", label: "Before", isTime: true }];

function text(value) {
    if (value === null)
        return "";
    return el("code", null, typeof value === "string" ? value : JSON.stringify(value));
}

function what(c) {
    if (c.what === "check")
        return rowLink(c);
    return `${c.what} ${c.name || c.entity || c.job}`;
}

export function show(main) {
    const found = list({ path: "v1/audit", caption: "Changes, newest first",
        nothing: "Nothing was changed by hand, as far as is kept.", columns: [
            { name: "When", cell: (c) => moment(c.changed_at) },
            { name: "Who", cell: (c) => [c.who || "nobody known", ` (${c.done_by})`] },
            { name: "Change", cell: (c) => c.change },
            { name: "What", kind: "row", cell: what },
            { name: "Job", cell: (c) => c.job ? jobLink(c.job) : "" },
            { name: "Before", kind: "words", cell: (c) => text(c.before) },
            { name: "After", kind: "words", cell: (c) => text(c.after) },
            { name: "Why", kind: "words", cell: (c) => c.reason || "" },
        ] });
    main.replaceChildren(el("h1", null, title), filterForm(FIELDS, found.load), found.node);
    found.load(filtersOf(FIELDS.map((f) => f.name)));
}
