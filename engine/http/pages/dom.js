// dom.js - elements, made one by one. Text becomes text, never markup: nothing here parses any.

function add(node, child) {
    if (Array.isArray(child))
        child.forEach((one) => add(node, one));
    else if (child !== null && child !== undefined && child !== false)
        node.append(child instanceof Node ? child : String(child));
}

function make(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (typeof value === "function")
            node.addEventListener(name, value);
        else if (value === true)
            node.setAttribute(name, "");
        else if (value !== null && value !== undefined && value !== false)
            node.setAttribute(name, value);
    }
    add(node, children);
    return node;
}

/** An element. An attribute that is a function hears the event of that name; null and false are
 * left out, among children, too. */
export function el(name, attributes, ...children) {
    return make(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
    return make(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** "checks?entity=orders&state=due": relative, so that it leads to the same server below any path.
 * What is null or "" is left out. */
export function link(page, query) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query || {}))
        if (value !== null && value !== undefined && value !== "")
            search.set(name, value);
    const text = search.toString();
    return text ? `${page}?${text}` : page;
}

export function anchor(page, query, ...children) {
    return el("a", { href: link(page, query) }, ...children);
}

export function section(heading, ...children) {
    return el("section", null, el("h2", null, heading), children);
}

/** A choice in the address of the page: [{ word, query, isChosen }]. */
export function choices(label, page, all) {
    return el("nav", { "aria-label": label }, el("ul", null, all.map((one) => el("li", null, one.isChosen
        ? el("strong", { "aria-current": "true" }, one.word) : anchor(page, one.query, one.word)))));
}

/** Of a page that lacks what it is about. */
export function whichOne(title, page, words) {
    return [el("h1", null, title), el("p", null, "Which? ", anchor(page, null, words), ".")];
}

/** The row that a check is about, as a link to its page. */
export function rowLink(item) {
    return anchor("check", { entity: item.entity, key: item.key },
        el("span", { class: "entity" }, item.entity), " ", el("span", { class: "key" }, item.key));
}

export function jobLink(name) {
    return anchor("job", { name }, name);
}

/** columns: [{ name, cell: (row) => node or text, kind: "number" }]. The first cell of a row is its
 * header. */
export function table(caption, columns, rows, nothing) {
    if (!rows.length)
        return el("p", { class: "nothing" }, nothing || "None.");
    const head = columns.map((c) => el("th", { scope: "col", class: c.kind }, c.name));
    return el("div", { class: "scrolls", role: "region", tabindex: "0", "aria-label": caption },
        el("table", null, el("caption", null, caption), el("thead", null, el("tr", null, head)),
            el("tbody", null, rows.map((row) => tableRow(columns, row)))));
}

export function tableRow(columns, row) {
    return el("tr", { class: row.tone }, columns.map((c, i) => (i === 0
        ? el("th", { scope: "row", class: c.kind }, c.cell(row))
        : el("td", { class: c.kind }, c.cell(row)))));
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

function sameAs(node) {
    const named = node.getAttribute("href") || node.getAttribute("aria-label") || "";
    return `${node.tagName} ${node.id} ${named} ${node.textContent.slice(0, 80)}`;
}

/** Puts others in the place of the children of `node`: whoever has the keyboard keeps it, and what
 * was opened stays open. */
export function swap(node, ...children) {
    const active = node.contains(document.activeElement) ? document.activeElement : null;
    const focusable = active ? [...node.querySelectorAll(FOCUSABLE)] : [];
    const place = focusable.indexOf(active);
    const opened = new Set([...node.querySelectorAll("details[open]")].map((d) => d.id));
    const fresh = document.createDocumentFragment();
    add(fresh, children);
    node.replaceChildren(fresh);
    for (const details of node.querySelectorAll("details"))
        details.open = details.open || opened.has(details.id);
    if (place < 0)
        return;
    const now = [...node.querySelectorAll(FOCUSABLE)];
    const same = now.find((one) => sameAs(one) === sameAs(active)) || now[Math.min(place, now.length - 1)];
    if (same)
        same.focus({ preventScroll: true });
}
