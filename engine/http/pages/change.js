// change.js - the buttons that change something. Each asks first, tells how many it would be, and
// what has become of them; what many are is done a thousand at a time, and can be stopped.
import { send, Unsent } from "./api.js";
import { openDialog } from "./dialog.js";
import { el, rowLink } from "./dom.js";
import { moment, now, zone } from "./moments.js";
import { exact, fromWall, toWall, utcText } from "./time.js";
import { inWords } from "./typed.js";

const COUNTED = 20;                 // questions of a count, before it ends with "at least"
const CALLS = 1000;                 // of a thousand checks each, before somebody says "go on"
const CHANGES = {
    "run-now": { word: "Run now", does: "It is run in the next second. What has begun stays as it is." },
    reschedule: { word: "Reschedule", hasTime: true,
        does: "It begins anew at another time, its runs and failures forgotten." },
    resolve: { word: "Resolve", does: "It ends, as what it waits for has happened. A schedule of the " +
        "same row and job is switched off." },
    cancel: { word: "Cancel", does: "It ends, and is noted as cancelled. A schedule of the same row and " +
        "job is switched off." },
    retry: { word: "Retry", does: "It is filed again, with its payload, into the next slot. What waits " +
        "again or has ended well since stays as it is." },
};

/** What can be done with a check that waits, by its state. */
export function changesOf(check) {
    if (check.entity.startsWith("prescient."))
        return [];
    const ends = ["resolve", "cancel"];
    if (check.state === "paused")
        return ends;
    return check.state === "due" ? ["reschedule", ...ends] : ["run-now", "reschedule", ...ends];
}

// ---- when ----

function timeField() {
    const at = zone();
    const said = el("p", { class: "hint", id: "time-said" });
    const input = el("input", { id: "time", type: "datetime-local", step: "1", required: true,
        "aria-describedby": "time-said", input: () => tell() });
    const times = () => fromWall(input.value, at);
    const tell = () => {
        const found = times();
        said.textContent = found && found.length ? exact(found[0], at)
            : found ? `Clocks in ${at} skip that time.` : "When?";
    };
    input.value = toWall(Math.ceil((now() + 3600000) / 60000) * 60000, at);
    tell();
    return { node: el("div", { class: "field" }, el("label", { for: "time" }, `New time (${at})`), input,
        said), at: () => (times() || [])[0] ?? null, lock: () => {
        input.disabled = true;
        said.textContent = `${exact(times()[0], at)}: where those before are, too.`;
    } };
}

/** What the dialog asks for beside the reason, and what of it goes into the body. */
function asked(change) {
    const time = CHANGES[change].hasTime ? timeField() : null;
    return { nodes: [el("p", { class: "hint" }, CHANGES[change].does), time?.node],
        lock: () => time?.lock(),
        body: (dialog) => {
            const body = {};
            if (time) {
                if (time.at() === null)
                    throw Object.assign(new Error("a time is missing"), { status: 422 });
                body.check_at = utcText(time.at());
            }
            if (dialog.reason.input.value.trim())
                body.reason = dialog.reason.input.value.trim();
            return body;
        } };
}

// ---- one ----

function outcomeOf(one) {
    const words = { changed: "done", kept: "left as it was", not_found: "there is none any more" };
    return el("li", null, one.job || "all jobs", ": ", words[one.outcome] || one.outcome,
        one.check_at ? [", it waits for ", moment(one.check_at, "both")] : null);
}

/** row: { entity, key, job }. */
export function changeOne(change, row) {
    const fields = asked(change);
    openDialog({ title: CHANGES[change].word, word: CHANGES[change].word,
        what: [el("p", null, rowLink(row), " ", row.job), fields.nodes],
        act: async (dialog) => {
            const answer = await send("POST", `v1/${change}`, { entity: row.entity, key: row.key,
                job: row.job, ...fields.body(dialog) }, dialog.stop.signal);
            dialog.hasChanged = true;
            dialog.say(answer.checks.length ? el("ul", null, answer.checks.map(outcomeOf))
                : "There is none any more.");
            return null;
        } });
}

// ---- all that match ----

function isEmpty(select) {
    return !Object.keys(select).length;
}

// One without a word would be everything, which has to be said.
function bodyOf(select, more) {
    return isEmpty(select) ? { select, all: true, ...more } : { select, ...more };
}

function much(n, isAll) {
    return `${isAll ? "" : "at least "}${n} ${n === 1 ? "check" : "checks"}`;
}

/** The answer; null: it was stopped before that one was sent. */
async function sendNext(change, body, dialog) {
    try {
        return await send("POST", `v1/${change}`, body, dialog.stop.signal);
    } catch (problem) {
        if (problem instanceof Unsent)
            return null;
        throw problem;
    }
}

async function count(change, select, dialog) {
    const found = { n: 0, examples: [], isAll: false };
    const more = { dry_run: true, ...(CHANGES[change].hasTime ? { in: 0 } : null) };
    let after = null;
    for (let i = 0; i < COUNTED && !found.isAll && !dialog.isStopped; i++) {
        const answer = await sendNext(change, bodyOf(select, { ...more, after }), dialog);
        if (answer === null)
            break;
        found.n += answer.matched;
        found.examples = found.examples.concat(answer.examples).slice(0, 5);
        after = answer.next;
        found.isAll = after === null;
        dialog.say(el("p", null, `${much(found.n, found.isAll)} so far ...`));
    }
    return found;
}

function sayCounted(found, dialog) {
    dialog.say(el("p", { id: "counted" }, el("strong", null, much(found.n, found.isAll)), " match",
        found.examples.length ? ", such as" : "."),
    el("ul", null, found.examples.map((one) => el("li", null, rowLink(one), " ", one.job))));
}

function sayDone(state, found, dialog, how) {
    const { changed, kept, lost } = state;
    dialog.say(el("p", { id: "done" }, `${how}: ${changed} changed`,
        kept ? `, ${kept} left as they were` : "", lost ? `, ${lost} no longer there` : "", "."));
    dialog.show(state.seen, found.isAll ? found.n : Math.max(found.n, state.seen));
}

/** Goes on where the call before has ended: it can be stopped, and repeated after trouble. All go
 * to one time: it stays once some are there. */
async function changeAllOf(change, select, fields, state, found, dialog) {
    const body = fields.body(dialog);
    for (let i = 0; i < CALLS && !dialog.isStopped; i++) {
        const answer = await sendNext(change, bodyOf(select, { ...body, after: state.after }), dialog);
        if (answer === null)
            break;
        state.seen += answer.matched;
        state.changed += answer.changed;
        state.kept += answer.kept;
        state.lost += answer.not_found;
        state.after = answer.next;
        dialog.hasChanged = true;
        fields.lock();
        if (state.after === null) {
            sayDone(state, found, dialog, "All done");
            return null;
        }
        sayDone(state, found, dialog, "So far");
    }
    sayDone(state, found, dialog, "Stopped");
    return "Go on";
}

/** `select`: the filters of a list; `words`: what they are, for people. */
export function changeAll(change, select, words) {
    const fields = asked(change);
    const state = { after: null, seen: 0, changed: 0, kept: 0, lost: 0 };
    const { word } = CHANGES[change];
    let found = null;
    const prepare = async (dialog) => {
        found = await count(change, select, dialog);
        if (dialog.isStopped && !found.n && !found.isAll) {
            found = null;
            dialog.say("Stopped: nothing was counted.");
            return "Count";
        }
        sayCounted(found, dialog);
        return found.n || !found.isAll ? `${word} ${much(found.n, found.isAll)}` : null;
    };
    // nothing is changed before a count has gone well
    openDialog({ title: `${word}: ${words}`, word: "Count", what: fields.nodes, prepare,
        act: (dialog) => (found ? changeAllOf(change, select, fields, state, found, dialog)
            : prepare(dialog)) });
}

const TIMES = ["from", "before"];

/** "job unshipped, state due, from 2026-03-01 14:15 Europe/Berlin": the filters in words. */
export function selectWords(select) {
    const words = Object.entries(select).map(([name, value]) => (
        `${name} ${TIMES.includes(name) ? inWords(value, zone()) : value}`));
    return words.length ? words.join(", ") : "everything";
}

// ---- what is not a check ----

/** `body` is what it takes beside the reason; `done(answer)` tells what has become of it. */
export function changeThing({ method, path, body, title, word, what, done }) {
    openDialog({ title, word, what, act: async (dialog) => {
        const reason = dialog.reason.input.value.trim();
        const answer = await send(method, path, { ...body, ...(reason ? { reason } : null) },
            dialog.stop.signal);
        dialog.hasChanged = true;
        dialog.say(el("p", null, done(answer)));
        return null;
    } });
}

// What is over can be sent again.
const SENT = ["done", "resolved", "failed"];
const SENT_WORDS = { again: "It is sent again, at ", waits: "It is not over: it is sent at " };

/** `sent`: { delivery, state, listener }, as /v1/check and /v1/deliveries have it. */
export function deliverButton(sent) {
    if (!sent.delivery || !SENT.includes(sent.state))
        return "";
    return button("Deliver again", `Deliver again: ${sent.delivery}`, () => changeThing({ method: "POST",
        path: "v1/deliver-again", body: { delivery: sent.delivery }, word: "Deliver again",
        title: `Deliver again to ${sent.listener}`, what: [el("p", null, sent.delivery),
            el("p", { class: "hint" }, "It is sent under the same key, by which the receiver knows it.")],
        done: (answer) => [SENT_WORDS[answer.outcome] || answer.outcome, moment(answer.check_at, "both"),
            "."] }));
}

const PAUSE_WORDS = { paused: "It is paused.", kept: "It was paused already.", resumed: "It goes on.",
    not_paused: "It was not paused." };

/** `what`: job, entity, tenant or schedule. */
export function pauseButton(what, name, isPaused) {
    const word = isPaused ? "Resume" : "Pause";
    return button(word, `${word} ${what} ${name}`, () => changeThing({ method: "POST",
        path: isPaused ? "v1/resume" : "v1/pause", body: { [what]: name }, title: `${word} ${what} ${name}`,
        word, what: el("p", { class: "hint" }, isPaused ? "What waits is run, what is late at once."
            : "What comes up waits, until it is resumed. Runs that go on are not stopped."),
        done: (answer) => PAUSE_WORDS[answer.outcome] || answer.outcome }));
}

// ---- buttons ----

/** `name`: what it is for who does not see where it stands. */
export function button(word, name, click) {
    return el("button", { type: "button", class: "small", "aria-label": name === word ? null : name, click },
        word);
}

export function oneButton(change, row) {
    const { word } = CHANGES[change];
    return button(word, `${word} ${row.job} of ${row.entity} ${row.key}`, () => changeOne(change, row));
}

/** For all that a list of /v1 has with `filters()`, as they are when it is pressed. */
export function allButtons(changes, filters) {
    return el("p", { class: "buttons", role: "group", "aria-label": "All that match" }, "All that match: ",
        changes.map((change) => [button(CHANGES[change].word, `${CHANGES[change].word} all that match`,
            () => changeAll(change, filters(), selectWords(filters()))), " "]));
}
