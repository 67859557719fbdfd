// page_failed.js - what ended badly, by job and error.
import { ask } from "./api.js";
import { el, jobLink, rowLink, swap, table } from "./dom.js";
import { gather, ordered } from "./groups.js";
import { filterForm, filtersOf } from "./list.js";
import { moment, now } from "./moments.js";

export const title = "What ended badly";
const AT_ONCE = 5;                  // questions of 1,000 rows each, before somebody asks for more
const SHOWN = 200;
const OUTCOMES = ["", "failed", "timeout", "crashed", "bad_answer", "past", "beyond_horizon", "max_checks",
    "deferred_out", "unknown_job", "skipped"];
const FIELDS = [
    { name: "entity", label: "Entity" },
    { name: "key", label: "Key" },
    { name: "job", label: "Job" },
    { name: "tenant", label: "Tenant" },
    { name: "outcome", label: "Ended", options: OUTCOMES },
    { name: "from", label: "From", example: "-1d, 2026-03-01" },
    { name: "before", label: "Before" },
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

/** One search: goes back page by page, and stops now and then, or when another one begins. */
function searcher(node) {
    let turn = 0;

    function draw(state, isOver) {
        const groups = ordered(state.groups);
        const back = state.next === null ? "all of it was looked at"
            : ["back to ", state.back ? moment(state.back) : "the first rows"];
        const groupWords = groups.length === 1 ? "1 group" : `${groups.length} groups`;
        const on = el("button", { type: "button", id: "more", click: () => go(state) }, "Look further back");
        swap(node, el("p", { class: "asked", role: "status" }, `${state.seen} ended badly, in `,
            `${groupWords}; `, back, "; as of ", moment(now(), "both"), "."),
        table("By job and error, what happened most first", COLUMNS, groups.slice(0, SHOWN),
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

    return (query) => {
        const state = { turn: ++turn, groups: new Map(), seen: 0, next: undefined, back: null,
            query: { ...query, outcome: query.outcome || "amiss" } };
        swap(node, el("p", { class: "nothing" }, "Asking ..."));
        return go(state);
    };
}

export function show(main) {
    const node = el("div");
    const search = searcher(node);
    main.replaceChildren(el("h1", null, title), filterForm(FIELDS, search), node);
    search(filtersOf(FIELDS.map((f) => f.name)));
}
