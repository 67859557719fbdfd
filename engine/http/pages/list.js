// list.js - a list of /v1, page after page, and the filters that stand in the address of the page.
import { ask, lastAsOf } from "./api.js";
import { el, swap, table } from "./dom.js";
import { moment, now, zone } from "./moments.js";
import { inZone, toUtc } from "./typed.js";

/** What the address asks for, of the names that are known. */
export function filtersOf(names) {
    const search = new URLSearchParams(location.search);
    const found = {};
    for (const name of names)
        if (search.get(name))
            found[name] = search.get(name);
    return found;
}

function control(field, value) {
    const id = `filter-${field.name}`;
    const label = field.isTime ? `${field.label} (${zone()})` : field.label;
    const input = field.options
        ? el("select", { id, name: field.name }, field.options.map((option) =>
            el("option", { value: option, selected: option === (value || "") }, option || "any")))
        : el("input", { id, name: field.name, placeholder: field.example, autocomplete: "off",
            spellcheck: "false" });
    if (!field.options)
        input.value = field.isTime ? inZone(value || "", zone()) : value || "";
    return el("div", { class: "field" }, el("label", { for: id }, label), input);
}

/** A form whose values go into the address, so that a reload and a link keep them. fields:
 * [{ name, label, options or example, isTime }]; a time is typed in the zone of the page. `changed`
 * is called with what is asked for then, also when one goes back. */
export function filterForm(fields, changed) {
    const names = fields.map((f) => f.name);
    const times = new Set(fields.filter((f) => f.isTime).map((f) => f.name));
    const form = el("form", { class: "filters", role: "search", submit });
    let shownIn = zone();

    function fill(values) {
        shownIn = zone();
        swap(form, fields.map((f) => control(f, values[f.name])), el("button", { type: "submit" }, "Search"));
        return values;
    }

    function typed() {
        const values = {};
        for (const [name, value] of new FormData(form))
            if (value.trim())
                values[name] = times.has(name) ? toUtc(value.trim(), shownIn, now()) : value.trim();
        return values;
    }

    function submit(event) {
        event.preventDefault();
        const url = new URL(location.href);
        const values = typed();
        names.forEach((name) => url.searchParams.delete(name));
        for (const name of Object.keys(values))
            url.searchParams.set(name, values[name]);
        history.pushState(null, "", url);
        changed(fill(filtersOf(names)));
    }

    addEventListener("popstate", () => changed(fill(filtersOf(names))));
    document.addEventListener("zone", () => fill(typed()));
    fill(filtersOf(names));
    return form;
}

/** The rows of a list: the first page, and more when asked for. `node` is its place; `load(query)`
 * begins anew. A search that found nothing yet in what it has looked at can go on, too. */
export function list({ path, caption, columns, nothing, limit = 100 }) {
    const node = el("div", { "aria-live": "off" });
    let turn = 0, asked = null;

    function trouble(problem, again) {
        return el("p", { class: "trouble", role: "alert" }, `${problem.message}. `,
            el("button", { type: "button", click: again }, "Ask again"));
    }

    async function page(query, after, rows, mine) {
        let answer;
        try {
            answer = await ask(path, { ...query, limit, after });
        } catch (problem) {
            if (mine === turn)
                swap(node, tableOf(rows), trouble(problem, () => page(query, after, rows, mine)));
            return;
        }
        if (mine === turn)
            draw(query, answer, rows.concat(answer.items), mine, lastAsOf());
    }

    function tableOf(rows) {
        return rows.length ? table(caption, columns, rows) : null;
    }

    function draw(query, answer, rows, mine, asOf) {
        const more = async (event) => {
            event.target.disabled = true;
            await page(query, answer.next, rows, mine);
        };
        const looked = answer.scanned_to
            ? el("p", { class: "hint" }, "Looked as far as ", moment(answer.scanned_to), ".") : null;
        const none = answer.next ? "None so far." : nothing || "None.";
        swap(node, el("p", { class: "asked" }, `${rows.length} shown`, answer.next ? ", there are more" : "",
            "; as of ", moment(asOf, "both"), "."),
        tableOf(rows) || el("p", { class: "nothing" }, none), looked, answer.next
            ? el("button", { type: "button", id: "more", click: more },
                answer.scanned_to ? "Look further" : "Show more") : null);
    }

    function load(query) {
        turn++;
        asked = query;
        swap(node, el("p", { class: "nothing" }, "Asking ..."));
        return page(query, null, [], turn);
    }

    document.addEventListener("changed", () => asked && page(asked, null, [], ++turn));

    return { node, load };
}
