// view.js - what a page shows of the store, and asks for again while somebody looks at it.
import { againAfter, agedBy, takeOlder } from "./api.js";
import { el, swap } from "./dom.js";
import { moment, now } from "./moments.js";

const FRESH_MS = 3000;              // after a change, as another server may have been asked

/** Loads and draws, again and again: `load` is async, `draw` makes nodes of what it returned, and
 * `every` is in seconds. A tab that is hidden asks nothing. Returns its element. */
export function view({ load, draw, every }) {
    const body = el("div", { "aria-busy": "true" }, el("p", { class: "nothing" }, "Asking ..."));
    const trouble = el("p", { class: "trouble", role: "alert", hidden: true });
    const age = el("span", { class: "age" });
    const button = el("button", { type: "button", click: () => anew() }, "Look now");
    const node = el("div", null, el("p", { class: "asked" }, age, " ", button), trouble, body);
    let data, seen, timer = null, isAsking = false, isWanted = false, dueAt = 0, freshUntil = 0;

    function drawAll() {
        swap(body, draw(data));
    }

    function schedule(seconds) {
        clearTimeout(timer);
        dueAt = Date.now() + seconds * 1000;
        if (!document.hidden)
            timer = setTimeout(look, seconds * 1000);
    }

    // what somebody asks for, or has changed, is of now
    function anew() {
        freshUntil = Date.now() + FRESH_MS;
        look();
    }

    function good(answer) {
        const text = JSON.stringify(answer);
        trouble.hidden = true;
        body.classList.remove("old");
        body.removeAttribute("aria-busy");
        swap(age, "As of ", moment(now() - agedBy() * 1000, "both"), `; looks every ${every} s`);
        data = answer;
        if (text !== seen)
            drawAll();
        seen = text;
        schedule(every);
    }

    function bad(problem) {
        const isShown = seen !== undefined;
        const again = againAfter(problem);
        swap(trouble, `${problem.message}. `, `Asked again in ${again} s. `,
            isShown ? "What is shown below is old." : "");
        trouble.hidden = false;
        body.classList.toggle("old", isShown);
        if (!isShown)
            swap(body);
        body.removeAttribute("aria-busy");
        schedule(again);
    }

    async function look() {
        isWanted = isAsking;
        if (isAsking)
            return;
        isAsking = true;
        clearTimeout(timer);
        takeOlder(Date.now() < freshUntil ? 0 : every / 2);
        try {
            good(await load());
        } catch (problem) {
            if (!(problem instanceof Error) || problem.status === undefined)
                console.error(problem);
            bad(problem);
        }
        isAsking = false;
        // something was changed meanwhile
        if (isWanted)
            look();
    }

    function shown() {
        if (document.hidden)
            clearTimeout(timer);
        else if (Date.now() >= dueAt)
            look();
        else
            schedule((dueAt - Date.now()) / 1000);
    }

    function redraw() {
        if (seen !== undefined)
            drawAll();
    }

    document.addEventListener("visibilitychange", shown);
    document.addEventListener("zone", redraw);
    document.addEventListener("changed", anew);
    if (!document.hidden)
        look();
    return node;
}
