// api.js - all questions to /v1, one after the other: a page never has two under way. Who has to
// log in is told here, once for all pages.
import { lastChange, mayBeOld, noteChange } from "./fresh.js";
import { heard, now } from "./moments.js";

const BASE = new URL(".", document.baseURI);
const PATIENCE = 30 * 1000;
const RETRY_MOST_S = 3600;          // a timer of more than 24 days would be over at once
let last = Promise.resolve();
let csrf = null;
let oldest = 0;                     // seconds that an answer may be old, as others have got it
let aged = 0, lastAge = 0;
const kept = new Map();             // by URL, what has come with a tag; the last few
const KEPT = 20;
const AFTER_TROUBLE_S = 5;
let askForToken = null;             // shows the form; rejects when it was left

/** What /v1 answers when something goes wrong (RFC 9457). `status` 0: there was no answer. */
export class Problem extends Error {
    constructor(status, document, retryS) {
        super(document.detail || document.title || `the server answered ${status}`);
        this.status = status;
        this.errors = document.errors || [];
        this.retryS = retryS;
    }
}

/** What was stopped before it was sent. */
export class Unsent extends Problem {
    constructor() {
        super(0, { detail: "it was stopped before it was sent: nothing was done" }, 0);
    }
}

/** `show(problem, isLook)`: isLook, unless somebody wants to change something. */
/** In how many seconds what had this trouble is asked again. */
export function againAfter(problem) {
    return Math.max(AFTER_TROUBLE_S, problem.retryS || 0);
}

export function onLogin(show) {
    askForToken = show;
}

export function urlOf(path, query) {
    const url = new URL(path, BASE);
    for (const [name, value] of Object.entries(query || {}))
        if (value !== null && value !== undefined && value !== "")
            url.searchParams.set(name, value);
    return url;
}

async function problemOf(response) {
    const text = await response.text();
    let read = {};
    try {
        read = JSON.parse(text) || {};
    } catch {
        // a proxy's page, say
    }
    const retryS = Number(response.headers.get("Retry-After")) || 0;
    return new Problem(response.status, read, Math.min(retryS, RETRY_MOST_S));
}

/** How old the answers to the next questions may be, in seconds: several readers of one page then
 * cost as much as one. */
export function takeOlder(seconds) {
    oldest = seconds;
    aged = 0;
}

/** How old the oldest answer since then is, in seconds. */
export function agedBy() {
    return aged;
}

/** Of which moment the last answer is, as others may have got it some seconds ago. */
export function lastAsOf() {
    return now() - lastAge * 1000;
}

function keep(url, tag, text) {
    kept.delete(url.href);
    if (tag)
        kept.set(url.href, { tag, text });
    if (kept.size > KEPT)
        kept.delete(kept.keys().next().value);
}

async function read(url, response) {
    if (response.status === 204)
        return null;
    lastAge = Number(response.headers.get("Age")) || 0;
    aged = Math.max(aged, lastAge);
    if (response.status === 304)
        return JSON.parse(kept.get(url.href).text);
    const text = await response.text();
    const answer = JSON.parse(text);
    if (answer === null)
        throw new SyntaxError("nothing");
    keep(url, response.headers.get("ETag"), text);
    return answer;
}

async function exchange(method, url, body) {
    const headers = { Accept: "application/json" };
    if (method === "GET") {
        headers["Cache-Control"] = `max-age=${mayBeOld(oldest, lastChange(), Date.now())}`;
        if (kept.has(url.href))
            headers["If-None-Match"] = kept.get(url.href).tag;
    }
    if (body !== undefined)
        headers["Content-Type"] = "application/json";
    if (csrf && method !== "GET")
        headers["X-CSRF-Token"] = csrf;
    let response;
    try {
        response = await fetch(url, { method, headers, cache: "no-store", redirect: "error",
            credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE),
            body: body === undefined ? undefined : JSON.stringify(body) });
    } catch {
        throw new Problem(0, { detail: "the server does not answer" }, 0);
    }
    heard(response.headers.get("Date"));
    if (!response.ok && response.status !== 304)
        throw await problemOf(response);
    try {
        return await read(url, response);
    } catch {
        // it broke off, or is a proxy's page
        throw new Problem(0, { detail: "what came is no answer of this server" }, 0);
    }
}

// What was stopped while it waited, for its turn or for a token, is not sent any more.
async function withLogin(method, url, body, stop) {
    for (;;) {
        if (stop?.aborted)
            throw new Unsent();
        try {
            return await exchange(method, url, body);
        } catch (problem) {
            if (problem.status !== 401 || !askForToken)
                throw problem;
            if (!stop?.aborted)
                await askForToken(problem, method === "GET");
        }
    }
}

function inTurn(work) {
    const mine = last.then(work);
    last = mine.catch(() => null);
    return mine;
}

export function ask(path, query) {
    return inTurn(() => withLogin("GET", urlOf(path, query)));
}

/** The body of a change. What has no answer may have been done: send it with a uniqid. `stop`, an
 * AbortSignal, keeps from being sent what was not yet. */
export function send(method, path, body, stop) {
    oldest = 0;
    return inTurn(() => withLogin(method, urlOf(path), body, stop).finally(noteChange));
}

/** Outside of the turns: a question that waits for it is under way. Who it is, then. */
export async function logIn(token) {
    const who = await exchange("POST", urlOf("v1/login"), { token });
    csrf = who.csrf_token;
    return who;
}

/** Whose session is over has not to log in for it. */
export async function logOut() {
    await inTurn(() => exchange("POST", urlOf("v1/logout"), {}));
    csrf = null;
}

/** Who the reader is here: { role, name, read_only, until }; `until` is of a browser's session. */
export async function session() {
    const found = await ask("v1/session");
    csrf = found.csrf_token;
    return found;
}
