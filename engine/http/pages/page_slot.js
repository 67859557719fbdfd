// page_slot.js - one slot: how far it is, its passes, its checks.
import { ask } from "./api.js";
import * as columns from "./columns.js";
import { el, section, table, whichOne } from "./dom.js";
import { list } from "./list.js";
import { moment } from "./moments.js";
import { parse, took, utcText } from "./time.js";
import { view } from "./view.js";

export const title = "One slot";
const STATES = {
    pending: "No engine has opened it.",
    open: "It is being run.",
    relook: "It was run; a second look waits for transactions that were open then.",
    closed: "It was run, and is closed.",
};

function facts({ slot, state }) {
    const waits = slot ? `${slot.is_estimate ? "≈ " : ""}${slot.checks}` : "0";
    const known = [["State", STATES[state.state] || state.state], ["Waiting in it", waits],
        ["Run", slot?.run ?? 0], ["Done", slot?.done ?? 0], ["Again", slot?.again ?? 0],
        ["Failed", slot?.failed ?? 0], ["Began late by", took(slot?.late_us) || "-"]];
    if (state.opened_at)
        known.push(["Opened", [moment(state.opened_at), " by ", state.engine]]);
    if (state.left_jobs)
        known.push(["Left to others", state.left_jobs]);
    return el("dl", { class: "facts" }, known.map(([name, value]) =>
        el("div", null, el("dt", null, name), el("dd", null, value))));
}

function number(name, column) {
    return { name, kind: "number", cell: (p) => p[column] };
}

function draw(data) {
    return [facts(data), section("Passes", table("Passes over it, the newest first", [
        { name: "Recorded", cell: (p) => moment(p.recorded_at) },
        columns.engine, number("Pass", "pass"), number("Bucket", "bucket"), number("Run", "run"),
        number("Done", "done"), number("Again", "again"), number("Failed", "failed"),
        { name: "Late", kind: "number", cell: (p) => took(p.late_us) },
        { name: "Took", kind: "number", cell: (p) => took(p.took_us) },
    ], data.passes.filter((p) => p.pass > 0), "None yet."))];
}

export function show(main) {
    const at = parse(new URLSearchParams(location.search).get("at"));
    if (at === null) {
        main.replaceChildren(...whichOne(title, "slots", "All slots"));
        return;
    }
    const looked = view({ load: () => ask("v1/slot", { at: utcText(at) }), draw, every: 10 });
    const checks = list({ path: "v1/checks", caption: "Checks that wait in it", nothing: "None.",
        columns: [columns.row, columns.job, columns.state, columns.tenant, columns.why] });
    main.replaceChildren(el("h1", null, "Slot ", moment(at, "both")), looked, el("h2", null, "Checks"),
        checks.node);
    checks.load({ from: utcText(at), before: utcText(at + 1000) });
}
