// app.js - the frame of every page: where one is, the zone of its times, who may do what, log-in.
import { logIn, logOut, onLogin, session } from "./api.js";
import { el, swap } from "./dom.js";
import { ownZone, switchZone, tick, zone } from "./moments.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const NAME = location.pathname.split("/").pop() || "home";
// pages that are reached through another one
const BELOW = { slot: "slots", check: "checks", job: "jobs", schedule: "schedules" };

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

/** The form stands above the page, which waits for it. */
function login(problem) {
    return new Promise((resolve) => {
        const said = el("p", { role: "alert" }, problem.message);
        const field = el("input", { id: "token", type: "password", autocomplete: "current-password",
            required: true });
        const submit = async (event) => {
            event.preventDefault();
            try {
                await logIn(field.value);
                form.remove();
                resolve();
            } catch (wrong) {
                swap(said, wrong.message);
                field.select();
            }
        };
        const form = el("form", { class: "login", submit }, el("h1", null, "Log in"), said,
            el("label", { for: "token" }, "Token"), field, el("button", { type: "submit" }, "Log in"));
        main.before(form);
        field.focus();
    });
}

const BANNERS = { read: "You may look, and change nothing.",
    enqueue: "You may file checks, and change nothing else." };

/** What the reader may do: file checks, and change what is there. */
function tell(who) {
    const mayOperate = !who.read_only && who.role === "operate";
    banner.hidden = mayOperate;
    if (!mayOperate)
        banner.textContent = who.read_only ? "Nothing can be changed here: it is read-only."
            : BANNERS[who.role];
    if (who.until)
        document.getElementById("zone").after(el("button", { type: "button", id: "logout",
            click: () => logOut().finally(() => location.reload()) }, `Log out ${who.name}`));
    return { mayChange: !who.read_only && who.role !== "read", mayOperate };
}

async function begin() {
    markPage();
    setUpZone();
    onLogin(login);
    setInterval(() => document.hidden || tick(), 1000);
    const page = await import(`./page_${NAME}.js`);
    document.title = `${page.title} - prescient`;
    // asked before all else, as a page shows nothing that its reader may not do
    page.show(main, await session().then(tell, () => ({ mayChange: false, mayOperate: false })));
}

begin();
