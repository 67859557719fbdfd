// page_events.js - who was told: events in the order in which readers get them, from a cursor on.
import { ask } from "./api.js";
import { deliverButton } from "./change.js";
import * as columns from "./columns.js";
import { anchor, el, jobLink, rowLink, section, swap, table } from "./dom.js";
import { filterForm, filtersOf } from "./list.js";
import { moment, now } from "./moments.js";
import { span } from "./time.js";
import { view } from "./view.js";

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

const FIELDS = [{ name: "listener", label: "Listener" },
    { name: "failed", label: "Failed", options: ["", "1"] },
    { name: "from", label: "Emitted from", isTime: true, example: "-1d" }];
const SENT = [
    { name: "Emitted", cell: (d) => moment(d.emitted_at) },
    { name: "To", cell: (d) => d.listener },
    { name: "Event", cell: (d) => d.event || "" },
    { name: "Row", kind: "row", cell: (d) => (d.entity ? rowLink(d) : "") },
    { name: "State", cell: (d) => d.state },
    columns.tries, columns.sentAt, columns.note,
];

function sent({ answer, status: { store } }, { mayOperate }) {
    const n = store.events_withheld;
    const withheld = n ? el("p", { class: "sentence" }, `${n} events are withheld from readers`,
        store.withheld_by ? ` by ${store.withheld_by}` : "",
        store.withheld_us ? ` for ${span(store.withheld_us / 1000)}` : "",
        ": an older transaction is open.") : null;
    const list = mayOperate ? [...SENT, { name: "Change", kind: "actions", cell: deliverButton }] : SENT;
    const more = answer.scanned_to ? ["Looked back to ", moment(answer.scanned_to), "."]
        : answer.has_more ? ["These are the first 100, or more."] : null;
    return [withheld, table("What waits to be sent first, then what is over, the newest first", list,
        answer.items, "None."), more ? el("p", { class: "hint" }, more) : null];
}

/** Deliveries, by the filters in the address. */
function deliveries(rights) {
    const names = FIELDS.map((f) => f.name);
    const looked = view({ every: 30, draw: (data) => sent(data, rights), load: async () => ({
        answer: await ask("v1/deliveries", filtersOf(names)), status: await ask("v1/status") }) });
    const again = () => document.dispatchEvent(new Event("changed"));
    return section("Deliveries", filterForm(FIELDS, again), looked);
}

export function show(main, rights) {
    const node = el("div", null, el("p", { class: "nothing" }, "Asking ..."));
    main.replaceChildren(el("h1", null, title), deliveries(rights),
        el("h2", null, "Events as readers get them"),
        el("p", { class: "hint" }, "In an order that stays, from the oldest that is kept, or from the ",
            "cursor in the address on."), node);
    reader(node)();
}
