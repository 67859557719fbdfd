// page_jobs.js - which jobs there are, how their runs end and how long they take.
import { ask } from "./api.js";
import { pauseButton } from "./change.js";
import { choices, el, jobLink, table } from "./dom.js";
import { view } from "./view.js";
import { took } from "./time.js";

export const title = "Jobs";
const PERIODS = { "1h": "hour", "1d": "day", "7d": "week" };

export function periodOf() {
    const asked = new URLSearchParams(location.search).get("from");
    return PERIODS[asked] ? asked : "1d";
}

/** The choices of a period; `query`: what else stands in the address. */
export function periods(query) {
    return Object.entries(PERIODS).map(([from, word]) => (
        { word: `Last ${word}`, query: { ...query, from }, isChosen: from === periodOf() }));
}

const number = (name, column) => ({ name, kind: "number", cell: (j) => j[column] ?? "" });
const time = (name, column) => ({ name, kind: "number", cell: (j) => took(j[column]) });

// What it takes comes from counts by classes of duration: within a sixteenth.
export const OUTCOMES = [number("Runs", "runs"), number("Done", "done"), number("Again", "again"),
    number("Failed", "failed"), number("Timeout", "timeout"), number("Crashed", "crashed"),
    number("Other", "other")];
export const QUANTILES = [time("Took p50 ≈", "took_p50_us"), time("p95 ≈", "took_p95_us"),
    time("p99 ≈", "took_p99_us"), time("most", "took_max_us"), time("Late p50 ≈", "late_p50_us"),
    time("p95 ≈", "late_p95_us"), time("p99 ≈", "late_p99_us")];

function where(job) {
    if (job.is_in_settings)
        return job.is_noted ? "settings, engines" : "settings";
    return job.is_noted ? "engines" : "nobody has it now";
}

/** The jobs that are paused. What /v1/status has of pauses ends at a hundred: null then, as not
 * known. */
export function pausedJobs({ pauses }) {
    const paused = new Set(pauses.filter((p) => p.what === "job").map((p) => p.name));
    return (job) => (paused.has(job) || pauses.length < 100 ? paused.has(job) : null);
}

/** Both, where it is not known what would be of use. */
export function jobButtons(job, isPaused) {
    return (isPaused === null ? [false, true] : [isPaused]).map((is) => [pauseButton("job", job, is), " "]);
}

function draw({ answer, status }, { mayOperate }) {
    const isPaused = pausedJobs(status);
    return table("Those whose runs took most come first; whole hours are counted", [
        { name: "Job", cell: (j) => jobLink(j.job) }, ...OUTCOMES, ...QUANTILES,
        { name: "Known by", cell: where },
        { name: "State", cell: (j) => (isPaused(j.job) ? "paused" : "") },
        ...(mayOperate ? [{ name: "Change", kind: "actions",
            cell: (j) => jobButtons(j.job, isPaused(j.job)) }] : []),
    ], answer.items, "No job is known here, and none has run.");
}

async function load() {
    return { answer: await ask("v1/jobs", { from: `-${periodOf()}` }), status: await ask("v1/status") };
}

export function show(main, rights) {
    const looked = view({ load, draw: (data) => draw(data, rights), every: 30 });
    main.replaceChildren(el("h1", null, title), choices("Since when", "jobs", periods()), looked);
}
