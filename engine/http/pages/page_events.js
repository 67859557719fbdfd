// page_events.js - who was told: events in the order in which readers get them, from a cursor on.
import { ask } from "./api.js";
import { anchor, el, jobLink, rowLink, swap, table } from "./dom.js";
import { moment, now } from "./moments.js";

export const title = "Events";
const KEPT = 500;                   // rows on the page; the oldest go
const AT_ONCE = 10;                 // questions of 1,000 on the way to the end
const EVERY_S = 5;
const COLUMNS = [
    { name: "Emitted", cell: (e) => moment(e.emitted_at) },
    { name: "Event", cell: (e) => e.event },
    { name: "Row", kind: "row", cell: rowLink },
    { name: "Job", cell: (e) => jobLink(e.job) },
    { name: "Look", kind: "number", cell: (e) => e.check_number },
    { name: "Cursor", cell: (e) => anchor("events", { after: e.cursor }, e.cursor) },
];

/** Reads on behind a cursor; `rows` are the last ones that were read, the newest first. */
function reader(node) {
    const state = { cursor: new URLSearchParams(location.search).get("after"), rows: [], read: 0,
        isAtEnd: false, isAsking: false, problem: null, timer: null };

    async function page(limit) {
        const answer = await ask("v1/events", { after: state.cursor, limit });
        state.cursor = answer.next;
        state.read += answer.items.length;
        state.isAtEnd = answer.items.length < limit;
        state.rows = answer.items.reverse().concat(state.rows).slice(0, KEPT);
    }

    async function go(pages, limit) {
        if (state.isAsking)
            return;
        state.isAsking = true;
        state.problem = null;
        clearTimeout(state.timer);
        try {
            for (let i = 0; i < pages && (i === 0 || !state.isAtEnd); i++)
                await page(limit);
        } catch (problem) {
            state.problem = problem.message;
        }
        state.isAsking = false;
        draw();
        follow();
    }

    function follow() {
        clearTimeout(state.timer);
        if (state.isAtEnd && !document.hidden)
            state.timer = setTimeout(() => go(1, 100), EVERY_S * 1000);
    }

    function draw() {
        const onward = state.isAtEnd ? `all have been read; new ones are asked for every ${EVERY_S} s`
            : "there are newer ones";
        swap(node, el("p", { class: "asked", role: "status" }, `${state.read} read; `, onward, "; as of ",
            moment(now(), "both"), "."),
        state.problem ? el("p", { class: "trouble", role: "alert" }, state.problem) : null,
        state.isAtEnd ? null : el("p", null,
            el("button", { type: "button", id: "more", click: () => go(1, 100) }, "Read on"), " ",
            el("button", { type: "button", id: "end", click: () => go(AT_ONCE, 1000) },
                "Go towards the end")),
        table("Events, what was read last first", COLUMNS, state.rows, "None yet."),
        state.read > KEPT ? el("p", { class: "hint" }, `The last ${KEPT} are shown.`) : null);
    }

    document.addEventListener("visibilitychange", follow);
    document.addEventListener("zone", draw);
    return () => go(1, 100);
}

export function show(main) {
    const node = el("div", null, el("p", { class: "nothing" }, "Asking ..."));
    main.replaceChildren(el("h1", null, title), el("p", { class: "hint" },
        "In an order that stays, from the oldest that is kept, or from the cursor in the address on."),
    node);
    reader(node)();
}
