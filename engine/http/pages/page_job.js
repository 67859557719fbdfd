// page_job.js - one job: its runs by the hour and by tenant, what ended badly lately, what waits.
import { ask } from "./api.js";
import { chart } from "./chart.js";
import * as columns from "./columns.js";
import { anchor, choices, el, section, table, whichOne } from "./dom.js";
import { gather, ordered } from "./groups.js";
import { moment, zone } from "./moments.js";
import { jobButtons, OUTCOMES, pausedJobs, periodOf, periods, QUANTILES } from "./page_jobs.js";
import { parse, took, wallText } from "./time.js";
import { view } from "./view.js";

export const title = "One job";

async function load(name) {
    return { job: await ask("v1/job", { name, from: `-${periodOf()}` }),
        bad: await ask("v1/history", { job: name, outcome: "amiss", from: "-1d", limit: 200 }),
        slow: await ask("v1/slowest", { job: name, from: `-${periodOf()}`, limit: 20 }),
        next: await ask("v1/checks", { job: name, limit: 20 }), status: await ask("v1/status") };
}

function looked(answer) {
    return answer.scanned_to ? el("p", { class: "hint" }, "Looked as far as ", moment(answer.scanned_to), ".")
        : null;
}

// The hours come as they are stored; those without a run have no row.
function byHour(hours) {
    const rows = [...hours].sort((a, b) => (a.name < b.name ? -1 : 1));
    const bars = rows.map((h) => ({ label: wallText(parse(h.name), zone()), value: h.took_p95_us || 0,
        text: `${h.runs} runs, 95 of 100 took at most about ${took(h.took_p95_us)}` }));
    return chart({ id: "hours", caption: "How long 95 of 100 runs took at most, by hours with runs", bars,
        from: bars[0]?.label, to: bars[bars.length - 1]?.label,
        highest: `longest: ≈ ${took(Math.max(...bars.map((bar) => bar.value)))}`,
        columns: [{ name: "Hour", cell: (h) => moment(h.name) }, ...OUTCOMES, ...QUANTILES],
        rows: [...rows].reverse() });
}

function trouble({ bad }) {
    const groups = ordered(gather(new Map(), bad.items));
    return [table(bad.next ? "Among the newest 200, by error" : "By error", [
        { name: "Error", kind: "words", cell: (g) => g.error }, columns.outcome,
        { name: "Times", kind: "number", cell: (g) => (bad.next ? "at least " : "") + g.count },
        { name: "Last", cell: (g) => moment(g.last, "both") },
        { name: "Such as", kind: "row", cell: (g) => columns.row.cell(g.samples[0]) },
    ], groups, "Nothing."), looked(bad)];
}

function pauseOf(name, { pauses }) {
    const pause = pauses.find((p) => p.what === "job" && p.name === name);
    return pause ? el("p", { class: "sentence" }, "It is paused since ", moment(pause.paused_at), " by ",
        pause.paused_by, pause.reason ? `: ${pause.reason}` : "", ".") : null;
}

function draw(name, data, { mayOperate }) {
    const { job, next, slow, status } = data;
    return [
        pauseOf(name, status),
        mayOperate ? el("p", { class: "buttons" }, jobButtons(name, pausedJobs(status)(name))) : null,
        section("Runs", table("All of them; whole hours are counted", [
            { name: "Job", cell: () => name }, ...OUTCOMES, ...QUANTILES], job.runs ? [job.runs] : [],
        "It has not run."), byHour(job.hours)),
        section("The slowest", table("The twenty runs that took longest", [columns.row, columns.runAt,
            columns.ranFor, columns.outcome, columns.slot, columns.engine, columns.note], slow.items,
        "It has not run."), looked(slow)),
        section("Whose runs they were", table("The twenty tenants whose runs took most", [
            { name: "Tenant", cell: (t) => t.name }, { name: "Together", kind: "number",
                cell: (t) => took(t.took_us) }, ...OUTCOMES, ...QUANTILES], job.tenants)),
        section("What ended badly in the last day", trouble(data),
            el("p", null, anchor("failed", { job: name }, "All of it"))),
        section("What waits", table("The next 20", [columns.row, columns.dueAt, columns.state], next.items),
            looked(next), el("p", null, anchor("checks", { job: name }, "All that wait"))),
    ];
}

export function show(main, rights) {
    const name = new URLSearchParams(location.search).get("name");
    if (!name) {
        main.replaceChildren(...whichOne(title, "jobs", "All jobs"));
        return;
    }
    document.title = `${name} - prescient`;
    const seen = view({ load: () => load(name), draw: (data) => draw(name, data, rights), every: 30 });
    main.replaceChildren(el("h1", null, "Job ", name), choices("Since when", "job", periods({ name })), seen);
}
