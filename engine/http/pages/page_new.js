// page_new.js - do this at that time.
import { ask, lastAsOf, send, urlOf } from "./api.js";
import { refused } from "./dialog.js";
import { anchor, el, link, swap } from "./dom.js";
import { moment, now, zone } from "./moments.js";
import { asCurl, asSql } from "./quoted.js";
import { exact, fromWall, slotOf, toWall, utcText } from "./time.js";

export const title = "New check";
const PAUSE_MS = 400;               // after the last key, before it is asked what waits there
const CONFLICTS = ["keep", "earlier", "replace"];

function field(id, label, attributes, hint) {
    const input = el("input", { id, name: id, autocomplete: "off", spellcheck: "false",
        "aria-describedby": `${id}-said`, ...attributes });
    return { input, node: el("div", { class: "field" }, el("label", { for: id }, label), input,
        el("p", { class: "hint", id: `${id}-said` }, hint)), said: `${id}-said` };
}

// A repeat of the same form files nothing twice.
function freshUniqid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return `form-${[...bytes].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}

/** A browser lends its clipboard to pages of https and of this machine only; else what is to be
 * copied is marked. */
async function copy(pre, button) {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
    } catch {
        button.textContent = "Marked: press Ctrl+C";
    }
    setTimeout(() => {
        button.textContent = "Copy";
    }, 3000);
}

function copied(id, heading) {
    const pre = el("pre", { class: "copied", id, tabindex: "0", "aria-label": heading });
    const button = el("button", { type: "button", click: () => copy(pre, button) }, "Copy");
    return { pre, node: el("section", null, el("h2", null, heading, " ", button), pre) };
}

function timeWords(times, lengthS) {
    if (times === null)
        return "When?";
    if (!times.length)
        return `Clocks in ${zone()} skip that time: they are put forward.`;
    const at = times[0];
    const words = [`${exact(at, zone())}`];
    if (times.length > 1)
        words.push(`, the first of the two times at which clocks in ${zone()} show that`);
    if (lengthS)
        words.push(". It becomes the slot ", el("a", { href: link("slot", {
            at: utcText(slotOf(at, lengthS, now())) }) }, moment(slotOf(at, lengthS, now()), "both")));
    return words;
}

function parts(jobs) {
    const names = el("datalist", { id: "jobs" }, jobs.map((job) => el("option", { value: job })));
    const when = field("when", "When", { type: "datetime-local", step: "1", required: true });
    when.input.value = toWall(Math.ceil((now() + 3600000) / 60000) * 60000, zone());
    const conflict = el("select", { id: "conflict", name: "conflict" },
        CONFLICTS.map((word) => el("option", { value: word }, word)));
    return { names, when, conflict,
        entity: field("entity", "Entity", { required: true }, "of what the row is, such as orders"),
        key: field("key", "Key", { required: true }, "which one"),
        job: field("job", "Job", { required: true, list: "jobs" }, "what looks at it"),
        tenant: field("tenant", "Tenant", {}, "whose it is; may be left out"),
        payload: field("payload", "Payload", {}, "any JSON; may be left out") };
}

/** What POST /v1/checks gets; null: something is missing. */
function bodyOf(p) {
    const times = fromWall(p.when.input.value, zone());
    if (!times || !times.length || !p.entity.input.value || !p.key.input.value || !p.job.input.value)
        return null;
    const body = { entity: p.entity.input.value, key: p.key.input.value, job: p.job.input.value,
        check_at: utcText(times[0]) };
    if (p.tenant.input.value)
        body.tenant = p.tenant.input.value;
    if (p.payload.input.value.trim())
        body.payload = JSON.parse(p.payload.input.value);
    if (p.conflict.value !== "keep")
        body.on_conflict = p.conflict.value;
    return body;
}

function readBody(p) {
    const said = document.getElementById(p.payload.said);
    said.classList.remove("fault");
    try {
        const body = bodyOf(p);
        said.textContent = "any JSON; may be left out";
        return body;
    } catch (wrong) {
        said.classList.add("fault");
        said.textContent = `this is no JSON: ${wrong.message}`;
        return null;
    }
}

/** What waits in the slot that it becomes; asked for when nothing has been typed for a moment. */
function neighbours(node, lengthS) {
    let timer, shown;
    return (at) => {
        clearTimeout(timer);
        if (!at || !lengthS)
            return;
        const slot = slotOf(at, lengthS, now());
        if (slot === shown)
            return;
        timer = setTimeout(async () => {
            shown = slot;
            try {
                const found = (await ask("v1/slot", { at: utcText(slot) })).slot;
                const n = found ? `${found.is_estimate ? "≈ " : ""}${found.checks}` : "0";
                swap(node, `${n} checks wait in that slot; as of `, moment(lastAsOf(), "both"), ".");
            } catch (problem) {
                swap(node, `What waits there is not known: ${problem.message}.`);
            }
        }, PAUSE_MS);
    };
}

function told(answer, body) {
    const words = { new: "It is filed", kept: "It waited already, and is kept", moved: "It was moved",
        replaced: "It was replaced" };
    return ["", words[answer.outcome] || answer.outcome, ", for the slot ",
        el("a", { href: link("slot", { at: answer.check_at }) }, moment(answer.check_at, "both")), ". ",
        anchor("check", { entity: body.entity, key: body.key }, "Look at it"), "."];
}

function form(jobs, lengthS, mayChange) {
    const p = parts(jobs);
    const waits = el("p", { class: "hint" });
    const result = el("div", { role: "status", id: "result" });
    const curl = copied("curl", "The same with curl"), sql = copied("sql", "The same in SQL (PostgreSQL)");
    const look = neighbours(waits, lengthS);
    const button = el("button", { type: "submit" }, "File it");
    let uniqid = freshUniqid(), sent = "";

    function refresh() {
        const times = fromWall(p.when.input.value, zone());
        const body = readBody(p);
        swap(document.getElementById(p.when.said), timeWords(times, lengthS));
        curl.pre.textContent = body ? asCurl(urlOf("v1/checks").href, body) : "Fill in the form.";
        sql.pre.textContent = body ? asSql(body) : "Fill in the form.";
        look(times && times[0]);
    }

    async function submit(event) {
        event.preventDefault();
        const body = readBody(p);
        if (!body || button.disabled)
            return;
        // the same once more keeps its uniqid until there was an answer; another one gets its own
        const text = JSON.stringify(body);
        uniqid = text === sent ? uniqid : freshUniqid();
        sent = text;
        button.disabled = true;
        try {
            swap(result, told(await send("POST", "v1/checks", { ...body, uniqid }), body));
            sent = "";
        } catch (problem) {
            swap(result, el("div", { class: "fault" }, refused(problem)));
        }
        button.disabled = false;
    }

    function zoneChanged() {
        const times = fromWall(p.when.input.value, zoneBefore);
        if (times && times.length)
            p.when.input.value = toWall(times[0], zone());
        zoneBefore = zone();
        refresh();
    }

    let zoneBefore = zone();
    document.addEventListener("zone", zoneChanged);
    const node = el("form", { class: "new", submit, input: refresh }, p.names, p.entity.node, p.key.node,
        p.job.node, p.when.node, waits, p.tenant.node, p.payload.node,
        el("div", { class: "field" }, el("label", { for: "conflict" }, "If it waits already"), p.conflict),
        mayChange ? el("p", null, button) : null, result);
    return { nodes: [node, curl.node, sql.node], refresh };
}

export async function show(main, { mayChange }) {
    const place = el("div", null, el("p", { class: "nothing" }, "Asking ..."));
    main.replaceChildren(el("h1", null, title), place);
    let jobs = [], lengthS = 0, trouble = null;
    try {
        lengthS = (await ask("v1/status")).store.slot_length_s;
        jobs = (await ask("v1/jobs")).items.map((one) => one.job);
    } catch (problem) {
        trouble = el("p", { class: "trouble" }, `${problem.message}. Slots and names of jobs are not known.`);
    }
    const made = form(jobs, lengthS, mayChange);
    swap(place, trouble, made.nodes);
    made.refresh();
}
