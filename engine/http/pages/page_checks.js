// page_checks.js - which checks wait; the filters stand in the address.
import { allButtons } from "./change.js";
import * as columns from "./columns.js";
import { el } from "./dom.js";
import { filterForm, filtersOf, list } from "./list.js";

export const title = "Checks that wait";
const STATES = ["", "waiting", "due", "held_back", "retrying", "paused"];
const FIELDS = [
    { name: "entity", label: "Entity", example: "orders" },
    { name: "key", label: "Key", example: "42" },
    { name: "job", label: "Job" },
    { name: "tenant", label: "Tenant" },
    { name: "state", label: "State", options: STATES },
    { name: "from", label: "Due from", isTime: true, example: "-1h, 2026-03-01 14:15" },
    { name: "before", label: "Due before", isTime: true, example: "+1d" },
];

const CHANGES = ["run-now", "reschedule", "resolve", "cancel"];

export function show(main, { mayOperate }) {
    const names = FIELDS.map((f) => f.name);
    const found = list({ path: "v1/checks", caption: "Checks, by slot", nothing: "No check waits that fits.",
        columns: [columns.row, columns.job, columns.dueAt, columns.state,
            { name: "Runs", kind: "number", cell: (c) => c.check_count },
            { name: "Failed", kind: "number", cell: (c) => c.failure_count }, columns.tenant, columns.why] });
    main.replaceChildren(el("h1", null, title), filterForm(FIELDS, found.load),
        mayOperate ? allButtons(CHANGES, () => filtersOf(names)) : "", found.node);
    found.load(filtersOf(names));
}
