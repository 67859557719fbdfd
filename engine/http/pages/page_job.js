// page_job.js - one job: its runs by period, what ended badly lately, what waits next.
import { ask } from "./api.js";
import * as columns from "./columns.js";
import { anchor, el, section, table, whichOne } from "./dom.js";
import { gather, ordered } from "./groups.js";
import { moment } from "./moments.js";
import { OUTCOMES, QUANTILES } from "./page_jobs.js";
import { view } from "./view.js";

export const title = "One job";
const PERIODS = [["-1h", "Last hour"], ["-1d", "Last day"], ["-7d", "Last week"]];

async function load(name) {
    const periods = [];
    for (const [from, word] of PERIODS) {
        const { items } = await ask("v1/jobs", { from });
        periods.push({ word, runs: 0, ...items.find((one) => one.job === name) });
    }
    return { periods, bad: await ask("v1/history", { job: name, outcome: "amiss", from: "-1d", limit: 200 }),
        runs: await ask("v1/runs", { job: name, limit: 20 }),
        next: await ask("v1/checks", { job: name, limit: 20 }) };
}

function looked(answer) {
    return answer.scanned_to ? el("p", { class: "hint" }, "Looked as far as ", moment(answer.scanned_to), ".")
        : null;
}

function draw(name, data) {
    const groups = ordered(gather(new Map(), data.bad.items));
    return [
        section("Runs", table("By period; whole hours are counted",
            [{ name: "Since", cell: (p) => p.word }, ...OUTCOMES, ...QUANTILES], data.periods)),
        section("What ended badly in the last day", table(data.bad.next ? "Among the newest 200, by error"
            : "By error", [{ name: "Error", cell: (g) => g.error }, columns.outcome,
            { name: "Times", kind: "number", cell: (g) => (data.bad.next ? "at least " : "") + g.count },
            { name: "Last", cell: (g) => moment(g.last, "both") },
            { name: "Such as", kind: "row", cell: (g) => columns.row.cell(g.samples[0]) }],
        groups, "Nothing."),
        groups.length ? el("p", null, anchor("failed", { job: name }, "All of it")) : null, looked(data.bad)),
        section("Newest runs after which a check waits again", table("The newest 20", [columns.runAt,
            columns.row, columns.outcome, columns.ranFor, columns.engine, columns.note], data.runs.items),
        looked(data.runs)),
        section("What waits", table("The next 20", [columns.row, columns.dueAt, columns.state],
            data.next.items), looked(data.next),
        el("p", null, anchor("checks", { job: name }, "All that wait"))),
    ];
}

export function show(main) {
    const name = new URLSearchParams(location.search).get("name");
    if (!name) {
        main.replaceChildren(...whichOne(title, "jobs", "All jobs"));
        return;
    }
    document.title = `${name} - prescient`;
    const seen = view({ load: () => load(name), draw: (data) => draw(name, data), every: 30 });
    main.replaceChildren(el("h1", null, "Job ", name), seen);
}
