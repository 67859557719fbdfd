// app.js - the frame of every page: where one is, the zone of its times, who may do what, log-in.
import { againAfter, logOut, onLogin, session } from "./api.js";
import { el, swap } from "./dom.js";
import { openLogin } from "./login.js";
import { ownZone, switchZone, tick, zone } from "./moments.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const NAME = location.pathname.split("/").pop() || "home";
// pages that are reached through another one
const BELOW = { slot: "slots", check: "checks", job: "jobs", schedule: "schedules" };
let who = null;                     // asks, as far as is known
let opened = null;                  // the log-in, as long as it is open
let isLeft = false;                 // it was left: nobody is logged in

function markPage() {
    const here = BELOW[NAME] || NAME;
    for (const a of document.querySelectorAll("#pages a")) {
        const leads = new URL(a.href).pathname.split("/").pop() || "home";
        if (leads === here)
            a.setAttribute("aria-current", here === NAME ? "page" : "true");
    }
}

function writeZone(button) {
    button.textContent = `Times: ${zone()}`;
    button.title = zone() === "UTC" ? `Show times of ${ownZone()}` : "Show times in UTC";
}

function setUpZone() {
    const button = document.getElementById("zone");
    writeZone(button);
    button.addEventListener("click", () => {
        switchZone();
        writeZone(button);
    });
}

const BANNERS = { read: "You may look, and change nothing.",
    enqueue: "You may file checks, and change nothing else." };

/** Without words it is hidden. */
function sayInBanner(...words) {
    banner.hidden = !words.length;
    swap(banner, words);
}

function writeLogOut() {
    document.getElementById("logout")?.remove();
    if (who.until)
        document.getElementById("zone").after(el("button", { type: "button", id: "logout",
            click: () => logOut().finally(() => location.reload()) }, `Log out ${who.name}`));
}

/** What the reader may do: file checks, and change what is there. */
function tell(known) {
    who = known;
    const mayOperate = !who.read_only && who.role === "operate";
    if (who.read_only)
        sayInBanner("Nothing can be changed here: it is read-only.");
    else
        sayInBanner(...(mayOperate ? [] : [BANNERS[who.role]]));
    writeLogOut();
    return { mayChange: !who.read_only && who.role !== "read", mayOperate };
}

// ---- log-in ----

function loggedIn(found) {
    isLeft = false;
    if (who)
        tell({ ...who, ...found });
    document.dispatchEvent(new Event("login"));
}

/** Whether somebody has logged in: the form may be left. */
function login(why) {
    opened = opened || new Promise((resolve) => {
        let isIn = false;
        openLogin({ why,
            done: (found) => {
                isIn = true;
                loggedIn(found);
            },
            closed: () => {
                opened = null;
                resolve(isIn);
            } });
    });
    return opened;
}

async function lookAgain() {
    if (await login("The session is over."))
        document.dispatchEvent(new Event("changed"));
}

/** Once it was left, what the page asks by itself opens no form again; a change does. */
async function askForToken(problem, isLook) {
    if (isLook && isLeft)
        throw problem;
    if (await login(problem.message))
        return;
    isLeft = true;
    sayInBanner("You are not logged in. ", el("button", { type: "button", id: "login", click: lookAgain },
        "Log in"));
    throw problem;
}

// ---- who asks ----

/** Until a tab that somebody sees is to ask again, or somebody has logged in. */
function pause(seconds) {
    const over = new AbortController();
    const hear = (event, f) => document.addEventListener(event, f, { signal: over.signal });
    return new Promise((resolve) => {
        const seen = () => document.hidden || resolve();
        hear("login", resolve);
        if (!isLeft)
            setTimeout(() => {
                hear("visibilitychange", seen);
                seen();
            }, seconds * 1000);
    }).finally(() => over.abort());
}

/** It is asked before all else, as a page shows nothing that its reader may not do, and until there
 * is an answer. */
async function whoAsks() {
    for (;;) {
        try {
            return await session();
        } catch (problem) {
            const seconds = againAfter(problem);
            if (!isLeft)
                sayInBanner(`${problem.message}. What you may do here is not known; asked again in `,
                    `${seconds} s.`);
            await pause(seconds);
        }
    }
}

async function begin() {
    markPage();
    setUpZone();
    onLogin(askForToken);
    setInterval(() => document.hidden || tick(), 1000);
    const page = await import(`./page_${NAME}.js`);
    document.title = `${page.title} - prescient`;
    main.setAttribute("aria-busy", "true");
    swap(main, el("h1", null, page.title));
    const rights = tell(await whoAsks());
    main.removeAttribute("aria-busy");
    page.show(main, rights);
}

begin();
