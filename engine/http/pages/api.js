// api.js - all questions to /v1, one after the other: a page never has two under way. Who has to
// log in is told here, once for all pages.
import { heard } from "./moments.js";

const BASE = new URL(".", document.baseURI);
const PATIENCE = 30 * 1000;
let last = Promise.resolve();
let csrf = null;
let askForToken = null;             // shows the form, and resolves when somebody has logged in

/** What /v1 answers when something goes wrong (RFC 9457). `status` 0: there was no answer. */
export class Problem extends Error {
    constructor(status, document, retryS) {
        super(document.detail || document.title || `the server answered ${status}`);
        this.status = status;
        this.errors = document.errors || [];
        this.retryS = retryS;
    }
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
    return new Problem(response.status, read, Number(response.headers.get("Retry-After")) || 0);
}

async function exchange(method, url, body) {
    const headers = { Accept: "application/json" };
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
    if (!response.ok)
        throw await problemOf(response);
    return response.status === 204 ? null : response.json();
}

async function withLogin(method, url, body) {
    for (;;) {
        try {
            return await exchange(method, url, body);
        } catch (problem) {
            if (problem.status !== 401 || !askForToken)
                throw problem;
            await askForToken(problem);
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

/** The body of a change. What has no answer may have been done: send it with a uniqid. */
export function send(method, path, body) {
    return inTurn(() => withLogin(method, urlOf(path), body));
}

/** Outside of the turns: a question that waits for it is under way. */
export async function logIn(token) {
    csrf = (await exchange("POST", urlOf("v1/login"), { token })).csrf_token;
}

export async function logOut() {
    await send("POST", "v1/logout", {});
    csrf = null;
}

/** Who the reader is here: { role, name, read_only, until }; `until` is of a browser's session. */
export async function session() {
    const found = await ask("v1/session");
    csrf = found.csrf_token;
    return found;
}
