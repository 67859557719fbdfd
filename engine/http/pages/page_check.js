// page_check.js - one row: why nothing, or nothing more, has happened, and its life.
import { ask } from "./api.js";
import { changesOf, deliverButton, oneButton } from "./change.js";
import * as columns from "./columns.js";
import { anchor, el, jobLink, section, table, whichOne } from "./dom.js";
import { moment } from "./moments.js";
import { cut } from "./time.js";
import { view } from "./view.js";

export const title = "One row";
const BAD = ["failed", "guarded", "job_broken", "unknown_job", "slot_late", "delivery_failed"];

function sentence(one) {
    const of = one.job ? ["Of ", jobLink(one.job), ": "] : one.event ? `Of the event ${one.event}: ` : "";
    const told = cut(one.sentence).map((piece) => (typeof piece === "number" ? moment(piece) : piece));
    return el("div", { class: `sentence ${BAD.includes(one.code) ? "red" : ""}` },
        el("p", null, of, told, ". ", el("code", null, one.code)));
}

function part(heading, caption, list, rows, nothing) {
    return section(heading, table(caption, list, rows, nothing));
}

const WELL = ["done", "resolved"];

function actions(of) {
    return { name: "Change", kind: "actions", cell: (row) => of(row).map((change) => [
        oneButton(change, row), " "]) };
}

/** Of what is over, what has failed last, where no check of that job waits by now. */
function retried(life) {
    const seen = new Set(life.checks.map((c) => c.job));
    const found = new Set();
    for (const end of life.history) {
        if (!seen.has(end.job) && !WELL.includes(end.outcome) && !end.entity.startsWith("prescient."))
            found.add(end);
        seen.add(end.job);
    }
    return (end) => (found.has(end) ? ["retry"] : []);
}

function draw({ why, life }, { mayOperate }) {
    const looks = { name: "Look", kind: "number", cell: (i) => i.check_number };
    return [
        section("Why", why.checks.map(sentence), why.events.map(sentence)),
        part("What waits", "Checks that wait", [columns.job, columns.dueAt, columns.state,
            { name: "Asked for", cell: (c) => moment(c.first_check_at) },
            { name: "Runs", kind: "number", cell: (c) => c.check_count },
            { name: "Failed", kind: "number", cell: (c) => c.failure_count }, columns.tenant,
            ...(mayOperate ? [actions(changesOf)] : [])], life.checks, "Nothing waits."),
        part("Runs after which it waited again", "Runs, the newest first", [columns.runAt, columns.job,
            columns.outcome, looks, columns.slot, columns.ranFor, columns.engine, columns.note], life.runs),
        part("What is over", "Checks that are over, the newest first", [columns.endedAt, columns.job,
            columns.outcome, looks, columns.slot, columns.ranFor, columns.engine, columns.note,
            ...(mayOperate ? [actions(retried(life))] : [])], life.history),
        part("What was told", "Events, and their deliveries", [
            { name: "When", cell: (e) => moment(e.emitted_at) }, { name: "Event", cell: (e) => e.event },
            columns.job, { name: "To", cell: (e) => e.listener || "readers" },
            { name: "State", cell: (e) => e.state || "" },
            columns.tries, columns.sentAt, columns.note,
            ...(mayOperate ? [{ name: "Change", kind: "actions", cell: deliverButton }] : [])], life.events),
        life.scanned_to ? el("p", { class: "hint" }, "Looked as far as ", moment(life.scanned_to),
            ": of what is older, not all may be here.") : null,
    ];
}

async function load(query) {
    const why = await ask("v1/why", query);
    return { why, life: await ask("v1/check", query) };
}

export function show(main, rights) {
    const search = new URLSearchParams(location.search);
    const query = { entity: search.get("entity") || "", key: search.get("key") || "" };
    const heading = el("h1", null, el("span", { class: "entity" }, query.entity), " ",
        el("span", { class: "key" }, query.key));
    if (!query.entity || !query.key) {
        main.replaceChildren(...whichOne(title, "checks", "Look for it among the checks"));
        return;
    }
    document.title = `${query.entity} ${query.key} - prescient`;
    const looked = view({ load: () => load(query), draw: (data) => draw(data, rights), every: 10 });
    main.replaceChildren(heading, el("p", null, anchor("checks", { entity: query.entity },
        `Other checks of ${query.entity}`)), looked);
}
