// page_failed.js - what ended badly, by job and error.
import { ask } from "./api.js";
import { allButtons, button, changeAll, changesOf, oneButton } from "./change.js";
import * as columns from "./columns.js";
import { el, jobLink, rowLink, section, swap, table } from "./dom.js";
import { gather, ordered } from "./groups.js";
import { filterForm, filtersOf, list } from "./list.js";
import { moment, now } from "./moments.js";

export const title = "What ended badly";
const AT_ONCE = 5;                  // questions of 1,000 rows each, before somebody asks for more
const SHOWN = 200;
const OUTCOMES = ["", "failed", "timeout", "crashed", "bad_answer", "past", "beyond_horizon", "max_checks",
    "deferred_out", "unknown_job"];
const FIELDS = [
    { name: "entity", label: "Entity" },
    { name: "key", label: "Key" },
    { name: "job", label: "Job" },
    { name: "tenant", label: "Tenant" },
    { name: "outcome", label: "Ended", options: OUTCOMES },
    { name: "from", label: "From", isTime: true, example: "-1d, 2026-03-01 14:15" },
    { name: "before", label: "Before", isTime: true },
];
const COLUMNS = [
    { name: "Job", cell: (g) => jobLink(g.job) },
    { name: "Ended", cell: (g) => g.outcome },
    { name: "Error, without ids", kind: "words", cell: (g) => g.error },
    { name: "Times", kind: "number", cell: (g) => g.count },
    { name: "First", cell: (g) => moment(g.first) },
    { name: "Last", cell: (g) => moment(g.last) },
    { name: "Such as", kind: "row", cell: (g) => g.samples.map((s) => el("div", null, rowLink(s))) },
];

const RETRIED = ["entity", "key", "job", "tenant"];     // of the filters, for what waits

// Of the outcomes: what is filed again.
const RETRYABLE = ["failed", "timeout", "crashed", "bad_answer", "unknown_job"];

/** Deliveries have failed, too, and are sent again by another button. */
function retryButton(group, query) {
    if (group.samples[0].entity.startsWith("prescient.") || !RETRYABLE.includes(group.outcome))
        return "";
    const select = { ...query, job: group.job, outcome: group.outcome, error: group.error };
    return button("Retry", `Retry ${group.job}: ${group.outcome}, ${group.error}`,
        () => changeAll("retry", select, `what has ended as ${group.outcome}, of ${group.job}`));
}

function groupColumns(query, mayOperate) {
    return mayOperate ? [...COLUMNS, { name: "Change", kind: "actions", cell: (g) => retryButton(g, query) }]
        : COLUMNS;
}

/** One search: goes back page by page, and stops now and then, or when another one begins. */
function searcher(node, { mayOperate }) {
    let turn = 0;

    function draw(state, isOver) {
        const groups = ordered(state.groups);
        const back = state.next === null ? "all of it was looked at"
            : ["back to ", state.back ? moment(state.back) : "the first rows"];
        const groupWords = groups.length === 1 ? "1 group" : `${groups.length} groups`;
        const on = el("button", { type: "button", id: "more", click: () => go(state) }, "Look further back");
        swap(node, el("p", { class: "asked", role: "status" }, `${state.seen} ended badly, in `,
            `${groupWords}; `, back, "; as of ", moment(now(), "both"), "."),
        table("By job and error, what happened most first", groupColumns(state.query, mayOperate),
            groups.slice(0, SHOWN),
            state.next === null ? "Nothing that fits." : "None so far."),
        groups.length > SHOWN ? el("p", { class: "hint" }, `The first ${SHOWN} groups are shown.`) : null,
        state.problem ? el("p", { class: "trouble", role: "alert" }, state.problem) : null,
        isOver && state.next !== null ? on : null);
    }

    async function page(state) {
        const answer = await ask("v1/history", { ...state.query, limit: 1000, after: state.next });
        gather(state.groups, answer.items);
        const last = answer.items[answer.items.length - 1];
        state.seen += answer.items.length;
        state.back = answer.scanned_to || last?.ended_at || state.back;
        state.next = answer.next;
    }

    async function go(state) {
        state.problem = null;
        try {
            for (let i = 0; i < AT_ONCE && state.next !== null && turn === state.turn; i++) {
                await page(state);
                if (turn === state.turn)
                    draw(state, state.next === null);
            }
        } catch (problem) {
            state.problem = problem.message;
        }
        if (turn === state.turn)
            draw(state, true);
    }

    function begin(query) {
        return go({ turn: ++turn, groups: new Map(), seen: 0, next: undefined, back: null,
            query: { ...query, outcome: query.outcome || "amiss" } });
    }

    let asked = {};
    document.addEventListener("changed", () => begin(asked));
    return (query) => {
        asked = query;
        swap(node, el("p", { class: "nothing" }, "Asking ..."));
        return begin(query);
    };
}

/** What has failed lately and waits to be tried again: nothing of it is over. */
function retrying({ mayOperate }) {
    const names = () => ({ ...filtersOf(RETRIED), state: "retrying" });
    const found = list({ path: "v1/checks", caption: "Checks whose last run failed, by slot",
        nothing: "None.", columns: [columns.row, columns.job, columns.dueAt,
            { name: "Failed", kind: "number", cell: (c) => c.failure_count }, columns.tenant, columns.why,
            ...(mayOperate ? [{ name: "Change", kind: "actions", cell: (c) => changesOf(c).map((change) => [
                oneButton(change, c), " "]) }] : [])] });
    return { node: section("What is tried again", mayOperate
        ? allButtons(["run-now", "resolve", "cancel"], names) : "", found.node),
    load: () => found.load(names()) };
}

export function show(main, rights) {
    const node = el("div");
    const search = searcher(node, rights);
    const names = FIELDS.map((f) => f.name);
    const waits = retrying(rights);
    const begin = (query) => {
        search(query);
        waits.load();
    };
    main.replaceChildren(el("h1", null, title), filterForm(FIELDS, begin), rights.mayOperate
        ? allButtons(["retry"], () => filtersOf(names)) : "", node, waits.node);
    begin(filtersOf(names));
}
